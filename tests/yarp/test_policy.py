"""A policy over YARP: a joint and a control board follow the batch in which the policy was trained, and refusals."""

import contextlib
import dataclasses
import subprocess
import sys
import threading

import mujoco
import numpy as np
import pytest
from fuzz import until
from policy_runs import in_a_batch, killed_in_the_middle, stepped_over_a_bridge
from yarp_simulation import TWO_JOINTS, bench
from yarp_world import answers_of, recorded, yarp_world

from pliant.base.errors import BridgeError
from pliant.control_boards.description import add_control_boards
from pliant.control_boards.layout import REFERENCES
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.learn.envs.export import export_policy
from pliant.learn.envs.make import task_of
from pliant.learn.envs.task import Action
from pliant.learn.policy import Policy, PolicyError
from pliant.learn.running import PolicyRun, Safety, run_policy
from pliant.model import Robot
from pliant.robots import build_robot
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge
from pliant.yarp.bridge.nameserver import NameServer
from pliant.yarp.client import YarpNetwork
from pliant.yarp.policy import YarpDevices
from pliant.yarp.wire import Framer, Hello, Vocab, bottle, control_board, control_board_v3, decode_bottle, encode_bottle
from pliant.yarp.wire.joints import CONTROL_MODES, JointState, StreamCommand

pytest.importorskip("gymnasium")
pytestmark = pytest.mark.network
CASES = {
    "joint": (
        lambda: build_robot("qbmove-1dof", {"mounting": "hanging"}),
        [Action("joint/equilibrium_position", -1.0, 1.0), Action("joint/stiffness_preset", 0.0, 0.5)],
        ["joint/position", "joint/velocity"],
        [[-0.8, -0.02, 0.6], [0.4, 0.0, -0.2]],
    ),
    "board": (
        bench,
        [Action(f"arm/position_direct[{i}]", -0.8, 0.8) for i in range(2)],
        ["arm/position[0]", "arm/position[1]"],
        [[-0.3, 0.1, 0.5], [0.2, -0.3, -0.6]],
    ),
}
"""Robot, actions, observations and weights; one message carries the commands."""


def case(name):
    robot, actions, seen, weights = CASES[name]

    def observed(world):
        return np.concatenate([world.port(port) for port in dict.fromkeys(s.partition("[")[0] for s in seen)], axis=1)

    task = task_of(
        robot, actions=actions, period=0.05, observation={"seen": observed}, reward=lambda world: 0.0 * world.time
    )
    return task, export_policy(task, np.array(weights), seen)


@contextlib.contextmanager
def served(robot, policy, name="r", dialect=3):
    """Serve a robot, stepped by the test, with the policy's ports."""
    bridge = make_bridge("yarp:server=127.0.0.1:0,name=r,period=0", robot)
    devices = make_devices(robot, joint_sample_period=float(robot.spec.option.timestep))
    simulation = Simulation(MujocoEngine(robot), devices, [bridge], pacer="free")
    simulation.start()
    interface = YarpDevices(policy, server=str(bridge.server.address), name=name, dialect=dialect)
    try:
        yield simulation, interface
    finally:
        interface.stop()
        simulation.close()


def opened(simulation, interface):
    """Open the policy's ports: the control mode is switched by a call, which the loop answers."""
    faults = []

    def work():
        try:
            interface.start()
        except Exception as error:
            faults.append(error)

    thread = threading.Thread(target=work, name="opening")
    thread.start()
    while thread.is_alive():
        simulation.step(1)
        thread.join(0.001)
    if faults:
        raise faults[0]


@pytest.mark.parametrize(("name", "dialect"), [(name, dialect) for name in CASES for dialect in (3, 4)])
def test_a_policy_over_yarp_follows_the_batch_in_which_it_was_trained(name, dialect):
    task, policy = case(name)
    expected = in_a_batch(task, lambda row, k: policy.act(row), policy)
    with served(task.robot(), policy, dialect=dialect) as (simulation, interface):
        opened(simulation, interface)
        simulation.step(1)
        while simulation.time_ns % 10_000_000:  # the firmware of a board runs every 10 ms
            simulation.step(1)

        def newest(simulation):
            found = []
            for wanted in policy.measured:
                device, _, field = wanted.rpartition("/")
                field, _, index = field.rstrip("]").partition("[")
                value = simulation.sample(device).values[field]
                found.append(value[int(index)] if index else value)
            return found

        run = PolicyRun(policy, interface, {}, safety=Safety(timeout=60.0))
        run_steps = round(task.period / simulation.engine.dt)
        found = stepped_over_a_bridge(simulation, run, interface, newest, run_steps, 1)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert np.abs(expected[-1] - expected[0]).max() > 0.05  # it moved


