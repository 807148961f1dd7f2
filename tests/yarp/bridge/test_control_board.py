"""Parts that join axes of several boards, or show some of one, at the ports of both dialects."""

import dataclasses
import itertools

import mujoco
import numpy as np
import pytest
from fuzz import until
from yarp_simulation import TWO_JOINTS, served

from pliant.control_boards.description import add_control_boards
from pliant.devices import make_devices
from pliant.devices.base import Sample
from pliant.engine import MujocoEngine
from pliant.model import Robot
from pliant.recording import read_recording
from pliant.simulation import Simulation
from pliant.yarp.bridge.control_board import _axes_of, _slides
from pliant.yarp.client import YarpNetwork
from pliant.yarp.model.services import AxisReference, ControlBoardServer, YarpInterface
from pliant.yarp.wire import Bottle, Vocab, bottle, parse_bottle
from pliant.yarp.wire.joints import JointState, StreamCommand
from pliant.yarp.wire.values import OK

pytestmark = pytest.mark.network

PARTS = {"/r/all": (("fore", 0), ("arm", 0)), "/r/fore": (("fore", 0),)}


def two_boards():
    """Return a robot with a board for each of its two joints, and parts in front of them."""
    robot = Robot(mujoco.MjSpec.from_string(TWO_JOINTS))
    add_control_boards(robot, {"arm": ("shoulder",), "fore": ("elbow",)})
    servers = tuple(
        ControlBoardServer(name=port[3:], port=port, period=0.01, axes=tuple(AxisReference(*a) for a in axes))
        for port, axes in PARTS.items()
    )
    robot.interface = dataclasses.replace(
        robot.interface, extensions={"yarp": YarpInterface(robot="r", servers=servers)}
    )
    return robot


@pytest.mark.parametrize("slides", list(itertools.product([False, True], repeat=2)))
def test_a_recorded_board_has_degrees_and_metres_of_the_axes_that_turn_and_slide(tmp_path, slides):
    robot = Robot(mujoco.MjSpec.from_string(TWO_JOINTS))
    for joint, slide in zip(("shoulder", "elbow"), slides):
        robot.spec.joint(joint).type = mujoco.mjtJoint.mjJNT_SLIDE if slide else mujoco.mjtJoint.mjJNT_HINGE
    add_control_boards(robot, {"arm": ("shoulder", "elbow")})
    with Simulation(MujocoEngine(robot), make_devices(robot), recorder=tmp_path / "run.mcap") as simulation:
        simulation.run(0.02)
        live = _slides(simulation.devices["arm"])
    assert list(_slides(read_recording(tmp_path / "run.mcap").devices["arm"])) == list(live) == list(slides)


@pytest.mark.parametrize("dialect", [3, 4])
def test_a_part_of_two_boards_is_moved_and_seen_in_its_own_order(dialect):
    with served(two_boards()) as world:
        names = {port.name for port, _, _ in world.bridge.served.ports}
        assert {n.rpartition("/")[0] for n in names if n.endswith(":o")} == set(PARTS)
        with YarpNetwork(str(world.yarp.names.address), dialect=dialect) as client:
            rpc = {3: "/r/all/rpc:i", 4: "/r/all/nws/rpc:i"}[dialect]
            caller = client.open_output({3: "/c/rpc:o", 4: "/c/nwc/rpc:o"}[dialect])
            client.connect(caller.name, rpc)
            stream = client.open_output("/c/command:o")
            client.connect(stream.name, "/r/all/command:i")
            reader = client.open_input("/c/stateExt:i", strict=False)
            client.connect("/r/all/stateExt:o", reader.name)
            if dialect == 3:
                assert client.rpc(rpc, parse_bottle("[get] [name] 0")).items[2] == "elbow"
                request = parse_bottle("[set] [icmd] [cmds] ([posd] [posd])")
            else:
                assert client.rpc(rpc, Bottle(("getAxisNameRPC", 0), layout="tagged")) == bottle((OK,), "elbow")
                modes = Bottle((Vocab.of("posd").code,) * 2)
                request = Bottle(("setControlModeAllRPC", modes), layout="tagged")
            assert client.rpc(rpc, request) in (bottle(OK), bottle((OK,)))
            stream.write_bottle(StreamCommand(quantity="position_direct", values=(5.0, -3.0)).encode(dialect))

            def there():
                message = reader.read()
                assert message.dialect == dialect
                position = JointState.decode(message.content).joint_position
                return np.abs(np.array(position) - (5.0, -3.0)).max() < 2.0

            until(there, "elbow and shoulder near their references [deg]")
            fore = client.open_input("/c/fore/state:i", strict=False)
            client.connect("/r/fore/state:o", fore.name)
            until(lambda: abs(fore.read().content[0] - 5.0) < 2.0, "the elbow alone")


@pytest.mark.parametrize("dialect", [3, 4])
def test_calls_of_either_port_take_floats_of_both_dialects(dialect):
    requests = {
        "/r/all/rpc:i": ("[set] [vel] 0 12.5", "[get] [vel] 0", 2),
        "/r/all/nws/rpc:i": ("setTrajSpeedOneRPC 0 17.5", "getTrajSpeedOneRPC 0", 1),
    }
    with (
        served(two_boards()) as world,
        YarpNetwork(str(world.yarp.names.address), dialect=dialect) as client,
    ):
        for port, (change, read, at) in requests.items():
            assert client.rpc(port, parse_bottle(change)) in (bottle(OK), bottle((OK,)))
            assert client.rpc(port, parse_bottle(read))[at] == float(change.split()[-1])


class Recorded:
    """As much of a recorded board as a part needs."""

    def __init__(self, name, axes):
        self.name = name
        self.samples = {"position": np.zeros(axes)}


def test_the_stamp_of_a_part_is_the_mean_of_its_axes():
    a, b = Recorded("a", 3), Recorded("b", 1)
    part = _axes_of([(b, 0), (a, 2), (a, 0), (a, 1)])
    samples = {
        "a": Sample("a", 1, 10_000_000, {"position": np.array([1.0, 2.0, 3.0])}),
        "b": Sample("b", 1, 14_000_000, {"position": np.array([7.0])}),
    }
    assert part.gather(samples)["position"].tolist() == [7.0, 3.0, 1.0, 2.0]
    assert part.stamp_ns(samples) == 11_000_000


def test_the_reason_of_a_refused_call_is_told_once_at_the_bridge():
    with served(two_boards()) as world:
        rpc, told = "/r/all/rpc:i", []
        world.bridge.on_complaint = told.append
        for typed in ("[get] [enc] 7", "[get] [enc] 0", "[get] [enc] 7", "[set] [nope] 0", "[get] [enc] 7"):
            world.yarp.rpc(rpc, parse_bottle(typed))
        refused = world.yarp.rpc("/r/fore/nws/rpc:i", Bottle(("setControlModeOneRPC", 0, Vocab.of("hwfa").code)))
        assert refused == bottle(Vocab.of("err5"))
        until(lambda: len(told) == 3, "the refused calls are told")
    assert ["the axis is 7" in told[0], "'set nope'" in told[1], "[hwfa]" in told[2]] == [True] * 3
    assert told[0].startswith(f"{rpc}: a call was refused: ")
