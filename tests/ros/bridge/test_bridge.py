"""The bridge of ROS above a wire that is none: who else may publish."""

import pytest

from pliant.base.errors import BridgeError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots.loading import load
from pliant.ros.bags.node import BagNode
from pliant.ros.bags.writing import BagWriter
from pliant.ros.bridge import RosBridge
from pliant.ros.bridge.options import RosOptions


class Taken(BagNode):
    """A wire on which others publish already."""

    others: tuple[str, ...] = ()

    def taken(self, topics):
        return {topic: ["/other"] for topic in topics if topic in self.others}


@pytest.fixture
def start(tmp_path):
    robot = load("qbmove-1dof")
    devices = {device.name: device for device in make_devices(robot)}
    engine = MujocoEngine(robot, check=False)
    for device in devices.values():
        device.attach(engine)

    def run(*others):
        with BagWriter(tmp_path / "out.bag", overwrite=True) as writer:
            node = Taken(writer)
            node.others = others
            bridge = RosBridge(robot, node, RosOptions(tf=False), name="ros1")
            bridge.start(devices)
            bridge.stop()

    return run


def test_a_controller_that_came_first_may_publish_what_the_robot_listens_to(start):
    # The manager forwards the elements of the reference arrays on the very topic that controllers send to.
    start("/qbmove_1dof/joint/equilibrium_position")


def test_another_robot_or_another_clock_is_refused(start):
    with pytest.raises(BridgeError, match="another robot uses the name space /qbmove_1dof"):
        start("/qbmove_1dof/robot_state")
    with pytest.raises(BridgeError, match="/clock is already published by /other"):
        start("/clock")
