"""Published results, reproduced: numbers, figures, verdicts."""

from pliant.papers.base import Context, Experiment, Figure, Result, Statement, Table, Target, Verdict, experiment
from pliant.papers.runner import find_experiment, list_experiments, reproduce

__all__ = [
    "Context",
    "Experiment",
    "Figure",
    "Result",
    "Statement",
    "Table",
    "Target",
    "Verdict",
    "experiment",
    "find_experiment",
    "list_experiments",
    "reproduce",
]
