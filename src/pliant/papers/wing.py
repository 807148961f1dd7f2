"""Declaration of the wing ``papers``."""

from pliant.base.wing import Wing

WING = Wing(
    name="papers",
    summary="Published experiments, reproduced: numbers, figures and verdicts against the papers' statements",
    extra="reproduce",
    commands={"reproduce": "pliant.papers.commands:reproduce"},
    arguments={"reproduce": "pliant.papers.frame.runner:completed"},
    lists={"experiments": "pliant.papers.frame.runner:listed"},
    templates={"experiment": "pliant.papers.frame.template:TEMPLATE"},
    experiments=("pliant.papers",),
)
