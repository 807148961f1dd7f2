"""Published results, reproduced: numbers, figures, verdicts."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "Context": "pliant.papers.base",
    "Experiment": "pliant.papers.base",
    "Figure": "pliant.papers.base",
    "Result": "pliant.papers.base",
    "Statement": "pliant.papers.base",
    "Table": "pliant.papers.base",
    "Target": "pliant.papers.base",
    "Verdict": "pliant.papers.base",
    "experiment": "pliant.papers.base",
    "find_experiment": "pliant.papers.runner",
    "list_experiments": "pliant.papers.runner",
    "reproduce": "pliant.papers.runner",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
