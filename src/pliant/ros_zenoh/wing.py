"""Declaration of the wing ``ros_zenoh``."""

from pliant.base.wing import BridgeEntry, Wing

WING = Wing(
    name="ros_zenoh",
    summary="ROS 2 on zenoh without ROS 2: nodes by the rules of rmw_zenoh, with what the wing ros serves",
    extra="zenoh",
    builds_on=("ros",),
    bridges={
        "zenoh": BridgeEntry(
            "ROS 2 on zenoh: the same topics for nodes of rmw_zenoh", "pliant.ros_zenoh.bridge:make", ("zenoh",)
        ),
    },
    listeners={
        "zenoh": BridgeEntry(
            "the topics of a robot on ROS 2 over zenoh", "pliant.ros_zenoh.listening:listen_zenoh", ("zenoh",)
        ),
    },
)