TAKEN = {
    "position": "position_target",
    "position_direct": "position_reference",
    "velocity": "velocity_target",
    "velocity_direct": "velocity_target",
    "torque": "torque_reference",
    "current": "current_reference",
    "pwm": "duty_reference",
}
"""Command of a board -> the quantity of its axes that shows it."""
ONE = {"low": [-1.0], "high": [1.0], "mean": [0.0], "scale": [1.0], "layers": ((np.zeros((1, 1)), [0.0]),)}


def policy_of(commands):
    n = len(commands)
    return Policy(
        robot="bench", period=0.1, observations=("arm/position[0]",), commands=commands, mean=[0.0], scale=[1.0],
        low=[-1.0] * n, high=[1.0] * n, layers=((np.zeros((n, 1)), [0.0] * n),),
    )  # fmt: skip


def heard(simulation, *names):
    """Return the lists to which the ports of the simulation's bridge add what arrives, by the names of the ports."""
    found = {name: [] for name in names}
    (bridge,) = simulation.bridges.values()
    for port in (port for port in bridge.network.ports if port.name in found):

        def take(arrival, name=port.name, on_data=port.on_data):
            found[name].append(arrival.payload)
            return on_data(arrival)

        port.on_data = take
    return found


@pytest.mark.parametrize("dialect", [3, 4])
@pytest.mark.parametrize("kind", REFERENCES)
def test_a_policy_commands_every_reference_of_a_board_in_its_control_mode(kind, dialect):
    ports = {3: "/r/arm/rpc:i", 4: "/r/arm/nws/rpc:i"}
    policy = policy_of((f"arm/{kind}[1]", f"arm/{kind}[0]"))
    with served(bench(), policy, dialect=dialect) as (simulation, interface):
        messages = heard(simulation, "/r/arm/command:i", *ports.values())
        opened(simulation, interface)
        interface.send(np.array([0.02, -0.03]))
        board = simulation.devices["arm"]

        def taken():
            simulation.step(1)
            return board.read_row(TAKEN[kind]) == pytest.approx([-0.03, 0.02])  # pwm has a message for each axis

        until(taken, f"the {kind} command at the board")
        assert board.modes_now() == (kind, kind)
        spoken = 4 if kind == "velocity_direct" else dialect  # YARP 3 has no such mode
        assert [len(messages[ports[d]]) for d in (spoken, 7 - spoken)] == [4, 0]  # types and modes
        for payload in messages["/r/arm/command:i"]:
            command = decode_bottle(payload, spoken)
            assert command == StreamCommand.decode(command, 2).encode(spoken)


@pytest.mark.parametrize("dialect", [3, 4])
def test_prismatic_axes_are_read_and_commanded_in_metres(dialect):
    text = TWO_JOINTS.replace('name="elbow" axis="0 1 0"', 'name="elbow" type="slide" axis="1 0 0"')
    robot = add_control_boards(Robot(mujoco.MjSpec.from_string(text)), {"arm": ("shoulder", "elbow")})
    policy = dataclasses.replace(
        policy_of(("arm/position_direct[0]", "arm/position_direct[1]")),
        observations=("arm/position[0]", "arm/position[1]"), mean=[0.0, 0.0], scale=[1.0, 1.0],
        layers=((np.zeros((2, 2)), [0.0, 0.0]),),
    )  # fmt: skip
    with served(robot, policy, dialect=dialect) as (simulation, interface):
        opened(simulation, interface)
        interface.send(np.array([0.3, 0.2]))
        board = simulation.devices["arm"]

        def taken():
            simulation.step(1)
            return board.read_row("position_reference") == pytest.approx([0.3, 0.2])

        until(taken, "the command at the board")
        simulation.step(300)
        position = simulation.sample("arm").values["position"]
        assert np.abs(position).min() > 0.02
        interface.wait(20.0)
        until(lambda: interface.observe()[0] == pytest.approx(position), "the newest state")


