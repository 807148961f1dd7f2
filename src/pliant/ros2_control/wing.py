"""Declaration of the wing ``ros2_control``."""

from pliant.base.wing import Wing

WING = Wing(
    name="ros2_control",
    summary="URDFs with the tags of ros2_control: joints that they describe are served, and robots written with them",
    tags=("pliant.ros2_control.reader:READER",),
)
