"""Declaration of the wing ``shadow``."""

from pliant.base.wing import Wing

WING = Wing(
    name="shadow",
    summary="A simulation beside a real robot or its log, and which of its parameters has drifted",
    builds_on=("batch",),
    commands={"shadow": "pliant.shadow.commands:shadow"},
    benchmarks=("shadow.py",),
)
