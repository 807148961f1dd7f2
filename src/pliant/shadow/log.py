"""Commands and measurements of a robot, from a recording or a table."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import RecordingError
from pliant.base.numerics import Array
from pliant.model.robot import Robot
from pliant.model.wanted import check_robot
from pliant.recording.foreign import foreign_format, is_recording, traces_of_recording

if TYPE_CHECKING:
    from pliant.identification.measurements import Measurement

COMMANDS = ("reference_1", "reference_2")
MEASURED = ("position", "motor_1_position", "motor_2_position")
"""Measured quantities of a joint that are compared with the simulation."""
_COLUMNS = {"position": "link_position"}
PIECES = 8
"""Pieces of an interpolated command between two samples."""
SLOW = 1.0
"""Period of a log that is rather one of milliseconds [s]."""
GAP = 5.0
"""A pause of more than this many usual sample periods is a gap."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One quantity over time."""

    time: Array
    """Increasing, shape (n,) [s]."""
    values: Array
    """Shape (n,), finite."""

    def between(self, kind: str) -> Signal:
        """Return it as it is between its samples.

        Args:
            kind: ``held`` from each to the next; ``sampled``, straight from one to the next, in `PIECES` held pieces
                each; or ``latched``, with each value in effect since the sample before.
        """
        if kind == "held" or len(self.time) < 2:
            return self
        if kind == "latched":
            return Signal(self.time[:-1], self.values[1:])
        share = np.arange(PIECES) / PIECES
        span, rise = np.diff(self.time)[:, None], np.diff(self.values)[:, None]
        times = (self.time[:-1, None] + span * share).ravel()
        values = (self.values[:-1, None] + rise * (share + 0.5 / PIECES)).ravel()
        return Signal(np.append(times, self.time[-1]), np.append(values, self.values[-1]))


@dataclass(frozen=True, slots=True)
class ShadowLog:
    """Commands and measurements of a robot.

    Raises:
        RecordingError: there is no command or no measurement, or times do not increase.
    """

    commands: Mapping[str, Signal]
    """Port such as ``elbow/reference_1`` -> its commands, each held until the next."""
    measured: Mapping[str, Signal]
    """Port such as ``elbow/position`` -> what was measured."""
    source: str = "log"
    """Name in messages."""
    notes: tuple[str, ...] = ()
    """What is odd about the log, such as gaps."""

    def __post_init__(self) -> None:
        for kind, signals in (("command", self.commands), ("measurement", self.measured)):
            if not signals:
                raise RecordingError(f"{self.source}: the log holds no {kind} of a compliant joint", field=kind)
            for port, signal in signals.items():
                if len(signal.time) != len(signal.values) or len(signal.time) < 2:
                    raise RecordingError(f"{self.source}: {port} has fewer than two samples", field=port)
                bad = np.flatnonzero(np.diff(signal.time) <= 0.0)
                if bad.size:
                    k = int(bad[0])
                    raise RecordingError(
                        f"{self.source}: the time of {port} does not increase: {signal.time[k + 1]:g} s after "
                        f"{signal.time[k]:g} s; cut the log where the recording was started again",
                        field=port,
                    )
                if not (np.isfinite(signal.time).all() and np.isfinite(signal.values).all()):
                    raise RecordingError(f"{self.source}: {port} holds a value that is not finite", field=port)

    def between(self, kind: str) -> ShadowLog:
        """Return the log with commands as they are between their samples, see `Signal.between`.

        A log that sampled a command which changed more often than it was logged is ``sampled``; one of what a robot had
        latched, written at the end of a period, is ``latched``.
        """
        few = kind == "latched"  # a latched command has a sample less
        commands = {port: s if few and len(s.time) < 3 else s.between(kind) for port, s in self.commands.items()}
        return dataclasses.replace(self, commands=commands)

    def until(self, end: float) -> ShadowLog:
        """Return the log up to a time [s]."""
        measured = {}
        for port, signal in self.measured.items():
            count = max(2, int(np.searchsorted(signal.time, end)))
            measured[port] = Signal(signal.time[:count], signal.values[:count])
        return dataclasses.replace(self, measured=measured)

    @property
    def begin(self) -> float:
        """Time of the first measurement [s]."""
        return min(float(signal.time[0]) for signal in self.measured.values())

    @property
    def end(self) -> float:
        """Time of the last measurement [s]."""
        return max(float(signal.time[-1]) for signal in self.measured.values())


