"""Declaration of the wing ``symbolic``."""

from pliant.base.wing import Wing

WING = Wing(
    name="symbolic",
    summary="Laws that are given by their energy: torque, loads and stiffness by symbolic differentiation",
    extra="energy",
    derivation="pliant.symbolic.derivation:derive",
)
