"""Readers of robot descriptions: URDF with Gazebo's tags, MJCF, YAML files, the plugin manager."""
