"""Declaration of the wing ``experiments``."""

from pliant.base.wing import Wing

WING = Wing(
    name="experiments",
    summary="Experiments of papers and of yours: targets, verdicts, figures, films, reports and their runner",
    extra="reproduce",
    builds_on=("films", "tasks"),
    commands={"reproduce": "pliant.experiments.commands:reproduce"},
    arguments={"reproduce": "pliant.experiments.runner:completed"},
    lists={"experiments": "pliant.experiments.runner:listed"},
    templates={"experiment": "pliant.experiments.template:TEMPLATE"},
)
