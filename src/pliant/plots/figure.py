"""The figure of a recording: one column of panels for each device."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import RecordingError, nearest
from pliant.recording.recording import Recording, read_recording

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = {
    "position": ("rad", "m", "m or rad", "m, rad"),
    "torque": ("N m", "N", "N, N m"),
    "stiffness": ("N m/rad", "N/m"),
    "preset": (),
}
"""Panel -> units of the fields that it shows, for devices that are not compliant joints."""
JOINT_FIELDS = {"position", "equilibrium", "torque", "stiffness", "preset", "reference_1", "reference_2"}
"""Fields by which a compliant joint is recognised."""
LABELS = {
    "rad": "angle", "m": "position", "m or rad": "joint value", "m, rad": "pose", "N m": "torque", "N": "force",
    "N, N m": "wrench", "N m/rad": "stiffness", "N/m": "stiffness",
}  # fmt: skip
REFERENCES = ("reference", "ref_", "equilibrium", "command", "target", "preset")
PANEL_WIDTH, PANEL_HEIGHT = 3.6, 1.8  # [inch]
MIN_RANGE = 0.05  # of the largest value
MAX_LINES = 12  # in a panel with more lines the legend says less than it hides


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a panel."""

    label: str
    values: np.ndarray
    unit: str
    color: str | None = None
    dashed: bool = False


def plot_recording(
    source: str | Path | Recording,
    output: str | Path | None = None,
    *,
    devices: Iterable[str] | None = None,
    overwrite: bool = True,
) -> Figure:
    """Plot a recording, with one column of panels for each device.

    A compliant joint has four panels over time: link position with equilibrium, torque, stiffness and preset.
    Commanded values are dashed lines. A board that repeats these joints is not plotted.

    For other devices the unit of a field selects the panel: rad and m in the first, N m and N in the second, N m/rad
    and N/m in the third. Poses are in the first panel and wrenches in the second. References are dashed lines. An array
    field has one line for each element.

    Args:
        source: a recording or its path.
        output: path of the saved figure, whose suffix selects the format (.png, .svg, .pdf); None does not save it.
        devices: names of the devices to plot; None plots all devices with such fields.
        overwrite: replace an existing file.

    Returns:
        The figure, which belongs to no window and no pyplot state.

    Raises:
        RecordingError: the recording cannot be read, a device is unknown, there is nothing to plot, or the file cannot
            be written.
    """
    from pliant.base.figures import label, legend, new_figure, save, thin

    recording = source if isinstance(source, Recording) else read_recording(source)
    names = default_devices(recording) if devices is None else list(devices)
    for name in names:
        if name not in recording.devices:
            raise RecordingError(
                f"there is no device {name!r}; {nearest(name, recording.devices)}", file=recording.path
            )
    drawn = {name: lines for name in names if any((lines := lines_of(recording, name)).values())}
    panels = [panel for panel in PANELS if any(lines.get(panel) for lines in drawn.values())]
    if not panels:
        raise RecordingError(
            "there is nothing to draw: no device has a field in rad, m, N m, N, N m/rad or N/m", file=recording.path
        )
    figure, axes = new_figure(
        len(panels), len(drawn), width=max(6.4, PANEL_WIDTH * len(drawn)), height=PANEL_HEIGHT, sharex=True,
        squeeze=False,
    )  # fmt: skip
    for column, (name, lines) in enumerate(drawn.items()):
        time = recording[f"{name}/time"]
        lowest = max(row for row, panel in enumerate(panels) if lines.get(panel))
        for row, panel in enumerate(panels):
            axis: Axes = axes[row, column]
            shown = lines.get(panel, [])
            if not shown:
                axis.set_axis_off()
                continue
            for line in shown:
                x, y = thin(time, line.values)
                axis.plot(x, y, "--" if line.dashed else "-", label=line.label, linewidth=1.3, color=line.color)
            widen(axis, shown)
            units = dict.fromkeys(line.unit for line in shown)
            what = panel if panel == "preset" else ", ".join(LABELS[unit] for unit in units)
            label(axis, "time [s]" if row == lowest else "", f"{what} [{', '.join(units)}]")
            axis.tick_params(labelbottom=row == lowest)
            if len(shown) <= MAX_LINES and (len(shown) > 1 or shown[0].label != panel):
                legend(axis, loc="best", fontsize=7.0)
        label(axes[0, column], title=name)
    if output is not None:
        save(figure, output, overwrite=overwrite)
    return figure