def read_shadow_log(path: str | Path, robot: Robot) -> ShadowLog:
    """Read the commands and measurements of a robot's compliant joints.

    Args:
        path: a recording (.mcap), a bag, or a table (.csv, .tsv, .txt, .npz) with a column ``time``, and for each joint
            ``<joint>/position``, ``<joint>/reference_1`` and, where it has them, ``<joint>/reference_2`` and the
            positions of the motors. For a robot of one joint the columns need no joint.
        robot: the robot.

    Raises:
        RecordingError: the file cannot be read, or has no commands or measurements of the robot's joints.
    """
    from pliant.identification.faults import units_by_size
    from pliant.identification.measurements import Measurement

    check_robot(robot, "read_shadow_log", compiled=False)
    path = Path(path)
    joints = list(robot.actuators)
    if not joints:
        raise RecordingError(f"{robot.name!r} has no compliant joint, so that nothing of it can drift", field="robot")
    commands: dict[str, Signal] = {}
    measured: dict[str, Signal] = {}
    notes: list[str] = []
    for joint in joints:
        try:
            table = _table(path, joint, only=len(joints) == 1)
        except RecordingError as error:
            if len(joints) == 1:
                raise
            notes.append(f"{joint} is left out: {error.message}")
            continue
        if "time" not in table:
            raise RecordingError("there is no column 'time'", file=path, field="time")
        sizes = Measurement({name: table[name] for name in ("time", "link_position") if name in table})
        for fault in units_by_size(sizes, dynamic=bool(np.median(np.diff(table["time"])) >= SLOW)):
            unit = fault.remedy.rpartition("=")[2]
            header = f"if it is in {unit}, the header must say so: '{fault.columns[0]} [{unit}]'"
            raise RecordingError(f"{fault.text}; {header}", file=path, field=fault.columns[0])
        # Ideal motors are where they are told to be: nothing of theirs can drift.
        outputs = MEASURED if robot.actuators[joint].mode.has_motors else MEASURED[:1]
        for signals, names in ((commands, COMMANDS), (measured, outputs)):
            for name in names:
                column = _COLUMNS.get(name, name)
                if column in table:
                    signals[f"{joint}/{name}"] = Signal(table["time"], table[column])
    if not commands or not measured:
        missing = "commands (reference_1)" if measured else "measurements (position)"
        detail = f": {notes[0]}" if notes else ""
        raise RecordingError(
            f"there are no {missing} of the joints {', '.join(joints)}{detail}", file=path, field="log"
        )
    return ShadowLog(commands, measured, str(path), (*notes, *_gaps(measured)))


def _table(path: Path, joint: str, *, only: bool) -> Measurement:
    """Return what a file holds of a joint; of the only one also where the file has another name for it, or none."""
    from pliant.identification.measurements import measurement_of, read_measurement

    device = None if only else joint
    foreign = foreign_format(path)
    if foreign is not None:
        return measurement_of(foreign.traces(path, device).columns, str(path))
    if is_recording(path):
        return measurement_of(traces_of_recording(path, device).columns, str(path))
    with contextlib.suppress(RecordingError):
        table = read_measurement(path, device=joint)
        if "link_position" in table or not only:
            return table
    return read_measurement(path, device=device)


def _gaps(measured: Mapping[str, Signal]) -> list[str]:
    notes = []
    for port, signal in measured.items():
        steps = np.diff(signal.time)
        usual = float(np.median(steps))
        long = np.flatnonzero(steps > GAP * usual)
        if long.size:
            where = ", ".join(f"{signal.time[k]:.3g} s" for k in long[:5])
            notes.append(
                f"{port} has {long.size} gaps, the longest of {steps.max():.3g} s (usual period {usual:.3g} s): {where}"
            )
    return notes
