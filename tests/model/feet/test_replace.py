"""A foot of a robot is replaced by another one, wherever its frame is."""

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

import pliant
from pliant.robots.softfoot import SoftFoot, closure_compliance

DATA = Path(__file__).resolve().parents[2] / "data"
FAST = SoftFoot(n_chains=1, lump=True, coupling="midpoint", tendon="fixed")
FEET = ("left_foot", "right_foot")


def biped():
    return pliant.load(DATA / "biped.xml")


def soft_biped(foot=FAST, **how):
    robot = biped()
    parts = [robot.replace_foot(body, foot, **how) for body in FEET]
    return robot, parts


def still(robot, key=None):
    model = robot.compile()
    data = mujoco.MjData(model)
    if key is not None:
        mujoco.mj_resetDataKeyframe(model, data, model.key(key).id)
    mujoco.mj_forward(model, data)
    return model, data


def lowest_of(model, data, prefix):
    """Return the lowest corner of the boxes of a foot."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    heights = []
    for g in range(model.ngeom):
        mine = model.body(model.geom_bodyid[g]).name.startswith(prefix) and model.geom_contype[g]
        if mine and model.geom_type[g] == mujoco.mjtGeom.mjGEOM_BOX:
            points = data.geom_xpos[g] + corners * model.geom_size[g] @ data.geom_xmat[g].reshape(3, 3).T
            heights.append(points[:, 2].min())
    return min(heights)


def ground_force(model, data):
    total, force = 0.0, np.zeros(6)
    for i in range(data.ncon):
        mujoco.mj_contactForce(model, data, i, force)
        total += abs((data.contact[i].frame.reshape(3, 3).T @ force[:3])[2])
    return total


def test_the_new_sole_is_at_the_height_of_the_old_one():
    robot, parts = soft_biped()
    model, data = still(robot, "stand")
    for part in parts:
        assert part.old_sole_depth == pytest.approx(0.08, abs=1e-12)
        assert part.sole_depth == part.old_sole_depth
        assert lowest_of(model, data, part.prefix) == pytest.approx(0.68 - 0.6 - 0.08, abs=1e-6)


def test_a_robot_with_servos_stands_level_on_two_soft_feet_and_presses_with_its_weight():
    robot, parts = soft_biped(pitch="level")
    assert parts[0].support.ratio > 1.0
    model, data = still(robot, "stand")
    for _ in range(3000):
        mujoco.mj_step(model, data)
    up = data.xmat[model.body("pelvis").id].reshape(3, 3)[2, 2]
    assert math.degrees(math.acos(up)) < 1.0
    assert np.abs(data.qvel).max() < 0.02
    mujoco.mj_forward(model, data)
    assert ground_force(model, data) == pytest.approx(9.81 * model.body_mass.sum(), rel=1e-3)


def test_the_robot_gains_the_mass_of_the_feet():
    before = biped().compile().body_mass.sum()
    robot, parts = soft_biped()
    gained = robot.compile().body_mass.sum() - before
    assert gained == pytest.approx(2 * 0.9371521, abs=1e-6)
    assert sum(part.mass_change for part in parts) == pytest.approx(gained, abs=1e-12)


def test_the_closures_keep_their_compliance_on_the_robot_and_when_masses_change():
    robot, parts = soft_biped()
    for mass in (12.0, 40.0):
        robot.set("pelvis.mass", mass)
        robot.set("left_foot.mass", 0.05 * mass)
        model = robot.compile()
        for part in parts:
            assert closure_compliance(model, part.prefix) == pytest.approx(FAST.closure_compliance, rel=1e-9)
