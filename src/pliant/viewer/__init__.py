"""The simulation in a browser."""

from pliant.viewer.page import PageView

__all__ = ["PageView"]
