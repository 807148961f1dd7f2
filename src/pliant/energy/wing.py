"""Declaration of the wing ``energy``."""

from pliant.base.wing import Wing

WING = Wing(
    name="energy",
    summary="The energy balance of a run: supplied, stored and lost energy, and the error of the time integration",
    monitors={"energy": "pliant.energy.audit:audit_of"},
)
