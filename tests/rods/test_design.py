"""Search of numbers of a parallel robot: objectives, their gradients, optima, resumption."""

from __future__ import annotations

import pytest

from pliant.base.errors import ModelError
from pliant.rods import load_robot
from pliant.rods.design import DIRECTIONS, Goal, design, same_optimum, stiffness_of, workspace_of
from pliant.rods.variation import with_parameters

BOUNDS = {"radius": (0.8e-3, 1.2e-3)}


def test_the_gradient_of_the_area_agrees_with_areas_of_changed_robots(monkeypatch):
    monkeypatch.setitem(DIRECTIONS, True, 3)
    home = load_robot("3RR").home()
    found = workspace_of(home, ["length"])
    sides = [workspace_of(with_parameters(home, {"length": 1.0 + h}), [])[0] for h in (1e-3, -1e-3)]
    assert found[1][0] == pytest.approx((sides[0] - sides[1]) / 2e-3, rel=1e-2)
    assert sum(found[2].values()) == 3


def test_the_stiffness_of_several_poses_is_the_smallest_and_has_its_gradient():
    home = load_robot("3RR").home()
    here = home.robot.pose_numbers(home.plate_pose)
    there = [here[0], here[1] + 0.05, here[2]]
    both, slope = stiffness_of(home, ["length"], [here, there])
    each = [stiffness_of(home, ["length"], [one]) for one in (here, there)]
    best = min(each, key=lambda one: one[0])
    assert both == pytest.approx(best[0])
    assert slope == pytest.approx(best[1])


def test_thicker_rods_are_stiffer_so_all_starts_end_at_the_upper_bound_and_a_later_call_goes_on(tmp_path):
    found = design("3RR", BOUNDS, Goal(quantity="stiffness"), starts=2, folder=tmp_path)
    assert same_optimum(found, BOUNDS) == 2
    assert found[0].values["radius"] == pytest.approx(1.2e-3)
    assert found[0].at_bounds == ["radius"]
    home = load_robot("3RR").home()
    assert found[0].objective == pytest.approx(home.smallest_stiffness * 1.2**4, rel=1e-4)
    asked = []
    again = design(
        "3RR", BOUNDS, Goal(quantity="stiffness"), starts=3, folder=tmp_path, progress=lambda *done: asked.append(done)
    )
    assert [one[2] for one in asked] == ["start 3"]
    assert len(again) == 3


@pytest.mark.parametrize(
    ("bounds", "goal", "message"),
    [
        ({"lenght": (1, 2)}, "stiffness", "did you mean 'length'"),
        ({"length": (2, 1)}, "stiffness", "the first must be the smaller"),
        ({"length": (-1, 1)}, "stiffness", "length must be a positive number"),
        ({"limb1.offset": (-1, 1)}, "stiffness", "an offset changes the commands"),
        ({}, "stiffness", "at least one parameter"),
        ({"length": (1, 2)}, "speed", "cannot be made largest; must be one of stiffness"),
    ],
)
def test_wrong_searches_are_refused_with_what_is_valid(bounds, goal, message):
    with pytest.raises(ModelError, match=message):
        design("3RR", bounds, Goal(quantity=goal))
