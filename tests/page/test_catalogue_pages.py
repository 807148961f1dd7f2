"""Pages of a foot, a parallel robot and an arm in a browser; ``conformance/page/test_pages.py`` opens all robots."""

import dataclasses

import numpy as np
import pytest
from pages import FAMILIES, Shot, chromium, load_or_reason, pages, problems

pytestmark = pytest.mark.network


@pytest.mark.skipif(chromium.find() is None, reason="no Chromium is installed")
@pytest.mark.slow
def test_the_page_of_each_family_loads_without_a_complaint_and_shows_the_robot_and_its_controls():
    found = {}
    with pages() as shown:
        for name in FAMILIES:
            robot, reason = load_or_reason(name)
            assert robot is not None, reason
            found[name] = problems(shown.shoot(robot, name))
    assert found == {name: [] for name in FAMILIES}


def shot(**changes):
    """Return a page with a robot of many colours in the middle."""
    empty = np.full((420, 1000, 3), 200, dtype=np.uint8)
    picture = empty.copy()
    picture[150:280, 450:550] = np.random.default_rng(1).integers(0, 255, (130, 100, 3))
    good = Shot(name="robot", picture=picture, empty=empty, controls=20, text="Pause Reset Record", errors=(), fault="")
    return dataclasses.replace(good, **changes)


def test_a_page_with_a_robot_in_the_middle_has_no_problem():
    assert problems(shot()) == []


def test_a_scene_without_a_robot_is_a_problem():
    assert "covers" in problems(shot(picture=shot().empty))[0]


def test_a_robot_that_is_far_away_near_black_or_of_one_colour_is_a_problem():
    good = shot()
    small, large, black = good.empty.copy(), good.empty.copy(), good.empty.copy()
    small[200:230, 490:510] = good.picture[200:230, 490:510]
    large[:, 330:-330] = np.random.default_rng(1).integers(0, 100, (420, 340, 3))
    black[150:280, 450:550] = 5
    assert "wide" in problems(shot(picture=small))[0]
    assert "wide" in problems(shot(picture=large))[0]
    assert problems(shot(picture=black)) == [
        "the robot has 1 colours; must be >= 12",
        "the robot is black",
    ]


def test_complaints_of_the_console_and_missing_controls_are_problems():
    assert problems(shot(errors=("TypeError",), fault="refused", controls=0, text="Pause Record")) == [
        "console: TypeError",
        "page: refused",
        "the page has 0 controls; must be >= 8",
        "there is no 'Reset' on the page",
    ]
