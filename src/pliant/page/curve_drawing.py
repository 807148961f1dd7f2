"""Drawing of curves as lines with the colour of a quantity, and the scale of these colours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.numerics import Array
from pliant.page.server import PageServer
from pliant.recording.drawing import STOPS, Curves, scale_colours

if TYPE_CHECKING:
    import viser

POINTS = 33
"""Points of a curve of a simulated model."""
THINNEST = 0.007
"""Thickness of a drawn curve, as part of the robot's size; real rods are often thinner than a pixel."""
FAINT = np.array([168.0, 174.0, 180.0])
"""Colour to which the others fade where the picture is not the present one."""
GAMMA = 2.2
"""Colours of lines are light intensities for the browser, not numbers of a screen."""
STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""The scale changes in steps, so that the colours do not flicker while the robot moves."""


class CurveDrawing:
    """Drawing of curves.

    Args:
        server: the page's server.
        thickness: of the lines [m].
    """

    def __init__(self, server: PageServer, thickness: float) -> None:
        self._server, self._thickness = server, thickness
        self._handle: viser.LineSegmentsHandle | None = None
        self.scale = 1e-3
        """Value at the end of the colours."""

    def draw_curves(self, curves: Curves) -> None:
        """Draw the present state of a simulated model, whose kinematics are up to date; nothing if it is not finite."""
        lines = curves()
        if np.isfinite(lines).all():
            self.draw(lines, curves.values(lines))

    def draw(self, lines: Array, strain: Array, *, faint: bool = False) -> None:
        """Draw the curves.

        Args:
            lines: points, shape (curves, points, 3) [m].
            strain: quantity that the colours show, shape (curves, points).
            faint: whether this is an earlier state.
        """
        self.scale = round_scale(float(strain.max()))
        colours = scale_colours(strain / self.scale)
        if faint:
            colours = (0.25 * colours + 0.75 * FAINT).astype(np.uint8)
        colours = (255.0 * (colours / 255.0) ** GAMMA).astype(np.uint8)
        points = np.stack([lines[:, :-1], lines[:, 1:]], axis=2).reshape(-1, 2, 3).astype(np.float32)
        ends = np.stack([colours[:, :-1], colours[:, 1:]], axis=2).reshape(-1, 2, 3)
        if self._handle is None:
            self._handle = self._server.scene.add_line_segments("/rods", points, ends, thickness=self._thickness)
            return
        self._handle.points, self._handle.colors = points, ends


def curve_thickness(radius: float, size: float) -> float:
    """Return the thickness of drawn curves of a radius on a robot of a size [m]."""
    return max(2.6 * radius, THINNEST * size)


def round_scale(largest: float) -> float:
    """Return the end of the colours for a largest value: the next round number."""
    largest = max(largest, 1e-6)
    power = 10.0 ** math.floor(math.log10(largest))
    return next((step * power for step in STEPS if step * power >= largest * 0.999999), largest)


def scale_bar(scale: float, quantity: str) -> str:
    """Return the scale of the colours as HTML.

    Args:
        scale: value at the end of the colours.
        quantity: the quantity, without a unit.
    """
    stops = ",".join("rgb({:.0f},{:.0f},{:.0f})".format(*stop) for stop in STOPS)
    ticks = "".join(f"<span>{1e3 * part * scale:.3g}</span>" for part in (0.0, 0.5, 1.0))
    return (
        '<div style="padding:0.2em 1em 0.5em;font-size:0.8em"><div>' + quantity + " [1/1000]</div>"
        f'<div style="height:0.7em;border-radius:0.35em;background:linear-gradient(90deg,{stops})"></div>'
        f'<div style="display:flex;justify-content:space-between;font-variant-numeric:tabular-nums">{ticks}</div></div>'
    )
