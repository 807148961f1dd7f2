"""Read, export and compare recordings."""

from __future__ import annotations

import bisect
import csv
import heapq
import json
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import RecordingError, nearest
from pliant.base.numerics import Array
from pliant.devices.base import FieldInfo, Mailbox, Mount, Noise, Sample
from pliant.model.interface import Interface, JointInterface, PluginManager
from pliant.recording.mcap_reader import Channel, read_mcap
from pliant.recording.poses import POSE, decode_poses
from pliant.recording.recorder import EVENTS
from pliant.recording.sample_message import HEAD, value_slices

FORMATS = ("csv", "npz")


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """Event between two samples of a recording."""

    time: float
    """Time on the axis of the file [s]."""
    name: str
    """``"reset"``; ``"payloads"``, ``"forces"`` or ``"contacts"`` where they changed or the recording began with them;
    ``"fault"`` where an error ended the run."""
    values: Mapping[str, Any]
    """The new ``seed``; or ``payloads``: body -> ``mass`` [kg] and ``offset`` in its frame [m] of all there are; or
    ``forces``: body -> force and torque at its centre of mass in world axes [N, N m], of those that act; or
    ``contacts``: point and force of each contact [m, N, world]; or ``error`` and ``message`` of a fault, with ``joint``
    and ``dump`` of a divergence."""

    def __str__(self) -> str:
        if self.name == "fault":
            return f"{self.time:g} s: the run ended with a fault: {self.values.get('message', '')}"
        if self.name == "forces":
            acting = [f"({', '.join(f'{x:.3g}' for x in wrench[:3])}) N on {body}" for body, wrench in
                      self.values.get("forces", {}).items()]  # fmt: skip
            return f"{self.time:g} s: forces: {'; '.join(acting) or 'none'}"
        if self.name == "contacts":
            return f"{self.time:g} s: {len(self.values.get('contacts', []))} contacts"
        if self.name != "payloads":
            return f"{self.time:g} s: {self.name}"
        loads = self.values.get("payloads", {})
        each = [
            f"{load['mass']:g} kg on {body} at ({', '.join(f'{x:.6g}' for x in load['offset'])}) m"
            for body, load in loads.items()
        ]
        return f"{self.time:g} s: payloads: {'; '.join(each) or 'none'}"


class RecordingWarning(UserWarning):
    """A recording is truncated; the message says what is missing."""


class RecordedDevice:
    """A recorded device, which bridges publish in a replay. It accepts no commands and no requests.

    Args:
        name: name of the device.
        period_ns: period of its firmware [ns].
        sample_period_ns: time between two samples [ns].
        samples: field -> description of the field.
        joints: names of the joints that the elements of array fields belong to.
        frame: frame in which samples are expressed; "" for the name of the device.
        topic: topic of its messages; "" for a topic named after the device.
        metadata: constant properties that were recorded with the device.
        signatures: what the device is, by name (`pliant.devices.signatures`).
    """

    def __init__(
        self,
        name: str,
        period_ns: int,
        sample_period_ns: int,
        samples: Mapping[str, FieldInfo],
        *,
        joints: Iterable[str] = (),
        frame: str = "",
        topic: str = "",
        metadata: Mapping[str, str] = MappingProxyType({}),
        signatures: Iterable[str] = (),
    ) -> None:
        self.name = name
        self.signatures = tuple(signatures)
        self.period_ns = period_ns
        self.sample_period_ns = sample_period_ns
        self.samples: Mapping[str, FieldInfo] = MappingProxyType(dict(samples))
        self.commands: Mapping[str, Mapping[str, FieldInfo]] = MappingProxyType({})
        self.inbox = Mailbox(name, self.commands)
        self.joints = tuple(joints)
        self.frame = frame or name
        self.topic = topic
        self.noise: Mapping[str, Noise] = MappingProxyType({})
        self.mount: Mount | None = None
        self.metadata = metadata


