"""What the page says about an equilibrium."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.parallel.page.rod_facts import BAD, GOOD, NEUTRAL, facts, no_equilibrium
from pliant.parallel.page.statics import Found, StaticsSolver, Target
from pliant.rods import load_robot


@pytest.fixture(scope="module")
def home():
    solver = StaticsSolver(load_robot("6PFR"))
    solver.close()
    return solver.home


def test_the_verdict_has_its_colour_and_the_margins_are_there(home):
    text = facts(home, 0.0012)
    assert GOOD in text
    assert ">stable<" in text
    for part in ("smallest stiffness", "singular values: serial", "residual", "1.2 ms", "branch home"):
        assert part in text
    assert "unstable, index 2" in facts(replace(home, stable=False, index=2))
    free = facts(replace(home, stable=False, free=("the plate turns",)))
    assert NEUTRAL in free
    assert "free to move: the plate turns" in free


def test_names_of_a_robot_are_no_html(home):
    text = facts(replace(home, beyond=("<img src=x> at 1 is outside 0 to 0.4",)), follows=False)
    assert "<img" not in text
    assert "joint limit: &lt;img" in text
    assert "does not follow" in text


def test_a_reason_is_shown_in_place_of_the_verdict():
    target = Target(model="direct", values=(), wrench=())
    text = no_equilibrium(Found(number=1, target=target, equilibrium=None, reason="a < b", seconds=0.0))
    assert BAD in text
    assert "a &lt; b" in text


@pytest.mark.parametrize("colour", [GOOD, NEUTRAL, BAD])
def test_white_text_on_every_badge_can_be_read(colour):
    rgb = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
    linear = np.where(rgb <= 0.03928, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    assert 1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05) >= 4.5
