"""A small sample of the fuzzing in helpers/fuzz.py, over both pages; docs/ros/ros.md has the long run by hand."""

import pytest
from fuzz import fuzz

pytestmark = pytest.mark.network


@pytest.mark.parametrize("name", ["view", "statics"])
def test_mutated_requests_leave_the_page_alive_and_a_browser_served(name):
    done = fuzz(name, 800, seed=1)
    assert done.sent >= 800
    assert done.grown < 400e6  # most of it is what is imported and compiled
