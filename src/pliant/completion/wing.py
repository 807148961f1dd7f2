"""Declaration of the wing ``completion``."""

from pliant.base.wing import Wing

WING = Wing(
    name="completion",
    summary="Scripts with which bash, zsh and fish complete commands, options and names on Tab",
    commands={"completion": "pliant.completion.commands:completion"},
)
