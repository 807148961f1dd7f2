"""Declaration of the wing ``doctor``."""

from pliant.base.wing import Wing

WING = Wing(
    name="doctor",
    summary="Versions, graphics, caches, bridges and optional packages of a machine, and what a bridge serves",
    commands={"doctor": "pliant.doctor.commands:doctor"},
)
