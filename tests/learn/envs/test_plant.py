"""With every latency, `RobotEnv` and `BatchEnv` observe and do the same: each device of each robot of the catalogue."""

import daily
import numpy as np
import pytest

from pliant.base.errors import MissingDependency, PliantError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.learn.envs.make import task_of
from pliant.learn.envs.plant import commanded_channels
from pliant.learn.envs.single import RobotEnv
from pliant.learn.envs.task import Action
from pliant.learn.envs.vector import BatchEnv
from pliant.robots import build_robot, list_robots

pytest.importorskip("gymnasium")

LATENCIES = ((0.0, 0.003), (0.003, 0.025), (0.025, 0.0))
"""Of samples and of commands [s]: none, a part of a period, and more than one; the period is 10 ms."""
PERIOD = 0.01
DAILY = ("franka", "2PR", "qbmove-2dof")
ROBOTS = [
    name if name in DAILY else pytest.param(name, marks=pytest.mark.nightly)
    for name in (robot.name for robot in list_robots())
]
ARM = {"dq_c": 0.4, "O_dP_EE_c": 0.05, "tau_J_d": 1.0}
"""What a program can hold on a Franka arm: field -> its largest value in its unit."""


def commands_of(device):
    """Return an action of each field that a device takes, within the range of the field and about 0."""
    if "franka_arm" in device.signatures:
        fields = {field: (-most, most) for field, most in ARM.items()}
        return [Action(f"{device.name}/{field}[1]", *limits) for field, limits in fields.items()]
    made = []
    for mode in device.inbox.accepted:
        for field, info in device.commands[mode].items():
            if device.command_ports and field not in device.command_ports:
                continue
            low, high = (float(np.broadcast_to(limit, info.shape or (1,)).flat[0]) for limit in (info.low, info.high))
            low, high = max(low, -0.05), min(high, 0.05)
            if low < high:
                made.append(Action(f"{device.name}/{field}" + ("[0]" if info.shape else ""), low, high))
    return made


def finite(values):
    """Return an array with zeros in place of what is not a number."""
    return np.where(np.isfinite(values), values, 0.0)


def observation_of(devices, ports):
    """Return every number that the devices measure, or those of them that are ports, and what no device measures."""
    names = [f"{d.name}/{field}" for d in devices for field, info in d.samples.items() if info.size < 1000]
    names = [name for name in names if ports is None or name in ports]
    if not names:
        return {}
    return {
        "action": lambda world: world.action,
        "time": lambda world: world.time,
        **{
            name: (lambda world, name=name: finite(world.port(name).reshape(world.worlds, -1)))
            for name in [*names, "state/qpos", "state/qvel"]
        },
    }


def run(env, many):
    """Return what an environment observes in two episodes, with the same actions."""
    rng, seen = np.random.default_rng(2), []
    for _ in range(2):
        seen.append(env.reset(seed=1)[0])
        for _ in range(6):
            action = rng.choice([-0.8, 0.8], env.action_space.shape[-1])
            observed, _, terminated, *_, info = env.step(np.tile(action, (many, 1)) if many else action)
            assert not np.any(terminated), info
            seen.append(observed)
    return np.array([row[0] if many else row for row in seen])


@pytest.mark.parametrize("name", ROBOTS)
def test_both_environments_observe_the_same_with_every_latency(name):
    try:
        robot = build_robot(name)
    except MissingDependency as missing:
        pytest.skip(str(missing))
    devices = make_devices(robot)
    compared = 0
    for k, action in enumerate(action for device in devices for action in commands_of(device)):
        rest = {"reward": lambda world: 0.0 * world.time, "observation": {"time": lambda world: world.time}}
        task = task_of(robot.copy(), actions=[action], period=PERIOD, **rest)
        firmware = not all(channel.port for channel in commanded_channels(robot, task))
        # Without a firmware a batch has no devices, but the ports that they measure.
        rest["observation"] = observation_of(devices, None if firmware else MujocoEngine(robot.copy()).ports())
        if not rest["observation"]:
            continue
        shown = {}
        for latency, command_latency in LATENCIES if daily.night else (LATENCIES[0], LATENCIES[1 + k % 2]):
            task = task_of(robot.copy(), actions=[action], period=PERIOD, duration=1.0, **rest)
            delays = {"latency": latency, "command_latency": command_latency}
            try:
                many = BatchEnv(task, 2, **delays)
            except PliantError as refused:  # robots that a batch cannot step say so, before any action
                if "batch" not in str(refused).lower():
                    raise
                break
            one = RobotEnv(task, **delays)
            try:
                near, far = run(one, 0), run(many, 2)
            finally:
                one.close()
                many.close()
            message, atol = f"{action.command} {delays}", 0.0 if firmware else 1e-6  # of kernels for many worlds
            np.testing.assert_allclose(near, far, rtol=0.0, atol=atol, err_msg=message)
            shown[latency] = near
            compared += 1
        for latency, near in shown.items():
            assert latency == 0.0 or not np.array_equal(near, shown[0.0]), (
                f"{action.command}: {latency} s change nothing"
            )
    if not compared:
        pytest.skip("no batch of this robot has a command and an observation of its devices")
