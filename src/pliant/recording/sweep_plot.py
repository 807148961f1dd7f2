"""Figures of sweeps: curves over one varied parameter, maps over two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import PliantError, nearest
from pliant.base.numerics import is_number
from pliant.recording.plot import save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = ["plot_sweep", "sweep_metrics"]

USUAL = (("rms_error", "final"), ("peak_torque",), ("settling_time",))
"""Metrics of a figure for which none is asked for: of each group the first that has values."""
NOISE = 1e-12
"""Magnitude below which values count as 0, in the unit of their metric."""
MAX_TICKS = 6
"""Most values of a parameter that all have their tick."""
MAX_JOINTS = 6
"""Most joints of a figure; more are too small to read."""
UNITS = {
    "final": "rad", "min": "rad", "max": "rad", "rms_error": "rad", "final_error": "rad", "peak_torque": "N m",
    "peak_velocity": "rad/s", "settling_time": "s",
}  # fmt: skip
"""Units of the metrics of joints that turn."""


def sweep_metrics(columns: Sequence[str], varied: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the joints and the metrics of a sweep's table.

    Args:
        columns: of the table: index, the varied paths, "<joint>/<metric>", diverged.
        varied: the varied paths.
    """
    pairs = [name.rpartition("/") for name in columns[1 + len(varied) : -1]]
    return list(dict.fromkeys(joint for joint, _, _ in pairs)), list(dict.fromkeys(metric for _, _, metric in pairs))


def plot_sweep(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    varied: Sequence[str],
    output: str | Path | None = None,
    *,
    metrics: Sequence[str] = (),
    title: str = "",
) -> Figure:
    """Draw a sweep: a row of panels for each metric, a column for each joint, at most 6 joints.

    One varied parameter gives curves, with points for random draws; two give maps. Simulations that diverged are left
    out of curves, and hatched in maps.

    Args:
        columns: of the table, as in `pliant.sweep.SweepResult`.
        rows: of the table.
        varied: the varied paths, one or two.
        output: file (.png, .svg, .pdf); None saves nothing.
        metrics: names of metrics; empty for the error (the final position where nothing was commanded), the peak
            torque and the settling time, as far as they have values.
        title: of the figure, such as what was commanded.

    Raises:
        PliantError: not one or two parameters, no rows, or no such metric.
    """
    from pliant.base.figures import MUTED, label, new_figure

    if len(varied) not in (1, 2):
        raise PliantError(
            f"a figure shows one or two varied parameters; found {len(varied)}: {', '.join(varied)}", field="plot"
        )
    joints, known = sweep_metrics(columns, varied)
    for metric in metrics:
        if metric not in known:
            raise PliantError(f"no metric {metric!r}; {nearest(metric, known)}", field="metric")
    if not rows:
        raise PliantError("the sweep has no simulation to draw", field="plot")
    table = {name: [row[i] for row in rows] for i, name in enumerate(columns)}
    values = {name: _numbers(table[name]) for name in columns[1 + len(varied) : -1]}
    for name in values:
        values[name][np.array(table["diverged"], dtype=bool)] = np.nan
        values[name][np.abs(values[name]) < NOISE] = 0.0
    joints = joints[:MAX_JOINTS]
    valued = [m for m in metrics or known if any(np.isfinite(values[f"{j}/{m}"]).any() for j in joints)]
    usual = [next((m for m in group if m in valued), "") for group in USUAL]
    shown = valued if metrics else [m for m in usual if m] or valued
    if not shown:
        raise PliantError("there is nothing to draw: all simulations diverged", field="plot")
    figure, axes = new_figure(
        len(shown), len(joints), width=max(5.2, 3.4 * len(joints)), height=1.7 if len(varied) == 1 else 2.3,
        sharex=True, squeeze=False,
    )  # fmt: skip
    for column, joint in enumerate(joints):
        for row, metric in enumerate(shown):
            axis, of = axes[row, column], values[f"{joint}/{metric}"]
            text = f"{metric.replace('_', ' ')} [{UNITS[metric]}]" if metric in UNITS else metric
            if len(varied) == 1:
                _curve(axis, table[varied[0]], of)
                label(axis, varied[0] if row == len(shown) - 1 else "", text, joint if row == 0 else "")
            else:
                _map(figure, axis, table[varied[0]], table[varied[1]], of, text)
                below, beside = row == len(shown) - 1, column == 0
                label(axis, varied[0] if below else "", varied[1] if beside else "", joint if row == 0 else "")
    if title:
        figure.suptitle(title, size=9.0, color=MUTED, x=0.01, ha="left", wrap=True)
    if output is not None:
        save(figure, output)
    return figure


