"""Robots whose model changes while they run: all that steps or stores the compiled model alone refuses them."""

import mujoco
import numpy as np
import pytest

from pliant import CpuBatch, load
from pliant.base.errors import MissingDependency, ModelError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine, make_batch
from pliant.formats.export import describe_urdf
from pliant.formats.export.mjcf import describe_mjcf
from pliant.learn import make_vec
from pliant.learn.envs.task import Action
from pliant.learn.warp import WarpBatch
from pliant.model.varying import variation_of
from pliant.robots import list_robots
from pliant.simulation import Simulation
from pliant.sweep import SweepPlan, parse_variation, run_sweep

ALL = [robot.name for robot in list_robots()]
EXTENSIBLE = {
    "3ER": ["limb1", "limb2", "limb3"],
    "RERRFR": ["limb3"],
    "Stewart_Gough_6EFR": [f"limb{i}" for i in range(1, 7)],
    "Stewart_Gough_6FFR_Till": [f"limb{i}" for i in range(1, 7)],
}


def robot_of(name):
    try:
        return load(name)
    except MissingDependency as missing:
        pytest.skip(str(missing))


def constants(model):
    buffer = np.zeros(mujoco.mj_sizeModel(model), dtype=np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()


def warp(robot):
    pytest.importorskip("mujoco_warp", reason="MuJoCo Warp is not installed: pip install 'pliant[warp]'")
    WarpBatch(robot, 2)


def environment(robot):
    action = Action(f"{robot.spec.actuators[0].name}/control", -1.0, 1.0)
    make_vec(
        robot, 2, actions=[action], observation={"q": lambda w: w.port("body/plate/position")}, reward=lambda w: 0.0
    )


USERS = {
    "CpuBatch": lambda robot: CpuBatch(robot, 2),
    "CpuBatch of a model": lambda robot: CpuBatch(robot.compile(), 2),
    "make_batch": lambda robot: make_batch(robot, 2),
    "make_batch of a model": lambda robot: make_batch(robot.compile(), 2),
    "engine of a model": lambda robot: MujocoEngine(robot.compile()),
    "WarpBatch": warp,
    "environments": environment,
    "MJCF": describe_mjcf,
    "URDF": describe_urdf,
}


@pytest.mark.parametrize("name", ALL)
def test_a_robot_says_whether_its_devices_change_the_model(name):
    robot = robot_of(name)
    engine = MujocoEngine(robot, check=False)
    devices = make_devices(robot)
    with Simulation(engine, devices, pacer="free") as simulation:
        before = constants(engine.model)
        engine.data.ctrl[:] += 0.01
        engine.data.qvel[:] += 0.01
        simulation.run(0.05)
        assert (constants(engine.model) != before) == bool(variation_of(robot)) == (name in EXTENSIBLE)


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("name", EXTENSIBLE)
def test_what_has_no_devices_refuses_limbs_that_change_their_length(name, user):
    with pytest.raises(ModelError) as refused:
        USERS[user](load(name))
    said = str(refused.value)
    assert f"the extensible limbs ({', '.join(EXTENSIBLE[name])}) change the length of their rods" in said
    assert "use a Simulation with the robot's devices (pliant run, RobotEnv) instead" in said


@pytest.mark.parametrize("name", EXTENSIBLE)
def test_a_sweep_runs_them_with_their_device(name):
    plan = SweepPlan(source=name, variations=(parse_variation("option.gravity=0 0 -9.81,0 0 -5"),), duration=0.03)
    result = run_sweep(plan)
    for row, point in zip(result.rows, plan.points(), strict=True):
        robot = load(name).update(point)
        with Simulation(MujocoEngine(robot, check=False), make_devices(robot), pacer="free") as simulation:
            simulation.step(round(0.03 / robot.timestep))
            pose = simulation.sample("cpr").values["pose"]
        found = dict(zip(result.columns, row, strict=True))
        assert [found[f"cpr/pose[{i}]/final"] for i in range(len(pose))] == pose.tolist()
    assert result.rows[0][2:] != result.rows[1][2:]


def test_a_batch_of_a_robot_of_constant_limbs_is_made_as_before():
    batch = CpuBatch(load("2PR"), 2)
    batch.step(10)
    assert not batch.diverged.any()
