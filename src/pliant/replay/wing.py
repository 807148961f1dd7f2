"""Declaration of the wing ``replay``."""

from pliant.base.wing import Wing

WING = Wing(
    name="replay",
    summary="What a recording has, in tables, figures, films and pages, compared, or published again",
    commands={"replay": "pliant.replay.commands:replay"},
)
