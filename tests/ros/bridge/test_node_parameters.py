"""Parameters of a node of ROS 2, called as their services call them; no wire."""

from types import SimpleNamespace

import pytest

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots.loading import load
from pliant.ros.bridge import RosOptions
from pliant.ros.bridge.names import node_name
from pliant.ros.bridge.node_parameters import NodeParameters, serve_node_parameters
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire import Codec
from pliant.simulation import Simulation, sync


class Topic:
    active = True

    def __init__(self):
        self.sent = []

    def send(self, data):
        self.sent.append(Codec(2).decode("rcl_interfaces/ParameterEvent", data))


class Wire:
    """Encodes and decodes what is served, as a wire would."""

    has_services = True

    def __init__(self, version=2):
        self.codec = Codec(version)
        self.topics, self.services = {}, {}

    def advertise(self, topic, type_name, **_):
        return self.topics.setdefault(topic, Topic())

    def serve(self, name, type_name, callback):
        self.services[name] = self.codec.types.service(type_name), callback

    def call(self, name, **request):
        kind, callback = self.services[name]
        asked = self.codec.decode(kind.request, self.codec.encode(kind.request, request))
        return self.codec.decode(kind.response, self.codec.encode(kind.response, callback(asked)))


@pytest.fixture
def world():
    robot = load("qbmove-2dof")
    simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [], pacer=sync())
    simulation.start()
    topics = RosTopics(robot, Wire(), RosOptions())
    topics.simulation, topics.devices = simulation, dict(simulation.devices)
    parameters = serve_node_parameters(topics)
    assert parameters is not None

    # A request is answered when the loop comes by; here it comes at once.
    for device in topics.devices.values():
        if hasattr(device, "request"):
            ask = device.request

            def request(name, ask=ask, **args):
                future = ask(name, **args)
                simulation.step(1)
                return future

            device.request = request
    yield SimpleNamespace(simulation=simulation, parameters=parameters, wire=topics.node, topics=topics)
    simulation.close()


def call(world, name, **request):
    return world.wire.call(f"/pliant_qbmove_2dof/{name}", **request)


def double(name, value):
    return {"name": name, "value": {"type": 3, "double_value": value}}


def integer(name, value):
    return {"name": name, "value": {"type": 2, "integer_value": value}}


GAINS = ["kd_1", "kd_2", "ki_1", "ki_2", "kp_1", "kp_2"]


def test_mode_and_gains_of_each_joint_are_listed_read_and_described(world):
    names = ["joint_1.operation_mode" if g == "mode" else f"joint_1.{g}" for g in (*GAINS, "mode")]
    names = sorted([*names, *(n.replace("joint_1", "joint_2") for n in names), "use_sim_time"])
    assert world.parameters.names == names
    listed = call(world, "list_parameters")["result"]
    assert listed["names"] == names
    assert listed["prefixes"] == ["joint_1", "joint_2"]
    mode = int(world.topics.devices["joint_1"].mode)
    pid = world.topics.devices["joint_1"].actuator.pid_1
    values = call(world, "get_parameters", names=["joint_1.kp_1", "joint_1.operation_mode", "use_sim_time", "no"])
    kp, operation, clock, none = values["values"]
    assert (kp["type"], kp["double_value"]) == (3, pid.kp)
    assert (operation["type"], operation["integer_value"]) == (2, mode)
    assert (clock["type"], clock["bool_value"]) == (1, True)
    assert none["type"] == 0
    types = call(world, "get_parameter_types", names=["joint_1.kp_1", "joint_1.operation_mode", "use_sim_time", "no"])
    assert types["types"] == bytes([3, 2, 1, 0])
    described = call(world, "describe_parameters", names=["joint_1.kp_1", "joint_1.operation_mode", "use_sim_time"])
    kp, operation, clock = described["descriptors"]
    assert kp["floating_point_range"] == [{"from_value": 0.0, "to_value": 1e6, "step": 0.0}]
    assert operation["integer_range"] == [{"from_value": 0, "to_value": 6, "step": 0}]
    assert "pid_refs" in operation["description"]
    assert clock["read_only"]
    assert not kp["read_only"]


def test_a_list_may_ask_for_prefixes_and_a_depth(world):
    for prefixes, depth, count in (
        ((), 0, 15), ((), 1, 1), ((), 2, 15), (("joint_1",), 0, 7), (("joint_1",), 1, 7), (("joint",), 0, 0),
        (("joint_1.kp_1", "joint_2"), 0, 8),
    ):  # fmt: skip
        found = call(world, "list_parameters", prefixes=list(prefixes), depth=depth)["result"]
        assert len(found["names"]) == count, (prefixes, depth)


