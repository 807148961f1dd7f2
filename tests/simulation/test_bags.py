"""Commands out of ROS bags."""

import numpy as np
import pytest
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

from pliant.errors import DeviceError
from pliant.simulation import read_commands

EPOCH = 1_700_000_000_000_000_000


def write_1(path, rows):
    store = get_typestore(Stores.ROS1_NOETIC)
    connections = {}
    with Writer1(path) as writer:
        for topic, kind, at, message in rows(store):
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=store)
            writer.write(connections[topic], EPOCH + at, store.serialize_ros1(message, kind))
    return path


def write_2(path, rows):
    store = get_typestore(Stores.ROS2_JAZZY)
    connections = {}
    with Writer2(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        for topic, kind, at, message in rows(store):
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=store)
            writer.write(connections[topic], EPOCH + at, store.serialize_cdr(message, kind))
    return next(path.glob("*.mcap"))


def commands(store):
    number, array = store.types["std_msgs/msg/Float64"], store.types["std_msgs/msg/Float64MultiArray"]
    layout = store.types["std_msgs/msg/MultiArrayLayout"](dim=[], data_offset=0)
    f64, multi = "std_msgs/msg/Float64", "std_msgs/msg/Float64MultiArray"
    for k in range(3):
        yield "/arm/elbow/equilibrium_position", f64, k * 10_000_000, number(data=0.1 * k)
        yield "/arm/reference_2", multi, k * 10_000_000 + 5_000_000, array(layout=layout, data=np.array([k, 2.0 * k]))
    yield "/arm/elbow/torque_el1_state", f64, 40_000_000, number(data=9.0)


@pytest.mark.parametrize("write", [write_1, write_2])
def test_the_commands_of_a_bag_are_a_table(write, tmp_path):
    path = write(tmp_path / ("run.bag" if write is write_1 else "run"), commands)
    table = read_commands(path)
    assert table.time == pytest.approx([0, 0.005, 0.01, 0.015, 0.02, 0.025])
    assert set(table.columns) == {"elbow/equilibrium_position", "board/reference_2"}
    assert table.columns["elbow/equilibrium_position"][::2] == pytest.approx([0, 0.1, 0.2])
    assert np.isnan(table.columns["elbow/equilibrium_position"][1::2]).all()
    assert table.columns["board/reference_2"][1::2].tolist() == [[0, 0], [1, 2], [2, 4]]


def test_a_bag_without_commands_says_what_it_has(tmp_path):
    def rows(store):
        yield "/chatter", "std_msgs/msg/String", 0, store.types["std_msgs/msg/String"](data="hello")

    with pytest.raises(DeviceError, match=r"/chatter \(std_msgs/msg/String\)"):
        read_commands(write_1(tmp_path / "run.bag", rows))


def test_a_file_that_is_no_bag_is_refused(tmp_path):
    path = tmp_path / "run.bag"
    path.write_bytes(b"no bag at all")
    with pytest.raises(DeviceError, match="cannot be read"):
        read_commands(path)
