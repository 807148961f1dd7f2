"""Definitions that a ROS 1 node uses beside its topics: actions, the messages of joint_trajectory_controller, the log.

The texts have the fields and constants of the packages actionlib_msgs, control_msgs and rosgraph_msgs; the constants
take part in the sums by which two sides compare their types.
"""

from __future__ import annotations

_STATE_NAMES = (
    "PENDING", "ACTIVE", "PREEMPTED", "SUCCEEDED", "ABORTED", "REJECTED", "PREEMPTING", "RECALLING", "RECALLED", "LOST",
)  # fmt: skip
_FEEDBACK = (
    "std_msgs/Header header\nstring[] joint_names\ntrajectory_msgs/JointTrajectoryPoint desired\n"
    "trajectory_msgs/JointTrajectoryPoint actual\ntrajectory_msgs/JointTrajectoryPoint error\n"
)


def action_messages(name: str, goal: str, result: str, feedback: str) -> dict[str, str]:
    """Return the messages that ROS 1 derives from an action, ``package/Type``."""
    head = "std_msgs/Header header\n"
    status = f"{head}actionlib_msgs/GoalStatus status\n"
    return {
        f"{name}Goal": goal,
        f"{name}Result": result,
        f"{name}Feedback": feedback,
        f"{name}ActionGoal": f"{head}actionlib_msgs/GoalID goal_id\n{name}Goal goal\n",
        f"{name}ActionResult": f"{status}{name}Result result\n",
        f"{name}ActionFeedback": f"{status}{name}Feedback feedback\n",
    }


ROS1_TEXTS: dict[str, str] = {
    "rosgraph_msgs/Log": (
        "byte DEBUG=1\nbyte INFO=2\nbyte WARN=4\nbyte ERROR=8\nbyte FATAL=16\n"
        "std_msgs/Header header\nbyte level\nstring name\nstring msg\nstring file\nstring function\nuint32 line\n"
        "string[] topics\n"
    ),
    "actionlib_msgs/GoalID": "time stamp\nstring id\n",
    "actionlib_msgs/GoalStatus": (
        "actionlib_msgs/GoalID goal_id\nuint8 status\n"
        + "".join(f"uint8 {name}={value}\n" for value, name in enumerate(_STATE_NAMES))
        + "string text\n"
    ),
    "actionlib_msgs/GoalStatusArray": "std_msgs/Header header\nactionlib_msgs/GoalStatus[] status_list\n",
    "control_msgs/JointTolerance": "string name\nfloat64 position\nfloat64 velocity\nfloat64 acceleration\n",
    "control_msgs/JointTrajectoryControllerState": _FEEDBACK,
    **action_messages(
        "control_msgs/FollowJointTrajectory",
        "trajectory_msgs/JointTrajectory trajectory\ncontrol_msgs/JointTolerance[] path_tolerance\n"
        "control_msgs/JointTolerance[] goal_tolerance\nduration goal_time_tolerance\n",
        "int32 error_code\nint32 SUCCESSFUL=0\nint32 INVALID_GOAL=-1\nint32 INVALID_JOINTS=-2\n"
        "int32 OLD_HEADER_TIMESTAMP=-3\nint32 PATH_TOLERANCE_VIOLATED=-4\nint32 GOAL_TOLERANCE_VIOLATED=-5\n"
        "string error_string\n",
        _FEEDBACK,
    ),
}
"""Type -> its definition in ROS 1."""

ROS1_SERVICES: dict[str, tuple[str, str]] = {
    "control_msgs/QueryTrajectoryState": (
        "time time\n",
        "string[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] acceleration\n",
    ),
}
"""Service type -> (request, response)."""
