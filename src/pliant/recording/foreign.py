"""Recordings that other programs wrote: what the core asks of the wings that read them.

A wing declares a `RecordingFormat` (`pliant.base.wing.Wing.recordings`). `open_foreign`, `foreign_format` and
`read_traces` find the format of a file.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pliant.base.documents.files import open_file
from pliant.base.errors import RecordingError, nearest
from pliant.base.wing import offers
from pliant.recording.record_file import MAGIC
from pliant.recording.recording import read_recording

HEAD_LIMIT = 1 << 20
"""In which part of a recording its topics are declared [bytes]: before the first message."""


class ForeignTopic(Protocol):
    """One topic of a foreign recording."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def type(self) -> str:
        """Type of its messages."""
        ...

    @property
    def count(self) -> int:
        """Number of its messages."""
        ...


class ForeignMessage(Protocol):
    """One message of a foreign recording."""

    @property
    def log_ns(self) -> int:
        """When it was recorded [ns]."""
        ...

    @property
    def topic(self) -> ForeignTopic:
        """Where it came."""
        ...

    @property
    def body(self) -> bytes:
        """The message as it stands in the file."""
        ...


@runtime_checkable
class ForeignRecording(Protocol):
    """A foreign recording that is open for reading."""

    path: Path
    """The file or folder."""
    topics: Sequence[ForeignTopic]
    """Its topics."""

    @property
    def fault(self) -> str:
        """Fault of the recording, "" if it is whole."""
        ...

    @property
    def begin_ns(self) -> int:
        """Log time of the first message [ns]; 0 if there is none."""
        ...

    @property
    def end_ns(self) -> int:
        """Log time of the last message [ns]."""
        ...

    @property
    def duration(self) -> float:
        """From the first message to the last [s]."""
        ...

    def messages(self) -> Iterator[ForeignMessage]:
        """Yield the messages in the order of their log time."""
        ...

    def is_clock(self, topic: Any) -> bool:
        """Return whether a topic has the simulation's time."""
        ...

    def clock_ns(self, message: Any) -> int:
        """Return the time that a message of the clock has [ns]."""
        ...

    def close(self) -> None:
        """Close the files."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForeignCommands:
    """The commands of a foreign recording."""

    columns: dict[str, np.ndarray]
    """"time" [s] and one column per command; NaN where it got no value."""
    topics: dict[str, str]
    """Column -> topic that it comes from."""
    unused: tuple[str, ...]
    """Topics that are no commands, with their types."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traces:
    """Columns of one joint over time."""

    columns: Mapping[str, np.ndarray]
    """By quantity for a foreign recording (``link_position``, ``link_velocity``, ``torque``, ``external_torque``,
    ``motor_1_position``, ``motor_2_position``, ``equilibrium``, ``preset``, ``reference_1``, ``reference_2``), by field
    for one of pliant; shape (n,), SI."""
    joint: str
    """The joint, or the device of a recording."""
    topics: Mapping[str, str]
    """Column -> topic that it comes from."""
    unused: tuple[str, ...]
    """Topics or devices that were not used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingFormat:
    """Format of recordings of other programs."""

    name: str
    """Name in messages."""
    suffixes: tuple[str, ...]
    """File suffixes."""
    accepts: Callable[[Path], bool]
    """Whether a path looks like such a recording."""
    open: Callable[[Path], ForeignRecording]
    """Function that opens one."""
    commands: Callable[[Path], ForeignCommands]
    """Function that reads its commands."""
    traces: Callable[[Path, str | None], Traces]
    """Function that reads the measured traces of one joint; None for the joint of a recording that has one only."""


def _formats() -> list[RecordingFormat]:
    return [offer.load() for offer in offers("recordings")]


def foreign_format(path: str | Path) -> RecordingFormat | None:
    """Return the format of a recording of another program, None for a path that looks like none."""
    return next((found for found in _formats() if found.accepts(Path(path))), None)


def foreign_suffixes() -> tuple[str, ...]:
    """Return the suffixes of recordings of other programs."""
    return tuple(suffix for found in _formats() for suffix in found.suffixes)


def is_recording(path: str | Path) -> bool:
    """Return whether a path is a recording that pliant wrote, rather than one of another program.

    Raises:
        RecordingError: it is an MCAP file by name that cannot be read.
    """
    path = Path(path)
    if path.suffix.lower() != ".mcap" or not path.is_file():
        return False
    try:
        with open_file(path, RecordingError, max_bytes=None) as file:
            if file.read(len(MAGIC)) != MAGIC or os.fstat(file.fileno()).st_size <= len(MAGIC):
                return True  # whoever reads it says what is wrong
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                head = data[:HEAD_LIMIT]
    except OSError as error:
        raise RecordingError(f"the file cannot be read: {error.strerror}", file=path) from None
    return b"pliant_msgs/msg/" in head and b"sample_period_ns" in head


def traces_of_recording(path: Path, device: str | None = None) -> Traces:
    """Return the traces of one device of a recording of pliant.

    Args:
        path: the recording.
        device: the device; None where one only has a position.

    Raises:
        RecordingError: it cannot be read, has no such device, or several and none was named.
    """
    recording = read_recording(path)
    names = [
        name for name, d in recording.devices.items() if "position" in d.samples and not d.samples["position"].shape
    ]
    if device is None and len(names) == 1:
        device = names[0]
    if device is None or device not in names:
        asked = (
            "the recording has several devices" if device is None else f"there is no device {device!r} with a position"
        )
        raise RecordingError(f"{asked}; {nearest(device or '', names)} (--device NAME)", file=path, field="device")
    columns = {"time": recording[f"{device}/time"]}
    for field, info in recording.devices[device].samples.items():
        values = recording[f"{device}/{field}"]
        if not info.shape and np.isfinite(values).all():
            columns[field] = values
    topics = {name: f"{device}/{name}" for name in columns}
    return Traces(
        columns=columns, joint=device, topics=topics, unused=tuple(n for n in recording.devices if n != device)
    )