class Recording(Mapping[str, np.ndarray]):
    """A recording as a mapping from ``"<device>/<field>"`` to arrays.

    A scalar field has shape (n,), an array field shape (n, size), in the unit that `unit` returns. In addition every
    device has ``time``, the log time, which is not set back by a reset [s]; ``stamp``, the simulation time of the
    sample [s]; and ``seq``, its sequence number.

    Args:
        path: path of the file.
        devices: name -> recorded device.
        arrays: "<device>/<field>" -> values.
        log_ns: device -> log times [ns], shape (n,).
        stamp_ns: device -> simulation times [ns], shape (n,).
        metadata: versions, seed, dt, model_hash and command_line as text.
        lost: description of what is missing in a truncated file, "" if the file is complete.
        events: resets and payloads, in the order of time.
        poses: log times [ns] of the poses of the model, shape (t,), and qpos, shape (t, nq); None for none.
    """

    def __init__(
        self,
        path: Path,
        devices: Mapping[str, RecordedDevice],
        arrays: Mapping[str, np.ndarray],
        log_ns: Mapping[str, np.ndarray],
        stamp_ns: Mapping[str, np.ndarray],
        metadata: Mapping[str, str],
        lost: str,
        events: Iterable[RecordedEvent] = (),
        poses: tuple[NDArray[np.int64], Array] | None = None,
    ) -> None:
        self.path = path
        self.poses = poses or (np.zeros(0, dtype=np.int64), np.zeros((0, 0)))
        """Log times [ns] of the poses of the model, shape (t,), and qpos, shape (t, nq)."""
        self.devices = dict(devices)
        self.metadata = dict(metadata)
        self.lost = lost
        self.events = tuple(events)
        self._timelines: dict[str, tuple[list[float], list[RecordedEvent]]] = {}
        self._arrays = dict(arrays)
        self._log_ns = dict(log_ns)
        self._stamp_ns = dict(stamp_ns)

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            return self._arrays[name]
        except KeyError:
            raise RecordingError(
                f"the recording has no {name!r}; {nearest(name, self._arrays)}", file=self.path, field=name
            ) from None

    def get(self, name: str, default: Any = None) -> Any:
        """Return an array by name, or ``default`` if it does not exist."""
        return self._arrays.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        return f"Recording({str(self.path)!r}, {self.duration:g} s, devices {', '.join(self.devices) or 'none'})"

    def _repr_html_(self) -> str:
        """Return small plots and a table of the signals, for notebooks."""
        from pliant.recording.notebook import recording_html

        return recording_html(self)

    @property
    def log_times(self) -> Mapping[str, np.ndarray]:
        """Device -> log times of its samples [ns], shape (n,)."""
        return MappingProxyType(self._log_ns)

    @property
    def complete(self) -> bool:
        """Whether the recording was closed properly."""
        return not self.lost

    @property
    def begin_ns(self) -> int:
        """Log time at which the recording begins [ns]: one sample period before the first samples."""
        first = [(int(times[0]), self.devices[name]) for name, times in self._log_ns.items() if len(times)]
        if not first:
            return 0
        begin = max(time - device.sample_period_ns for time, device in first)
        return max(0, min(begin, *(time for time, _ in first)))

    @property
    def end_ns(self) -> int:
        """Log time of the last sample [ns]."""
        return max((int(times[-1]) for times in self._log_ns.values() if len(times)), default=0)

    @property
    def duration(self) -> float:
        """Duration [s], from the begin of the recording, which need not be time 0, to its last sample."""
        return (self.end_ns - self.begin_ns) * 1e-9

    def last_event(self, name: str, time: float) -> Mapping[str, Any]:
        """Return the values of the last event of a name up to a time, without those before a reset; {} for none.

        Args:
            name: name of the event.
            time: time on the axis of the file [s].
        """
        if name not in self._timelines:
            some = [event for event in self.events if event.name in (name, "reset")]
            self._timelines[name] = [event.time for event in some], some
        times, some = self._timelines[name]
        k = bisect.bisect_right(times, time) - 1
        return some[k].values if k >= 0 and some[k].name == name else {}

    @property
    def has_contacts(self) -> bool:
        """Whether contact forces were recorded."""
        return any(event.name == "contacts" for event in self.events)

    def unit(self, name: str) -> str:
        """Return the unit of ``"<device>/<field>"``."""
        self[name]
        device, field = name.rsplit("/", 1)
        of_axis = {"time": "s", "stamp": "s", "seq": ""}
        return of_axis[field] if field in of_axis else self.devices[device].samples[field].unit

    @property
    def interface(self) -> Interface:
        """Names of the topics and services of the recorded robot, which bridges use in a replay.

        Raises:
            RecordingError: the metadata with these names are damaged.
        """
        text = self.metadata.get("interface", "")
        if not text:
            return Interface()
        try:
            data = json.loads(text)
            manager = data.get("manager")
            if manager is not None:
                joints, ref_1, ref_2 = (tuple(str(v) for v in manager[name]) for name in ("joints", "ref_1", "ref_2"))
                sample_time = float(manager["sample_time"])
                if not (math.isfinite(sample_time) and sample_time > 0.0):
                    raise ValueError(f"sample_time {sample_time!r}")
                namespace = str(manager["namespace"])
                manager = PluginManager(
                    namespace=namespace, sample_time=sample_time, joints=joints, ref_1=ref_1, ref_2=ref_2
                )
            joints = {
                str(name): JointInterface(
                    joint=str(name),
                    publish_elastic_torque=bool(about["publish_elastic_torque"]),
                    publish_state=bool(about["publish_state"]),
                )
                for name, about in data["joints"].items()
            }
            return Interface(namespace=str(data["namespace"]), joints=joints, manager=manager)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise RecordingError(f"the names of the robot's topics are damaged: {error}", file=self.path) from None

    def samples(self) -> Iterator[tuple[int, Sample]]:
        """Yield (log time [ns], sample) for the samples of all devices, in the order of the run."""
        order = {name: number for number, name in enumerate(self.devices)}
        yield from (
            (log_ns, sample)
            for log_ns, _, sample in heapq.merge(
                *(self._device_samples(name, order[name]) for name in self.devices), key=lambda item: item[:2]
            )
        )

    def _device_samples(self, name: str, order: int) -> Iterator[tuple[int, int, Sample]]:
        fields = list(self.devices[name].samples)
        columns = [self._arrays[f"{name}/{field}"] for field in fields]
        scalar = [column.ndim == 1 for column in columns]
        seq = self._arrays[f"{name}/seq"]
        for row, (log_ns, stamp_ns) in enumerate(zip(self._log_ns[name], self._stamp_ns[name], strict=True)):
            values: dict[str, float | np.ndarray] = {}
            for field, column, number in zip(fields, columns, scalar, strict=True):
                values[field] = column[row].item() if number else column[row]
            yield int(log_ns), order, Sample(name, int(seq[row]), int(stamp_ns), MappingProxyType(values))


