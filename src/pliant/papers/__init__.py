"""Published results, reproduced: numbers, figures, verdicts."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "Context": "pliant.papers.frame.base",
    "Experiment": "pliant.papers.frame.base",
    "Figure": "pliant.papers.frame.base",
    "Result": "pliant.papers.frame.base",
    "Statement": "pliant.papers.frame.base",
    "Table": "pliant.papers.frame.base",
    "Target": "pliant.papers.frame.base",
    "Verdict": "pliant.papers.frame.base",
    "experiment": "pliant.papers.frame.base",
    "find_experiment": "pliant.papers.frame.runner",
    "list_experiments": "pliant.papers.frame.runner",
    "reproduce": "pliant.papers.frame.runner",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
