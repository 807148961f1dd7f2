"""The vendor's messages: fields, sums that clients compare, and the errors of the interface."""

import hashlib

import pytest

from pliant.franka.wire.fci import ERRORS
from pliant.franka_ros.definitions import ERROR_NAMES, SERVICES, SERVICES_1, SERVICES_2, TEXTS, TEXTS_1, TEXTS_2
from pliant.ros.wire import Codec, registry

GENERATIONS = [
    (1, {**TEXTS, **TEXTS_1}, {**SERVICES, **SERVICES_1}),
    (2, {**TEXTS, **TEXTS_2}, {**SERVICES, **SERVICES_2}),
]


def md5(text):
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@pytest.mark.parametrize(("version", "texts", "services"), GENERATIONS, ids=["ros1", "ros2"])
def test_every_type_is_complete_and_survives_the_wire(version, texts, services):
    codec = Codec(version)
    for name in texts:
        data = codec.encode(name, {})
        assert codec.encode(name, codec.decode(name, data)) == data
    for name in services:
        kind = registry(version).service(name)
        for part in (kind.request, kind.response):
            assert codec.decode(part.name, codec.encode(part.name, {})) is not None if version == 2 else part.fields


def test_the_errors_are_those_of_the_interface():
    assert set(ERROR_NAMES[1]) == {name.lower() for name in ERRORS}
    assert ERROR_NAMES[1][: len(ERROR_NAMES[2])] == ERROR_NAMES[2]
    assert (len(ERROR_NAMES[1]), len(ERROR_NAMES[2])) == (41, 36)


def test_the_sums_of_ros_1_follow_from_the_published_fields():
    types = registry(1)
    errors = md5("\n".join(f"bool {name}" for name in ERROR_NAMES[1]))
    assert types.md5sum("franka_msgs/Errors") == errors
    assert types.md5sum("franka_gripper/GraspEpsilon") == md5("float64 inner\nfloat64 outer")
    assert types.md5sum("control_msgs/GripperCommand") == "680acaff79486f017132a7f198d40f08"  # as published
    assert types.md5sum("geometry_msgs/PoseStamped") == "d3812c3cbc69362b77dc0b19b345f8f5"  # as published
    assert types.md5sum("franka_gripper/GraspGoal") == md5(
        f"float64 width\n{md5('float64 inner' + chr(10) + 'float64 outer')} epsilon\nfloat64 speed\nfloat64 force"
    )


def test_a_type_without_fields_has_an_empty_line_in_the_text_of_a_connection():
    # genpy splits the text at the lines of equal signs, with a line break before and after each.
    blocks = registry(1).full_text("franka_msgs/ErrorRecoveryActionGoal").split("\n" + "=" * 80 + "\n")
    assert len(blocks) == 4
    assert all("\n" in block for block in blocks[1:])


def test_robot_modes_are_constants_of_the_state():
    for version, name in ((1, "franka_msgs/FrankaState"), (2, "franka_msgs/FrankaRobotState")):
        constants = {key: value for _, key, value in registry(version).message(name).constants}
        assert constants["ROBOT_MODE_REFLEX"] == "4"
        assert len(constants) == 7