def widen(axis: Axes, lines: list[Line]) -> None:
    """Widen the range of an axis whose values hardly change, so that small changes are not exaggerated."""
    values = np.concatenate([line.values[np.isfinite(line.values)] for line in lines])
    if values.size:
        middle, least = 0.5 * (values.min() + values.max()), MIN_RANGE * np.abs(values).max()
        if values.max() - values.min() < least:
            axis.set_ylim(middle - least, middle + least)


def _is_joint(recording: Recording, device: str) -> bool:
    samples = recording.devices[device].samples
    return set(samples) >= JOINT_FIELDS and not samples["position"].shape


def default_devices(recording: Recording) -> list[str]:
    """Return all devices except boards whose joints have their own devices."""
    joints = {name for name in recording.devices if _is_joint(recording, name)}
    return [
        name for name, device in recording.devices.items()
        if name in joints or not (device.joints and joints.issuperset(device.joints))
    ]  # fmt: skip


def lines_of(recording: Recording, device: str) -> dict[str, list[Line]]:
    """Return the lines of a device by panel."""
    return _joint_lines(recording, device) if _is_joint(recording, device) else _lines_by_unit(recording, device)


def _joint_lines(recording: Recording, device: str) -> dict[str, list[Line]]:
    from pliant.base.figures import COLORS, MUTED

    described = recording.devices[device]
    samples = described.samples

    def line(label: str, field: str, color: str) -> Line:
        return Line(label, recording[f"{device}/{field}"], samples[field].unit, color)

    def commanded(values: np.ndarray, unit: str) -> list[Line]:
        return [Line("commanded", values, unit, MUTED, True)] if np.isfinite(values).any() else []

    mode = int(described.metadata.get("mode", "-1"))
    ref_1, ref_2 = recording[f"{device}/reference_1"], recording[f"{device}/reference_2"]
    two = bool(np.isfinite(ref_2).any())
    angle, preset_unit = samples["position"].unit, samples["preset"].unit
    position = [line("link", "position", COLORS["link"])]
    torque = [line("torque", "torque", COLORS["stiff"])]
    preset: list[Line] = []
    if mode == 0:
        torque += commanded(ref_1, samples["torque"].unit)
    elif mode == 1:
        position += commanded(ref_1, angle)
    else:
        position.append(line("equilibrium", "equilibrium", COLORS["equilibrium"]))
        motors = (
            mode in (2, 5) and two and preset_unit == angle
        )  # agonist and antagonist: the mean and half of the rest
        if mode in (2, 3, 5, 6):
            position += commanded(0.5 * (ref_1 + ref_2) if motors else ref_1, angle)
        if two:
            preset.append(line("preset", "preset", COLORS["pass"]))
            if mode in (2, 3, 5, 6):
                preset += commanded(0.5 * (ref_1 - ref_2) if motors else ref_2, preset_unit)
    stiffness = [line("stiffness", "stiffness", COLORS["stiff"])]
    return {"position": position, "torque": torque, "stiffness": stiffness, "preset": preset}


def _lines_by_unit(recording: Recording, device: str) -> dict[str, list[Line]]:
    lines: dict[str, list[Line]] = {panel: [] for panel in PANELS}
    for field, info in recording.devices[device].samples.items():
        panel = next((p for p, units in PANELS.items() if info.unit in units), None)
        if panel is None:
            continue
        values = recording[f"{device}/{field}"]
        table = values.reshape(len(values), -1)
        dashed = any(word in field for word in REFERENCES)
        for element in range(table.shape[1]):
            name = field if values.ndim == 1 else f"{field}[{element}]"
            lines[panel].append(Line(name, table[:, element], info.unit, None, dashed))
    return lines
