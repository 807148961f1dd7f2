"""An arm on ROS under the names of the vendor's packages: franka_ros for ROS 1, franka_ros2 for ROS 2."""
