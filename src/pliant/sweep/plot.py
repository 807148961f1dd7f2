"""Figures of sweeps: curves over one varied parameter, maps over two."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.errors import PliantError, nearest
from pliant.base.figures import save
from pliant.base.numerics import Array, is_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

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
        columns: of the table: index, the varied paths, "<joint>/<metric>", diverged, happened.
        varied: the varied paths.
    """
    pairs = [name.rpartition("/") for name in columns[1 + len(varied) : columns.index("diverged")]]
    return list(dict.fromkeys(joint for joint, _, _ in pairs)), list(dict.fromkeys(metric for _, _, metric in pairs))


def plot_sweep(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    varied: Sequence[str],
    output: str | Path | None = None,
    *,
    random: Sequence[str] = (),
    metrics: Sequence[str] = (),
    units: Mapping[str, str] | None = None,
    show: Sequence[str] = (),
    title: str = "",
) -> Figure:
    """Draw a sweep: a row of panels for each metric, a column for each joint or quantity, at most 6.

    One parameter gives a curve. Two parameters of a grid give a map of means. Random draws beside a grid are no axis:
    they give the curve a median and a band of 80 % of the draws. Simulations that diverged are left out of curves;
    cells of a map in which all diverged are hatched.

    Args:
        columns: of the table, as in `pliant.sweep.SweepResult`.
        rows: of the table.
        varied: the varied paths.
        output: file (.png, .svg, .pdf); None saves nothing.
        random: those of the varied paths whose values were drawn.
        metrics: names of metrics; empty for the error (the final position where nothing was commanded), the peak
            torque and the settling time, as far as they have values.
        units: units of the columns with results; None for joints that turn.
        show: names or patterns of the joints or quantities to draw; empty for the first six.
        title: of the figure, such as what was commanded.

    Raises:
        PliantError: not one or two parameters for the axes, no rows, no such metric or quantity.
    """
    from pliant.base.figures import MUTED, label, new_figure

    axes_of = axis_paths(varied, random)
    joints, known = sweep_metrics(columns, varied)
    joints = matching(show, joints) if show else joints
    for metric in metrics:
        if metric not in known:
            raise PliantError(f"no metric {metric!r}; {nearest(metric, known)}", field="metric")
    if not rows:
        raise PliantError("the sweep has no simulation to draw", field="plot")
    table = {name: [row[i] for row in rows] for i, name in enumerate(columns)}
    values = {name: _numbers(table[name]) for name in columns[1 + len(varied) : columns.index("diverged")]}
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
        len(shown), len(joints), width=max(5.2, 3.4 * len(joints)), height=1.7 if len(axes_of) == 1 else 2.3,
        sharex=True, squeeze=False,
    )  # fmt: skip
    for column, joint in enumerate(joints):
        for row, metric in enumerate(shown):
            axis, of = axes[row, column], values[f"{joint}/{metric}"]
            unit = UNITS.get(metric, "") if units is None else units.get(f"{joint}/{metric}", "")
            text = f"{metric.replace('_', ' ')} [{unit}]" if unit else metric.replace("_", " ")
            below, head = row == len(shown) - 1, joint if row == 0 else ""
            if len(axes_of) == 1:
                _curve(axis, table[axes_of[0]], of)
                label(axis, axes_of[0] if below else "", text, head)
            else:
                across, up = (table[path] for path in axes_of)
                draw = _scatter if axes_of[0] in random else _map
                drawn = draw(axis, across, up, of)
                _color_bar(figure, axis, drawn, text)
                label(axis, axes_of[0] if below else "", axes_of[1] if column == 0 else "", head)
    if title:
        figure.suptitle(title, size=9.0, color=MUTED, x=0.01, ha="left", wrap=True)
    if output is not None:
        save(figure, output)
    return figure


def axis_paths(varied: Sequence[str], random: Sequence[str] = ()) -> list[str]:
    """Return the paths that are axes of a figure: those of the grid, or the drawn ones if there is no grid.

    Raises:
        PliantError: neither one nor two.
    """
    grid = [path for path in varied if path not in random] or list(varied)
    if len(grid) not in (1, 2):
        raise PliantError(
            f"a figure shows one or two varied parameters; found {len(grid)}: {', '.join(grid)}", field="plot"
        )
    return grid


