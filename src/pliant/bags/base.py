"""Contents of a bag: topics with types, and messages in the order of their log time."""

from __future__ import annotations

import heapq
import mmap
import re
from array import array
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from pliant.base.errors import PliantError, RecordingError
from pliant.recording.mcap_reader import decompressed
from pliant.ros.wire import Codec, Registry, registry
from pliant.ros.wire.message import Message

MESSAGE_LIMIT = 50_000_000
"""Messages of a file that are listed at most: 32 bytes of memory each."""
TEXT_LIMIT = 1 << 20
"""Longest description of a type that is looked at [bytes]."""
_OTHER_NAMES = {
    ("viactors_plugins/state_info", 2): "viactors_plugins/StateInfo",
    ("viactors_plugins/StateInfo", 1): "viactors_plugins/state_info",
}
"""(type, generation of ROS) -> what that generation calls it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BagTopic:
    """One topic of a bag."""

    name: str
    """Its name, with a slash in front."""
    type: str
    """Its type, ``package/Type``."""
    version: int
    """1 or 2, the generation of ROS that its messages are encoded for; 0 where it is neither."""
    count: int = 0
    """How many messages it has."""
    text: str = ""
    """The definition of its type; "" where the bag has none that we read."""
    latched: bool = False
    """Whether late subscribers got the last message (latched in ROS 1, transient local in ROS 2)."""

    def known_type(self, version: int | None = None) -> str:
        """Return the name under which pliant knows this very type, "" if it does not, or if the bag's is another.

        Args:
            version: 1 or 2, the generation of ROS in which it is wanted; None for the topic's own.
        """
        if self.version not in (1, 2):
            return ""
        own = registry(self.version)
        if self.type not in own or (self.text and not _same(self.type, self.text, self.version)):
            return ""
        wanted = self.version if version is None else version
        name = self.type if wanted == self.version else _OTHER_NAMES.get((self.type, wanted), self.type)
        return name if name in registry(wanted) else ""


@dataclass(frozen=True, slots=True)
class BagMessage:
    """One message of a bag."""

    log_ns: int
    """When it was recorded [ns since the epoch, or of simulation time]."""
    topic: BagTopic
    """Where it came."""
    body: bytes
    """The message as `Codec` has it: with the length (ROS 1) or the encapsulation (ROS 2) in front."""

    def decode(self) -> Message:
        """Return its values.

        Raises:
            WireError: the bytes do not follow the type.
        """
        return Codec(self.topic.version).decode(self.topic.type, self.body)


class BagPart(Protocol):
    """One file of a bag."""

    path: Path
    """The file."""
    topics: list[BagTopic]
    """Topics in the file."""
    fault: str
    """Fault of the file, "" if it is whole; everything before the fault is read."""
    begin_ns: int
    """Log time of the first message [ns]; 0 if there is none."""
    end_ns: int
    """Log time of the last message [ns]."""

    def messages(self, topics: Collection[str]) -> Iterator[BagMessage]:
        """Yield the messages of these topics in the order of their log time."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


class Bag:
    """A bag that is open for reading; see `open_bag`.

    Args:
        path: the file or folder.
        parts: its files, open.
        note: what is wrong with the whole, "" if nothing is.
    """

    def __init__(self, path: Path, parts: list[BagPart], note: str = "") -> None:
        self.path = path
        self.parts = parts
        self.note = note
        merged: dict[tuple[str, str, int], BagTopic] = {}
        for part in parts:
            for topic in part.topics:
                key = (topic.name, topic.type, topic.version)
                before = merged.get(key)
                count = topic.count + (before.count if before else 0)
                merged[key] = replace(topic, count=count, text=topic.text or (before.text if before else ""))
        self.topics: list[BagTopic] = sorted(merged.values(), key=lambda t: (t.name, t.type))

    def __enter__(self) -> Bag:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        with ExitStack() as stack:
            for part in self.parts:
                stack.callback(part.close)

    @property
    def fault(self) -> str:
        """Fault of the bag, "" if it is whole."""
        several = len(self.parts) > 1
        faults = [f"{part.path.name}: {part.fault}" if several else part.fault for part in self.parts if part.fault]
        return "; ".join([self.note, *faults] if self.note else faults)

    @property
    def count(self) -> int:
        """How many messages it has."""
        return sum(topic.count for topic in self.topics)

    @property
    def begin_ns(self) -> int:
        """Log time of the first message [ns]; 0 if there is none."""
        return min((part.begin_ns for part in self.parts if any(t.count for t in part.topics)), default=0)

    @property
    def end_ns(self) -> int:
        """Log time of the last message [ns]."""
        return max((part.end_ns for part in self.parts if any(t.count for t in part.topics)), default=0)

    @property
    def duration(self) -> float:
        """From the first message to the last [s]."""
        return (self.end_ns - self.begin_ns) * 1e-9

    def messages(self, topics: Collection[str] | None = None) -> Iterator[BagMessage]:
        """Yield messages in the order of their log time.

        Args:
            topics: names of the topics; None for all.

        Raises:
            RecordingError: a message cannot be read, with the place.
        """
        wanted = {t.name for t in self.topics} if topics is None else set(topics)
        yield from heapq.merge(*(part.messages(wanted) for part in self.parts), key=lambda m: m.log_ns)

    def is_clock(self, topic: BagTopic) -> bool:
        """Return whether a topic has the simulation's time."""
        return topic.name == "/clock" and topic.known_type() == "rosgraph_msgs/Clock"

    def clock_ns(self, message: BagMessage) -> int:
        """Return the time of a message of the clock [ns]."""
        return message.decode()["clock"]

    def listed(self) -> str:
        """Return its topics with their types, for messages to people."""
        names = [f"{t.name} ({t.type})" for t in self.topics]
        more = f", ... ({len(names)} in all)" if len(names) > 12 else ""
        return (", ".join(names[:12]) or "none") + more


