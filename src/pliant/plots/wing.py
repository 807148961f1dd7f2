"""Declaration of the wing ``plots``."""

from pliant.base.wing import Wing

WING = Wing(
    name="plots",
    summary="Figures of recordings: position, torque, stiffness and preset of each joint; fields of other devices",
    extra="plot",
    outputs={"plot": "pliant.plots.options:Plot"},
)
