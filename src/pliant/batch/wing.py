"""Declaration of the wing ``batch``."""

from pliant.base.wing import Wing

WING = Wing(
    name="batch",
    summary="Many simulations of one robot at once on all cores, each with its own parameters, drawn or given",
)
