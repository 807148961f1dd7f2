"""The simulation in a browser."""

from pliant.page.page import PageView
from pliant.page.server import PageServer

__all__ = ["PageServer", "PageView"]
