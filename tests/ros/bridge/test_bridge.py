"""The bridge of ROS above a wire that is none: who else may publish."""

import pytest
from ros_runs import RosRun

from pliant.bags.node import BagNode
from pliant.bags.writing import BagWriter
from pliant.base.errors import BridgeError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots.loading import load
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


@pytest.mark.parametrize(("stamped", "stamp"), [(False, 0), (True, 10_000_000)])
def test_motor_states_have_the_toolbox_stamp_of_zero_unless_the_time_is_asked_for(stamped, stamp):
    with RosRun("qbmove-1dof", built={"mode": 6}, clock=False, motor_stamps=stamped) as run:
        run.simulation.step(20)
        (topic,) = [name for name in run.wire.out if name.endswith("/joint/motor_1_state")]
        assert run.wire.out[topic].last()["header"]["stamp"] == stamp
