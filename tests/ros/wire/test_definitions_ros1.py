"""The sums by which programs of ROS 1 know the types, as their packages print them (``rosmsg md5``, ``rossrv md5``)."""

import pytest

from pliant.ros.wire import Codec, registry

SUMS = {
    "actionlib_msgs/GoalID": "302881f31927c1df708a2dbab0e80ee8",
    "actionlib_msgs/GoalStatusArray": "8b2b82f13216d0a8ea88bd3af735e619",
    "control_msgs/FollowJointTrajectoryActionGoal": "cff5c1d533bf2f82dd0138d57f4304bb",
    "control_msgs/FollowJointTrajectoryActionResult": "c4fb3b000dc9da4fd99699380efcc5d9",
    "control_msgs/FollowJointTrajectoryActionFeedback": "d8920dc4eae9fc107e00999cce4be641",
    "control_msgs/FollowJointTrajectoryResult": "493383b18409bfb604b4e26c676401d2",
    "control_msgs/JointTolerance": "f544fe9c16cf04547e135dd6063ff5be",
    "control_msgs/JointTrajectoryControllerState": "10817c60c2486ef6b33e97dcd87f4474",
    "control_msgs/QueryTrajectoryState": "ec93cdecbd8062d761aa52b7c90cd44b",
    "rosgraph_msgs/Log": "acffd30cd6b6de30f120938c17c593fb",
}


@pytest.mark.parametrize("name", SUMS)
def test_a_type_has_the_sum_of_its_package(name):
    assert registry(1).md5sum(name) == SUMS[name]


def test_ros_2_keeps_its_own_types_of_these_names():
    assert "control_msgs/FollowJointTrajectoryActionGoal" not in registry(2)
    assert "actionlib_msgs/GoalStatusArray" not in registry(2)


def test_a_goal_survives_its_bytes():
    codec = Codec(1)
    goal = {
        "goal_id": {"id": "a-1", "stamp": 3_000_000_001},
        "goal": {
            "trajectory": {
                "joint_names": ["j"],
                "points": [{"positions": [0.5], "time_from_start": 1_500_000_000}],
            },
            "path_tolerance": [{"name": "j", "position": -1.0}],
            "goal_time_tolerance": 200_000_000,
        },
    }
    kind = codec.types.message("control_msgs/FollowJointTrajectoryActionGoal")
    found = codec.decode(kind, codec.encode("control_msgs/FollowJointTrajectoryActionGoal", goal))
    assert found["goal_id"] == goal["goal_id"]
    assert found["goal"]["trajectory"]["points"][0]["time_from_start"] == 1_500_000_000
    assert found["goal"]["path_tolerance"][0]["position"] == -1.0
    assert found["goal"]["goal_time_tolerance"] == 200_000_000
