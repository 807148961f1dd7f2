"""The world interface and the link attacher at their ports."""

import mujoco
import pytest
from yarp_replies import encode_request
from yarp_simulation import TWO_JOINTS, served

from pliant.base.errors import WireError
from pliant.model import Interface, Robot
from pliant.objects import World
from pliant.yarp.bridge.world import ATTACHER_CALLS, WORLD_CALLS, read_call
from pliant.yarp.client import YarpNetwork
from pliant.yarp.model.services import LinkAttacher, WorldInterface, YarpInterface
from pliant.yarp.wire import Bottle, bottle, parse_bottle
from pliant.yarp.wire.values import FAIL, OK


def robot_with_world():
    robot = Robot(mujoco.MjSpec.from_string(TWO_JOINTS))
    robot.devices.append(World(objects=3))
    devices = (
        WorldInterface(name="objects", port="/world_input_port"),
        LinkAttacher(name="attacher", port="/attacher/rpc:i"),
    )
    robot.interface = Interface(extensions={"yarp": YarpInterface(robot="robot", devices=devices)})
    return robot


@pytest.mark.network
@pytest.mark.parametrize("dialect", [3, 4])
def test_every_call_of_the_world_interface_is_answered_with_the_right_type(dialect):
    with served(robot_with_world()) as world, YarpNetwork(str(world.yarp.names.address), dialect=dialect) as client:

        def call(typed):
            return client.rpc("/world_input_port", parse_bottle(typed))

        assert call("makeSphere 0.1 2 0 1 0 0 0 255 0 0") == bottle("sphere1")
        assert call("makeBox 0.1 0.2 0.3 (2 0 2 0 0 1.5) (0 255 0) lower cube") == bottle("cube")
        assert call("getList") == bottle(Bottle(("sphere1", "cube")))
        pose = call("getPose sphere1")
        assert pose.items == pytest.approx([2.0, 0.0, 1.0, 0.0, 0.0, 0.0], abs=1e-9)  # no gravity unless asked for
        assert call("getPose cube lower")[5] == pytest.approx(1.5, abs=1e-9)
        for typed in (
            "changeColor cube 0 0 255",
            "setPose cube 1 2 3 0 0 0",
            "enableGravity sphere1 0",
            "enableCollision sphere1 0",
            "attach cube lower",
            "detach cube",
            "rename cube die",
            "deleteObject die",
        ):
            assert call(typed) == bottle(OK), typed
        assert call('makeCylinder 0.1 0.5 0 0 3 0 0 0 1 2 3 "" can 1 0') == bottle("can")
        assert call("makeFrame 0.3 0 1 1 0 0 0 0 0 0") == bottle("frame4")
        assert call("getList") == bottle(Bottle(("sphere1", "can", "frame4")))
        assert call("makeSphere 0.1 0 0 1 0 0 0 0 0 0") == bottle("")  # there are three spare objects
        assert call("deleteAll") == bottle(OK)
        assert len(call("getList")[0]) == 0
        assert "makeSphere" in call("help").items


@pytest.mark.network
def test_calls_that_fail_are_answered_as_failed_and_told():
    told = []
    with served(robot_with_world()) as world:
        world.bridge.on_complaint = told.append

        def call(typed):
            return world.yarp.rpc("/world_input_port", parse_bottle(typed))

        assert call("makeSphere -1 0 0 1 0 0 0 0 0 0") == bottle("")
        assert call("makeSphere 0.1 0 0 1 0 0 0 256 0 0") == bottle("")
        assert call("deleteObject ghost") == bottle(FAIL)
        assert call("loadModelFromFile /no/such.sdf") == bottle(FAIL)
        assert call("loadModelFromFileWithPose /no/such.sdf 0 0 0 0 0 0") == bottle("")
        assert call("getPose ghost").items == (0.0,) * 6
        assert call("makeSphere 0.1") == bottle(FAIL)
        assert call("makeSphare 0.1") == bottle(FAIL)
    assert any("radius is -1.0 m" in text for text in told)
    assert any("/no/such.sdf" in text and "does not exist" in text for text in told)
    assert any("makeSphare" in text for text in told)


@pytest.mark.network
def test_the_link_attacher_ties_links_and_objects():
    with served(robot_with_world()) as world:

        def call(typed):
            return world.yarp.rpc("/attacher/rpc:i", parse_bottle(typed))

        world.yarp.rpc("/world_input_port", parse_bottle('makeSphere 0.1 2 0 1 0 0 0 255 0 0 "" ball'))
        assert call("attachUnscoped ball link robot lower") == bottle(OK)
        assert call("attachUnscoped ball link robot lower") == bottle(FAIL)
        assert call("detachUnscoped ball link") == bottle(OK)
        assert call("enableGravity ball 1") == bottle(OK)
        assert call("attachUnscoped other upper robot robot::lower") == bottle(OK)
        assert call("detachUnscoped other upper") == bottle(OK)
        assert call("detachUnscoped other upper") == bottle(FAIL)


def test_a_call_typed_or_encoded_by_a_stub_means_the_same_request():
    flat = "makeBox 0.1 0.2 0.3 1 2 3 0.1 0.2 0.3 255 0 51"
    call, typed = read_call(WORLD_CALLS, parse_bottle(flat))
    stub = encode_request(call.method, 0.1, 0.2, 0.3, (1.0, 2.0, 3.0, 0.1, 0.2, 0.3), (255, 0, 51), "", "", False, True)
    assert read_call(WORLD_CALLS, stub)[1] == typed
    assert typed == {
        "width": 0.1,
        "height": 0.2,
        "thickness": 0.3,
        "position": (1.0, 2.0, 3.0),
        "angles": (0.1, 0.2, 0.3),
        "color": [1.0, 0.0, 0.2],
        "frame": "",
        "name": "",
        "gravity": False,
        "collision": True,
    }


@pytest.mark.parametrize(
    "typed",
    ["", "nonsense", "makeSphere", "makeSphere big 0 0 0 0 0 0 0 0 0", "getPose", "getPose a b c", "deleteAll now"],
)
def test_calls_that_are_not_understood_are_refused(typed):
    with pytest.raises(WireError):
        read_call(WORLD_CALLS, parse_bottle(typed))
    with pytest.raises(WireError):
        read_call(ATTACHER_CALLS, parse_bottle(typed))
