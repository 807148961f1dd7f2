"""The numbers in the advice of `check` are bounds: what it says holds, and a little more does not."""

import math
import re

import pytest

import pliant
from pliant.model.check import REFUSE_ABOVE


def advice(name, dt):
    robot = pliant.load(name, timestep=dt)
    (problem,) = [p for p in robot.check() if "in reach" in p.message]
    inertia = float(re.search(r"on ([\d.e-]+) kg", problem.message)[1])
    return robot, problem, inertia


def test_the_advised_preset_is_the_largest_that_the_step_allows():
    robot, problem, inertia = advice("awas2-1dof", 0.002)
    preset = float(re.search(r"keep the preset below ([\d.]+)", problem.hint)[1])
    law, model = robot.actuators["joint"].law, robot.compile()
    damping = float(model.dof_damping[model.joint("joint").dofadr[0]])

    def number(sigma):
        return 0.002 * math.sqrt(law.max_stiffness((sigma, sigma)) / (inertia + 0.001 * damping))

    assert number(preset) <= REFUSE_ABOVE * (1.0 + 1e-3)
    assert number(1.01 * preset) > REFUSE_ABOVE


@pytest.mark.parametrize(("name", "dt"), [("awas2-1dof", 0.002), ("qbmove-1dof", 0.02)])
def test_the_advised_steps_are_stable_and_resolve(name, dt):
    _, problem, _ = advice(name, dt)
    proposal = float(re.search(r"option\.timestep = ([\d.e-]+)", problem.hint)[1])
    limit = 1e-3 * float(re.search(r"stable below ([\d.]+) ms", problem.hint)[1])
    assert proposal < 0.5 * limit
    assert not [p for p in pliant.load(name, timestep=proposal).check() if p.severity != "info"]
    assert any(
        "near the bound" in p.message or "stable" in p.message for p in pliant.load(name, timestep=limit).check()
    )


def test_no_preset_is_advised_where_none_helps():
    _, problem, _ = advice("qbmove-1dof", 0.02)
    assert "preset below" not in problem.hint
