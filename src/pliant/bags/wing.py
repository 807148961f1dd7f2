"""Declaration of the wing ``bags``."""

from pliant.base.wing import Wing

WING = Wing(
    name="bags",
    summary="Bags of ROS 1 and ROS 2 without ROS: read as commands and measurements, written from recordings",
    extra="bags",
    builds_on=("ros",),
    recordings=("pliant.bags.format:BAGS",),
    exports={"bag": "pliant.bags.commands:write_bag"},
)
