"""Names that differ from those that are taken."""

import pytest

from pliant.base.names import free_name, numbered_name

pytestmark = pytest.mark.quick


def test_a_name_that_is_not_taken_stays():
    assert free_name("a", {"b"}) == numbered_name("a", {"b"}) == "a"


def test_a_taken_name_gets_the_suffix_as_often_as_it_takes():
    assert free_name("a", {"a", "a_"}) == "a__"
    assert free_name("hand", ["hand"], "_frame") == "hand_frame"


def test_a_taken_name_gets_the_first_free_number_from_2_on():
    assert numbered_name("a", {"a", "a_2", "a_4"}) == "a_3"
