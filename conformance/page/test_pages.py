"""The page of every robot of the catalogue in a real browser, one start of it for all.

Robots whose files come with a package that is not installed are named and left out. It takes two minutes or more, so
that continuous integration leaves it out and opens three robots (tests/page/test_catalogue_pages.py).
"""

import os
import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "helpers"))

from pages import chromium, load_or_reason, pages, problems

from pliant.robots import list_robots

pytestmark = [
    pytest.mark.network,
    pytest.mark.skipif(chromium.find() is None, reason="no Chromium is installed"),
    pytest.mark.skipif("CI" in os.environ, reason="takes minutes; make conformance runs it where CI is not set"),
]


@pytest.mark.timeout(800)  # some five seconds a robot where the machine does nothing else
def test_the_page_of_every_robot_loads_without_a_complaint_and_shows_the_robot_and_its_controls():
    found, left_out = {}, {}
    with pages() as shown:
        for entry in list_robots():
            robot, reason = load_or_reason(entry.name)
            if robot is None:
                left_out[entry.name] = reason
                continue
            found[entry.name] = problems(shown.shoot(robot, entry.name))
    if left_out:
        warnings.warn(f"left out, because their files are not installed: {left_out}", stacklevel=1)
    assert len(found) > 20
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
