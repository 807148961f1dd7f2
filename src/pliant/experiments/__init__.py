"""Experiments: statements and targets, traces, figures, films, reports and the runner of ``pliant reproduce``."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "Context": "pliant.experiments.base",
    "Experiment": "pliant.experiments.base",
    "Figure": "pliant.experiments.base",
    "Result": "pliant.experiments.base",
    "Statement": "pliant.experiments.base",
    "Table": "pliant.experiments.base",
    "Target": "pliant.experiments.base",
    "Verdict": "pliant.experiments.base",
    "experiment": "pliant.experiments.base",
    "find_experiment": "pliant.experiments.runner",
    "list_experiments": "pliant.experiments.runner",
    "reproduce": "pliant.experiments.runner",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
