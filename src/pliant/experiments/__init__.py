"""Published results run again: numbers, figures, pass or fail."""

from pliant.experiments.base import (
    Context,
    Experiment,
    Figure,
    Result,
    Table,
    Target,
    experiment,
    find_experiment,
    list_experiments,
    reproduce,
)

__all__ = [
    "Context",
    "Experiment",
    "Figure",
    "Result",
    "Table",
    "Target",
    "experiment",
    "find_experiment",
    "list_experiments",
    "reproduce",
]
