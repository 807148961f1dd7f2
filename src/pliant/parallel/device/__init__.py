"""The controller of a parallel robot, as a device."""
