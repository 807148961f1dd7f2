"""Figures as lists of declared panels: lines, levels, bands, labels and limits, drawn in one place.

    draw(
        "push", "The push. The tip follows the path until it meets the box.",
        [
            Panel([run.line("tip", 0, scale=1e3, color="soft", label="soft")], "time [s]", "tip x [mm]"),
            Panel([Level(4.5), run.line("force", color="soft")], "time [s]", "force [N]", legend="upper left"),
        ],
        rows=2, sharex=True,
    )

Colours are names of `pliant.base.figures.COLORS`, "ink" or "muted", numbers of its cycle, or colours of matplotlib.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.figures import COLORS, CYCLE, INK, MUTED, figure_legend, label, legend, new_figure, thin
from pliant.experiments.base import Figure
from pliant.experiments.curves import draw_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from pliant.experiments.base import Context

DASHED = (0, (4, 3))
"""Line style of references."""
BESIDE = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
"""Legend at the right of a panel."""

Item = Callable[["Axes"], object]
"""Anything that draws into an axis."""
Color = str | int | tuple[float, ...]
"""A colour by name, by number in the cycle, or as red, green, blue and alpha."""


def color_of(name: Color) -> Color:
    """Return a colour by its name in `pliant.base.figures`, or by its number in the cycle."""
    if isinstance(name, int):
        return CYCLE[name % len(CYCLE)]
    return {**COLORS, "ink": INK, "muted": MUTED}.get(name, name) if isinstance(name, str) else name


def _style(style: Mapping[str, object]) -> dict[str, object]:
    found = {key: value for key, value in style.items() if value is not None}
    return {**found, "color": color_of(found["color"])} if "color" in found else found


class Line:
    """A line, or points, bars or steps.

    Args:
        x: horizontal values, shape (n,).
        y: vertical values, shape (n,).
        form: format of `matplotlib.axes.Axes.plot`, such as "o-".
        kind: method of the axis that draws it: "plot", "step", "bar", "errorbar".
        points: about how many points are drawn, extremes kept; 0 draws all.
        style: label, color, and further arguments of that method.
    """

    def __init__(
        self, x: ArrayLike, y: ArrayLike, form: str = "", *, kind: str = "plot", points: int = 1500, **style: object
    ) -> None:
        self.x, self.y, self.form, self.kind, self.points, self.style = x, y, form, kind, points, style

    def __call__(self, axis: Axes) -> None:
        """Draw it."""
        x, y = thin(self.x, self.y, points=self.points) if self.points and self.kind == "plot" else (self.x, self.y)
        getattr(axis, self.kind)(x, y, *([self.form] if self.form else []), **_style(self.style))


class Level:
    """A horizontal reference line, or a vertical one with ``vertical``."""

    def __init__(self, value: float, *, vertical: bool = False, color: Color = "muted", **style: object) -> None:
        self.value, self.vertical, self.style = value, vertical, {"color": color, **style}

    def __call__(self, axis: Axes) -> None:
        """Draw it."""
        (axis.axvline if self.vertical else axis.axhline)(self.value, **_style(self.style))


class Band:
    """A shaded range of the horizontal axis, or of the vertical one with ``horizontal``."""

    def __init__(
        self,
        low: float,
        high: float,
        *,
        horizontal: bool = False,
        color: Color = "muted",
        alpha: float = 0.15,
        **style: object,
    ) -> None:
        self.low, self.high, self.horizontal = low, high, horizontal
        self.style = {"color": color, "alpha": alpha, "linewidth": 0, **style}

    def __call__(self, axis: Axes) -> None:
        """Draw it."""
        (axis.axhspan if self.horizontal else axis.axvspan)(self.low, self.high, **_style(self.style))


class Note:
    """A short text at a place of the panel."""

    def __init__(
        self, x: float, y: float, text: str, *, color: Color = "muted", fontsize: float = 8, **style: object
    ) -> None:
        self.x, self.y, self.text, self.style = x, y, text, {"color": color, "fontsize": fontsize, **style}

    def __call__(self, axis: Axes) -> None:
        """Draw it."""
        axis.text(self.x, self.y, self.text, **_style(self.style))


class Picture:
    """A picture in place of a diagram, or the reason why there is none."""

    def __init__(self, pixels: NDArray[np.uint8] | None, reason: str = "") -> None:
        self.pixels, self.reason = pixels, reason

    def __call__(self, axis: Axes) -> None:
        """Draw it without ticks, grid and frame."""
        axis.grid(False)
        axis.set_xticks([])
        axis.set_yticks([])
        for side in axis.spines.values():
            side.set_visible(False)
        if self.pixels is None:
            axis.text(0.5, 0.5, self.reason[:60], ha="center", fontsize=6, transform=axis.transAxes)
        else:
            axis.imshow(self.pixels)


def lines(
    x: ArrayLike, values: ArrayLike, labels: Sequence[str], *, colors: Sequence[Color] = CYCLE, **style: Any
) -> list[Line]:
    """Return a line for each column of values, shape (n, columns), with a label and a colour of its own."""
    columns = np.asarray(values).T
    return [
        Line(x, column, label=text, color=color, **style)
        for column, text, color in zip(columns, labels, colors, strict=False)
    ]


class Panel:
    """One diagram of a figure.

    Args:
        items: what is drawn, in this order; sequences are flattened, None is skipped.
        x: label of the horizontal axis, with unit.
        y: label of the vertical axis, with unit.
        title: title above it.
        log: logarithmic axes: "x", "y" or "xy".
        legend: place of its legend, or arguments of it; None for none.
        measured: places of measured curves that are drawn below.
        limits: properties of the axis: xlim, ylim, aspect and others of `matplotlib.axes.Axes.set`; xticks and yticks
            are ticks, or (ticks, labels).
    """

    def __init__(
        self,
        items: Sequence[Item | Sequence[Item] | None],
        x: str = "",
        y: str = "",
        title: str = "",
        *,
        log: str = "",
        legend: str | Mapping[str, object] | None = None,
        measured: str | Sequence[str] = (),
        **limits: object,
    ) -> None:
        self.items: list[Item] = []
        for item in items:
            self.items += [] if item is None else [item] if callable(item) else item
        self.x, self.y, self.title, self.log, self.legend, self.limits = x, y, title, log, legend, limits
        self.measured = (measured,) if isinstance(measured, str) else measured

    def draw(self, axis: Axes, context: Context | None = None, *, x: bool = True, y: bool = True) -> None:
        """Draw the panel.

        Args:
            axis: where.
            context: for measured curves; None draws none.
            x: whether the horizontal axis has its label.
            y: whether the vertical axis has its label.
        """
        for name in self.log:
            getattr(axis, f"set_{name}scale")("log")
        if context is not None:
            for place in self.measured:
                draw_curves(context, axis, place)
        for item in self.items:
            item(axis)
        limits = dict(self.limits)
        for name in "xy":
            ticks = limits.pop(f"{name}ticks", None)
            if ticks is not None:
                getattr(axis, f"set_{name}ticks")(*(ticks if isinstance(ticks, tuple) else (ticks,)))
                if name in self.log:
                    axis.minorticks_off()
        axis.set(**limits)
        label(axis, self.x if x else "", self.y if y else "", self.title)
        if self.legend is not None:
            legend(axis, **({"loc": self.legend} if isinstance(self.legend, str) else self.legend))


def draw(
    name: str,
    caption: str,
    panels: Sequence[Panel],
    *,
    rows: int = 1,
    context: Context | None = None,
    legend: int | None = None,
    legend_options: Mapping[str, object] | None = None,
    **options: Any,
) -> Figure:
    """Return a figure of panels in rows; a label that all panels of a shared axis have stands once.

    Args:
        name: name of its files.
        caption: description; the first sentence is its title.
        panels: row by row.
        rows: number of rows.
        context: for measured curves.
        legend: number of the panel whose entries are the legend of the figure; None for none.
        legend_options: arguments of `pliant.base.figures.figure_legend`, such as order.
        options: arguments of `pliant.base.figures.new_figure`, such as height, width and sharex.
    """
    columns = -(-len(panels) // rows)
    figure, axes = new_figure(rows, columns, **{"squeeze": False, **options})
    axes = np.reshape(axes, (rows, columns))
    for k, panel in enumerate(panels):
        row, column = divmod(k, columns)
        below = options.get("sharex") not in (True, "col", "all") or row == (len(panels) - 1 - column) // columns
        beside = options.get("sharey") not in (True, "row", "all") or column == 0
        panel.draw(axes[row, column], context, x=below, y=beside)
    for axis in axes.ravel()[len(panels) :]:
        axis.set_visible(False)
    if legend is not None:
        figure_legend(figure, axes.ravel()[legend], **(legend_options or {}))
    return Figure(name=name, caption=caption, figure=figure)
