"""The press: a slide that a person or a program pushes."""

import mujoco
import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.feet.device.press import PressDevice
from pliant.feet.model.press import Press
from pliant.model import Robot
from pliant.robots import build_robot
from pliant.simulation import Simulation

FAST = {"n_chains": 1, "lump": True, "coupling": "midpoint", "tendon": "fixed", "timestep": 0.004}


@pytest.fixture
def pressed():
    robot = build_robot("softfoot", FAST)
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation:
        yield simulation


def weight_on_the_floor(simulation):
    """Return the vertical force of the floor on the foot [N]."""
    model, data = simulation.engine.model, simulation.engine.data
    total = 0.0
    for i in range(data.ncon):
        force = np.zeros(6)
        mujoco.mj_contactForce(model, data, i, force)
        total += float(data.contact[i].frame.reshape(3, 3)[0] @ [0.0, 0.0, 1.0]) * force[0]
    return abs(total)


def test_the_press_pushes_with_its_load_until_another_force_is_asked_for(pressed):
    weight = 9.81 * sum(pressed.engine.model.body_mass)
    pressed.step(500)
    assert weight_on_the_floor(pressed) == pytest.approx(300.0 + weight, rel=1e-3)
    for ask, force in (
        (lambda: pressed.request("press", "press", force=500.0), 500.0),
        (lambda: pressed.devices["press"].inbox.put({"force": 100.0}), 100.0),
        (lambda: pressed.request("press", "release"), 300.0),
    ):
        ask()
        pressed.step(500)
        assert weight_on_the_floor(pressed) == pytest.approx(force + weight, rel=1e-3)
        sample = pressed.devices["press"].read(pressed.engine.time_ns)
        assert sample.values["force"] == pytest.approx(force)


def test_it_lifts_the_foot_off_the_ground(pressed):
    pressed.step(250)
    pressed.request("press", "press", force=-20.0)
    pressed.step(250)
    assert pressed.devices["press"].read(pressed.engine.time_ns).values["position"] > 0.01
    assert weight_on_the_floor(pressed) == 0.0


@pytest.mark.parametrize("force", [6000.0, -1001.0, float("nan")])
def test_a_force_that_it_does_not_give_is_refused(pressed, force):
    future = pressed.request("press", "press", force=force)
    pressed.step(1)
    with pytest.raises(Exception, match="must be from -1000 to 5000 N"):
        future.result(timeout=0)


def test_a_press_of_what_is_not_there_is_a_problem_of_the_robot():
    robot = build_robot("softfoot", FAST)
    described = Press(name="other", actuator="loud", joint="slide")
    robot.devices.append(described)
    assert any("did you mean 'load'" in str(problem) for problem in robot.check())
    with pytest.raises(ModelError, match="load is 7000 N; must be from -1000 to 5000 N"):
        Press(name="press", actuator="load", joint="slide", load=7000.0)


def test_it_follows_its_robot_under_a_prefix():
    base = Robot(mujoco.MjSpec.from_string("<mujoco><worldbody><body name='a'/></worldbody></mujoco>"))
    base.attach(build_robot("softfoot", FAST), prefix="rig_")
    assert [device.name for device in make_devices(base) if isinstance(device, PressDevice)] == ["rig_press"]
