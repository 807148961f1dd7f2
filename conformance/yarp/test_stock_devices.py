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

from pliant.learn.policy import Policy  # noqa: E402
from pliant.yarp.client import YarpNetwork  # noqa: E402
from pliant.yarp.wire import bottle  # noqa: E402
from pliant.yarp.wire.board_calls import encode_request  # noqa: E402

pytestmark = pytest.mark.network
BOARD = """device deviceBundler
wrapper_device controlBoard_nws_yarp
attached_device fakeMotionControl
name /r/arm
[GENERAL]
Joints 3
"""
"""A board of YARP 4 whose axes are where the last reference was."""
TRANSFORMS = "/frameTransformServer/frameTransform"


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


def policy(path, kind, weights, bias):
    """Save a policy whose command for each axis is `weights` times its position and `bias` [rad or rad/s]."""
    policy = Policy(
        robot="r", period=0.05, mean=np.zeros(3), scale=np.ones(3), low=-np.ones(3), high=np.ones(3),
        observations=tuple([f"arm/position[{i}]" for i in range(3)]),
        commands=tuple([f"arm/{kind}[{i}]" for i in range(3)]),
        layers=((weights * np.eye(3), bias),),
    )  # fmt: skip
    return str(policy.save(path))


@pytest.mark.parametrize(("kind", "weights", "seconds"), [("position_direct", 0.5, "4"), ("velocity", -2.0, "4")])
def test_a_policy_brings_the_axes_of_a_stock_board_where_its_feedback_ends(world, kind, weights, seconds):
    (world.home / "board.ini").write_text(BOARD)
    world.start("yarpdev", "--from", str(world.home / "board.ini"), ports=("/r/arm/stateExt:o", "/r/arm/nws/rpc:i"))
    goal = np.array([0.3, -0.2, 0.1])
    bias = goal * (1.0 - weights) if kind == "position_direct" else -weights * goal
    path = policy(world.home / "policy.npz", kind, weights, bias)
    said = world.pliant(
        "policy", "run", path, "--bridge", "yarp", "--server", address(world), "--duration", seconds
    )  # fmt: skip
    assert "commands" in said
    with YarpNetwork(address(world)) as network:
        assert encoders(network) == pytest.approx(np.degrees(goal), abs=0.5)


def test_the_pose_of_a_robot_is_kept_by_a_stock_transform_server_while_it_is_sent(world):
    world.start("yarpdev", "--device", "frameTransformServer", ports=[f"{TRANSFORMS}Set_nws_yarp/thrift"])
    run = [sys.executable, "-m", "pliant", "run", str(HERE / "frames_and_pictures" / "robot.urdf"), "--bridge", "yarp"]
    begin = time.time()
    running = world.start_command(run)
    with YarpNetwork(address(world)) as network:

        def kept():
            """Return the transforms that the server has."""
            return network.rpc(f"{TRANSFORMS}Get_nws_yarp/thrift", bottle("getTransformsRPC"))[1].items

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
