"""The parameters of the toolbox on the server of ROS 1."""

from __future__ import annotations

from pliant.ros.bridge.names import topic_name
from pliant.ros.bridge.topics import RosTopics


def set_parameters(topics: RosTopics) -> None:
    """Set what the toolbox's YAML file sets, and ``use_sim_time``.

    ``/namespace`` belongs to the robot that came first, as long as it is there: the toolbox has one for all robots of a
    master.
    """
    put = topics.node.set_param
    if topics.options.clock:
        put("/use_sim_time", True)
    if not _another_lives(topics):
        put("/namespace", topics.namespace)
    manager = topics.interface.manager
    if manager is not None:
        put("/T_sample", manager.sample_time)
        put("/joints_number", len(manager.joints))
        put("/joints_name", list(manager.joints))
        put("/ref1_topic_name", [f"/{r}" for r in manager.ref_1])
        put("/ref2_topic_name", [f"/{r}" for r in manager.ref_2])


def _another_lives(topics: RosTopics) -> bool:
    """Return whether ``/namespace`` names another robot, and somebody publishes that one's states."""
    other = topics.node.get_param("/namespace")
    if not isinstance(other, str) or not other.strip("/") or other.strip("/") == topics.namespace:
        return False
    return bool(topics.node.taken([topic_name(other, "robot_state")]))
