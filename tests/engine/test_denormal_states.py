"""A robot at rest has no subnormal numbers in its state and samples, and its step costs what a moving robot's does."""

import mujoco
import numpy as np
import pytest

from pliant import load
from pliant.base.errors import MissingDependency
from pliant.batch.worlds import CpuBatch
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.engine.flush import FLUSH_PERIOD, SMALLEST, flush_state
from pliant.robots import list_robots
from pliant.simulation import Simulation

TINY = np.finfo(float).tiny
NAMES = [robot.name for robot in list_robots() if not robot.package]
STATE = ("qpos", "qvel", "act", "qacc_warmstart")
DAY = ("qbmove-1dof", "qbmove-2dof", "qbmove-5dof")


def subnormal(array):
    values = np.abs(np.asarray(array, dtype=float))
    return bool(((values > 0.0) & (values < TINY)).any())


def subnormal_fields(simulation):
    """Return the names of state arrays and sample fields that hold a subnormal number."""
    data = simulation.engine.data
    found = [name for name in STATE if subnormal(getattr(data, name))]
    for name, device in simulation.devices.items():
        values = simulation.sample(name).values if device.samples else {}
        for field, value in values.items():
            array = np.asarray(value)
            if array.dtype.kind == "f" and array.dtype.itemsize == 8 and subnormal(array):
                found.append(f"{name}/{field}")
    return found


def resting(name, law=""):
    """Return a simulation of a robot without gravity, if asked with another law."""
    try:
        robot = load(name)
    except MissingDependency as missing:
        pytest.skip(str(missing))
    robot.set("option.gravity", "0 0 0")
    if law:
        robot.set("actuator.law", law)
    return Simulation(MujocoEngine(robot, check=False), make_devices(robot))


@pytest.mark.parametrize("name", [n if n in DAY else pytest.param(n, marks=pytest.mark.nightly) for n in NAMES])
def test_a_robot_at_rest_has_no_subnormal_number(name):
    with resting(name) as simulation:
        simulation.start()
        simulation.engine.data.qvel[:] = 1e-300  # as after some minutes
        for _ in range(20):
            simulation.run(0.2)
            assert subnormal_fields(simulation) == []


@pytest.mark.parametrize(("name", "law"), [("qbmove-1dof", ""), ("qbmove-1dof", "sea"), ("qbmove-2dof", "sea")])
def test_without_the_removal_numbers_become_subnormal(name, law):
    for removed in (True, False):
        with resting(name, law) as simulation:
            simulation.start()
            engine = simulation.engine
            engine.data.qvel[:] = 1e-300
            if removed:
                simulation.run(10.0)
            else:
                mujoco.mj_step(engine.model, engine.data, round(10.0 / engine.dt))
            arrays = [getattr(engine.data, name) for name in STATE]
            assert any(subnormal(array) for array in arrays) != removed


def at_rest(name="qbmove-2dof", **options):
    robot = load(name)
    robot.set("option.gravity", "0 0 0")
    return MujocoEngine(robot, **options)


def test_the_state_reaches_zero():
    engine = at_rest("qbmove-1dof")
    engine.data.qvel[:] = 1e-90
    engine.step(64 * 1000)
    state = np.concatenate([engine.data.qpos, engine.data.qvel, engine.data.act])
    assert not ((state != 0.0) & (np.abs(state) < SMALLEST)).any()
    assert (engine.data.qvel == 0.0).all()


@pytest.mark.parametrize("guard", [True, False])
def test_steps_in_one_call_and_in_many_give_the_same_bytes(guard):
    one, many = at_rest(guard=guard), at_rest(guard=guard)
    chunks = np.random.default_rng(3).integers(1, 150, 60)
    for engine in (one, many):
        engine.data.qvel[:] = 1e-95
    one.step(int(chunks.sum()))
    for n in chunks:
        many.step(int(n))
    np.testing.assert_array_equal(one.save(), many.save())


def test_a_batch_at_rest_has_no_subnormal_number():
    robot = load("qbmove-1dof")
    robot.set("option.gravity", "0 0 0")
    batch = CpuBatch(robot, 3)
    batch.field("qvel")[:] = 1e-300
    for _ in range(40):
        batch.step(100)
        assert not any(subnormal(batch.field(name)) for name in ("qpos", "qvel", "act"))
    assert (batch.field("qvel") == 0.0).all()


def test_only_numbers_that_are_practically_zero_are_removed():
    from pliant.laws.compile import bound

    given = np.array([1e-99, -1e-99, 9e-101, -9e-101, 5e-324, 0.0, np.inf, np.nan, 1.0])
    arrays = [given.copy() for _ in range(4)]
    bound(flush_state, arrays[0], 9, arrays[1], 9, arrays[2], 9, arrays[3])()
    expected = np.where(np.abs(given) < SMALLEST, 0.0, given)
    for array in arrays:
        np.testing.assert_array_equal(array, expected)
    assert FLUSH_PERIOD == 64
