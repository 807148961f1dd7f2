"""Declaration of the wing ``gazebo``."""

from pliant.base.wing import Wing

WING = Wing(
    name="gazebo",
    summary="Compliant actuators and sensors that the tags of Gazebo's plugins and sensors in URDF and SDF describe",
    tags=("pliant.gazebo.plugins:READER", "pliant.gazebo.sensors:READER"),
)
