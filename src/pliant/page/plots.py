"""Live curves of a page: any fields of any devices, one chart for each unit."""

from __future__ import annotations

import html
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.devices.base import FieldInfo, Sample, SampleSource
from pliant.page.controls import Say, guarded, plain_name

if TYPE_CHECKING:
    import viser
    from viser import uplot

MAX_POINTS = 400
"""Points of a curve."""
MAX_SIGNALS = 12
"""Most curves at one time."""
MAX_ELEMENTS = 8
"""Longest array whose elements can be drawn."""
MAX_CHOICES = 2000
"""Longest list of fields to choose from."""
WINDOW = 8.0
"""Time that the curves show [s of simulation time]."""
COLOURS = ("#00798c", "#d1495b", "#e09f3e", "#66a182", "#7b5ea7", "#2e86de", "#a44a3f", "#5c677d")
FIRST = ("load", "position", "predicted", "torque", "stiffness", "force", "pose", "q", "deviation", "center_of_mass")
"""Fields that are drawn at first."""
FIRST_DEVICES = 2
"""Devices whose fields are drawn at first."""
MANY = 5
"""A device with so many of these fields is drawn alone."""
NOTHING = "(choose)"
ROUNDING = 1e-12
"""Least value that a legend shows, in the unit of its field."""
AROUND_ZERO = {"min": {"pad": 0.1, "soft": -1e-3, "mode": 1}, "max": {"pad": 0.1, "soft": 1e-3, "mode": 1}}
"""The value axis of a chart: it has 0 on it, and does not magnify noise."""
TICKS = tuple(float(f"{m}e{k}") for k in range(-3, 13) for m in (1, 2, 5))
"""Distances of ticks: labels have three decimals, so that finer ticks would carry the same label."""


@dataclass(slots=True, eq=False)
class Signal:
    """One curve."""

    device: str
    """Name of the device."""
    name: str
    """Field of its samples."""
    index: int | None
    """Element of an array, None for a number."""
    unit: str
    """Unit of the field."""
    colour: str = ""
    """Colour of the curve, which stays while other curves come and go."""
    next_ns: int = 0
    """Earliest time of the next point [ns]."""
    last_ns: int = -1
    """Time of the last point [ns]."""
    points: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=MAX_POINTS))
    """Time [ns] and value."""

    @property
    def label(self) -> str:
        """Name of the curve."""
        return f"{self.device}/{self.name}" + ("" if self.index is None else f"[{self.index}]")

    def take(self, sample: Sample) -> None:
        """Keep a value if a point is due."""
        stamp = sample.stamp_ns
        if stamp < self.last_ns:  # the simulation was reset
            self.restart()
        if stamp < self.next_ns:
            return
        value: Any = sample.values[self.name]
        self.points.append((stamp, float(value if self.index is None else value[self.index])))
        self.last_ns = stamp
        self.next_ns = stamp + PERIOD_NS

    @property
    def value(self) -> float:
        """Newest value; NaN before the first."""
        points = self.snapshot()[-1:]
        return points[0][1] if points else float("nan")

    def restart(self) -> None:
        """Begin anew."""
        self.points.clear()
        self.next_ns = 0

    def snapshot(self) -> list[tuple[int, float]]:
        """Return the points; another thread may add some meanwhile."""
        while True:
            try:
                return list(self.points)
            except RuntimeError:  # one came while they were copied
                continue


PERIOD_NS = round(WINDOW / MAX_POINTS * 1e9)


