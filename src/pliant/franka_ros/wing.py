"""Declaration of the wing ``franka_ros``."""

from pliant.base.wing import Wing

WING = Wing(
    name="franka_ros",
    summary="Franka arms on ROS under the names of franka_ros and franka_ros2: states, setters, actions, MoveIt",
    builds_on=("franka", "ros"),
    messages={"ros": "pliant.franka_ros.definitions"},
    interfaces={
        "ros/franka_arm": "pliant.franka_ros.serve:serve_arm",
        "ros_names/franka_arm": "pliant.franka_ros.names:name_arm",
    },
)
