"""Two robots on one graph: what they would share is refused, with the options to type."""

import pytest
from kept_node import KeptNode
from ros_runs import RosRun

from pliant.base.errors import BridgeError
from pliant.ros.bridge import RosBridge
from pliant.ros.bridge.sharing import ROBOTS, Manifest

HERE = "qbmove-1dof"


class Neighbour(KeptNode):
    """A wire on which a robot is already."""

    def __init__(self, first):
        super().__init__(2)
        self.first = first

    def taken(self, topics):
        return {topic: ["/first"] for topic in topics if topic in self.first.wire.out}

    def subscribe_latched(self, topic, type_name, callback):
        self.subscribe(topic, type_name, callback)
        self.hear(topic, data=self.first.wire.out[topic].messages()[0]["data"])


@pytest.fixture
def first():
    with RosRun(HERE, node="first") as run:
        yield run


def second(first, monkeypatch, **options):
    monkeypatch.setattr("ros_runs.KeptNode", lambda version: Neighbour(first))
    with RosRun(HERE, node="second", namespace="b", clock=False, **options) as run:
        assert isinstance(run.bridge, RosBridge)
        return Manifest.read(run.wire.out[ROBOTS].messages()[0]["data"])


def test_a_joint_a_frame_and_a_service_of_another_robot_are_refused_one_by_one(first, monkeypatch):
    with pytest.raises(BridgeError, match=r"the joint 'joint' of first already.*prefix=NAME_.*remap=/joint_states"):
        second(first, monkeypatch)
    with pytest.raises(BridgeError, match=r"/tf has the frame '.*' of first already.*frame_prefix=NAME/.*tf=false"):
        second(first, monkeypatch, remap="/joint_states:/b/joint_states")
    manifest = second(first, monkeypatch, remap="/joint_states:/b/joint_states", frame_prefix="b/")
    assert manifest.joints == {"/b/joint_states": frozenset({"joint"})}
    clash = f"{next(iter(sorted(manifest.services)))}:/first/pause"
    with pytest.raises(BridgeError, match=r"the service /first/pause is that of first already.*node=NAME"):
        second(first, monkeypatch, prefix="b_", remap=clash)


def test_a_prefix_alone_makes_room_for_a_second_robot(first, monkeypatch):
    manifest = second(first, monkeypatch, prefix="b_")
    assert manifest.joints == {"/joint_states": frozenset({"b_joint"})}
    assert all(frame.startswith("b_") for frame in manifest.frames["/tf"])


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"node": 1, "joints": [], "frames": {}, "services": []}', "x" * 9])
def test_a_manifest_that_is_none_is_ignored(text):
    assert Manifest.read(text) is None
