"""The simulation in a browser."""

from pliant.viewer.studio import StudioView

__all__ = ["StudioView"]
