"""Two runs in one figure, and their differences in numbers: soft against stiff, before against after.

`pliant.recording.compare` tells whether two recordings are equal sample by sample; here they need not have the same
samples, and only the time that both have counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import RecordingError
from pliant.base.numerics import Array
from pliant.plots.figure import LABELS, PANELS, Line, default_devices, lines_of, widen
from pliant.recording.recording import Recording

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_COLUMNS = 6
"""Most devices of a figure; more are too small to read."""
MAX_ELEMENTS = 6
"""Most elements of an array field that are drawn."""
PANEL_WIDTH, PANEL_HEIGHT = 3.6, 1.8  # [inch]
LONE_HEIGHT = 2.6  # of a figure with one row [inch]
LABEL = 24  # letters of a label on one line
NOISE = 1e-9
"""Part of a signal's peak below which its values are noise."""
FLAT = 1e-3
"""Part of its value by which a constant may change; no panel shows so little."""
LEAST = 1e-12
"""Smallest value of any signal that is no noise, in its unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDifference:
    """How one signal differs between two runs."""

    name: str
    """"<device>/<field>", with "[i]" for an element of an array."""
    unit: str
    """Unit of all values."""
    final: tuple[float, float]
    """Last value of each run."""
    peak: tuple[float, float]
    """Finite value of largest magnitude of each run."""
    rms: float
    """Root mean square of the difference over the time that both have."""
    largest: float
    """Largest magnitude of the difference."""
    at: float
    """Time of the largest difference [s]."""


def common_devices(first: Recording, second: Recording) -> list[str]:
    """Return the devices of both recordings that a figure shows, in the order of the first."""
    other = set(default_devices(second))
    return [name for name in default_devices(first) if name in other]


def differences(first: Recording, second: Recording, devices: Sequence[str] | None = None) -> list[RunDifference]:
    """Compare the signals that two recordings share.

    The run that was sampled more often is interpolated at the times of the other one. A value that is infinite in one
    of them alone, such as the distance of a laser that hits nothing, differs infinitely. Signals that are NaN in one
    of them, such as the reference of a joint that got none, are left out.

    Args:
        first: a recording.
        second: a recording.
        devices: names; None takes those of `common_devices`.

    Raises:
        RecordingError: the recordings share no device, or no time.
    """
    names = common_devices(first, second) if devices is None else list(devices)
    if not names:
        raise RecordingError(
            f"the recordings share no device: {', '.join(first.devices) or 'none'} in the first, "
            f"{', '.join(second.devices) or 'none'} in {second.path}",
            file=first.path,
        )
    found = []
    overlap = False
    for device in names:
        times, others = first[f"{device}/time"], second[f"{device}/time"]
        if not len(times) or not len(others):
            continue
        common = (times >= others[0]) & (times <= others[-1])
        overlap = overlap or bool(common.any())
        inside = (others >= times[0]) & (others <= times[-1])
        fewer = 1 < np.count_nonzero(inside) < np.count_nonzero(common)
        for field, info in first.devices[device].samples.items():
            name = f"{device}/{field}"
            if name not in second or first[name].shape[1:] != second[name].shape[1:] or not common.any():
                continue
            a, b = (r[name].reshape(len(r[name]), -1).astype(float) for r in (first, second))
            for i in range(a.shape[1]):
                label = name if first[name].ndim == 1 else f"{name}[{i}]"
                if fewer:
                    one = _difference(label, info.unit, others, b[:, i], times, a[:, i], inside)
                    one = one and replace(one, final=one.final[::-1], peak=one.peak[::-1])
                else:
                    one = _difference(label, info.unit, times, a[:, i], others, b[:, i], common)
                if one is not None:
                    found.append(one)
    if not overlap:
        raise RecordingError("the recordings share no time", file=first.path)
    return found


def noise(difference: RunDifference) -> float:
    """Return the magnitude below which values of a signal are noise of the computation."""
    return max(LEAST, NOISE * max((abs(peak) for peak in difference.peak if math.isfinite(peak)), default=0.0))


def distinct(found: Sequence[RunDifference]) -> list[RunDifference]:
    """Return the signals without those that repeat another one of their device in all numbers, to six digits."""
    seen: dict[tuple[object, ...], RunDifference] = {}
    for d in found:
        numbers = tuple(f"{v:.6g}" for v in (*d.final, *d.peak, d.rms, d.largest, d.at))
        seen.setdefault((d.name.partition("/")[0], d.unit, *numbers), d)
    return list(seen.values())


def _difference(
    name: str,
    unit: str,
    times: Array,
    a: Array,
    others: Array,
    b: Array,
    common: NDArray[np.bool_],
) -> RunDifference | None:
    if np.isnan(a).all() or np.isnan(b).all():
        return None
    mine, other = a[common], np.interp(times[common], others, b)
    before = np.searchsorted(others, times[common], side="right") - 1
    lost = np.isinf(b[before]) | np.isinf(b[np.minimum(before + 1, len(b) - 1)])
    other[lost] = b[before][lost]  # a ray that hits nothing is not half way to what it hit
    with np.errstate(invalid="ignore"):
        gap = np.where(mine == other, 0.0, other - mine)
    known = ~np.isnan(gap)
    if not known.any():
        return None
    size = np.where(known, np.abs(gap), -1.0)
    worst = int(size.argmax())
    return RunDifference(
        name=name,
        unit=unit,
        final=(_last(a), _last(b)),
        peak=(_peak(a), _peak(b)),
        rms=float(np.sqrt(np.mean(gap[known] ** 2))),
        largest=float(size[worst]),
        at=float(times[common][worst]),
    )


def _last(values: Array) -> float:
    known = values[~np.isnan(values)]
    return float(known[-1]) if known.size else math.nan


def _peak(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(finite[np.abs(finite).argmax()]) if finite.size else _last(values)


def plot_comparison(
    first: Recording,
    second: Recording,
    output: str | Path | None = None,
    *,
    names: tuple[str, str] = ("first", "second"),
    devices: Sequence[str] | None = None,
) -> Figure:
    """Draw two recordings in one figure, a column for each device; at most 6 devices are drawn.

    A panel with one measured signal has the commanded one too, dotted: once in grey where both runs have the same. A
    panel in which nothing changes and both runs are equal is left out.

    Args:
        first: a recording; solid, in orange where a panel has one line.
        second: a recording; in blue, dashed where a panel has several lines.
        output: file (.png, .svg, .pdf); None saves nothing.
        names: what the legend calls them.
        devices: names; None takes those of `common_devices`.

    Raises:
        RecordingError: there is nothing to draw, or the file cannot be written.
    """
    from pliant.base.figures import COLORS, CYCLE, figure_legend, label, new_figure, save, thin

    wanted = common_devices(first, second) if devices is None else list(devices)
    drawn: dict[str, list[dict[str, list[Line]]]] = {}
    commands: dict[str, list[dict[str, Line]]] = {}
    for name in wanted[:MAX_COLUMNS]:
        lines = [lines_of(recording, name) for recording in (first, second)]
        pair = [_measured(one) for one in lines]
        if any(pair[0].values()):
            drawn[name], commands[name] = pair, [_commanded(one) for one in lines]
    changing = {
        name: [{p: l for p, l in one.items() if not _idle(pair, p)} for one in pair] for name, pair in drawn.items()
    }
    if any(any(pair[0].values()) for pair in changing.values()):
        drawn = {name: pair for name, pair in changing.items() if any(pair[0].values())}
    panels = [panel for panel in PANELS if any(pair[0].get(panel) for pair in drawn.values())]
    if not panels:
        raise RecordingError("there is nothing to draw: the recordings share no signal", file=first.path)
    figure, axes = new_figure(
        len(panels), len(drawn), width=max(6.4, PANEL_WIDTH * len(drawn)),
        height=PANEL_HEIGHT if len(panels) > 1 else LONE_HEIGHT, sharex=True, squeeze=False,
    )  # fmt: skip
    styles = ((COLORS["soft"], "-", first), (COLORS["stiff"], "--", second))
    for column, (name, pair) in enumerate(drawn.items()):
        lowest = max(row for row, panel in enumerate(panels) if pair[0].get(panel))
        for row, panel in enumerate(panels):
            axis = axes[row, column]
            shown = pair[0].get(panel, [])
            if not shown:
                axis.set_axis_off()
                continue
            several = len(shown) > 1
            for k, (color, style, recording) in enumerate(styles):
                time = recording[f"{name}/time"]
                for i, line in enumerate(pair[k].get(panel, [])):
                    x, y = thin(time, line.values)
                    one = CYCLE[i % len(CYCLE)] if several else color
                    axis.plot(x, y, style if several else "-", color=one, lw=1.4, label=names[k] if not i else None)
            asked = [] if several else _draw_commands(axis, [one.get(panel) for one in commands[name]], styles, name)
            widen(axis, [*asked, *(line for one in pair for line in one.get(panel, []))])
            units = dict.fromkeys(line.unit for line in shown)
            what = panel if panel == "preset" else ", ".join(LABELS[unit] for unit in units)
            text = f"{what} [{', '.join(units)}]"
            if len(text) > LABEL:
                text = f"{what}\n[{', '.join(units)}]"
            label(axis, "time [s]" if row == lowest else "", text)
            axis.tick_params(labelbottom=row == lowest)
        label(axes[0, column], title=name)
    figure_legend(figure, max(axes.ravel(), key=lambda axis: len(axis.get_legend_handles_labels()[1])))
    if output is not None:
        save(figure, output)
    return figure


def _measured(lines: dict[str, list[Line]]) -> dict[str, list[Line]]:
    """Keep what was measured, not what was commanded, and not more elements than a panel can show."""
    return {
        panel: [line for line in found if not line.dashed and line.label != "equilibrium"][:MAX_ELEMENTS]
        for panel, found in lines.items()
    }


def _commanded(lines: dict[str, list[Line]]) -> dict[str, Line]:
    """Return what was commanded, for panels with one measured line: the reference, or else the equilibrium."""
    found = {}
    for panel in ("position", "torque"):
        dashed = [line for line in lines[panel] if line.dashed]
        rest = [line for line in lines[panel] if line.label == "equilibrium"]
        if len(dashed) == 1 or (rest and not dashed):
            found[panel] = (dashed or rest)[0]
    return found


def _idle(pair: Sequence[dict[str, list[Line]]], panel: str) -> bool:
    """Return whether nothing changes in a panel and both runs have the same values."""
    one, two = (pair[k].get(panel, []) for k in (0, 1))
    return len(one) == len(two) and all(
        a.values.size > 0 and b.values.size > 0
        and np.allclose(np.concatenate([a.values, b.values]), a.values[0], rtol=FLAT, atol=LEAST, equal_nan=True)
        for a, b in zip(one, two, strict=True)
    )  # fmt: skip


def _draw_commands(
    axis: Axes, lines: Sequence[Line | None], styles: Sequence[tuple[str, str, Recording]], device: str
) -> list[Line]:
    """Draw the commanded signal of a panel, once where both runs have the same; return what was drawn."""
    from pliant.base.figures import MUTED, thin

    times = [recording[f"{device}/time"] for _, _, recording in styles]
    found = [(k, line) for k, line in enumerate(lines) if line is not None]
    if len(found) == 2:
        one, two = found[0][1].values, found[1][1].values
        again = np.interp(times[0], times[1], two)
        both = times[0] <= times[1][-1]
        if np.allclose(again[both], one[both], rtol=1e-6, atol=1e-9, equal_nan=True):
            found = found[int(times[1][-1] > times[0][-1]) :][:1]
            axis.plot(*thin(times[found[0][0]], found[0][1].values), ":", color=MUTED, lw=1.2, label=found[0][1].label)
            return [found[0][1]]
    for k, line in found:
        mark = line.label if k == found[0][0] else None
        axis.plot(*thin(times[k], line.values), ":", color=styles[k][0], lw=1.2, label=mark)
    return [line for _, line in found]
