"""Devices that YARP's own yarpdev serves, and pliant as their client: a control board, and a transform server.

PLIANT_YARP=/path/to/bin python -m pytest conformance/yarp/test_stock_devices.py
"""

import sys
import time
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from stock import World, folder_of  # noqa: E402

from pliant.base.numerics import DEGREES  # noqa: E402
from pliant.learn.policy import Policy  # noqa: E402
from pliant.yarp.client import YarpNetwork  # noqa: E402
from pliant.yarp.policy import YarpDevices  # noqa: E402
from pliant.yarp.wire import bottle  # noqa: E402
from pliant.yarp.wire.board_calls import encode_request  # noqa: E402
from pliant.yarp.wire.joints import CONTROL_MODES, JointState  # noqa: E402
from pliant.yarp.wire.values import OK  # noqa: E402

pytestmark = pytest.mark.network
BOARD = """device deviceBundler
wrapper_device controlBoard_nws_yarp
attached_device fakeMotionControl
name /r/arm
[GENERAL]
Joints 3
"""
"""A board of YARP 4 whose axes are where the last reference was."""
SERVED = [f"/frameTransformServer/frameTransform{kind}_nws_yarp/thrift" for kind in ("Set", "Get")]
"""Ports for calls of a transform server."""


@pytest.fixture(params=["pliant yarpserver", "yarpserver"])
def world(request, tmp_path):
    made = World(folder_of("yarpdev"), tmp_path, request.param.startswith("pliant"))
    yield made
    made.close()


def address(world):
    return ":".join(map(str, world.server))


def encoders(network):
    """Return the positions of the board's axes [deg], asked for by a call."""
    reply = network.rpc("/r/arm/nws/rpc:i", encode_request(4, "get", "position", "all"))
    return np.array(reply.items[-1].items)


def policy(kind, weights, bias):
    """Return a policy whose command for each axis is `weights` times its position and `bias` [rad or rad/s]."""
    return Policy(
        robot="r", period=0.05, mean=np.zeros(3), scale=np.ones(3), low=-np.ones(3), high=np.ones(3),
        observations=tuple([f"arm/position[{i}]" for i in range(3)]),
        commands=tuple([f"arm/{kind}[{i}]" for i in range(3)]),
        layers=((weights * np.eye(3), bias),),
    )  # fmt: skip


@pytest.fixture
def board(world):
    """Serve a stock board."""
    (world.home / "board.ini").write_text(BOARD)
    world.start("yarpdev", "--from", str(world.home / "board.ini"), ports=("/r/arm/stateExt:o", "/r/arm/nws/rpc:i"))
    return world


@pytest.mark.parametrize(("kind", "weights"), [("position_direct", 0.5), ("velocity", -2.0)])
def test_a_policy_brings_the_axes_of_a_stock_board_where_its_feedback_ends(board, kind, weights):
    goal = np.array([0.3, -0.2, 0.1])
    bias = goal * (1.0 - weights) if kind == "position_direct" else -weights * goal
    path = policy(kind, weights, bias).save(board.home / "policy.npz")
    said = board.pliant(
        "policy", "run", str(path), "--bridge", "yarp", "--server", address(board), "--duration", "4"
    )  # fmt: skip
    assert "commands" in said
    with YarpNetwork(address(board)) as network:
        assert encoders(network) == pytest.approx(np.degrees(goal), abs=0.5)


TAKEN = {
    "position": "position_target",
    "position_direct": "position_reference",
    "velocity": "velocity_target",
    "velocity_direct": "velocity_reference",
    "torque": "torque_reference",
    "current": "current_reference",
    "pwm": "duty_reference",
}
"""Command of a policy -> quantity by which the board is asked for it."""


def test_each_command_of_a_policy_arrives_at_a_stock_board_in_its_mode(board):
    values = np.array([0.1, 0.2, -0.3])
    with YarpNetwork(address(board)) as network:

        def ask(quantity):
            """Return a quantity of each axis."""
            replies = [
                network.rpc("/r/arm/nws/rpc:i", encode_request(4, "get", quantity, "one", axis)) for axis in range(3)
            ]
            assert [reply[0] for reply in replies] == [bottle(OK)] * 3, (quantity, replies)
            return [reply[1] for reply in replies]

        states = network.open_input("/modes", strict=False)
        network.connect("/r/arm/stateExt:o", "/modes")

        def modes():
            """Return the control modes of the axes, which the state alone tells in YARP 4."""
            return JointState.decode(states.read().content).control_mode

        for kind, quantity in TAKEN.items():
            scale = DEGREES if kind.startswith(("position", "velocity")) else 1.0
            with YarpDevices(policy(kind, 0.0, values), server=address(board), name="r") as interface:
                interface.wait(20.0)
                board.wait(lambda k=kind: {mode.name for mode in modes()} == {CONTROL_MODES[k]}, 20.0)
                interface.send(values)
                board.wait(lambda q=quantity, s=scale: ask(q) == pytest.approx(s * values), 20.0)


def test_the_pose_of_a_robot_is_kept_by_a_stock_transform_server_while_it_is_sent(world):
    world.start("yarpdev", "--device", "frameTransformServer", ports=SERVED)
    run = [sys.executable, "-m", "pliant", "run", str(HERE / "frames_and_pictures" / "robot.urdf"), "--bridge", "yarp"]
    begin = time.time()
    running = world.start_command(run)
    with YarpNetwork(address(world)) as network:

        def kept():
            """Return the transforms that the server has."""
            return network.rpc(SERVED[1], bottle("getTransformsRPC"))[1].items

        world.wait(lambda: kept())
        poses = [list(pose) for pose in (kept()[0].items for _ in range(3))]
        heights = []
        for parent, child, stamp, *numbers in poses:
            assert (parent, child) == ("/inertial", "/r/frame")
            assert begin < stamp < time.time()
            x, y, z, *quaternion = numbers[1:]
            assert (x, y) == pytest.approx((1.0, 2.0), abs=1e-8)
            assert quaternion == pytest.approx([0.0, 0.0, np.sin(0.6), np.cos(0.6)], abs=1e-8)
            heights.append(z)
        assert 0.0 < 3000.0 - heights[0] <= 3000.0 - heights[-1]
        running.terminate()
        running.wait(30)
        world.wait(lambda: not kept())  # 0.2 s after the last