def recorded_names(interface: Interface) -> str:
    """Encode an interface as text for the metadata of a recording; `Recording.interface` decodes it."""
    manager = interface.manager
    joints = interface.joints.items()
    return json.dumps(
        {
            "namespace": interface.namespace,
            "joints": {
                name: {"publish_elastic_torque": j.publish_elastic_torque, "publish_state": j.publish_state}
                for name, j in joints
            },
            "manager": None
            if manager is None
            else {
                "namespace": manager.namespace,
                "sample_time": manager.sample_time,
                "joints": manager.joints,
                "ref_1": manager.ref_1,
                "ref_2": manager.ref_2,
            },
        }
    )


def read_recording(path: str | Path) -> Recording:
    """Read a recording; a truncated file is read as far as possible.

    Args:
        path: MCAP file written by a `Recorder`.

    Returns:
        The recording as arrays.

    Raises:
        RecordingError: the file does not exist, is not an MCAP file, or was not written by a `Recorder`.

    Warns:
        RecordingWarning: the file is truncated; the message says what is missing.
    """
    path = Path(path)
    contents = read_mcap(path)
    metadata = contents.metadata.get("pliant", {})
    own = [channel for channel in contents.channels if channel.metadata.get("pliant") == "sample"]
    if not own and not metadata and not contents.fault:
        topics = ", ".join(channel.topic for channel in contents.channels) or "none"
        raise RecordingError(f"no pliant recorder wrote this file; its topics: {topics}", file=path)
    devices: dict[str, RecordedDevice] = {}
    arrays: dict[str, np.ndarray] = {}
    log_ns: dict[str, np.ndarray] = {}
    stamp_ns: dict[str, np.ndarray] = {}
    for channel in own:
        device, table = _decode(channel, path)
        devices[device.name] = device
        name = device.name
        log_ns[name] = np.array(channel.log_times, dtype=np.int64)
        stamp_ns[name] = table["sec"].astype(np.int64) * 1_000_000_000 + table["nanosec"]
        arrays[f"{name}/time"] = log_ns[name] * 1e-9
        arrays[f"{name}/stamp"] = stamp_ns[name] * 1e-9
        arrays[f"{name}/seq"] = table["seq"].astype(np.int64)
        places, count = value_slices(device.samples)
        if table["values"].shape[1] != count:
            places, _ = value_slices(device.samples, lengths=False)
        for field, info in device.samples.items():
            block = table["values"][:, places[field]]
            arrays[f"{name}/{field}"] = _frozen(np.ascontiguousarray(block if info.shape else block[:, 0]))
    lost = ""
    events = [e for c in contents.channels if c.metadata.get("pliant") == EVENTS for e in _events(c, path)]
    poses = [decode_poses(c.log_times, c.data) for c in contents.channels if c.metadata.get("pliant") == POSE]
    recording = Recording(path, devices, arrays, log_ns, stamp_ns, metadata, lost, events, next(iter(poses), None))
    if contents.fault:
        recording.lost = (
            f"{contents.fault}; read are {sum(map(len, log_ns.values()))} samples up to "
            f"{recording.end_ns * 1e-9:g} s, what came later is lost"
        )
        warnings.warn(f"{path}: {recording.lost}", RecordingWarning, stacklevel=2)
    return recording


