"""Declaration of the wing ``sdf``."""

from pliant.base.wing import Wing

WING = Wing(
    name="sdf",
    summary="Robots from worlds and models of SDFormat, as Gazebo reads them",
    formats=("pliant.sdf.robot:SDF",),
)
