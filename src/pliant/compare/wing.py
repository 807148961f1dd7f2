"""Declaration of the wing ``compare``."""

from pliant.base.wing import Wing

WING = Wing(
    name="compare",
    summary="Two runs in one figure and one film, and their differences in numbers",
    builds_on=("plots",),
    commands={"compare": "pliant.compare.commands:compare"},
    arguments={"compare": "pliant.cli.options:robots_and_files"},
)
