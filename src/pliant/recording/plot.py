"""Trace plots: a recording as one figure."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.errors import RecordingError, nearest
from pliant.recording.recording import Recording, read_recording

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_recording"]

# Panel -> the units of its fields.
PANELS = {
    "position": ("rad", "m", "m or rad", "m, rad"),
    "torque": ("N m", "N", "N, N m"),
    "stiffness": ("N m/rad", "N/m"),
}
LABELS = {
    "rad": "angle", "m": "position", "m or rad": "joint value", "m, rad": "pose", "N m": "torque", "N": "force",
    "N, N m": "wrench", "N m/rad": "stiffness", "N/m": "stiffness",
}  # fmt: skip
REFERENCES = ("reference", "ref_", "equilibrium", "command", "target", "preset")
PANEL_WIDTH, PANEL_HEIGHT = 4.2, 2.2  # [inch]
MAX_LINES = 12  # in a panel with more lines the legend says less than it hides


def plot_recording(
    source: str | Path | Recording,
    output: str | Path | None = None,
    *,
    devices: Iterable[str] | None = None,
    overwrite: bool = True,
) -> Figure:
    """Draw position with reference, torque and stiffness over time, one column of panels for each device.

    A field is drawn by its unit: rad and m in the first panel, N m and N in the second, N m/rad and N/m in the third;
    poses and wrenches, which have both units, beside them.
    References are dashed. An array field gives one line for each element.

    Args:
        source: a recording or its path.
        output: where the figure is saved; the suffix chooses the format (.png, .svg, .pdf); None saves nothing.
        devices: names of the devices to draw; None draws all that have such fields.
        overwrite: replace a file that exists.

    Returns:
        The figure; it belongs to no window and no pyplot state.

    Raises:
        RecordingError: unreadable recording, unknown device, nothing to draw, or the file may not be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    recording = source if isinstance(source, Recording) else read_recording(source)
    names = list(recording.devices) if devices is None else list(devices)
    for name in names:
        if name not in recording.devices:
            raise RecordingError(
                f"there is no device {name!r}; {nearest(name, recording.devices)}", file=recording.path
            )
    names = [name for name in names if any(_fields(recording, name, panel) for panel in PANELS)]
    panels = [panel for panel in PANELS if any(_fields(recording, name, panel) for name in names)]
    if not names or not panels:
        raise RecordingError(
            "there is nothing to draw: no device has a field in rad, m, N m, N, N m/rad or N/m", file=recording.path
        )
    figure = Figure(
        figsize=(max(6.4, PANEL_WIDTH * len(names)), PANEL_HEIGHT * len(panels) + 0.8), layout="constrained"
    )
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(panels), len(names), sharex=True, squeeze=False)
    for column, name in enumerate(names):
        for row, panel in enumerate(panels):
            axis = axes[row, column]
            fields = _fields(recording, name, panel)
            if not fields:
                axis.set_axis_off()
                continue
            _draw(axis, recording, name, fields)
        axes[0, column].set_title(name)
        lowest = max(row for row, panel in enumerate(panels) if _fields(recording, name, panel))
        axes[lowest, column].set_xlabel("time [s]")
        axes[lowest, column].tick_params(labelbottom=True)
    if output is not None:
        path = Path(output)
        if path.exists() and not overwrite:
            raise RecordingError("the file exists; ask for overwriting or choose another name", file=path)
        try:
            figure.savefig(path, dpi=120)
        except OSError as error:
            raise RecordingError(f"the figure cannot be written: {error.strerror}", file=path) from None
        except ValueError as error:
            raise RecordingError(f"the figure cannot be written: {error}", file=path) from None
    return figure


def _fields(recording: Recording, device: str, panel: str) -> list[str]:
    samples = recording.devices[device].samples
    return [name for name, info in samples.items() if info.unit in PANELS[panel]]


def _draw(axis: Axes, recording: Recording, device: str, fields: list[str]) -> None:
    time = recording[f"{device}/time"]
    lines = 0
    units = []
    for field in fields:
        values = recording[f"{device}/{field}"]
        table = values.reshape(len(values), -1)
        style = "--" if any(word in field for word in REFERENCES) else "-"
        for element in range(table.shape[1]):
            label = field if values.ndim == 1 else f"{field}[{element}]"
            axis.plot(time, table[:, element], style, linewidth=1.0, label=label)
            lines += 1
        unit = recording.devices[device].samples[field].unit
        if unit not in units:
            units.append(unit)
    axis.set_ylabel(", ".join(f"{LABELS[unit]} [{unit}]" for unit in units))
    axis.grid(True, linewidth=0.3)
    if lines <= MAX_LINES:
        axis.legend(fontsize="x-small", loc="best", framealpha=0.5)
