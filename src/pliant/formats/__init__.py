"""Readers of robot descriptions: URDF, MJCF, YAML files, the plugin manager."""