class MessageIndex:
    """Where the messages of a file stand; sorted by log time on demand.

    Args:
        path: the file, for messages.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._times, self._channels = array("q"), array("q")
        self._blocks, self._offsets, self._lengths = array("q"), array("q"), array("q")

    def __len__(self) -> int:
        return len(self._times)

    def add(self, time: int, channel: int, block: int, offset: int, length: int) -> None:
        """Note one message: log time [ns], its topic's number, block (-1: the file itself), place in it.

        Raises:
            RecordingError: there are more than `MESSAGE_LIMIT`, or the time is beyond any clock.
        """
        if len(self._times) >= MESSAGE_LIMIT:
            raise RecordingError(f"the bag has more than {MESSAGE_LIMIT} messages; split it", file=self._path)
        if not 0 <= time < 1 << 63:
            raise RecordingError(
                f"a message at byte {offset} has the log time {time} ns; must be 0 to 2^63 - 1", file=self._path
            )
        self._times.append(time)
        self._channels.append(channel)
        self._blocks.append(block)
        self._offsets.append(offset)
        self._lengths.append(length)

    def counts(self) -> dict[int, int]:
        """Return how many messages each topic's number has."""
        numbers, counts = np.unique(np.frombuffer(self._channels, dtype=np.int64), return_counts=True)
        return dict(zip(numbers.tolist(), counts.tolist(), strict=True))

    def span(self) -> tuple[int, int]:
        """Return the first and the last log time [ns]; zeros if there is no message."""
        return (min(self._times), max(self._times)) if len(self._times) else (0, 0)

    def rows(self, channels: Collection[int]) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield (time, channel, block, offset, length) of these topics by time, then in the order of the file."""
        kinds = np.frombuffer(self._channels, dtype=np.int64)
        chosen = np.flatnonzero(np.isin(kinds, list(channels)))
        times = np.frombuffer(self._times, dtype=np.int64)[chosen]
        for row in chosen[np.argsort(times, kind="stable")].tolist():
            yield self._times[row], self._channels[row], self._blocks[row], self._offsets[row], self._lengths[row]


class IndexedFile:
    """A file of a bag whose messages are listed, and read from the file when they are asked for.

    Args:
        path: the file.
        data: the whole file, as a map of it; it is closed by `close`.
        index: where its messages stand.
        chunks: place, length, compression and plain size of its compressed blocks.
    """

    def __init__(
        self, path: Path, data: mmap.mmap, index: MessageIndex, chunks: list[tuple[int, int, str, int]]
    ) -> None:
        self.path, self.fault = path, ""
        self._data, self._index, self._chunks = data, index, chunks
        self._cached: tuple[int, bytes] = (-1, b"")

    def _list(self, topics: dict[int, BagTopic]) -> None:
        """Take the topics by their numbers in the index, which is complete."""
        counts = self._index.counts()
        self._by_number = {number: replace(topic, count=counts.get(number, 0)) for number, topic in topics.items()}
        self.topics = list(self._by_number.values())
        self.begin_ns, self.end_ns = self._index.span()

    def messages(self, topics: Collection[str]) -> Iterator[BagMessage]:
        """Yield the messages of these topics in the order of their log time."""
        numbers = [number for number, topic in self._by_number.items() if topic.name in topics]
        for time, number, chunk, offset, length in self._index.rows(numbers):
            topic = self._by_number[number]
            source = self._data if chunk < 0 else self._chunk(chunk)
            yield BagMessage(time, topic, prefixed(topic.version, source[offset : offset + length]))

    def close(self) -> None:
        """Close the file."""
        self._cached = (-1, b"")
        self._data.close()

    def _chunk(self, number: int) -> bytes:
        if self._cached[0] != number:
            begin, length, compression, size = self._chunks[number]
            self._cached = (number, decompressed(compression, self._data[begin : begin + length], size, self.path))
        return self._cached[1]


def prefixed(version: int, data: bytes) -> bytes:
    """Return a message with the prefix that `Codec` wants: ROS 1 bags leave the length out."""
    return len(data).to_bytes(4, "little") + data if version == 1 else bytes(data)


def plain_type(name: str) -> str:
    """Return ``package/Type`` of ``package/msg/Type``."""
    return name.replace("/msg/", "/")


def _same(name: str, text: str, version: int) -> bool:
    """Whether a definition has the fields that pliant's has."""
    if len(text) > TEXT_LIMIT:
        return False
    first, *others = re.split(r"^=+[ \t]*$", text, flags=re.MULTILINE)
    types = Registry(version)
    try:
        for other in others:
            head, _, body = other.strip("\r\n").partition("\n")
            kind, _, inner = head.partition(":")
            if kind.strip() != "MSG":
                return False
            types.add({plain_type(inner.strip()): body})
        types.add({name: first})
        return types.md5sum(name) == registry(version).md5sum(name)
    except (PliantError, RecursionError, ValueError):
        return False
