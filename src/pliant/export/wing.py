"""Declaration of the wing ``export``."""

from pliant.base.wing import Wing

WING = Wing(
    name="export",
    summary="Robots as URDF, as MJCF, and as MJCF that moves in plain MuJoCo",
    builds_on=("ros2_control",),
    commands={"export": "pliant.export.commands:export"},
    arguments={"export": "pliant.export.commands:completed"},
)
