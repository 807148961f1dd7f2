"""Devices of the plugins of gazebo-yarp-plugins."""
