"""Figures of recordings."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "plot_recording": "pliant.plots.figure",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
