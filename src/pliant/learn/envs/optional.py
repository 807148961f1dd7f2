"""Gymnasium, where it is installed."""

from __future__ import annotations

from types import ModuleType

from pliant.base.errors import MissingDependency


def load_gymnasium() -> ModuleType:
    """Return Gymnasium.

    Raises:
        MissingDependency: it is not installed.
    """
    try:
        import gymnasium
        import gymnasium.vector
    except ImportError:
        raise MissingDependency(
            "Gymnasium", command='pip install "pliant[learn]"', purpose="environments for learning"
        ) from None
    return gymnasium
