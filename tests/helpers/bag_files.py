"""Bags for tests, written by rosbags and the mcap package."""

import numpy as np
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

EPOCH = 1_700_000_000_000_000_000
STATE = "float32 q\nfloat32 dq\nfloat32 ref_1\nfloat32 ref_2\nfloat32 tau\nfloat32 stiff\n"


def store_1():
    store = get_typestore(Stores.ROS1_NOETIC)
    store.register(get_types_from_msg(STATE, "viactors_plugins/msg/state_info"))
    return store


def store_2():
    store = get_typestore(Stores.ROS2_JAZZY)
    store.register(get_types_from_msg(STATE, "viactors_plugins/msg/StateInfo"))
    return store


def write_1(path, rows, compression=None):
    """Write a ROS 1 bag; ``rows(store)`` yields (topic, type, time after EPOCH [ns], message)."""
    store = store_1()
    connections = {}
    writer = Writer1(path)
    if compression:
        writer.set_compression(compression)
    with writer:
        for topic, kind, at, message in rows(store):
            kind = kind.replace("StateInfo", "state_info")
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=store)
            writer.write(connections[topic], EPOCH + at, store.serialize_ros1(message, kind))
    return path


def write_2(path, rows, plugin=StoragePlugin.MCAP):
    """Write a folder of rosbag2 and return it."""
    store = store_2()
    connections = {}
    with Writer2(path, version=9, storage_plugin=plugin) as writer:
        for topic, kind, at, message in rows(store):
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=store)
            writer.write(connections[topic], EPOCH + at, store.serialize_cdr(message, kind))
    return path


def write_any(folder, rows, kind):
    """Write one kind of bag: "bag", "bz2", "lz4", "mcap", "db3", "folder" or "db3-folder"."""
    if kind in ("bag", "bz2", "lz4"):
        compression = {"bz2": Writer1.CompressionFormat.BZ2, "lz4": Writer1.CompressionFormat.LZ4}.get(kind)
        return write_1(folder / "run.bag", rows, compression)
    plugin = StoragePlugin.SQLITE3 if kind.startswith("db3") else StoragePlugin.MCAP
    path = write_2(folder / "run", rows, plugin)
    return path if kind.endswith("folder") else next(path.glob("*.mcap" if kind == "mcap" else "*.db3"))


KINDS = ("bag", "bz2", "lz4", "mcap", "db3", "folder", "db3-folder")


def number(store, value):
    return store.types["std_msgs/msg/Float64"](data=float(value))


def numbers(store, values):
    layout = store.types["std_msgs/msg/MultiArrayLayout"](dim=[], data_offset=0)
    return store.types["std_msgs/msg/Float64MultiArray"](layout=layout, data=np.array(values, dtype=float))


def time(store, ns):
    kind = store.types["builtin_interfaces/msg/Time"]
    return kind(sec=ns // 10**9, nanosec=ns % 10**9)


def clock(store, ns):
    return store.types["rosgraph_msgs/msg/Clock"](clock=time(store, ns))


def joint_state(store, ns, names, position, velocity=(), effort=()):
    header = store.types["std_msgs/msg/Header"]
    about = {"stamp": time(store, ns), "frame_id": ""}
    if "seq" in header.__dataclass_fields__:
        about["seq"] = 0
    arrays = [np.array(a, dtype=float) for a in (position, velocity, effort)]
    return store.types["sensor_msgs/msg/JointState"](header(**about), list(names), *arrays)


def state(store, *values):
    name = "state_info" if "viactors_plugins/msg/state_info" in store.types else "StateInfo"
    return store.types[f"viactors_plugins/msg/{name}"](*(np.float32(v) for v in values))
