"""Declaration of the wing ``tubes``."""

from pliant.base.wing import Wing

WING = Wing(
    name="tubes",
    summary="Concentric-tube robots: statics of precurved tubes in each other, stability, snapping",
    builds_on=("rods",),
    subcommands={"cpr tubes": "pliant.tubes.commands:tubes"},
    lists={"concentric-tube robots": "pliant.tubes.listed:listed"},
)
