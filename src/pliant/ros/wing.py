"""Declaration of the wing ``ros``."""

from pliant.base.wing import BridgeEntry, Wing

WING = Wing(
    name="ros",
    summary="ROS 1 and ROS 2 without ROS: nodes on TCPROS and RTPS, topics of all devices",
    builds_on=("ros2_control",),
    bridges={
        "ros1": BridgeEntry("ROS 1: the toolbox's topics on a real master (roscore)", "pliant.ros.ros1:make"),
        "ros2": BridgeEntry("ROS 2: the same topics over DDS", "pliant.ros.ros2:make"),
    },
    listeners={
        "ros1": BridgeEntry("the topics of a robot on ROS 1", "pliant.ros.listening:listen1"),
        "ros2": BridgeEntry("the topics of a robot on ROS 2", "pliant.ros.listening:listen2"),
    },
    robot_exports={"ros-package": "pliant.ros.package:write_package"},
    controllers={"ros1": "pliant.ros.policy:ROS1", "ros2": "pliant.ros.policy:ROS2"},
    benchmarks=("ros.py",),
)