def export(
    source: str | Path | Recording, format: str, output: str | Path | None = None, *, overwrite: bool = False
) -> Path:
    """Write a recording to a CSV or NPZ file.

    CSV: a column ``time`` [s] and one column for each number, ``<device>/<field>`` or, for arrays,
    ``<device>/<field>[i]``. There is one row for each time at which any device was sampled; the cells of the other
    devices are empty. NPZ: the arrays of `Recording` by name, and ``metadata`` and ``units`` as JSON text.

    Args:
        source: a recording or its path.
        format: "csv" or "npz".
        output: path of the new file; None for the path of the recording with the suffix of the format.
        overwrite: replace an existing file.

    Returns:
        The path of the new file.

    Raises:
        RecordingError: the format is unknown, the recording cannot be read, or the file exists or cannot be written.
    """
    if format not in FORMATS:
        raise RecordingError(f"the format {format!r} is not known; {nearest(str(format), FORMATS)}", field="format")
    recording = source if isinstance(source, Recording) else read_recording(source)
    path = Path(output) if output is not None else recording.path.with_suffix(f".{format}")
    try:
        if format == "csv":
            with path.open("w" if overwrite else "x", newline="", encoding="utf-8") as file:
                _write_csv(recording, file)
        else:
            with path.open("wb" if overwrite else "xb") as file:
                units = {name: recording.unit(name) for name in recording}
                arrays: dict[str, Any] = {
                    "metadata": np.array(json.dumps(recording.metadata)),
                    "units": np.array(json.dumps(units)),
                    **recording,
                }
                np.savez_compressed(file, **arrays)
    except FileExistsError:
        raise RecordingError("the file exists; replace it with --overwrite, or name another", file=path) from None
    except OSError as error:
        raise RecordingError(f"the export cannot be written: {error.strerror}", file=path) from None
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Difference of one field between two recordings."""

    name: str
    """Name of the field, "<device>/<field>"."""
    samples: int
    """Number of compared samples, which both recordings have."""
    missing: int
    """Number of samples that only one of the recordings has."""
    largest: float
    """Largest absolute difference, in the unit of the field; 0 if all values are identical or both NaN, NaN if the
    field cannot be compared."""
    at: float
    """Log time of the largest difference [s]; NaN if there is none."""


def compare(first: str | Path | Recording, second: str | Path | Recording) -> list[Difference]:
    """Compare two recordings field by field, such as a run and its repetition.

    Args:
        first: a recording or its path.
        second: a recording or its path.

    Returns:
        The fields that differ, largest difference first; empty if the recordings are equal.

    Raises:
        RecordingError: a recording cannot be read.
    """
    left = first if isinstance(first, Recording) else read_recording(first)
    right = second if isinstance(second, Recording) else read_recording(second)
    result = []
    for name in dict.fromkeys([*left, *right]):
        if name not in left or name not in right:
            only = left[name] if name in left else right[name]
            result.append(Difference(name=name, samples=0, missing=len(only), largest=math.nan, at=math.nan))
            continue
        a, b = left[name], right[name]
        if a.shape[1:] != b.shape[1:]:
            result.append(Difference(name=name, samples=0, missing=len(a) + len(b), largest=math.nan, at=math.nan))
            continue
        common = min(len(a), len(b))
        missing = max(len(a), len(b)) - common
        a, b = a[:common].reshape(common, -1), b[:common].reshape(common, -1)
        with np.errstate(invalid="ignore"):
            gap = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
        gap = np.where(np.isnan(gap), math.inf, gap).max(axis=1, initial=0.0)
        largest = float(gap.max(initial=0.0))
        if largest > 0.0 or missing:
            times = left[f"{name.rsplit('/', 1)[0]}/time"]
            at = float(times[int(gap.argmax())]) if largest > 0.0 else math.nan
            result.append(Difference(name=name, samples=common, missing=missing, largest=largest, at=at))
    return sorted(result, key=lambda item: (-math.inf if math.isnan(item.largest) else -item.largest, item.name))


def _decode(channel: Channel, path: Path) -> tuple[RecordedDevice, np.ndarray]:
    try:
        fields = {
            item["name"]: FieldInfo(tuple(item["shape"]), item["unit"], item["description"])
            for item in json.loads(channel.metadata["fields"])
        }
        about = channel.metadata
        periods = int(about["period_ns"]), int(about["sample_period_ns"])
        device = RecordedDevice(
            about["device"],
            *periods,
            fields,
            joints=map(str, json.loads(about.get("joints", "[]"))),
            frame=about.get("frame", ""),
            topic=about.get("topic", ""),
            metadata=about,
            signatures=map(str, json.loads(about.get("signatures", "[]"))),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise RecordingError(f"topic {channel.topic}: the list of its fields is damaged: {error}", file=path) from None
    now, before = (value_slices(fields, lengths=lengths)[1] for lengths in (True, False))
    old = bool(channel.data) and len(channel.data[0]) == HEAD.size + 8 * before
    count = before if old else now
    layout = np.dtype(
        [
            ("encapsulation", "V4"),
            ("sec", "<i4"),
            ("nanosec", "<u4"),
            ("frame_id", "V8"),
            ("seq", "<u8"),
            ("values", "<f8", (count,)),
        ]
    )
    wrong = next((i for i, body in enumerate(channel.data) if len(body) != layout.itemsize), None)
    if wrong is not None:
        raise RecordingError(
            f"topic {channel.topic}: message {wrong} has {len(channel.data[wrong])} bytes; its fields need "
            f"{layout.itemsize}",
            file=path,
        )
    return device, np.frombuffer(b"".join(channel.data), dtype=layout)


def _events(channel: Channel, path: Path) -> list[RecordedEvent]:
    events = []
    for log_ns, body in zip(channel.log_times, channel.data, strict=True):
        try:
            values = json.loads(body[8:-1])
            event = RecordedEvent(log_ns * 1e-9, str(values.pop("event")), values)
            str(event)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise RecordingError(f"topic {channel.topic}: an event is damaged: {error}", file=path) from None
        events.append(event)
    return events


def _frozen(array: np.ndarray) -> np.ndarray:
    array = array.astype(np.float64)
    array.flags.writeable = False
    return array


def _write_csv(recording: Recording, file: TextIO) -> None:
    writer = csv.writer(file, lineterminator="\n")
    columns = ["time"]
    for name, device in recording.devices.items():
        for field, info in device.samples.items():
            columns += [f"{name}/{field}[{i}]" for i in range(info.size)] if info.shape else [f"{name}/{field}"]
    writer.writerow(columns)
    if not recording.devices:
        return
    times = np.unique(np.concatenate([recording._log_ns[name] for name in recording.devices]))
    rows: list[list[str]] = [[f"{int(t) // 10**9}.{int(t) % 10**9:09d}"] for t in times]
    for name, device in recording.devices.items():
        at = np.searchsorted(times, recording._log_ns[name])
        table = np.column_stack(
            [recording[f"{name}/{field}"].reshape(len(at), -1) for field in device.samples] or [np.empty((len(at), 0))]
        )
        filled = np.zeros(len(times), dtype=bool)
        filled[at] = True
        cells = dict(zip(at.tolist(), table.tolist(), strict=True))
        empty = [""] * table.shape[1]
        for row, line in enumerate(rows):
            line += map(repr, cells[row]) if filled[row] else empty
    writer.writerows(rows)
