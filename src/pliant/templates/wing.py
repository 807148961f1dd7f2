"""Declaration of the wing ``templates``."""

from pliant.base.wing import Wing

WING = Wing(
    name="templates",
    summary="Robots, laws and bridges to start from, each with its test",
    commands={"new": "pliant.templates.commands:new"},
    arguments={"new": "pliant.templates.commands:kinds_of_files"},
)
