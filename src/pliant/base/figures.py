"""How figures look: one font, one palette that colour-blind people can tell apart, axes labelled with units.

Figures are made without pyplot, so nothing depends on a display or on a global state:

    figure, axes = new_figure(1, 2, height=2.6)
    axes[0].plot(t, q, color=COLORS["soft"], label="soft")
    label(axes[0], "time [s]", "link angle [rad]")
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.errors import RecordingError, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

INK = "#24292f"
"""Colour of text and axes; the report replaces it by the page's own, light or dark."""
MUTED = "#6e7781"
"""Colour of what is in the background: references, bounds."""
GRID = "#d8dee4"
"""Colour of grid lines."""
WIDTH = 7.6
"""Width of a figure that fills the page [inch]."""

CYCLE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's colours (2008), told apart with every common colour-vision deficiency."""

COLORS = {
    "soft": "#d55e00",
    "stiff": "#0072b2",
    "link": "#d55e00",
    "equilibrium": "#0072b2",
    "reference": MUTED,
    "bound": "#cc79a7",
    "pass": "#009e73",
    "fail": "#d55e00",
}
"""Colours with a meaning, the same in every figure."""

_RC: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 7.0,
    "axes.labelsize": 9.0,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "xtick.major.width": 0.8,
    "ytick.major.width": 0.8,
    "lines.linewidth": 1.5,
    "lines.solid_capstyle": "round",
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "svg.fonttype": "path",
    "svg.hashsalt": "pliant",
    "path.simplify": True,
    "path.simplify_threshold": 0.3,
}


def new_figure(
    rows: int = 1, columns: int = 1, *, width: float = WIDTH, height: float = 2.4, **options: Any
) -> tuple[Figure, Any]:
    """Return a figure and its axes in pliant's style.

    Args:
        rows: rows of panels.
        columns: columns of panels.
        width: width of the figure [inch].
        height: height of one row [inch].
        options: further arguments of `Figure.subplots`, such as sharex.

    Returns:
        (figure, axes): one Axes, or an array of them when there are several, as in `Figure.subplots`.
    """
    require("matplotlib", extra="plot", purpose="drawing a figure")
    import matplotlib
    from cycler import cycler
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with matplotlib.rc_context({**_RC, "axes.prop_cycle": cycler(color=CYCLE)}):
        layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08, wspace=0.03, hspace=0.04)
        figure = Figure(figsize=(width, height * rows), layout=layout)
        FigureCanvasAgg(figure)
        axes = figure.subplots(rows, columns, **options)
        for axis in np.ravel(axes):
            axis.tick_params(length=3)
    return figure, axes


def saving() -> AbstractContextManager[None]:
    """Return the context in which a figure is written, with the same settings as it was made with."""
    require("matplotlib", extra="plot", purpose="drawing a figure")
    import matplotlib

    return matplotlib.rc_context(_RC)


def save(figure: Figure, output: str | Path, *, overwrite: bool = True) -> None:
    """Write a figure to a file, whose suffix selects the format (.png, .svg, .pdf).

    Raises:
        RecordingError: the file exists and ``overwrite`` is False, or cannot be written.
    """
    path = Path(output)
    if path.exists() and not overwrite:
        raise RecordingError("the file exists; replace it with --overwrite, or name another", file=path)
    try:
        with saving():
            figure.savefig(path, dpi=150, facecolor="white")
    except OSError as error:
        raise RecordingError(f"the figure cannot be written: {error.strerror}", file=path) from None
    except ValueError as error:
        raise RecordingError(f"the figure cannot be written: {error}", file=path) from None


def label(axis: Axes, x: str = "", y: str = "", title: str = "") -> None:
    """Set axis labels (with units) and title."""
    if x:
        axis.set_xlabel(x, color=INK)
    if y:
        axis.set_ylabel(y, color=INK)
    if title:
        axis.set_title(title, loc="left", fontsize=9.5, fontweight="bold", color=INK, pad=7.0)


def legend(axis: Axes, **options: Any) -> Legend:
    """Draw the legend of an axis in pliant's style."""
    return axis.legend(**{"fontsize": 8.0, "frameon": False, "handlelength": 1.6, "labelcolor": INK, **options})


def figure_legend(figure: Figure, axis: Axes, *, order: Sequence[int] | None = None, **options: Any) -> Legend:
    """Draw the legend of one axis above the whole figure, at its right.

    Args:
        figure: the figure.
        axis: the axis whose lines it names.
        order: indices of its entries in the order wanted.
        options: further arguments of `Figure.legend`.
    """
    handles, labels = axis.get_legend_handles_labels()
    index = range(len(handles)) if order is None else order
    handles, labels = [handles[i] for i in index], [labels[i] for i in index]
    defaults = {"loc": "outside upper right", "ncols": len(handles), "frameon": False, "fontsize": 8.0}
    box = figure.legend(handles, labels, **{**defaults, "handlelength": 1.6, "labelcolor": INK, **options})
    for line in box.get_lines():
        line.set_linewidth(max(1.5, line.get_linewidth()))
        line.set_alpha(1.0)
    return box


def thin(x: object, *ys: object, points: int = 1500) -> tuple[np.ndarray, ...]:
    """Return traces with fewer points for drawing, extremes kept.

    Each bucket of samples gives its first, its smallest and its largest value of every trace, so peaks stay.

    Args:
        x: common abscissa, shape (n,).
        ys: traces, shape (n,) each.
        points: about how many points are left.

    Returns:
        (x, *ys), all of one shape.
    """
    x = np.asarray(x, dtype=float)
    series = [np.asarray(y, dtype=float) for y in ys]
    n = x.size
    if n <= points:
        return (x, *series)
    edges = np.linspace(0, n, max(2, points // (1 + 2 * max(1, len(series)))) + 1).astype(int)
    keep = {0, n - 1}
    for low, high in itertools.pairwise(edges):
        keep.add(int(low))
        for y in series:
            part = y[low:high]
            if part.size and np.isfinite(part).any():
                keep.add(int(low + np.nanargmin(part)))
                keep.add(int(low + np.nanargmax(part)))
    index = np.array(sorted(keep))
    return (x[index], *(y[index] for y in series))


def html_table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, limit: int = 30) -> str:
    """Return a table as HTML; every text is escaped, so a name of a file cannot become a part of the page.

    Args:
        columns: headings.
        rows: cells, numbers with four digits.
        limit: most rows; a line says how many are left out.
    """
    import html

    def cell(value: object) -> str:
        return html.escape(f"{value:.4g}" if isinstance(value, float) else str(value))

    head = "".join(f'<th style="text-align:left">{cell(name)}</th>' for name in columns)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{cell(value)}</td>' for value in row) + "</tr>"
        for row in rows[:limit]
    )
    rest = f"<p>{len(rows) - limit} more</p>" if len(rows) > limit else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def html_picture(png: bytes, text: str, *, width: int | None = None) -> str:
    """Return a picture that is a part of its page.

    Args:
        png: the file.
        text: what it shows, for who cannot see it; escaped.
        width: on the page [pixels]; None for its own.
    """
    import base64
    import html

    size = f' width="{width}"' if width is not None else ""
    return f'<img src="data:image/png;base64,{base64.b64encode(png).decode()}" alt="{html.escape(text)}"{size}>'


def html_figure(figure: Figure, text: str) -> str:
    """Return a figure as a picture that is a part of its page; arguments as for `html_picture`."""
    import io

    file = io.BytesIO()
    with saving():
        figure.savefig(file, format="png", dpi=90.0, facecolor="white")
    return html_picture(file.getvalue(), text)
