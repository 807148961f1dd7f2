"""Samples as messages of ROS 2: a type made from a device's fields, and its bodies in CDR (XCDR1, little endian).

A body is the stamp, an empty frame_id, the running number, then each field; an array comes after its length and four
bytes of padding. So devices with more or fewer joints have one type, and all bodies of a device have one length.
Recordings store these messages, and the bridge ``foxglove`` sends them.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from pliant.base.names import free_name
from pliant.devices.base import FieldInfo, Sample, SampleSource

CDR_LITTLE_ENDIAN = b"\x00\x01\x00\x00"
SEPARATOR = "=" * 80
TIME_TEXT = "int32 sec\nuint32 nanosec\n"
HEADER_TEXT = "builtin_interfaces/Time stamp\nstring frame_id\n"
DEPENDENCIES = f"{SEPARATOR}\nMSG: std_msgs/Header\n{HEADER_TEXT}{SEPARATOR}\nMSG: builtin_interfaces/Time\n{TIME_TEXT}"
HEAD_FORMAT = "<4siII4xQ"
"""CDR encapsulation, stamp, empty frame_id, padding, running number."""
HEAD = struct.Struct(HEAD_FORMAT)
"""What stands before the fields."""
BILLION = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageType:
    """The message type of a device's samples."""

    name: str
    """Its name, ``pliant_msgs/msg/Joint``."""
    text: str
    """Its definition in the notation of ROS 2 ("ros2msg"), with the types that it uses."""
    fields: tuple[Mapping[str, object], ...]
    """Name, shape, unit and description of each field, in the order of the body."""
    columns: Mapping[str, str]
    """Field of the sample -> its name in the message."""


class MessageTypes:
    """Gives each device the type of its samples; devices of one kind with equal fields share one.

    Example:
        >>> from pliant.devices.base import FieldInfo
        >>> MessageTypes().make("elbow_2", {"position": FieldInfo(unit="rad")}).name
        'pliant_msgs/msg/Elbow'
    """

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def make(self, device: str, samples: Mapping[str, FieldInfo], signatures: Sequence[str] = ()) -> MessageType:
        """Return the type of a device's samples, named after its first signature, else after the device.

        The number at the end of a device's name is left out, so that ``finger_1`` and ``finger_2`` have one type.

        Args:
            device: name of the device.
            samples: its fields.
            signatures: what the device is; see `pliant.devices.signatures`.
        """
        text, fields, columns = _message_text(samples)
        without_number = re.sub(r"(.*[A-Za-z]|).*", r"\1", device, count=1, flags=re.DOTALL)
        plain = signatures[0] if signatures else without_number or device
        base = "".join(word.capitalize() for word in re.split(r"[^A-Za-z0-9]+", plain)) or "Device"
        base = base if base[0].isalpha() else f"D{base}"
        name, count = base, 1
        while self._texts.get(name, text) != text:
            count += 1
            name = f"{base}{count}"
        self._texts[name] = text
        return MessageType(name=f"pliant_msgs/msg/{name}", text=text, fields=tuple(fields), columns=columns)


def body_length(samples: Mapping[str, FieldInfo]) -> int:
    """Return the length of a body [bytes]."""
    return HEAD.size + 8 * value_slices(samples)[1]


def value_slices(samples: Mapping[str, FieldInfo], *, lengths: bool = True) -> tuple[dict[str, slice], int]:
    """Return where the numbers of each field stand behind the head, and how many eights of bytes there are.

    Args:
        samples: the fields.
        lengths: whether arrays come after their length; in recordings of pliant 0.3.0 they do not.
    """
    found: dict[str, slice] = {}
    end = 0
    for name, info in samples.items():
        begin = end + (lengths and _counted(info))
        end = begin + info.size
        found[name] = slice(begin, end)
    return found, end


def _counted(info: FieldInfo) -> bool:
    """Return whether a field is an array with its length; one of no elements has no bytes at all."""
    return bool(info.shape) and info.size > 0


def body_encoder(samples: Mapping[str, FieldInfo]) -> Callable[[Sample], bytes]:
    """Return what encodes the samples of a device, all of float64 fields.

    Args:
        samples: the fields.
    """
    names = tuple(samples)
    places, count = value_slices(samples)
    if names and not any(info.shape for info in samples.values()):
        pack = struct.Struct(f"{HEAD_FORMAT}{count}d").pack
        get = itemgetter(*names)
        take = get if len(names) > 1 else lambda values: (get(values),)

        def encode_numbers(sample: Sample) -> bytes:
            stamp = sample.stamp_ns
            return pack(CDR_LITTLE_ENDIAN, stamp // BILLION, stamp % BILLION, 1, sample.seq, *take(sample.values))

        return encode_numbers
    pack_head = HEAD.pack
    body = np.empty(count, dtype="<f8")
    for name, place in places.items():
        if _counted(samples[name]):
            body.view("<u8")[place.start - 1] = samples[name].size
    slices = list(places.items())

    def encode_arrays(sample: Sample) -> bytes:
        stamp, values = sample.stamp_ns, sample.values
        for name, place in slices:
            body[place] = values[name]
        return pack_head(CDR_LITTLE_ENDIAN, stamp // BILLION, stamp % BILLION, 1, sample.seq) + body.tobytes()

    return encode_arrays


def sample_topic(device: str) -> str:
    """Return the topic of a device: a name that ROS accepts, of letters, digits, underscores and slashes."""
    name = re.sub(r"[^A-Za-z0-9_/]", "_", device).strip("/")
    return "/" + re.sub(r"(^|/)(?=\d)", r"\1_", re.sub("/+", "/", name))


def has_images(device: SampleSource) -> bool:
    """Return whether samples of a device hold more than float64 numbers."""
    return any(info.dtype != "float64" for info in device.samples.values())


def _message_text(samples: Mapping[str, FieldInfo]) -> tuple[str, list[dict[str, object]], dict[str, str]]:
    """The type as text, its fields as data for the reader, and the fields' names in the message."""
    lines = ["# A sample of a device; the stamp is simulation time.", "std_msgs/Header header", "uint64 seq"]
    fields: list[dict[str, object]] = []
    columns: dict[str, str] = {}
    taken = {"header", "seq"}
    for name, info in samples.items():
        plain = re.sub(r"_+", "_", re.sub(r"[^a-z0-9]", "_", name.lower())).strip("_") or "field"
        taken.add(plain := free_name(plain if plain[0].isalpha() else f"f_{plain}", taken, "0"))
        columns[name] = plain
        remark = " ".join(f"{info.description} [{info.unit or '-'}]".split())
        lines.append(f"# {remark}")
        size = "[]" if _counted(info) else "[0]" if info.shape else ""
        lines.append(f"float64{size} {plain}")
        fields.append({"name": name, "shape": list(info.shape), "unit": info.unit, "description": info.description})
    return "\n".join(lines) + "\n" + DEPENDENCIES, fields, columns
