"""An action moves the robot, or is refused: every port of every robot of the catalogue, in both environments.

The state after some steps equals that of a plain simulation in which the same number was written to the same port.
"""

import numpy as np
import pytest

from pliant.base.errors import MissingDependency, ModelError, PliantError, PortError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.learn.envs.make import task_of
from pliant.learn.envs.single import RobotEnv
from pliant.learn.envs.task import Action
from pliant.learn.envs.vector import BatchEnv
from pliant.robots import build_robot, list_robots
from pliant.simulation import Simulation

pytest.importorskip("gymnasium")

STEPS = 4
SHIFT = 1e-3
"""Added to the value that the port has at the start, in its unit."""
COMMANDS = ("reference_1", "reference_2", "control", "external_torque")
DAILY = ("qbmove-2dof", "softfoot", "fr3", "2PR", "biped")
ROBOTS = [
    name if name in DAILY else pytest.param(name, marks=pytest.mark.nightly)
    for name in (robot.name for robot in list_robots())
]


class Case:
    """A robot of the catalogue with its command ports, and those that a device of its writes."""

    def __init__(self, name):
        try:
            self.robot = build_robot(name)
        except MissingDependency as missing:
            pytest.skip(str(missing))
        self.simulation = self.made(make_devices(self.robot))
        self.simulation.start()
        engine = self.simulation.engine
        self.ports = [
            port
            for port, info in engine.ports().items()
            if info.writable and info.shape == (1,) and port.rpartition("/")[2] in COMMANDS
        ]
        self.devices = self.simulation.devices.values()
        self.written = {port: device.name for device in self.devices for port in device.written_ports}
        self.free = [port for port in self.ports if port not in self.written]
        self.value = {port: float(engine.port(port)[0]) for port in self.ports}
        self.period = engine.dt * STEPS
        self.environments = (RobotEnv, BatchEnv)

    def made(self, devices):
        return Simulation(MujocoEngine(self.robot.copy()), devices, pacer="free")

    def task(self, ports, **more):
        rest = {"observation": {"time": lambda world: world.time}, "reward": lambda world: 0.0 * world.time}
        actions = [Action(port, self.value[port], self.value[port] + 2.0 * SHIFT) for port in ports]
        return task_of(self.robot.copy(), actions=actions, period=self.period, **rest, **more)

    def expected(self, port, ports, simulation):
        """Return the state of a simulation after an action on one of some ports, or on none."""
        simulation.reset(seed=0)
        for other in ports:
            low, high = self.value[other], self.value[other] + 2.0 * SHIFT  # rounded as an action: rods show it
            simulation.engine.port(other)[0] = 0.5 * (low + high) - (0.0 if other == port else 0.5 * (high - low))
        simulation.step(STEPS)
        return state_of(simulation.engine.port)


def state_of(port):
    return np.concatenate(
        [np.asarray(port(f"state/{part}"), dtype=float).reshape(-1) for part in ("qpos", "qvel", "act")]
    )


def action(ports, port):
    """Return an action that shifts one port and leaves the others at their values at the start."""
    return np.array([0.0 if other == port else -1.0 for other in ports])


@pytest.fixture(scope="module", params=ROBOTS)
def case(request):
    made = Case(request.param)
    yield made
    made.simulation.close()


def test_devices_write_the_ports_that_they_declare_and_no_others(case):
    engine = case.simulation.engine
    case.simulation.reset(seed=1)
    unlike = {port: case.value[port] + 1.2345e-3 for port in case.ports}
    for port, value in unlike.items():
        engine.port(port)[0] = value
    for device in case.devices:
        device.write()
    changed = {port for port, value in unlike.items() if engine.port(port)[0] != value}
    assert changed == set(case.written)


def test_an_action_on_a_port_that_a_device_writes_is_refused_and_the_message_names_the_device(case):
    for port, device in {d: (p, d) for p, d in case.written.items()}.values():  # the last port of each device
        for make in case.environments:
            with pytest.raises(PortError, match=f"'{port}' is written by the device '{device}'") as error:
                make(case.task([port]))
            recommended = str(error.value).partition("a port that no device writes")[2]
            assert not [other for other in case.written if f"'{other}'" in recommended]


def test_a_port_that_does_not_exist_is_never_answered_with_one_that_a_device_writes(case):
    for port in [*case.written][:3]:
        case.value[port + "x"] = 0.0
        with pytest.raises(PortError) as error:
            RobotEnv(case.task([port + "x"]))
        assert f"{port!r}" not in str(error.value).partition(";")[2]


def test_every_free_port_acts_in_the_environment_as_in_a_simulation(case):
    env = RobotEnv(case.task(case.free))
    still = case.expected(None, case.free, case.simulation)
    try:
        for port in case.free:
            env.reset(seed=0)
            env.step(action(case.free, port))
            found, wanted = state_of(env.simulation.engine.port), case.expected(port, case.free, case.simulation)
            np.testing.assert_array_equal(found, wanted, err_msg=port)
            assert (found != still).any(), f"an action on {port} has no effect"
    finally:
        env.close()


def test_every_port_acts_in_the_vector_environment_as_in_a_simulation_without_devices(case):
    try:
        env = BatchEnv(case.task(case.ports, detach=sorted(set(case.written.values()))), len(case.ports))
    except PliantError as refused:  # robots that a batch cannot step say so, before any action
        if "batch" not in str(refused).lower():
            raise
        return
    env.reset(seed=0)
    env.step(np.array([action(case.ports, port) for port in case.ports], dtype=float))
    found = [np.asarray(env.batch.port(f"state/{part}"), dtype=float) for part in ("qpos", "qvel", "act")]
    found = np.concatenate(found, axis=1)
    env.close()
    with case.made([]) as simulation:
        simulation.start()
        still = case.expected(None, case.ports, simulation)
        for k, port in enumerate(case.ports):
            wanted = case.expected(port, case.ports, simulation)
            np.testing.assert_allclose(found[k], wanted, rtol=1e-9, atol=1e-12, err_msg=port)
            assert (wanted != still).any(), f"an action on {port} has no effect"


def test_without_its_device_a_motor_takes_the_action(case):
    if not case.written:
        pytest.skip("no device of this robot writes a port")
    port, device = next(iter(case.written.items()))
    states = []
    for number in (-1.0, 1.0):
        env = RobotEnv(case.task([port], detach=[device]))
        env.reset(seed=0)
        env.step(np.array([number]))
        assert device not in env.simulation.devices
        states.append(state_of(env.simulation.engine.port))
        env.close()
    assert (states[0] != states[1]).any()


def test_a_device_to_detach_that_does_not_exist_is_refused(case):
    for make in case.environments:
        with pytest.raises(ModelError, match="detach: the robot has no device 'arn'"):
            make(case.task(case.ports[:1], detach=["arn"]))
