"""Who listens to a robot on ROS 2."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ros2_clients import DOMAINS, until

from pliant.base.errors import WireError
from pliant.ros.ros2 import Ros2Node
from pliant.ros.ros2.names import GID_SIZES, NodeNames
from pliant.ros.wire import Codec, Registry


def told(size, nodes):
    """Return the message in which a participant tells its nodes: name space, name, readers."""
    registry = Registry(2)
    registry.add({"rmw_dds_common/Gid": f"uint8[{size}] data\n"})

    def gid(raw):
        return {"data": raw.ljust(size, b"\0")}

    infos = [
        {"node_namespace": space, "node_name": name, "reader_gid_seq": list(map(gid, readers)), "writer_gid_seq": []}
        for space, name, readers in nodes
    ]
    values = {"gid": gid(bytes(range(16))), "node_entities_info_seq": infos}
    return Codec(2, registry).encode("rmw_dds_common/ParticipantEntitiesInfo", values)


@pytest.mark.parametrize("size", GID_SIZES)
def test_a_node_of_any_distribution_is_named(size):
    one, two, three, other = (bytes([k]) * 16 for k in range(1, 5))
    names = NodeNames()
    names.take(told(size, []))
    names.take(told(size, [("/", "plotter", [one]), ("/left", "controller", [two, three])]))
    assert names.of([one, two]) == ["/left/controller", "/plotter"]
    assert names.of([two, three]) == ["/left/controller"]
    assert names.of([one, other]) == ["/plotter", "1 reader without a node"]
    assert names.of([other, b"5" * 16]) == ["2 readers without a node"]
    assert names.of([]) == []


@given(st.binary(max_size=300))
def test_what_is_no_such_message_is_refused_and_changes_nothing(data):
    names = NodeNames()
    try:
        names.take(data)
    except WireError:
        assert names.of([b"1" * 16]) == ["1 reader without a node"]


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr("pliant.ros.ros2.names.READERS", 3)
    names = NodeNames()
    readers = [bytes([k]) * 16 for k in range(5)]
    names.take(told(16, [("/", "many", readers)]))
    assert names.of(readers) == ["/many", "2 readers without a node"]


@pytest.mark.network
@pytest.mark.parametrize("distro", ["humble", "jazzy"])
def test_a_topic_says_who_listens_and_who_listened(distro):
    domain = next(DOMAINS)
    robot = Ros2Node("robot", domain=domain, distro=distro)
    first = Ros2Node("first", domain=domain, distro=distro)
    second = Ros2Node("second", namespace="/left", domain=domain, distro=distro)
    alone = Ros2Node("alone", domain=domain, distro=distro)
    try:
        for participant in (robot, first, second, alone):
            participant.start()
        state = robot.advertise("/state", "std_msgs/Float64")
        for client in (first, second):
            client.subscribe("/state", "std_msgs/Float64", lambda message: None)
            client.announce()
        until(lambda: state.subscribers == ["/first", "/left/second"], "names of both")
        first.stop()
        assert state.subscribers == ["/first", "/left/second"]
        alone.subscribe("/state", "std_msgs/Float64", lambda message: None)  # it tells nobody that it is a node
        until(lambda: state.subscribers == ["/first", "/left/second", "1 reader without a node"])
    finally:
        for participant in (alone, second, first, robot):
            participant.stop()
    assert state.subscribers == ["/first", "/left/second", "1 reader without a node"]
    assert robot.error_count == 0