def matching(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names that equal or match one of the patterns, in their own order.

    Raises:
        PliantError: a pattern matches no name.
    """
    for pattern in patterns:
        if not any(_matches(pattern, name) for name in names):
            raise PliantError(f"nothing is named {pattern!r}; {nearest(pattern, names)}", field="show")
    return [name for name in names if any(_matches(pattern, name) for pattern in patterns)]


def _matches(pattern: str, name: str) -> bool:
    """Return whether a name equals a pattern, in which only * and ? are special."""
    return name == pattern or fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))


def _numbers(cells: Sequence[object]) -> Array:
    return np.array([float(c) if is_number(c) else math.nan for c in cells])


def _places(cells: Sequence[object]) -> tuple[Array, list[str]]:
    """Return where the values of a parameter stand on an axis, and their names where they are no numbers."""
    numbers = _numbers(cells)
    if np.isfinite(numbers).all():
        return numbers, []
    names = list(dict.fromkeys(str(cell) for cell in cells))
    return np.array([float(names.index(str(cell))) for cell in cells]), names


def _logarithmic(places: Array) -> bool:
    """Return whether values are spaced by equal ratios rather than by equal distances."""
    grid = np.unique(places)
    if len(grid) < 3 or grid[0] <= 0.0:
        return False
    return float(np.ptp(np.diff(np.log(grid)))) < 0.5 * float(np.ptp(np.diff(grid))) * np.log(grid[-1] / grid[0]) / (
        grid[-1] - grid[0]
    )


def _curve(axis: Axes, cells: Sequence[object], values: Array) -> None:
    from pliant.base.figures import CYCLE

    places, names = _places(cells)
    order = np.argsort(places, kind="stable")
    places, values = places[order], values[order]
    grid = np.unique(places)
    if len(grid) < len(places):
        _band(axis, grid, [values[places == place] for place in grid], line=not names)
    else:
        axis.plot(places, values, "." if len(grid) > 60 or names else ".-", color=CYCLE[0], lw=1.4, markersize=4)
    if _logarithmic(places):
        axis.set_xscale("log")
    if names:
        axis.set_xticks(range(len(names)), names)
    elif len(grid) <= 2:
        axis.set_xlim(*_edges(grid)[[0, -1]])
    if not names:
        _tick_values(axis.xaxis, grid)


def _band(axis: Axes, places: Array, draws: Sequence[Array], *, line: bool) -> None:
    """Draw several values at each place: all as points, their median, and a band that holds 80 % of them."""
    from pliant.base.figures import CYCLE

    for place, found in zip(places, draws, strict=True):
        axis.plot(np.full(len(found), place), found, ".", color=CYCLE[0], alpha=0.25, markersize=3, mew=0.0)
    low, middle, high = np.array(
        [np.nanquantile(d, (0.1, 0.5, 0.9)) if np.isfinite(d).any() else [math.nan] * 3 for d in draws]
    ).T
    axis.plot(places, middle, ".-" if line else ".", color=CYCLE[0], lw=1.4, markersize=5)
    if line:
        axis.fill_between(places, low, high, color=CYCLE[0], alpha=0.15, lw=0.0)


def _tick_values(axis: Axis, places: Array) -> None:
    """Put the ticks of an axis at the values of a parameter, where these are few."""
    if len(places) <= MAX_TICKS:
        axis.set_ticks(list(places), [f"{v:.3g}" for v in places])
        axis.set_ticks([], minor=True)


def _scatter(axis: Axes, across: Sequence[object], up: Sequence[object], values: Array) -> ScalarMappable:
    """Draw values of two parameters that were both drawn at random."""
    axis.grid(False)
    return axis.scatter(_places(across)[0], _places(up)[0], c=values, s=12, cmap="viridis")


def _map(axis: Axes, across: Sequence[object], up: Sequence[object], values: Array) -> ScalarMappable:
    """Draw the mean of each cell of a grid of two parameters; hatch those in which all diverged."""
    from matplotlib.patches import Rectangle

    x, x_names = _places(across)
    y, y_names = _places(up)
    columns, rows = np.unique(x), np.unique(y)
    axis.grid(False)
    total, count, asked = np.zeros((3, len(rows), len(columns)))
    at = np.searchsorted(rows, y), np.searchsorted(columns, x)
    finite = np.isfinite(values)
    np.add.at(total, tuple(a[finite] for a in at), values[finite])
    np.add.at(count, tuple(a[finite] for a in at), 1.0)
    np.add.at(asked, at, 1.0)
    with np.errstate(invalid="ignore"):
        mean = np.ma.masked_invalid(total / count)
    edges = _edges(columns), _edges(rows)
    for row, column in np.argwhere((asked > 0.0) & (count == 0.0)):
        left, bottom = float(edges[0][column]), float(edges[1][row])
        width, height = float(edges[0][column + 1]) - left, float(edges[1][row + 1]) - bottom
        axis.add_patch(Rectangle((left, bottom), width, height, hatch="////", edgecolor="#b6bec7", fc="white", lw=0.0))
    drawn = axis.pcolormesh(*edges, mean, cmap="viridis")
    for places, scale in ((columns, axis.set_xscale), (rows, axis.set_yscale)):
        if _logarithmic(places):
            scale("log")
    for names, places, ticks, of in (
        (x_names, columns, axis.set_xticks, axis.xaxis),
        (y_names, rows, axis.set_yticks, axis.yaxis),
    ):
        if names:
            ticks(range(len(names)), names)
        else:
            _tick_values(of, places)
    return drawn


def _color_bar(figure: Figure, axis: Axes, drawn: ScalarMappable, text: str) -> None:
    from pliant.base.figures import INK

    bar = figure.colorbar(drawn, ax=axis)
    bar.set_label(text, size=9.0, color=INK)
    bar.ax.tick_params(labelsize=8.0, length=3, colors=INK)


def _edges(places: Array) -> Array:
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
