"""Readers and writers of robot descriptions: URDF, Gazebo tags, ros2_control, the plugin manager."""
