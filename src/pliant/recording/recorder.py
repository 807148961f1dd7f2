"""The recorder: writes all samples of the devices to one MCAP file.

Each device has a topic ``/<device>``. Its message type is made from its fields: a header with the stamp, the sequence
number, then one float64 or float64[] for each field. The file contains the definition of the type, so Foxglove,
Lichtblick, PlotJuggler and rosbags show the fields by name. A device with position, velocity and effort (or torque)
has a second topic ``/<device>/joint_states`` of type sensor_msgs/msg/JointState, which ``ros2 bag play`` can publish
without additional packages. Message bodies are CDR (XCDR1, little endian). All messages of a topic have equal length.

Where no device tells the positions of some joints of the model (rods, a floating base, a Franka arm), the topic
``/pliant/pose`` has qpos as std_msgs/msg/Float64MultiArray, 100 times a second.

The file contains simulation time only: runs with equal seeds and equal commands give identical files.
"""

from __future__ import annotations

import json
import platform
import struct
from collections.abc import Callable, Iterable, Mapping
from importlib import metadata as packages
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import RecordingError, nearest
from pliant.base.numerics import Array
from pliant.devices.base import Device, Sample
from pliant.recording.mcap import FLUSH_INTERVAL, MESSAGE_HEADER, PENDING_LIMIT, McapWriter
from pliant.recording.poses import POSE, POSE_HEAD, POSE_TEXT, POSE_TOPIC, POSE_TYPE, told_joints
from pliant.recording.record_file import MESSAGE
from pliant.recording.sample_message import (
    CDR_LITTLE_ENDIAN,
    DEPENDENCIES,
    MessageTypes,
    body_encoder,
    body_length,
    has_images,
    sample_topic,
)

if TYPE_CHECKING:
    import mujoco

JOINT_STATE_TEXT = (
    "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n" + DEPENDENCIES
)
EVENTS = "events"
"""Value that marks the topic of events in its metadata."""
EVENT_TOPIC = "/pliant/events"