class Plots:
    """Charts in a GUI container.

    Args:
        gui: viser's GUI.
        devices: name -> source of samples.
        say: tells what was refused.
    """

    def __init__(self, gui: viser.GuiApi, devices: Mapping[str, SampleSource], say: Say) -> None:
        self._gui, self._devices, self._say = gui, devices, say
        self._lock = threading.Lock()
        self._charts: dict[str, tuple[viser.GuiUplotHandle, viser.GuiHtmlHandle]] = {}
        self.signals: list[Signal] = []
        """The curves."""
        self._of: dict[str, tuple[Signal, ...]] = {}
        self._choices = {signal.label: signal for signal in _choices(devices)}
        labels = [NOTHING, *self._choices]
        self._add = gui.add_dropdown("add a curve", labels, initial_value=NOTHING)
        shown: list[str] = [NOTHING]
        self._drop = gui.add_dropdown("remove", shown, initial_value=NOTHING)
        self._add.on_update(guarded(say, self._chosen))
        self._drop.on_update(guarded(say, self._dropped))
        self._holder = gui.add_folder(None)
        for signal in _first(self._choices.values()):
            self.add(signal.label)

    def add(self, label: str) -> None:
        """Draw a field."""
        found = self._choices.get(label)
        if found is None or found in self.signals:
            return
        if len(self.signals) >= MAX_SIGNALS:
            self._say(f"{MAX_SIGNALS} curves are drawn; remove one")
            return
        used = [signal.colour for signal in self.signals if signal.unit == found.unit]
        found.colour = min(COLOURS, key=used.count)
        self._set([*self.signals, found])

    def remove(self, label: str) -> None:
        """Draw a field no longer."""
        self._set([signal for signal in self.signals if signal.label != label])

    def take(self, sample: Sample) -> None:
        """Keep what is drawn of a sample; the loop's thread calls this."""
        for signal in self._of.get(sample.device, ()):
            signal.take(sample)

    def draw(self) -> None:
        """Send the curves to the page."""
        with self._lock:
            for unit, (chart, legend) in self._charts.items():
                mine = [signal for signal in self.signals if signal.unit == unit]
                chart.data = _data(mine)
                legend.content = _legend(mine)

    def sketch(self) -> str:
        """Return the first chart as a small picture with its legend, for a page too narrow for the charts."""
        with self._lock:
            unit = next(iter(self._charts), None)
            mine = [signal for signal in self.signals if signal.unit == unit]
        if not mine:
            return ""
        times, *values = (part[::4] for part in _data(mine))
        return f'<div class="pliant-phone">{_sketch(times, values, [s.colour for s in mine])}{_legend(mine)}</div>'

    def restart(self) -> None:
        """Empty the curves after a reset, which begin anew with the next samples."""
        for signal in self.signals:
            signal.restart()

    def _chosen(self, _: object) -> None:
        label = str(self._add.value)
        if label != NOTHING:
            self.add(label)
            self._add.value = NOTHING

    def _dropped(self, _: object) -> None:
        label = str(self._drop.value)
        if label != NOTHING:
            self.remove(label)

    def _set(self, signals: list[Signal]) -> None:
        with self._lock:
            units = {s.unit for s in signals} | {s.unit for s in self.signals}
            changed = {
                unit
                for unit in units
                if [s for s in signals if s.unit == unit] != [s for s in self.signals if s.unit == unit]
            }
            self.signals = signals
            self._of = {s.device: tuple(o for o in signals if o.device == s.device) for s in signals}
            for unit in changed:
                for handle in self._charts.pop(unit, ()):
                    handle.remove()
                mine = [signal for signal in signals if signal.unit == unit]
                if mine:
                    self._charts[unit] = self._chart(unit, mine)
            self._drop.options = [NOTHING, *(signal.label for signal in signals)]
            self._drop.value = NOTHING

    def _chart(self, unit: str, signals: list[Signal]) -> tuple[viser.GuiUplotHandle, viser.GuiHtmlHandle]:
        series: list[uplot.Series] = [{"label": "t [s]"}]
        for signal in signals:
            series.append({"label": plain_name(signal.label), "stroke": signal.colour, "width": 2})
        with self._holder:
            scales = {"x": {"time": False, "auto": True}, "y": {"auto": True, "range": AROUND_ZERO}}
            chart = self._gui.add_uplot(
                data=_data(signals),
                series=tuple(series),
                title=_title(unit, signals),
                height=190,
                scales=scales,
                axes=({"incrs": TICKS}, {"incrs": TICKS}),
                legend={"show": False},
                padding=(12, 16, 0, 14),
            )
            return chart, self._gui.add_html(_legend(signals))


def _title(unit: str, signals: list[Signal]) -> str:
    """Return what a chart shows, and its unit: ``position, predicted [rad]``."""
    names = list(dict.fromkeys(signal.name.replace("_", " ") for signal in signals))
    shown = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
    return f"{shown} [{unit or '1'}]"


