"""Foxglove: devices, scene, cameras, parameters and commands for programs of its WebSocket protocol."""

from pliant.foxglove.bridge import Foxglove, make
from pliant.foxglove.options import FoxgloveOptions

__all__ = ["Foxglove", "FoxgloveOptions", "make"]
