"""Figures of recordings."""

from pliant.plots.figure import plot_recording

__all__ = ["plot_recording"]