class StockBoard:
    """The ports of a control board of three axes of YARP 3 or 4 alone, which answer and refuse as that does.

    Args:
        network: opens the ports.
        dialect: 3 or 4.
        state: bytes of its state; None for zeros.
        calls: whether there is a port for calls.
    """

    def __init__(self, network, dialect, state=None, *, calls=True):
        self.dialect, self.modes, self.commands, self.administer = dialect, {}, [], answers_of(dialect)
        zeros = JointState(joint_position=(0.0, 0.0, 0.0)).encode(dialect, 3)
        port = network.open("/r/arm/stateExt:o", latch=True, administer=self.administer)
        port.write(lambda _: state or encode_bottle(zeros, dialect), "1 0.5")
        network.open("/r/arm/command:i", output=False, on_data=self.command, administer=self.administer)
        if calls:
            name = "/r/arm/nws/rpc:i" if dialect == 4 else "/r/arm/rpc:i"
            network.open(name, output=False, is_rpc=True, on_data=self.call, administer=self.administer)

    def call(self, arrival):
        """Take control modes, and tell that the axes are revolute."""
        wire = control_board if self.dialect == 4 else control_board_v3
        request = decode_bottle(arrival.payload, self.dialect)
        name, (axis, *mode) = wire.decode_request(request)
        assert name in ("setControlModeOneRPC", "set icmd cmod", "getJointTypeRPC", "get type")
        if mode:
            self.modes[axis] = mode[0].name
        types = () if mode else (Vocab.of("atrv"),)
        reply = wire.encode_reply(name if self.dialect == 4 else request, *types)
        return encode_bottle(reply, self.dialect)

    def command(self, arrival):
        """Keep the bytes of a command."""
        self.commands.append(arrival.payload)


def recorded_payloads(scene, stream):
    """Return the payloads that the client of a recorded stream has sent."""
    sent, _ = recorded(scene)[stream]
    _, end = Hello.read(sent)
    return [message.payload for message in Framer().feed(sent[end:]) if message.payload]


STREAMS = {
    3: ("v3_14_controlboard", "224_to10020", "230_to10031"),
    4: ("v4_04_controlboard", "091_to10020", "155_to10017"),
}
"""Dialect -> the recorded scene, and its streams of commands and of states."""
RECORDED = {
    "torque": (0.25, 1.25),
    "current": (0.25, 1.25),
    "position_direct": np.radians((0.25, 1.25)),
    "velocity": np.radians((0.25, 1.25)),
}
"""Command of a board -> values of axes 0 and 2 for which both clients were recorded."""


@pytest.mark.shared
@pytest.mark.parametrize("dialect", [3, 4])
def test_a_policy_reads_and_writes_the_bytes_that_clients_and_boards_of_either_yarp_do(dialect):
    scene, commands, states = STREAMS[dialect]
    references = {**RECORDED, "velocity_direct": np.radians((1.0, 2.0))} if dialect == 4 else RECORDED
    policy = dataclasses.replace(
        policy_of(tuple(f"arm/{kind}[{axis}]" for kind in references for axis in (0, 2))),
        observations=("arm/position[1]",),
    )
    with yarp_world() as (server, _, network):
        board = StockBoard(network, dialect, recorded_payloads(scene, states)[-1])
        with YarpDevices(policy, server=str(server.address), name="r") as interface:
            interface.wait(20.0)
            assert interface.observe()[0] == pytest.approx(np.radians(2.5))
            last = CONTROL_MODES[list(references)[-1]]
            assert board.modes == {0: last, 2: last}
            interface.send(np.concatenate([*references.values()]))
            until(lambda: len(board.commands) == len(references), "the commands")
            known = recorded_payloads(scene, commands)
            for payload in board.commands:
                command = decode_bottle(payload, dialect)
                alike = [k for k in known if decode_bottle(k, dialect)[0] == command[0]]
                values = [list(decode_bottle(p, dialect)[1].items) for p in (payload, alike[0])]
                assert values[0] == pytest.approx(values[1], rel=1e-15)
                assert (len(alike), len(payload), payload[:-16]) == (1, len(alike[0]), alike[0][:-16])


