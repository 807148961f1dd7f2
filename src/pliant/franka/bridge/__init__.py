"""The Franka Control Interface: the sockets that libfranka's clients connect to, and their lock-step."""

from pliant.franka.bridge.bridge import FciBridge, make
from pliant.franka.bridge.options import FciOptions

__all__ = ["FciBridge", "FciOptions", "make"]
