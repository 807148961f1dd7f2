"""Workspace maps."""

import dataclasses

import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.rods import ContinuumParallelRobot, NoEquilibrium, load_robot
from pliant.rods.analysis import STATES


def named(found):
    return np.array(STATES, dtype=object)[found.state].tolist()


def test_a_workspace_map_tells_what_is_out_of_reach_from_what_has_no_equilibrium(monkeypatch):
    robot = load_robot("Stewart_Gough_6PFR")
    calls = []
    solved = []
    original = ContinuumParallelRobot.solve_igm

    def solve(self, X, *args, **options):
        solved.append(X)
        return original(self, X, *args, **options)

    monkeypatch.setattr(ContinuumParallelRobot, "solve_igm", solve)
    robot.home()
    solved.clear()
    got = robot.workspace(
        {"x": [0.0, 0.6, 3.0], "z": [0.9, 1.45]}, progress=lambda done, all_: calls.append((done, all_)), workers=1
    )
    assert named(got) == [["stable", "stable"], ["no equilibrium", "out of reach"], ["out of reach", "out of reach"]]
    assert len(solved) == 3  # what is out of reach is not solved
    assert sorted(calls) == [(k, 6) for k in range(1, 7)]
    assert got.solved.tolist() == [[True, True], [False, False], [False, False]]
    assert (got.morse_index[0] == 0).all()
    # Out of reach by what a straight rod between the slider at its upper limit and the plate lacks.
    X = robot.description.home.copy()
    X[0, 3], X[2, 3] = 3.0, 1.45
    with pytest.raises(NoEquilibrium) as error:
        robot.solve_igm(X)
    assert got.missing[2, 1] == pytest.approx(error.value.reach[1] - 0.049, abs=1e-9)
    assert got.missing[1, 0] == 0.0
    assert got.counts() == {
        "stable": 2, "unstable": 0, "beyond the joint limits": 0, "no equilibrium": 1, "out of reach": 3,
        "neutral": 0,
    }  # fmt: skip


def test_cells_beyond_the_joint_limits_are_marked_and_have_their_joint_values():
    d = load_robot("Stewart_Gough_6PFR").description
    short = (dataclasses.replace(d.limbs[0].joints[0], limits=(-0.05, 0.05)),)
    limbs = tuple(dataclasses.replace(limb, joints=short) for limb in d.limbs)
    got = ContinuumParallelRobot(dataclasses.replace(d, limbs=limbs)).workspace({"z": [1.05, 1.1, 1.16, 1.25]})
    assert named(got) == ["stable", "stable", "beyond the joint limits", "out of reach"]
    assert (got.q[2] > 0.05).all()
    assert np.isnan(got.q[3]).all()


@pytest.mark.parametrize("axes", [{}, {"u": [1.0]}, {"x": []}, {"x": [np.nan]}])
def test_a_workspace_map_needs_axes_with_finite_values(axes):
    with pytest.raises(ModelError):
        load_robot("3RR").workspace(axes)


def test_a_plate_that_turns_freely_is_neutral_in_a_workspace_map():
    found = load_robot("2RR").workspace({"x": [-0.1, 0.1]}, workers=1)
    assert found.counts()["neutral"] == 2
    assert not found.stable.any()
    assert found.solved.all()
