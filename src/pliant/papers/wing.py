"""Declaration of the wing ``papers``."""

from pliant.base.wing import Wing

WING = Wing(
    name="papers",
    summary="Published experiments, reproduced: numbers, figures and verdicts against the papers' statements",
    extra="reproduce",
    builds_on=("experiments",),
    experiments=("pliant.papers",),
)
