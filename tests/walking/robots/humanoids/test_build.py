"""Talos and G1 of example-robot-data: they stand, with their own feet and with SoftFeet."""

import math

import mujoco
import numpy as np
import pytest

import pliant
from pliant.base.errors import MissingDependency, ModelError
from pliant.feet.model.foot_fit import FootFit
from pliant.feet.model.replace import replace_foot
from pliant.feet.softfoot import SoftFoot, closure_compliance
from pliant.walking.robots.humanoids import find_data
from pliant.walking.robots.humanoids.build import FEET

FAST = SoftFoot(n_chains=1, lump=True, coupling="midpoint", tendon="fixed")
MASS = {"talos": 90.272, "g1": 33.341}
"""Sum of the masses of the links in the files [kg]."""
SOLE = {"talos": 0.1074, "g1": 0.035}
"""Height of the ankle's last axis above the sole in the files [m]."""


def humanoid(name):
    try:
        return pliant.load(name)
    except MissingDependency as missing:
        pytest.skip(str(missing))


def stand(robot, seconds):
    model = robot.compile()
    data = mujoco.MjData(model)
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    base = next(i for i in range(model.nbody) if model.body_dofnum[i] == 6)
    tilt = math.degrees(math.acos(min(1.0, data.xmat[base][8])))
    force, total = np.zeros(6), 0.0
    for i in range(data.ncon):
        mujoco.mj_contactForce(model, data, i, force)
        total += abs((data.contact[i].frame.reshape(3, 3).T @ force[:3])[2])
    return model, data, tilt, total


def test_a_humanoid_without_its_files_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    with pytest.raises(MissingDependency, match=r"g1\.urdf needs example-robot-data.*pip install example-robot-data"):
        find_data("g1_description/urdf/g1.urdf")


@pytest.mark.parametrize("name", sorted(FEET))
def test_a_humanoid_stands_on_its_own_feet(name):
    model, _, tilt, force = stand(humanoid(name), 1.0)
    assert model.body_mass.sum() == pytest.approx(MASS[name], abs=1e-3)
    assert tilt < 3.0
    assert force == pytest.approx(9.81 * MASS[name], rel=0.05)


@pytest.mark.parametrize("name", sorted(FEET))
def test_a_humanoid_stands_level_on_softfeet_for_seconds(name):
    robot = humanoid(name)
    parts = [replace_foot(robot, body, FAST, FootFit(pitch="level")) for body in FEET[name]]
    assert [part.side for part in parts] == ["left", "right"]
    model, data, tilt, force = stand(robot, 4.0)
    assert tilt < 3.0
    assert np.abs(data.qvel).max() < 0.05
    assert force == pytest.approx(9.81 * (MASS[name] + 2 * 0.93715), rel=1e-2)
    for part in parts:
        assert closure_compliance(model, part.prefix) == pytest.approx(7.7e-6, rel=1e-9)


@pytest.mark.parametrize("name", sorted(FEET))
def test_the_soft_soles_of_a_humanoid_are_where_its_own_were(name):
    robot = humanoid(name)
    parts = [replace_foot(robot, body, FAST) for body in FEET[name]]
    model = robot.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for part in parts:
        assert part.old_sole_depth == pytest.approx(SOLE[name], abs=1e-4)
        ankle = data.joint(part.joint).xanchor
        cube = data.body(part.prefix + "attachment_cube").xpos
        assert ankle[2] - part.sole_depth == pytest.approx(0.0, abs=1e-6)
        # 95.74 mm: the lowest point of the foot, under its toes.
        assert cube[2] - 0.09574 == pytest.approx(0.0, abs=2e-6)
        assert cube[:2] == pytest.approx(ankle[:2], abs=1e-9)


def test_g1_carries_itself_on_one_foot_and_talos_does_not():
    ratios = {}
    for name, feet in FEET.items():
        ratios[name] = replace_foot(humanoid(name), feet[0], FAST).support.ratio
    assert ratios["g1"] > 2.0
    assert 0.7 < ratios["talos"] < 1.0


def test_the_icub_which_looks_backwards_along_x_gets_its_feet_the_right_way_round():
    try:
        robot = pliant.load("icub")
    except MissingDependency as missing:
        pytest.skip(str(missing))
    with pytest.raises(ModelError, match="give forward_axis"):
        replace_foot(robot, "l_foot", FAST)
    part = replace_foot(robot, "l_foot", FAST, FootFit(forward_axis="-x", pitch="level"))
    assert part.side == "left"
    assert part.old_sole_depth == pytest.approx(0.075, abs=1e-6)
    assert part.support.ratio > 3.0
