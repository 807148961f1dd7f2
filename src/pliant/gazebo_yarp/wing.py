"""Declaration of the wing ``gazebo_yarp``."""

from pliant.base.wing import Wing

WING = Wing(
    name="gazebo_yarp",
    summary="Robots and worlds with the plugins of gazebo-yarp-plugins and gz-sim-yarp-plugins, and their ini files",
    builds_on=("control_boards", "yarp"),
    tags=("pliant.gazebo_yarp.plugins:READER",),
)