class Recorder:
    """Writes samples to an MCAP file in a separate thread, without dropping samples.

    The file is a valid MCAP file at any time: if the process is killed, it contains everything up to the last flush.
    If the disk is too slow, the loop waits, and ``health`` returns how often and how long. An existing file is replaced
    at the first sample. A run without samples writes no file.

    Args:
        path: path of the file; the name must end in .mcap and the folder must exist.
        devices: names of the devices to record; None records all devices except cameras.
        overwrite: replace an existing file.
        command_line: command line that repeats the run, stored in the file.
        metadata: further texts stored in the file.
        contacts: also write the contact forces, at most 25 times a second.
        joint_states: also write sensor_msgs/msg/JointState for devices that have the necessary fields.
        flush_interval: longest time until a sample is written to the disk [s of wall time].
        pending_limit: size of the data in memory above which the loop waits for the disk [bytes].

    Raises:
        RecordingError: the file exists and ``overwrite`` is False, its folder does not exist, or it cannot be written.
    """

    def __init__(
        self,
        path: str | Path,
        devices: Iterable[str] | None = None,
        *,
        overwrite: bool = False,
        command_line: str = "",
        metadata: Mapping[str, str] | None = None,
        contacts: bool = False,
        joint_states: bool = True,
        flush_interval: float = FLUSH_INTERVAL,
        pending_limit: int = PENDING_LIMIT,
    ) -> None:
        self._names = None if devices is None else list(devices)
        self._metadata = {"command_line": command_line, **(metadata or {})}
        self.contacts = contacts
        """Whether contact forces are recorded."""
        self._joint_states = joint_states
        self._encoders: dict[str, Callable[[Sample, int], None]] = {}
        self._started = False
        self._joint_state_schema = 0
        self._event_channel = self._events = 0
        self._pose_channel = self._poses = 0
        self._writer = McapWriter(
            path,
            overwrite=overwrite,
            keep_empty=False,
            library=f"pliant {_version('pliant')}",
            flush_interval=flush_interval,
            pending_limit=pending_limit,
        )

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self._writer.path

    @property
    def records_poses(self) -> bool:
        """Whether the recording needs `pose`, since the devices do not tell the positions of all joints."""
        return self._pose_channel != 0

    def start(
        self,
        devices: Mapping[str, Device],
        *,
        dt: float,
        seed: int,
        model_hash: str = "",
        model: mujoco.MjModel | None = None,
    ) -> None:
        """Declare the topics; called once by the simulation.

        Args:
            devices: name -> attached device.
            dt: time step of the engine [s].
            seed: seed of the run.
            model_hash: hash that identifies the model, "" if there is none.
            model: the model whose pose is recorded; None for none.

        Raises:
            RecordingError: the recorder was started before, or a device to record does not exist.
        """
        if self._started:
            raise RecordingError("a recorder can be used for one simulation only; make a new one", file=self.path)
        self._started = True
        names = [n for n in devices if not has_images(devices[n])] if self._names is None else self._names
        for name in names:
            if name not in devices:
                raise RecordingError(
                    f"device {name!r} should be recorded, but does not exist; {nearest(name, devices)}", file=self.path
                )
            if has_images(devices[name]):
                raise RecordingError(
                    f"device {name!r} should be recorded, but gives images, which are not recorded; record its "
                    "topics on the ROS side (rosbag record, ros2 bag record)",
                    file=self.path,
                )
        self._writer.add_metadata(
            "pliant",
            {
                "pliant": _version("pliant"),
                "mujoco": _version("mujoco-core"),
                "numpy": _version("numpy"),
                "numba": _version("numba"),
                "python": platform.python_version(),
                "seed": str(seed),
                "dt": repr(float(dt)),
                "model_hash": model_hash,
                **self._metadata,
            },
        )
        types = MessageTypes()
        # All topics are declared before the first encoder is made.
        declared = [(devices[name], *self._declare(devices[name], types)) for name in names]
        for device, channel, joint_states in declared:
            encode = self._sample_encoder(device, channel)
            if joint_states:
                encode = _both(encode, self._joint_state_encoder(device, joint_states))
            self._encoders[device.name] = encode
        if model is not None and len(told_joints(model, {name: devices[name] for name in names})) < model.njnt:
            about = {"offered_qos_profiles": "", "pliant": POSE}
            schema = self._writer.add_schema(POSE_TYPE, "ros2msg", POSE_TEXT)
            self._pose_channel = self._writer.add_channel(schema, POSE_TOPIC, "cdr", about)

    def record(self, sample: Sample, log_ns: int) -> None:
        """Add one sample; waits only if the disk is too slow.

        Args:
            sample: sample of a device; ignored if the device is not recorded.
            log_ns: log time [ns], which is not set back by a reset, unlike the stamp.

        Raises:
            RecordingError: an earlier sample could not be written.
        """
        encode = self._encoders.get(sample.device)
        if encode is not None:
            encode(sample, log_ns)

    def event(self, name: str, values: Mapping[str, object], log_ns: int, stamp_ns: int) -> None:
        """Take what happened between two samples, as JSON text; its topic begins with the first event.

        Args:
            name: what happened, such as ``"reset"``.
            values: what JSON can express.
            log_ns: time on the axis of the file [ns].
            stamp_ns: simulation time [ns].

        Raises:
            RecordingError: the disk refused an earlier sample.
        """
        writer = self._writer
        if not self._event_channel:
            schema = writer.add_schema("std_msgs/msg/String", "ros2msg", "string data\n", late=True)
            about = {"offered_qos_profiles": "", "pliant": EVENTS}
            self._event_channel = writer.add_channel(schema, EVENT_TOPIC, "cdr", about, late=True)
        text = json.dumps({"event": name, **values}).encode()
        body = CDR_LITTLE_ENDIAN + struct.pack("<I", len(text) + 1) + text + b"\0"
        self._message(self._event_channel, self._events, body, log_ns, stamp_ns)
        self._events += 1

    def pose(self, qpos: Array, log_ns: int, stamp_ns: int) -> None:
        """Take the positions of all joints of the model, where `records_poses`.

        Args:
            qpos: positions, shape (nq,).
            log_ns: time on the axis of the file [ns].
            stamp_ns: simulation time [ns].

        Raises:
            RecordingError: the disk refused an earlier sample.
        """
        body = POSE_HEAD.pack(CDR_LITTLE_ENDIAN, 0, 0, len(qpos)) + np.ascontiguousarray(qpos, "<f8").tobytes()
        self._message(self._pose_channel, self._poses, body, log_ns, stamp_ns)
        self._poses += 1

    def close(self) -> None:
        """Write the remaining samples and the index. May be called twice.

        Raises:
            RecordingError: the file could not be completed; the message says which part is readable.
        """
        self._writer.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def health(self) -> Mapping[str, object]:
        """Return the number of messages, and how often and how long [s] the loop waited for the disk."""
        writer = self._writer
        return {
            "path": str(writer.path),
            "messages": writer.messages,
            "blocked": writer.blocked,
            "blocked_time": writer.blocked_ns * 1e-9,
            "worst_block": writer.worst_block_ns * 1e-9,
        }

    # ------------------------------------------------------------------ inside
    def _message(self, channel: int, number: int, body: bytes, log_ns: int, stamp_ns: int) -> None:
        head = MESSAGE_HEADER.pack(MESSAGE, MESSAGE_HEADER.size - 9 + len(body), channel, number, log_ns, stamp_ns)
        self._writer.append(channel, log_ns, head + body)

    def _declare(self, device: Device, types: MessageTypes) -> tuple[int, int]:
        writer = self._writer
        topic = sample_topic(device.name)
        message = types.make(device.name, device.samples, device.signatures)
        schema = writer.add_schema(message.name, "ros2msg", message.text)
        channel = writer.add_channel(
            schema,
            topic,
            "cdr",
            {
                **device.metadata,
                "offered_qos_profiles": "",
                "pliant": "sample",
                "device": device.name,
                "signatures": json.dumps(device.signatures),
                "joints": json.dumps(device.joints),
                "frame": device.frame,
                "topic": device.topic,
                "period_ns": str(device.period_ns),
                "sample_period_ns": str(device.sample_period_ns),
                "fields": json.dumps(message.fields),
            },
        )
        joint_states = 0
        if self._joint_states and _joint_state_fields(device):
            self._joint_state_schema = self._joint_state_schema or writer.add_schema(
                "sensor_msgs/msg/JointState", "ros2msg", JOINT_STATE_TEXT
            )
            joint_states = writer.add_channel(
                self._joint_state_schema,
                f"{topic}/joint_states",
                "cdr",
                {"offered_qos_profiles": "", "pliant": "derived"},
            )
        return channel, joint_states

    def _sample_encoder(self, device: Device, channel: int) -> Callable[[Sample, int], None]:
        append = self._writer.append
        pack_head = MESSAGE_HEADER.pack
        length = MESSAGE_HEADER.size - 9 + body_length(device.samples)
        body = body_encoder(device.samples)

        def encode(sample: Sample, log_ns: int) -> None:
            head = pack_head(MESSAGE, length, channel, sample.seq & 0xFFFFFFFF, log_ns, sample.stamp_ns)
            append(channel, log_ns, head + body(sample))

        return encode

    def _joint_state_encoder(self, device: Device, channel: int) -> Callable[[Sample, int], None]:
        append = self._writer.append
        fields = _joint_state_fields(device)
        count = device.samples[fields[0]].size
        names = list(device.joints)
        if len(names) != count:
            names = [device.name] if count == 1 else [f"{device.name}_{i}" for i in range(count)]
        constant = struct.pack("<I", count)
        for name in names:
            constant += bytes(-len(constant) % 4) + struct.pack("<I", len(name.encode()) + 1) + name.encode() + b"\0"
        # Offsets count from the stamp: 8 of the stamp, 5 of the frame_id, 3 of padding come before the names.
        constant = b"\1\0\0\0\0\0\0\0" + constant
        parts: list[tuple[int, int]] = []
        offset = 8 + len(constant)
        template = bytearray(constant)
        for _ in fields:
            template += bytes(-offset % 4) + struct.pack("<I", count)
            offset = 8 + len(template)
            template += bytes(-offset % 8)
            parts.append((len(template), len(template) + 8 * count))
            template += bytes(8 * count)
            offset = 8 + len(template)
        head = struct.Struct("<BQHIQQ4siI")
        length = 22 + 4 + 8 + len(template)
        billion = 1_000_000_000
        places = list(zip(fields, parts, strict=True))
        scalar = not device.samples[fields[0]].shape
        pack_number = struct.Struct("<d").pack_into

        def encode(sample: Sample, log_ns: int) -> None:
            stamp = sample.stamp_ns
            values = sample.values
            for name, (first, last) in places:
                if scalar:
                    pack_number(template, first, values[name])
                else:
                    template[first:last] = np.ascontiguousarray(values[name], "<f8").tobytes()
            begin = head.pack(
                MESSAGE, length, channel, sample.seq & 0xFFFFFFFF, log_ns, stamp, CDR_LITTLE_ENDIAN,
                stamp // billion, stamp % billion,
            )  # fmt: skip
            append(channel, log_ns, begin + template)

        return encode


def _both(first: Callable[[Sample, int], None], second: Callable[[Sample, int], None]) -> Callable[[Sample, int], None]:
    def encode(sample: Sample, log_ns: int) -> None:
        first(sample, log_ns)
        second(sample, log_ns)

    return encode


def _joint_state_fields(device: Device) -> tuple[str, ...]:
    """The fields that make a JointState, or nothing."""
    samples = device.samples
    effort = "effort" if "effort" in samples else "torque"
    fields = ("position", "velocity", effort)
    if any(name not in samples for name in fields):
        return ()
    return fields if len({samples[name].shape for name in fields}) == 1 else ()


def _version(package: str) -> str:
    try:
        return packages.version(package)
    except packages.PackageNotFoundError:
        return ""
