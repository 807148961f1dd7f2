"""Talos and G1 walk with the controller of the biped, on their own feet and on SoftFeet."""

import math

import mujoco
import numpy as np
import pytest

from pliant.base.errors import MissingDependency, ModelError
from pliant.robots import build_robot
from pliant.walking.robots.humanoids.build import ROBOTS
from pliant.walking.robots.humanoids.walking import find_stance
from pliant.walking.walk import run_walk

NAMES = ("g1", "talos")


def built(name, **options):
    try:
        return build_robot(name, {"controller": "walking", "actuation": "torque", **options})
    except MissingDependency as missing:
        pytest.skip(str(missing))


def walking(robot):
    return next(device for device in robot.devices if device.name == "walking")


@pytest.mark.parametrize("name", NAMES)
def test_it_starts_on_bent_knees_with_the_centre_of_mass_over_flat_soles(name):
    robot = built(name)
    device, model = walking(robot), robot.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("rest").id)
    mujoco.mj_forward(model, data)
    ankles = [data.xanchor[model.joint(ankle).id] for ankle in device.ankles]
    feet = [data.xmat[model.joint(ankle).bodyid[0]].reshape(3, 3) for ankle in device.ankles]
    for ankle, rotation in zip(ankles, feet, strict=True):
        assert ankle[2] == pytest.approx(device.sole, abs=1e-3)
        assert rotation == pytest.approx(np.eye(3), abs=1e-3)
    assert ankles[0][1] - ankles[1][1] == pytest.approx(device.spacing, abs=1e-3)
    middle = 0.5 * (ankles[0] + ankles[1])[0] + device.settings.center_of_pressure
    assert data.subtree_com[0][0] == pytest.approx(middle, abs=2e-3)


@pytest.mark.parametrize("feet", ["rigid", "soft"])
@pytest.mark.parametrize("name", NAMES)
def test_it_walks_some_steps(name, feet):
    built(name)  # skips
    result = run_walk(robot=name, feet=feet, seed=1, duration=5.0, push=2.0)
    assert result.completed
    assert result.steps >= 2
    assert result.distance > 0.25
    assert result.max_base_pitch < math.radians(4.0)


def test_chosen_settings_take_the_place_of_scaled_ones():
    settings = walking(built("g1", step_length=0.1, ankle_stiffness=0.0)).settings
    assert (settings.step_length, settings.ankle_stiffness) == (0.1, 0.0)


def test_servos_hold_the_pose_at_the_start():
    robot = built("g1", actuation="position")
    model, device = robot.compile(), walking(robot)
    ctrl = model.key("rest").ctrl
    assert [ctrl[model.actuator(name).id] for name in device.joints] == pytest.approx(list(device.rest))


def test_a_pose_that_the_legs_do_not_reach_is_refused(monkeypatch):
    robot = built("g1", controller="none")
    monkeypatch.setattr("pliant.walking.robots.humanoids.walking.BEND", 0.95)
    legs = next(robot.function.args[0] for robot in ROBOTS if robot.name == "g1").legs
    with pytest.raises(ModelError, match="legs do not reach"):
        find_stance(robot.compile(), "pelvis", legs)
