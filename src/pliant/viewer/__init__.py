"""The simulation in a browser."""

from pliant.viewer.page import PageView
from pliant.viewer.server import PageServer

__all__ = ["PageServer", "PageView"]
