import math
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rosbags.typesys import Stores, get_typestore

from pliant.base.errors import WireError
from pliant.ros.wire import Codec, Framer, Registry, Template, dds_type_name, decode_header, encode_header, registry
from pliant.ros.wire.codec import ITEM_LIMIT
from pliant.ros.wire.definitions import TEXTS
from pliant.ros.wire.types import parse

OWN = ("viactors_plugins", "plugin_manager", "dynamic_reconfigure", "pliant_msgs")
STANDARD = sorted(n for n in TEXTS if not n.startswith(OWN) and not n.startswith("rmw_dds"))
JOINT_STATE = {
    "header": {"stamp": 1_500_000_000, "frame_id": ""},
    "name": ["elbow"],
    "position": [0.5],
    "velocity": [-1.0],
    "effort": [2.0],
}


@pytest.fixture(scope="module")
def stores():
    return {1: get_typestore(Stores.ROS1_NOETIC), 2: get_typestore(Stores.ROS2_JAZZY)}


def with_msg(name):
    return name.replace("/", "/msg/")


@pytest.mark.parametrize("name", STANDARD)
def test_the_md5_sum_equals_that_of_another_implementation(name, stores):
    if with_msg(name) not in stores[1].fielddefs:
        pytest.skip("rosbags has no such type")
    assert registry(1).md5sum(name) == stores[1].generate_msgdef(with_msg(name))[1]


@pytest.mark.parametrize("name", STANDARD)
def test_the_rihs01_hash_equals_that_of_another_implementation(name, stores):
    if with_msg(name) not in stores[2].fielddefs:
        pytest.skip("rosbags has no such type")
    assert registry(2).rihs01(name) == stores[2].hash_rihs01(with_msg(name))


def test_published_md5_sums():
    types = registry(1)
    assert types.md5sum("std_msgs/Float64") == "fdb28210bfa9d7c91146260178d9a584"
    assert types.md5sum("sensor_msgs/JointState") == "3066dcd76a6cfaef579bd0f34173e9fd"
    assert types.md5sum("sensor_msgs/LaserScan") == "90c7ef2dc6895d81024acba2ac42f369"
    assert types.md5sum("std_srvs/Empty") == "d41d8cd98f00b204e9800998ecf8427e"
    assert types.md5sum("std_srvs/Trigger") == "937c9679a518e3a18d831e57125ea522"
    assert types.md5sum("dynamic_reconfigure/Reconfigure") == "bb125d226a21982a4a98760418dc2672"


def test_golden_bytes_of_ros_1():
    data = Codec(1).encode("sensor_msgs/JointState", JOINT_STATE)
    golden = (
        "41000000" "00000000" "01000000" "0065cd1d" "00000000" "01000000" "05000000" "656c626f77"
        "01000000" "000000000000e03f" "01000000" "000000000000f0bf" "01000000" "0000000000000040"
    )  # fmt: skip
    assert data.hex() == golden


def test_golden_bytes_of_cdr():
    data = Codec(2).encode("sensor_msgs/JointState", JOINT_STATE)
    golden = (
        "00010000" "01000000" "0065cd1d" "01000000" "00000000" "01000000" "06000000" "656c626f7700" "0000"
        "01000000" "00000000" "000000000000e03f"
        "01000000" "00000000" "000000000000f0bf" "01000000" "00000000" "0000000000000040"
    )  # fmt: skip
    assert data.hex() == golden


def test_the_state_of_the_toolbox_is_six_float32():
    data = Codec(1).encode("viactors_plugins/state_info", {"q": 1.0, "stiff": 0.5})
    assert data == struct.pack("<I6f", 24, 1.0, 0, 0, 0, 0, 0.5)


def filled(types, message):
    """A value for every field, different everywhere."""
    count = iter(range(1, 200))

    def one(base):
        if base == "string":
            return f"text{next(count)}"
        if base in ("time", "duration"):
            return next(count) * 1_000_000_001
        if base == "bool":
            return True
        if base.startswith(("float", "int", "uint", "char", "byte")):
            return next(count)
        return make(types.message(base))

    def make(kind):
        out = {}
        for field in kind.fields:
            if field.size is None:
                out[field.name] = one(field.base)
            else:
                out[field.name] = [one(field.base) for _ in range(3 if field.size < 0 else field.size)]
        return out

    return make(message)


