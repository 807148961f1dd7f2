"""Declaration of the wing ``joints``."""

from pliant.base.wing import Wing

_BENCHES = ("sea-1dof", "qbmove-1dof", "bavs-1dof", "awas2-1dof", "pam-1dof", "sea-table-1dof")

WING = Wing(
    name="joints",
    summary="Benches of one compliant joint with a load, and arms of qbMoves",
    robots={
        **dict.fromkeys(_BENCHES, "pliant.joints.benches.build"),
        "qbmove-2dof": "pliant.joints.qbmove_2dof.build",
        "qbmove-5dof": "pliant.joints.qbmove_5dof.build",
    },
    scenarios=dict.fromkeys(("push", "reach", "soft-then-stiff", "steps", "swing"), "pliant.joints"),
)
