"""How an equilibrium of rods shows itself in a notebook: its shape, and its numbers."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.figures import COLORS, CYCLE, INK, html_figure, html_table, label, new_figure
from pliant.base.numerics import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def solution_html(title: str, lines: Sequence[Array], planar: bool, rows: Sequence[tuple[str, object]]) -> str:
    """Return an equilibrium as HTML.

    Args:
        title: name of the robot and kind of the solution.
        lines: centreline of each rod [m], shape (n, 3) each.
        planar: whether the robot moves in the plane x, y.
        rows: (quantity, value) of the table.
    """
    picture = html_figure(_figure(lines, planar), "rods and plate") if lines else ""
    return f"<p><b>{html.escape(title)}</b></p>{picture}{html_table(['quantity', 'value'], rows)}"


def _figure(lines: Sequence[Array], planar: bool) -> Figure:
    options = {} if planar else {"subplot_kw": {"projection": "3d"}}
    figure, axis = new_figure(1, 1, width=3.6, height=3.2, **options)
    size = 2 if planar else 3
    tips = np.array([line[-1] for line in lines])
    for i, line in enumerate(lines):
        axis.plot(*line[:, :size].T, color=CYCLE[i % len(CYCLE)], lw=1.8)
        axis.plot(*line[:1, :size].T, "s", color=INK, markersize=4)
    closed = np.vstack([tips, tips[:1]])
    axis.plot(*closed[:, :size].T, "o-", color=COLORS["reference"], lw=1.2, markersize=3)
    axis.set_aspect("equal")
    label(axis, "x [m]", "y [m]")
    if not planar:
        axis.set_box_aspect(None, zoom=0.85)  # room for the label of z
        axis.set_zlabel("z [m]", color=INK)
        axis.locator_params(nbins=4)
    return figure
