"""Two robots on one graph: what they would share is refused, with the options to type."""

import contextlib
import re

import pytest
from fake_master import FakeMaster
from kept_node import KeptNode
from robot_data import needs_data
from ros2_clients import DOMAINS
from ros_runs import RosRun

from pliant.base.errors import BridgeError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots import build_robot, list_robots
from pliant.ros.bridge import RosBridge
from pliant.ros.bridge.sharing import ROBOTS, Manifest
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge

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
    with pytest.raises(
        BridgeError,
        match=r"action /first/pause is that of first already.*remap=/first/pause:/NAME/first/pause",
    ):
        second(first, monkeypatch, prefix="b_", remap=clash)


def test_services_and_commands_of_another_robot_are_refused_all_at_once_with_what_to_type(monkeypatch):
    typed = "/joint_states:/b/joint_states+/joint_values:/b/joint_values"
    with RosRun("2RR", node="first") as other:
        monkeypatch.setattr("ros_runs.KeptNode", lambda version: Neighbour(other))
        for names in (
            ("/gazebo/get_link_state", "/parameters_vector_services", "/remove_robot"),
            ("/dgm_parameters", "/igm_parameters"),
        ):
            with pytest.raises(BridgeError, match="of first already") as refused:
                RosRun("2RR", namespace="b", clock=False, tf=False, remap=typed)
            remap = "+".join(f"{name}:/NAME{name}" for name in names)
            assert f":remap={remap})" in str(refused.value)
            typed += "+" + remap.replace("NAME", "b")
        with RosRun("2RR", namespace="b", clock=False, tf=False, remap=typed) as run:
            assert "/b/dgm_parameters" in run.wire.into


def test_actions_and_commands_stand_in_the_manifest_and_topics_of_lockstep_do_not():
    with RosRun(HERE, sync="/go") as run:
        manifest = Manifest.read(run.wire.out[ROBOTS].messages()[0]["data"])
        assert set(run.wire.actions) <= manifest.services
        assert manifest.commands == set(run.wire.into) - {"/go"}
        assert "/go" in run.wire.into


def test_a_prefix_alone_makes_room_for_a_second_robot(first, monkeypatch):
    manifest = second(first, monkeypatch, prefix="b_")
    assert manifest.joints == {"/joint_states": frozenset({"b_joint"})}
    assert all(frame.startswith("b_") for frame in manifest.frames["/tf"])


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"node": 1, "joints": [], "frames": {}, "services": []}', "x" * 9])
def test_a_manifest_that_is_none_is_ignored(text):
    assert Manifest.read(text) is None


def _robots():
    """The robots of the catalogue on both wires; those that take long are nightly."""
    for robot in list_robots():
        for wire in ("ros1", "ros2"):
            marks = [] if robot.name in ("qbmove-2dof", "2RR") else pytest.mark.nightly
            yield pytest.param(robot.name, wire, marks=marks, id=f"{robot.name}-{wire}")


@pytest.mark.network
@pytest.mark.parametrize(("name", "wire"), list(_robots()))
def test_who_types_what_each_refusal_says_runs_a_second_robot_beside_the_first(name, wire):
    needs_data(name)
    master = FakeMaster() if wire == "ros1" else None
    where = f"master={master.uri},host=127.0.0.1" if master else f"domain={next(DOMAINS)}"

    def start(**options):
        bridge = make_bridge(f"{wire}:{where}" + "".join(f",{k}={v}" for k, v in options.items()), robot)
        simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer="free")
        closing.callback(simulation.close)
        simulation.start()
        return bridge.topics

    with contextlib.ExitStack() as closing:
        if master:
            closing.callback(master.close)
        robot = build_robot(name, {})
        first, typed, second = start(), {}, None
        for _ in range(12):
            said = ""
            try:
                second = start(**typed)
                break
            except BridgeError as refused:
                said = str(refused)
            (options,) = re.findall(rf"\({wire}:([^)]*)\)", said)[:1]
            for option in options.replace("NAME", "left").split(","):
                key, _, value = option.partition("=")
                assert typed.get(key) != value, said
                typed[key] = f"{typed[key]}+{value}" if key == "remap" and key in typed else value
        assert second is not None, typed
        assert {"namespace", "clock", "prefix"} <= typed.keys()
        taken = {*first.services, *first.actions, *first.incoming}
        assert not taken & {*second.services, *second.actions, *second.incoming}
        assert not {first.names.joint(j) for j in first.stated} & {second.names.joint(j) for j in second.stated}