def as_objects(store, types, kind, values, version):
    """The same values as another implementation's objects."""
    fields = {}
    for field in kind.fields:
        value = values[field.name]

        def convert(item, field=field):
            if field.base in ("time", "duration"):
                name = f"builtin_interfaces/msg/{field.base.capitalize()}"
                return store.types[name](*divmod(item, 1_000_000_000))
            if not field.primitive:
                return as_objects(store, types, types.message(field.base), item, version)
            return item

        if field.size is None:
            fields[field.name] = convert(value)
        elif field.primitive and field.base not in ("string", "time", "duration"):
            fields[field.name] = np.array(value, dtype=field.base)
        else:
            fields[field.name] = [convert(item) for item in value]
    return store.types[with_msg(kind.name)](**fields)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", STANDARD)
def test_bytes_equal_those_of_another_implementation(name, version, stores):
    store, types = stores[version], registry(version)
    if with_msg(name) not in store.fielddefs:
        pytest.skip("rosbags has no such type")
    kind = types.message(name)
    values = filled(types, kind)
    data = Codec(version).encode(name, values)
    message = as_objects(store, types, kind, values, version)
    other = bytes(store.serialize_ros1(message, with_msg(name)) if version == 1 else
                  store.serialize_cdr(message, with_msg(name)))  # fmt: skip
    mine = data[4:] if version == 1 else data
    assert mine == other[: len(mine)]
    assert not any(other[len(mine) :])  # padding
    assert Codec(version).encode(name, Codec(version).decode(name, data)) == data


@settings(max_examples=60, deadline=None)
@given(
    version=st.sampled_from([1, 2]),
    names=st.lists(st.text(max_size=5).filter(lambda t: "\0" not in t), max_size=4),
    position=st.lists(st.floats(allow_nan=False), max_size=5),
    stamp=st.integers(0, 2**31 * 10**9 - 1),
)
def test_what_is_encoded_is_decoded(version, names, position, stamp):
    codec = Codec(version)
    values = {"header": {"stamp": stamp}, "name": names, "position": position}
    found = codec.decode("sensor_msgs/JointState", codec.encode("sensor_msgs/JointState", values))
    assert found["header"]["stamp"] == stamp
    assert found["name"] == names
    assert found["position"].tolist() == position


@settings(max_examples=100, deadline=None)
@given(version=st.sampled_from([1, 2]), data=st.binary(max_size=80))
def test_any_bytes_are_decoded_or_refused(version, data):
    prefix = b"\x00\x01\x00\x00" if version == 2 else b""
    for name in ("sensor_msgs/JointState", "trajectory_msgs/JointTrajectory", "std_msgs/Float64MultiArray"):
        try:
            Codec(version).decode(name, prefix + data)
        except WireError as error:
            found = str(error)
        else:
            continue
        assert name.split("/")[1] in found


@pytest.mark.parametrize("version", [1, 2])
def test_a_template_gives_the_bytes_of_the_encoder(version):
    codec = Codec(version)
    template = Template(
        codec,
        "sensor_msgs/JointState",
        {"name": ["a", "bc"], "position": [0, 0], "velocity": [0, 0], "effort": [0, 0]},
        ["header.stamp", "position", "effort"],
    )
    for k in range(3):
        position = np.array([1.5 * k, -k])
        data = template.fill(k * 10**9 + 7, position, [3.0, 4.0])
        number = {"seq": k} if version == 1 else {}  # ROS 1 numbers the messages of a topic
        values = {
            "header": {**number, "stamp": k * 10**9 + 7},
            "name": ["a", "bc"],
            "position": position,
            "velocity": [0, 0],
            "effort": [3.0, 4.0],
        }
        assert data == codec.encode("sensor_msgs/JointState", values)


@pytest.mark.parametrize("value", [1e39, -1e300])
def test_a_number_beyond_float32_is_sent_as_infinite(value):
    kind = "viactors_plugins/state_info"
    (name, *_) = (field.name for field in Codec(1).types.message(kind).fields if field.base == "float32")
    template = Template(Codec(1), kind, {}, [name])
    assert Codec(1).decode(kind, template.fill(value))[name] == math.copysign(math.inf, value)