@pytest.mark.parametrize("dialect", [3, 4])
def test_a_device_with_fields_gets_its_command_in_the_dialect_of_its_port(dialect):
    policy = Policy(robot="r", period=0.1, observations=("joint/position",), commands=("joint/position",), **ONE)
    with yarp_world() as (server, _, network):
        board = StockBoard(network, dialect, calls=False)
        state = network.open("/r/joint/state:o", latch=True)
        state.write_bottle(bottle(bottle("position", 0.25)))
        network.open("/r/joint/command:i", output=False, on_data=board.command, administer=board.administer)
        with YarpDevices(policy, server=str(server.address), name="r") as interface:
            interface.wait(20.0)
            interface.send(np.array([0.5]))
            until(lambda: board.commands, "the command")
        assert decode_bottle(board.commands[0], dialect) == bottle(bottle("position", 0.5))


@pytest.mark.parametrize(
    ("dialect", "calls", "kind", "words"),
    [
        (
            3,
            True,
            "velocity_direct",
            "velocity_direct is a command of YARP 4, and /r/arm is a control board of YARP 3",
        ),
        (3, False, "torque", r"/r/arm answers neither at /r/arm/rpc:i \(YARP 3\) nor at /r/arm/nws/rpc:i \(YARP 4\)"),
    ],
)
def test_a_board_without_the_calls_that_a_policy_needs_is_refused(dialect, calls, kind, words):
    with yarp_world() as (server, _, network):
        board = StockBoard(network, dialect, calls=calls)
        interface = YarpDevices(policy_of((f"arm/{kind}[0]",)), server=str(server.address), name="r")
        with pytest.raises((BridgeError, PolicyError), match=words), interface:
            pass
        assert not board.modes


def test_a_policy_that_moves_some_axes_by_a_command_for_all_is_refused():
    with served(bench(), policy_of(("arm/position[1]",))) as (simulation, interface):
        opened(simulation, interface)
        with pytest.raises(PolicyError, match=r"commands the axes \[1\] of arm/position; must be all, from 0"):
            interface.send(np.array([0.1]))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"observations": ("arm/nothing[0]",)}, r"/r/arm/stateExt:o does not have nothing\[0\]"),
        ({"observations": ("arm/position[7]",)}, r"does not have position\[7\]"),
        ({"commands": ("arm/warp[0]",)}, "no command arm/warp"),
        ({"commands": ("other/velocity[0]",)}, "/r/other"),
    ],
)
def test_what_a_robot_on_yarp_does_not_have_is_refused_by_name(changes, words):
    given = {"observations": ("arm/position[0]",), "commands": ("arm/velocity[0]",), **changes}
    policy = Policy(robot="bench", period=0.1, **given, **ONE)
    robot = bench()

    def open_and_wait(simulation, interface):
        opened(simulation, interface)
        simulation.step(20)
        interface.wait(5.0)

    with served(robot, policy) as (simulation, interface), pytest.raises((BridgeError, PolicyError), match=words):
        open_and_wait(simulation, interface)


@pytest.mark.parametrize("round_", [0, *(pytest.param(k, marks=pytest.mark.nightly) for k in range(1, 20))])
def test_a_robot_that_is_killed_in_the_middle_ends_the_policy_with_an_error(round_):
    _, policy = case("joint")
    command = [sys.executable, "-m", "pliant", "run", "qbmove-1dof", "--set", "robot.mounting=hanging"]
    with NameServer(port=0) as server:
        address = str(server.address)
        with subprocess.Popen(
            [*command, "--bridge", f"yarp:server={address},name=r", "--duration", "120"], stdout=subprocess.DEVNULL
        ) as robot:
            try:
                with YarpNetwork(address, timeout=5.0) as network:
                    until(lambda: network.exists("/r/joint/command:i"), "the robot", 60.0)
                with YarpDevices(policy, server=address, name="r") as interface:
                    run = PolicyRun(policy, interface, {}, Safety(timeout=1.0))
                    stopped = pytest.raises(BridgeError, match="the policy stopped: the last message of a joint is")
                    with killed_in_the_middle(run, robot), stopped:
                        run_policy(run, duration=60.0)
            finally:
                robot.kill()
