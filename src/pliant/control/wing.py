"""Declaration of the wing ``control``."""

from pliant.base.wing import Wing

WING = Wing(
    name="control",
    summary="Controllers for programs: trajectories, inverse kinematics, compensation of gravity, learning",
)