def _numbers(cells: Sequence[Any]) -> NDArray[np.float64]:
    return np.array([float(c) if is_number(c) else math.nan for c in cells])


def _places(cells: Sequence[Any]) -> tuple[NDArray[np.float64], list[str]]:
    """Return where the values of a parameter stand on an axis, and their names where they are no numbers."""
    numbers = _numbers(cells)
    if np.isfinite(numbers).all():
        return numbers, []
    names = list(dict.fromkeys(str(cell) for cell in cells))
    return np.array([float(names.index(str(cell))) for cell in cells]), names


def _logarithmic(places: NDArray[np.float64]) -> bool:
    """Return whether values are spaced by equal ratios rather than by equal distances."""
    grid = np.unique(places)
    if len(grid) < 3 or grid[0] <= 0.0:
        return False
    return float(np.ptp(np.diff(np.log(grid)))) < 0.5 * float(np.ptp(np.diff(grid))) * np.log(grid[-1] / grid[0]) / (
        grid[-1] - grid[0]
    )


def _curve(axis: Axes, cells: Sequence[Any], values: NDArray[np.float64]) -> None:
    from pliant.base.figures import CYCLE

    places, names = _places(cells)
    order = np.argsort(places, kind="stable")
    places, values = places[order], values[order]
    grid = len(np.unique(places))
    few = grid < len(places) or grid > 60  # several draws at one value, or drawn at random
    axis.plot(places, values, "." if few or names else ".-", color=CYCLE[0], lw=1.4, markersize=4)
    if _logarithmic(places):
        axis.set_xscale("log")
    if names:
        axis.set_xticks(range(len(names)), names)
    elif grid <= 2:
        axis.set_xlim(*_edges(np.unique(places))[[0, -1]])
        _tick_values(axis.xaxis, np.unique(places))


def _tick_values(axis: Axis, places: NDArray[np.float64]) -> None:
    """Put the ticks of an axis at the values of a parameter, where these are few."""
    if len(places) <= MAX_TICKS:
        axis.set_ticks(list(places), [f"{v:.4g}" for v in places])
        axis.set_ticks([], minor=True)


def _map(
    figure: Figure, axis: Axes, across: Sequence[Any], up: Sequence[Any], values: NDArray[np.float64], text: str
) -> None:
    from pliant.base.figures import INK

    x, x_names = _places(across)
    y, y_names = _places(up)
    columns, rows = np.unique(x), np.unique(y)
    axis.grid(False)
    if len(columns) * len(rows) > 4 * len(values):  # drawn at random: no grid to fill
        drawn: Any = axis.scatter(x, y, c=values, s=12, cmap="viridis")
    else:
        total, count = np.zeros((2, len(rows), len(columns)))
        at = np.searchsorted(rows, y), np.searchsorted(columns, x)
        finite = np.isfinite(values)
        np.add.at(total, tuple(a[finite] for a in at), values[finite])
        np.add.at(count, tuple(a[finite] for a in at), 1.0)
        with np.errstate(invalid="ignore"):
            mean = np.ma.masked_invalid(total / count)
        axis.patch.set(hatch="////", edgecolor="#b6bec7", facecolor="white")
        drawn = axis.pcolormesh(_edges(columns), _edges(rows), mean, cmap="viridis")
        for places, scale in ((columns, axis.set_xscale), (rows, axis.set_yscale)):
            if _logarithmic(places):
                scale("log")
        _tick_values(axis.xaxis, columns)
        _tick_values(axis.yaxis, rows)
    for names, set_ticks in ((x_names, axis.set_xticks), (y_names, axis.set_yticks)):
        if names:
            set_ticks(range(len(names)), names)
    bar = figure.colorbar(drawn, ax=axis)
    bar.set_label(text, size=9.0, color=INK)
    bar.ax.tick_params(labelsize=8.0, length=3, colors=INK)


def _edges(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the edges of the cells around places; between two, half way, by ratio for logarithmic ones.

    The cells at the ends reach as far to the outside, and none of positive values below 0.
    """
    if len(places) == 1:
        half = 0.5 * abs(places[0]) or 0.5
        return np.array([places[0] - half, places[0] + half])
    log = _logarithmic(places)
    p = np.log(places) if log else places
    middle = 0.5 * (p[1:] + p[:-1])
    edges = np.concatenate([[2.0 * p[0] - middle[0]], middle, [2.0 * p[-1] - middle[-1]]])
    if not log and p[0] >= 0.0 > edges[0]:
        edges[0] = 0.0 if p[0] > 0.0 else edges[0]
    return np.exp(edges) if log else edges
