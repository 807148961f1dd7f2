"""The messages of the simulator for continuum parallel robots, against published sums and another implementation."""

import contextlib
import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rosbags.typesys import Stores, get_typestore

from pliant.base.errors import WireError
from pliant.parallel.ros_definitions import SERVICES, TEXTS, TEXTS_2
from pliant.ros.wire import Codec, registry

KNOWN = [name for name in {**TEXTS, **TEXTS_2} if name.split("/")[0] in ("geometry_msgs", "visualization_msgs")]
WRENCH = {"force": {"x": 1.0, "y": -2.0, "z": 0.5}, "torque": {"x": 0.1, "y": 0.2, "z": -0.3}}


def md5(text):
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("version", [1, 2])
def test_sums_and_hashes_are_those_of_rosbags(name, version):
    types = registry(version)
    if name not in types:
        pytest.skip(f"ROS {version} has no {name}")
    full = name.replace("/", "/msg/")
    if version == 1:
        store = get_typestore(Stores.ROS1_NOETIC)
        if full not in store.types:
            pytest.skip("rosbags has no such type")
        assert types.md5sum(name) == store.generate_msgdef(full)[1]
    else:
        store = get_typestore(Stores.ROS2_HUMBLE)
        assert types.rihs01(name) == store.hash_rihs01(full)


def test_sums_of_gazebo_are_the_published_ones():
    # gazebo_msgs 2.9 as rosserial and roslibjs have them: message, request, response.
    types = registry(1)
    assert types.md5sum("gazebo_msgs/LinkState") == "0818ebbf28ce3a08d48ab1eaa7309ebe"
    service = types.service("gazebo_msgs/GetLinkState")
    assert md5("string link_name\nstring reference_frame") == "7551675c30aaa71f7c288d4864552001"
    assert [f.name for f in service.request.fields] == ["link_name", "reference_frame"]
    assert [f.name for f in service.response.fields] == ["link_state", "success", "status_message"]


def test_sums_of_the_simulator_follow_from_its_fields():
    # The sum of a message is that of its fields' text, each inner message replaced by its own sum.
    types = registry(1)
    vector = md5("float64 x\nfloat64 y\nfloat64 z")
    wrench = md5(f"{vector} force\n{vector} torque")
    pose = md5(f"{vector} position\n" + md5("float64 x\nfloat64 y\nfloat64 z\nfloat64 w") + " orientation")
    flat = md5("float32 fx\nfloat32 fy\nfloat32 mz")
    assert wrench == "4f539cf138b23283b520fd271b567936"  # geometry_msgs/Wrench, as published
    assert types.md5sum("cpr_messages/DGMParams") == md5(f"float32[] joints_values\n{wrench} distal_plate_wrench")
    assert types.md5sum("cpr_messages/IGMParams") == md5(f"{pose} distal_plate_pose\n{wrench} distal_plate_wrench")
    assert types.md5sum("cpr_messages/SE3Pose") == md5(
        "float32 x\nfloat32 y\nfloat32 z\nfloat32 roll\nfloat32 pitch\nfloat32 yaw"
    )
    assert types.md5sum("cpr_planar_messages/DGMParameters") == md5(f"float32[] joints_values\n{flat} wrench")
    plane = md5("float64 x\nfloat64 y\nfloat64 theta")
    assert types.md5sum("cpr_planar_messages/IGMParameters") == md5(f"{plane} pose\n{flat} wrench")
    guess = md5("float32[] given_guess" + "float32[] actual_guess")
    for package in ("cpr_messages", "cpr_planar_messages"):
        assert types.md5sum(f"{package}/GuessVectorHandling") == guess


def test_golden_bytes_of_dgm_params():
    values = {"joints_values": [0.5, -1.0], "distal_plate_wrench": {"force": {"x": 1.0}, "torque": {"z": -2.0}}}
    numbers = np.array([1.0, 0, 0, 0, 0, -2.0]).tobytes().hex()
    joints = "02000000" + "0000003f" + "000080bf"
    assert Codec(1).encode("cpr_messages/DGMParams", values).hex() == "3c000000" + joints + numbers
    # CDR aligns the doubles to eight bytes after the encapsulation: 12 bytes of joints, 4 of padding.
    assert Codec(2).encode("cpr_messages/DGMParams", values).hex() == "00010000" + joints + "00000000" + numbers


@pytest.mark.parametrize("version", [1, 2])
@given(joints=st.lists(st.floats(width=32, allow_nan=False), max_size=40))
def test_commands_come_back_as_they_went(version, joints):
    codec = Codec(version)
    data = codec.encode("cpr_messages/DGMParams", {"joints_values": joints, "distal_plate_wrench": WRENCH})
    back = codec.decode("cpr_messages/DGMParams", data)
    np.testing.assert_array_equal(back["joints_values"], joints)
    assert back["distal_plate_wrench"] == WRENCH


@pytest.mark.parametrize("version", [1, 2])
@given(data=st.binary(max_size=200))
def test_any_bytes_give_a_message_or_a_wire_error(version, data):
    codec = Codec(version)
    for name in (*TEXTS, *(registry(version).service(s).request for s in SERVICES)):
        with contextlib.suppress(WireError):
            assert isinstance(codec.decode(name, data), dict)