def test_gains_reach_the_engine_and_events_tell_of_them(world):
    asked = [double("joint_1.kp_1", 0.25), double("joint_2.ki_2", 0.5), double("joint_1.kp_1", 0.25)]
    results = call(world, "set_parameters", parameters=asked)["results"]
    assert [r["successful"] for r in results] == [True, True, True]
    values = call(world, "get_parameters", names=["joint_1.kp_1", "joint_2.ki_2"])["values"]
    assert [v["double_value"] for v in values] == [0.25, 0.5]
    new, changed = world.wire.topics["/parameter_events"].sent
    assert len(new["new_parameters"]) == 15
    assert new["node"] == changed["node"] == "/pliant_qbmove_2dof"
    found = [(p["name"], p["value"]["double_value"]) for p in changed["changed_parameters"]]
    assert found == [("joint_1.kp_1", 0.25), ("joint_2.ki_2", 0.5)]
    assert changed["stamp"] > 0


def test_the_mode_is_switched(world):
    device = world.topics.devices["joint_1"]
    other = 5 if int(device.mode) == 6 else 6
    (result,) = call(world, "set_parameters", parameters=[integer("joint_1.operation_mode", other)])["results"]
    assert result["successful"]
    assert int(device.mode) == other


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (double("joint_1.kq_1", 1.0), "no parameter 'joint_1.kq_1'; did you mean"),
        (integer("joint_1.kp_1", 1), "joint_1.kp_1 is integer; must be double"),
        (double("joint_1.kp_1", -1.0), "must be 0 to 1e+06"),
        (double("joint_1.kp_1", float("nan")), "joint_1.kp_1 is nan"),
        (integer("joint_1.operation_mode", 9), "must be 0 to 6"),
        (integer("joint_1.operation_mode", 0), "mode"),  # the engine's reason: it has another state
        ({"name": "joint_1.kp_1", "value": {"type": 0}}, "is not set; must be double"),
        ({"name": "joint_1.kp_1", "value": {"type": 77}}, "is 77; must be double"),
        ({"name": "use_sim_time", "value": {"type": 1, "bool_value": False}}, "cannot be set to False"),
    ],
)
def test_wrong_values_are_refused_with_their_reason(world, item, reason):
    good = double("joint_1.kd_1", 0.125)
    refused, taken = call(world, "set_parameters", parameters=[item, good])["results"]
    assert not refused["successful"]
    assert reason in refused["reason"]
    assert taken["successful"]


def test_all_or_nothing(world):
    device = world.topics.devices["joint_1"]
    before = device.actuator.pid_1.kp
    wrong = [double("joint_1.kp_1", 0.5), double("joint_1.ki_1", -1.0)]
    assert not call(world, "set_parameters_atomically", parameters=wrong)["result"]["successful"]
    # The loop refuses the second one only when it comes there: the first one is set back.
    late = [double("joint_1.kp_1", 0.5), integer("joint_1.operation_mode", 0)]
    result = call(world, "set_parameters_atomically", parameters=late)["result"]
    assert not result["successful"]
    assert "mode" in result["reason"]
    values = call(world, "get_parameters", names=["joint_1.kp_1"])["values"]
    assert values[0]["double_value"] == before
    assert len(world.wire.topics["/parameter_events"].sent) == 1
    good = [double("joint_1.kp_1", 0.5), double("joint_1.ki_1", 0.25)]
    assert call(world, "set_parameters_atomically", parameters=good)["result"]["successful"]
    assert len(world.wire.topics["/parameter_events"].sent[-1]["changed_parameters"]) == 2


def test_the_same_time_can_be_set_again(world):
    same = {"name": "use_sim_time", "value": {"type": 1, "bool_value": True}}
    assert call(world, "set_parameters", parameters=[same])["results"][0]["successful"]


def test_too_long_lists_are_refused(world):
    from pliant.base.errors import DeviceError

    with pytest.raises(DeviceError, match="1001 names"):
        call(world, "get_parameters", names=["x"] * 1001)


def test_a_recording_has_the_time_alone_and_ros_1_has_none():
    topics = RosTopics(None, Wire(), RosOptions(node="player", clock=False))
    topics.devices = {"elbow": SimpleNamespace(samples={}, signatures=())}
    assert node_name(topics.options.node, topics.namespace) == "player"
    assert NodeParameters(topics, "/player").names == ["use_sim_time"]
    assert not topics.node.call("/player/get_parameters", names=["use_sim_time"])["values"][0]["bool_value"]
    assert serve_node_parameters(RosTopics(None, Wire(1), RosOptions())) is None
