"""Samples as messages of ROS 2, read again by rosbags."""

from types import MappingProxyType

import numpy as np
import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from pliant.devices.base import FieldInfo, Sample
from pliant.recording.sample_message import MessageTypes, body_encoder, body_length, sample_topic

pytestmark = pytest.mark.quick

NUMBERS = {"Position": FieldInfo(unit="rad", description="angle"), "2 speed": FieldInfo(unit="rad/s")}
ARRAYS = {"q": FieldInfo((3,), unit="rad"), "mode": FieldInfo()}


def decoded(message, body):
    store = get_typestore(Stores.ROS2_HUMBLE)
    store.register(get_types_from_msg(message.text, message.name))
    return store.deserialize_cdr(body, message.name)


def sample(values):
    return Sample("d", 7, 2_000_000_003, MappingProxyType(values))


def test_numbers_come_back_by_the_names_in_the_message():
    message = MessageTypes().make("left elbow", NUMBERS)
    assert message.name == "pliant_msgs/msg/LeftElbow"
    assert dict(message.columns) == {"Position": "position", "2 speed": "f_2_speed"}
    found = decoded(message, body_encoder(NUMBERS)(sample({"Position": 0.25, "2 speed": -3.0})))
    assert (found.position, found.f_2_speed, found.seq) == (0.25, -3.0, 7)
    assert (found.header.stamp.sec, found.header.stamp.nanosec) == (2, 3)


def test_arrays_come_back_and_every_body_has_the_length_that_is_said():
    message = MessageTypes().make("arm", ARRAYS)
    body = body_encoder(ARRAYS)(sample({"q": np.array([1.0, 2.0, 3.0]), "mode": 4.0}))
    assert len(body) == body_length(ARRAYS)
    found = decoded(message, body)
    assert found.q.tolist() == [1.0, 2.0, 3.0]
    assert found.mode == 4.0


def test_devices_of_one_name_and_other_fields_have_types_of_their_own():
    types = MessageTypes()
    names = [
        types.make(device, fields).name for device, fields in (("a-b", NUMBERS), ("a b", NUMBERS), ("a_b", ARRAYS))
    ]
    assert names == ["pliant_msgs/msg/AB", "pliant_msgs/msg/AB", "pliant_msgs/msg/AB2"]


def test_joints_share_a_type_and_so_do_boards_of_any_number_of_joints():
    types = MessageTypes()
    joints = [types.make(f"joint_{i}", NUMBERS, ("joint",)).name for i in range(1, 6)]
    assert set(joints) == {"pliant_msgs/msg/Joint"}
    assert types.make("knee", NUMBERS, ("joint",)).name == "pliant_msgs/msg/Joint"
    boards = [types.make("board", {"q": FieldInfo((n,))}, ("board",)).name for n in (5, 2, 5)]
    assert boards == ["pliant_msgs/msg/Board"] * 3
    long, short = (types.make("board", {"q": FieldInfo((n,)), "t": FieldInfo()}, ("limb",)) for n in (3, 1))
    assert (long.name, long.text) == (short.name, short.text)
    for message, n in ((long, 3), (short, 1)):
        fields = {"q": FieldInfo((n,)), "t": FieldInfo()}
        found = decoded(message, body_encoder(fields)(sample({"q": np.arange(n) + 0.5, "t": 7.0})))
        assert (found.q.tolist(), found.t) == ([0.5, 1.5, 2.5][:n], 7.0)
    assert [types.make(f"finger_{i}", ARRAYS).name for i in (1, 2)] == ["pliant_msgs/msg/Finger"] * 2


def test_topics_have_only_what_ros_accepts():
    assert [sample_topic(n) for n in ("elbow", "a b/2c", "//x//")] == ["/elbow", "/a_b/_2c", "/x"]
