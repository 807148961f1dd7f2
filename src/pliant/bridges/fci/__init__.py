"""The Franka Control Interface: the sockets that libfranka's clients connect to, and their lock-step."""

from pliant.bridges.fci.bridge import FciBridge, make
from pliant.bridges.fci.options import FciOptions

__all__ = ["FciBridge", "FciOptions", "make"]
