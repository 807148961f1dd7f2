"""Declaration of the wing ``shadow``."""

from pliant.base.wing import Wing

__all__ = ["WING"]

WING = Wing(
    name="shadow",
    summary="A simulation beside the log of a real robot, and which of its parameters has drifted",
    commands={"shadow": "pliant.shadow.commands:shadow"},
)
