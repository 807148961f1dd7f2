"""Gymnasium, where it is installed."""

from __future__ import annotations

from types import ModuleType

from pliant.base.errors import importing


def load_gymnasium() -> ModuleType:
    """Return Gymnasium.

    Raises:
        MissingDependency: it is not installed.
    """
    with importing("Gymnasium", command='pip install "pliant[learn]"', purpose="environments for learning"):
        import gymnasium
        import gymnasium.vector
    return gymnasium
