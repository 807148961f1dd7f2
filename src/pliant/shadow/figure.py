"""A figure of a robot and the simulation beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.figures import save
from pliant.shadow.candidates import Compared
from pliant.shadow.drift import Drift

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_PORTS = 6
"""Most positions that are drawn."""


def plot_shadow(compared: Mapping[str, Compared], windows: Sequence[Drift], output: str | Path | None = None) -> Figure:
    """Draw the positions (or torques) of robot and simulation, what they differ by, and the estimates over the windows.

    Args:
        compared: as of `find_drift`.
        windows: as of `find_drift`; with one window the estimates are not drawn.
        output: file (.png, .svg, .pdf); None saves nothing.

    Raises:
        RecordingError: the file cannot be written.
    """
    from pliant.base.figures import COLORS, figure_legend, new_figure

    ports = [port for port in compared if port.endswith("/position")][:MAX_PORTS] or list(compared)[:MAX_PORTS]
    several = len(windows) > 1
    what, scale = ("position [rad]", 1e3) if not windows or windows[0].unit == "rad" else ("torque [N m]", 1.0)
    figure, axes = new_figure(
        2 + several, len(ports), width=max(6.4, 3.6 * len(ports)), height=1.8, sharex=True, squeeze=False
    )
    for column, port in enumerate(ports):
        one = compared[port]
        axes[0, column].set_title(port)
        axes[0, column].plot(one.time, one.measured, color=COLORS["soft"], label="robot")
        axes[0, column].plot(one.time, one.simulated[:, 0], "--", color=COLORS["stiff"], label="simulation")
        axes[1, column].plot(one.time, scale * (one.measured - one.simulated[:, 0]), color=COLORS["soft"])
        axes[-1, column].set_xlabel("time [s]")
    axes[0, 0].set_ylabel(what)
    axes[1, 0].set_ylabel("difference [mrad]" if scale > 1.0 else "difference [N m]")
    figure_legend(figure, axes[0, 0])
    if several:
        middle = np.array([0.5 * (w.begin + w.end) for w in windows])
        named = {e.candidate.name for w in windows for e in w.estimates[:1] if w.drifted} or {
            windows[-1].estimates[0].candidate.name
        }
        for name in sorted(named):
            found = [next(e for e in w.estimates if e.candidate.name == name) for w in windows]
            values = np.array([e.value for e in found])
            axes[2, 0].errorbar(middle, values, yerr=[e.spread for e in found], marker="o", label=name)
        axes[2, 0].set_ylabel("factor, or added")
        axes[2, 0].legend()
        for axis in axes[2, 1:]:
            axis.set_visible(False)
    if output is not None:
        save(figure, output)
    return figure
