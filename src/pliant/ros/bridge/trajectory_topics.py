"""The topics and the action of a trajectory controller, by the names of joint_trajectory_controller."""

from __future__ import annotations

from collections.abc import Callable

from pliant.ros.bridge.topics import RosTopics
from pliant.ros.bridge.trajectory_controller import Limb, TrajectoryController

STATE_RATE = 50.0
"""joint_trajectory_controller's state_publish_rate [Hz]."""
TAKE_TOPICS = {1: "command", 2: "joint_trajectory"}
"""Topic of joint_trajectory_controller in each generation of ROS."""


def serve_controller(topics: RosTopics, base: str, limb: Limb, *, take: str = "") -> TrajectoryController:
    """Serve a controller: its topic for trajectories, its action, and on ROS 1 its state.

    Args:
        topics: the topics of the bridge.
        base: full name of the controller.
        limb: its joints.
        take: name of the topic below it; "" for that of joint_trajectory_controller.
    """
    node = topics.node
    controller = TrajectoryController(limb, topics.refuse, node.codec.version)
    for other in topics.controllers:
        if set(other.limb.owned) & set(limb.owned):
            controller.rivals.append(other)
            other.rivals.append(controller)
    topics.controllers.append(controller)
    controller.topic = f"{base}/{take or TAKE_TOPICS[node.codec.version]}"
    topics.listen(controller.topic, "trajectory_msgs/JointTrajectory", controller.take)
    topics.rewinds.append(controller.forget)
    topics.ticks.append(controller.tick)
    if node.has_actions:
        action = f"{base}/follow_joint_trajectory"
        controller.server = topics.serve_action(action, "control_msgs/FollowJointTrajectory", controller)
    if node.codec.version == 1:  # ROS 2 has other fields, which change with the distribution
        topics.at(STATE_RATE, _state(topics, f"{base}/state", controller))
        topics.serve(
            f"{base}/query_state",
            "control_msgs/QueryTrajectoryState",
            lambda request: controller.query(int(request["time"])),
        )
    return controller


def _state(topics: RosTopics, topic: str, controller: TrajectoryController) -> Callable[[int], None]:
    """Send control_msgs/JointTrajectoryControllerState: where the joints should be, are, and the difference."""
    kind = "control_msgs/JointTrajectoryControllerState"
    handle = topics.advertise(topic, kind)
    zeros = [0.0] * len(controller.joints)
    point = {"positions": zeros, "velocities": zeros, "accelerations": zeros}
    parts = ("desired", "actual", "error")
    paths = [f"{part}.{field}" for part in parts for field in point]
    values = {"joint_names": controller.joints, **dict.fromkeys(parts, point)}
    # The joints have the names of the graph already.
    fill = topics.stamped(kind, values, paths, named=True)

    def write(stamp_ns: int) -> None:
        if not handle.active:
            return
        found = controller.state()
        if found is not None:
            handle.send(fill(stamp_ns, *(v for s in found for v in (s.position, s.velocity, s.acceleration))))

    return write
