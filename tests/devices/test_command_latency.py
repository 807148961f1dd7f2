"""A latency of the commands shifts the response by itself: every command of every device, and every port of an action.

A run in which a command is put at time 0 and takes 20 ms equals bit for bit a run without latency in which it is put
after 20 ms.
"""

import mujoco
import numpy as np
import pytest
from native_actuators import continuum_robot, model_of

from pliant.base.errors import DeviceError, MissingDependency
from pliant.devices import DeviceBase, device_for, make_devices
from pliant.devices.kinds import _FACTORIES, devices_of
from pliant.engine import MujocoEngine
from pliant.learn.envs.make import task_of
from pliant.learn.envs.single import RobotEnv
from pliant.learn.envs.task import Action
from pliant.model import Robot
from pliant.robots import build_robot, list_robots
from pliant.simulation import Simulation

LATENCY = 0.02
"""A whole multiple of the step and of the period of every device [s]."""
AFTER = 10
"""Steps after the arrival of the command."""
DAILY = ("softfoot", "softfoot-bench", "2PR", "biped", "sea-1dof", "qbmove-2dof")
CATALOGUE = [
    name if name in DAILY else pytest.param(name, marks=pytest.mark.nightly)
    for name in (robot.name for robot in list_robots())
]
NATIVE = {
    "cables": continuum_robot,
    "lengths of cables": lambda: continuum_robot("position"),
    "several controls": lambda: model_of("hinge", "pid"),
    "muscle": lambda: model_of("spatial tendon", "muscle"),
}


def robot_of(name):
    if name in NATIVE:
        return Robot(mujoco.MjSpec.from_string(NATIVE[name]()))
    try:
        return build_robot(name)
    except MissingDependency as missing:
        pytest.skip(str(missing))


def state_of(engine):
    return np.concatenate([engine.port(f"state/{part}").reshape(-1) for part in ("qpos", "qvel", "act")])


def simulation_of(robot, latency):
    return Simulation(MujocoEngine(robot.copy()), make_devices(robot, command_latency=latency), pacer="free")


def number_in(info):
    """Return a small command within the range of a field."""
    low, high = (np.broadcast_to(limit, info.shape or (1,)) for limit in (info.low, info.high))
    value = np.clip(0.05, np.maximum(low, -1.0) + 1e-3, np.minimum(high, 1.0) - 1e-3)
    return value if info.shape else float(value[0])


def run(simulation, device, mode, values, at):
    """Return the states of a run in which a command is put before a step."""
    simulation.reset(seed=0)
    seen = []
    for k in range(round(LATENCY / simulation.engine.dt) + AFTER):
        if k == at:
            simulation.devices[device].inbox.put(values, mode=mode)
        simulation.step()
        seen.append(state_of(simulation.engine))
    return np.array(seen)


@pytest.mark.parametrize("name", [*NATIVE, *CATALOGUE])
def test_the_latency_of_a_command_shifts_the_response_of_every_device(name):
    robot = robot_of(name)
    moved = 0
    with simulation_of(robot, 0.0) as prompt, simulation_of(robot, LATENCY) as late:
        prompt.start()
        late.start()
        at = round(LATENCY / prompt.engine.dt)
        still = run(prompt, "", "", {}, -1)
        for device in prompt.devices.values():
            for mode in device.inbox.accepted:
                for field, info in device.commands[mode].items():
                    values = {field: number_in(info)}
                    wanted = run(prompt, device.name, mode, values, at)
                    found = run(late, device.name, mode, values, 0)
                    np.testing.assert_array_equal(found, wanted, err_msg=f"{device.name} {mode} {field}")
                    moved += not np.array_equal(wanted, still)
        takes = any(device.inbox.accepted for device in prompt.devices.values())
    assert moved or not takes


@pytest.mark.parametrize("name", [*NATIVE, "sea-1dof", "qbmove-2dof"])
@pytest.mark.parametrize("latency", [0.0, 0.003, 0.03])
def test_the_latency_of_an_action_shifts_the_response_of_every_port(name, latency):
    pytest.importorskip("gymnasium")
    robot = robot_of(name)
    engine = MujocoEngine(robot.copy())
    written = {port for device in make_devices(robot) for port in device.written_ports}
    ports = [
        port for port, info in engine.ports().items()
        if info.writable and info.shape == (1,) and port not in written
        and port.rpartition("/")[2] in ("reference_1", "reference_2", "control", "external_torque")
    ]  # fmt: skip
    steps = round(0.02 / engine.dt)
    rest = {"observation": {"time": lambda world: world.time}, "reward": lambda world: 0.0 * world.time}
    for port in ports:
        info = engine.ports()[port]
        low = max(info.low, -0.1)
        task = task_of(robot.copy(), actions=[Action(port, low, min(info.high, 0.1))], period=0.02, **rest)
        env = RobotEnv(task, command_latency=latency)
        with Simulation(engine, make_devices(robot, joint_sample_period=engine.dt), pacer="free") as prompt:
            prompt.start()
            env.reset(seed=0)
            prompt.reset(seed=0)
            delay = int(np.ceil(round(latency / engine.dt, 6)))
            for k in range(3 * steps):
                if k >= delay and (k - delay) % steps == 0:
                    prompt.engine.port(port)[0] = (low, min(info.high, 0.1))[(k - delay) // steps % 2]
                prompt.step()
                if (k + 1) % steps == 0:
                    env.step(np.array([(-1.0, 1.0)[k // steps % 2]]))
                    np.testing.assert_array_equal(
                        state_of(env.simulation.engine), state_of(prompt.engine), err_msg=f"{port} at step {k}"
                    )
        env.close()
        engine = MujocoEngine(robot.copy())
    assert ports


def test_a_reset_forgets_actions_on_their_way():
    pytest.importorskip("gymnasium")
    robot = robot_of("cables")
    rest = {"observation": {"time": lambda world: world.time}, "reward": lambda world: 0.0 * world.time}
    task = task_of(robot, actions=[Action("pull_0/control", -10.0, 0.0)], period=0.01, **rest)
    env = RobotEnv(task, command_latency=0.02)
    try:
        env.reset(seed=0)
        env.step(np.array([-1.0]))
        env.reset(seed=0)
        env.step(np.array([1.0]))
        env.step(np.array([1.0]))
        env.step(np.array([1.0]))
        assert env.simulation.engine.port("pull_0/control")[0] == 0.0
    finally:
        env.close()


def test_the_function_of_a_device_that_takes_no_latency_is_refused_with_the_remedy(monkeypatch):
    class Described:
        pass

    monkeypatch.setattr("pliant.devices.kinds._FACTORIES", dict(_FACTORIES))

    @device_for(Described)
    def make(description, robot):
        return DeviceBase("lamp", samples={})

    assert [device.name for device in devices_of(Described(), None, {"command_latency": 0.0})] == ["lamp"]
    with pytest.raises(DeviceError, match=r"Described.* takes none of command_latency; let its function take \*\*opti"):
        devices_of(Described(), None, {"command_latency": 0.1})