def test_an_empty_message_is_one_byte_in_ros_2_and_none_in_ros_1():
    assert Codec(1).encode("std_msgs/Empty", {}) == bytes(4)
    assert Codec(2).encode("std_msgs/Empty", {}) == b"\x00\x01\x00\x00\x00"
    assert Codec(2).decode("std_msgs/Empty", b"\x00\x01\x00\x00\x00") == {}


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"data": "one"}, "data"),
        ({"data": None}, "data"),
        ({"dat": 1.0}, "'dat'"),
    ],
)
def test_a_value_that_does_not_fit_is_named(values, says):
    with pytest.raises(WireError, match=says):
        Codec(1).encode("std_msgs/Float64", values)


def test_a_fixed_array_of_another_length_is_refused():
    with pytest.raises(WireError, match="orientation_covariance"):
        Codec(1).encode("sensor_msgs/Imu", {"orientation_covariance": [0.0] * 8})


def test_a_message_that_goes_on_behind_its_end_is_refused():
    with pytest.raises(WireError, match="8 bytes follow"):
        Codec(1).decode("std_msgs/Float64", struct.pack("<Idd", 16, 1.0, 2.0))


def test_an_unknown_type_names_the_nearest():
    with pytest.raises(WireError, match="std_msgs/Float64"):
        registry(1).message("std_msgs/Flaot64")


def test_a_type_of_ones_own_with_constants_has_the_sum_of_genpy():
    types = Registry(1)
    types.add({"pkg/Thing": "# remark\nint32 X=1  # one\nHeader header\nOther[] others\n", "pkg/Other": "uint8[4] a\n"})
    # md5 of "uint8[4] a" and of "int32 X=1\n<header> header\n<other> others", by the rules of ROS 1
    import hashlib

    other = hashlib.md5(b"uint8[4] a").hexdigest()
    header = "2176decaecbce78abc3b96ef049fabed"
    assert types.md5sum("pkg/Thing") == hashlib.md5(
        f"int32 X=1\n{header} header\n{other} others".encode()
    ).hexdigest()  # fmt: skip


def test_a_line_that_is_no_field_is_refused():
    with pytest.raises(WireError, match="line 2"):
        parse("a/B", "float64 x\nfloat64\n")


def test_names_on_the_wire_of_ros_2():
    assert dds_type_name("std_msgs/Float64") == "std_msgs::msg::dds_::Float64_"


def test_connection_headers_go_through():
    fields = {"callerid": "/me", "topic": "/a", "md5sum": "*", "message_definition": "float64 data=3\n"}
    data = encode_header(fields)
    assert struct.unpack_from("<I", data)[0] == len(data) - 4
    assert decode_header(data[4:]) == fields


@pytest.mark.parametrize("body", [b"\x05", b"\x10\x00\x00\x00abc", b"\x03\x00\x00\x00abc"])
def test_a_broken_connection_header_is_refused(body):
    with pytest.raises(WireError, match="connection header"):
        decode_header(body)


def test_frames_are_cut_whatever_the_pieces_are():
    frames = [struct.pack("<I", n) + bytes(range(n)) for n in (0, 3, 200)]
    stream = b"".join(frames)
    for size in (1, 2, 7, 500):
        framer = Framer()
        found = []
        for at in range(0, len(stream), size):
            found += framer.feed(stream[at : at + size])
        assert found == frames


def test_a_frame_beyond_the_limit_is_refused():
    with pytest.raises(WireError, match="at most 100"):
        Framer(100).feed(struct.pack("<I", 101))


@pytest.mark.parametrize("head", [bytes(4), b"\0\1\0\0"])
def test_an_array_of_too_many_texts_is_refused_before_it_takes_memory(head):
    frame_id = bytes(8) if head == bytes(4) else b"\1\0\0\0\0\0\0\0"  # with the sequence number of ROS 1
    data = head + bytes(8) + frame_id + struct.pack("<I", ITEM_LIMIT + 1) + bytes(4 * ITEM_LIMIT + 16)
    with pytest.raises(WireError, match="texts and inner messages; must be at most"):
        Codec(1 if head == bytes(4) else 2).decode("sensor_msgs/JointState", data)


def test_the_arrays_of_a_message_are_limited_together(monkeypatch):
    monkeypatch.setattr("pliant.ros.wire.codec.ITEM_LIMIT", 10)
    codec, kind = Codec(2), "trajectory_msgs/JointTrajectory"
    assert len(codec.decode(kind, codec.encode(kind, {"joint_names": ["a"] * 5, "points": [{}] * 5}))["points"]) == 5
    with pytest.raises(WireError, match="arrays of 11 texts"):
        codec.decode(kind, codec.encode(kind, {"joint_names": ["a"] * 5, "points": [{}] * 6}))
