"""How a recording shows itself in a notebook: small plots, and a table of its signals."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pliant.base.figures import CYCLE, html_figure, html_table, label, legend, new_figure, thin

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_PANELS = 4
MAX_LINES = 8
"""Most elements of an array that are drawn."""
SKIPPED = ("time", "stamp", "seq")


class _Recorded(Protocol):
    """Required attributes of a recording."""

    path: Path
    devices: dict[str, Any]

    @property
    def duration(self) -> float: ...

    def __getitem__(self, name: str) -> np.ndarray: ...


def recording_html(recording: _Recorded) -> str:
    """Return a recording as HTML.

    Args:
        recording: any recording.
    """
    rows: list[list[object]] = []
    drawn: list[tuple[str, str, str]] = []
    for name, device in recording.devices.items():
        for field, info in device.samples.items():
            if field in SKIPPED:
                continue
            values = np.asarray(recording[f"{name}/{field}"], dtype=float)
            finite = values[np.isfinite(values)]
            if not finite.size:
                continue
            last = values[-1] if values.ndim == 1 else values[-1].ravel()[0]
            rows.append(
                [f"{name}/{field}", info.unit, len(values), float(finite.min()), float(finite.max()), float(last)]
            )
            if field == "position" and info.unit in ("rad", "m", "m or rad"):
                drawn.append((name, field, info.unit))
    title = (
        f"<p><b>{html.escape(str(recording.path))}</b>: {recording.duration:g} s, {len(recording.devices)} devices</p>"
    )
    picture = html_figure(_figure(recording, drawn[:MAX_PANELS]), "positions over time") if drawn else ""
    return title + picture + html_table(["signal", "unit", "samples", "min", "max", "last"], rows)


def _figure(recording: _Recorded, drawn: list[tuple[str, str, str]]) -> Figure:
    figure, axes = new_figure(1, len(drawn), width=max(3.2, 2.4 * len(drawn)), height=1.9, squeeze=False)
    for axis, (name, field, unit) in zip(axes[0], drawn):
        device, values = recording.devices[name], np.asarray(recording[f"{name}/{field}"], dtype=float)
        table, joints = values.reshape(len(values), -1), device.joints
        for i in range(min(MAX_LINES, table.shape[1])):
            named = table.shape[1] > 1 and len(joints) == table.shape[1]
            x, y = thin(recording[f"{name}/time"], table[:, i], points=400)
            axis.plot(x, y, color=CYCLE[i % len(CYCLE)], lw=1.2, label=joints[i] if named else None)
        label(axis, "time [s]", f"position [{unit}]" if axis is axes[0, 0] else "", name)
        if 1 < table.shape[1] <= MAX_LINES and len(joints) == table.shape[1]:
            legend(axis, fontsize=6.5)
    return figure