def _sketch(times: np.ndarray, values: list[np.ndarray], colours: list[str]) -> str:
    """Return curves as SVG, 100 wide and 24 high, with their range from zero."""
    found = np.concatenate(values)
    found = found[np.isfinite(found)]
    low, high = min(0.0, found.min(initial=0.0)), max(0.0, found.max(initial=0.0), 1e-3)
    across = 100.0 * (times - times[0]) / max(times[-1] - times[0], 1e-9)
    lines = []
    for part, colour in zip(values, colours):
        up = 23.0 - 22.0 * (part - low) / (high - low)
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, up) if np.isfinite(y))
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" vector-effect="non-scaling-stroke"/>')
    return (
        '<svg viewBox="0 0 100 24" preserveAspectRatio="none" style="width:100%;height:5.5em;padding:0 1em;'
        f'box-sizing:border-box;stroke-width:2">{"".join(lines)}</svg>'
    )


def _legend(signals: list[Signal]) -> str:
    """Return the curves of a chart with their colours and newest values."""
    rows = []
    for signal in signals:
        unit = "" if ", " in signal.unit else signal.unit  # of an array with several, such as a pose
        value = "" if np.isnan(signal.value) else f"{_shown(signal.value):.4g} {unit}".rstrip()
        rows.append(
            f'<div style="display:flex;gap:0.5em;align-items:center"><span style="flex:none;width:1em;height:0.25em;'
            f'background:{signal.colour}"></span><span style="flex:1;overflow-wrap:anywhere">'
            f'{html.escape(plain_name(signal.label))}</span><span style="font-variant-numeric:tabular-nums;'
            f'white-space:nowrap">{html.escape(value)}</span></div>'
        )
    return f'<div style="padding:0 1em 0.6em;font-size:0.8em">{"".join(rows)}</div>'


def _shown(value: float) -> float:
    """Return 0 for a number that is nothing but rounding."""
    return 0.0 if abs(value) < ROUNDING else value


def _data(signals: list[Signal]) -> tuple[np.ndarray, ...]:
    """Return the time [s] and the curves over it, on one common time."""
    parts = [np.array(signal.snapshot(), dtype=float).reshape(-1, 2) for signal in signals]
    longest = max(parts, key=len)
    if len(longest) < 2:
        return (np.array([0.0, 1e-3]), *(np.full(2, np.nan) for _ in parts))
    times = longest[:, 0]
    values = [p[:, 1] if len(p) == len(times) else _stretched(times, p) for p in parts]
    return (times * 1e-9, *values)


def _stretched(times: np.ndarray, part: np.ndarray) -> np.ndarray:
    if len(part) == 0:
        return np.full(len(times), np.nan)
    return np.interp(times, part[:, 0], part[:, 1], left=np.nan)


def _choices(devices: Mapping[str, SampleSource]) -> list[Signal]:
    found = [
        Signal(name, each, k, info.unit)
        for name, device in sorted(devices.items(), key=lambda item: not getattr(item[1], "commands", None))
        for each, info in device.samples.items()
        if _drawable(info)
        for k in (range(info.size) if info.shape else (None,))
    ]
    return found[:MAX_CHOICES]


def _drawable(info: FieldInfo) -> bool:
    return len(info.shape) <= 1 and info.size <= MAX_ELEMENTS and info.dtype == "float64"


def _first(signals: Iterable[Signal]) -> list[Signal]:
    """Return what is drawn at first: the best known fields of the first devices."""
    rank = {name: k for k, name in enumerate(FIRST)}
    known = [s for s in signals if s.name in rank and s.index in (None, 0, 1, 2)]
    devices = list(dict.fromkeys(s.device for s in known if s.index is None)) or [s.device for s in known]
    some = [s for s in known if s.device in list(dict.fromkeys(devices))[:FIRST_DEVICES]]
    if len(own := [s for s in some if s.device == devices[0]]) >= MANY:
        some = own
    if len(some) == 1:  # a load on a bench: the vertical forces that its sensors measure
        some += [s for s in known if s.name == "force" and s.index == 2]
    return sorted(some, key=lambda s: rank[s.name])[:6]
