"""MCAP files of any writer as bags: the messages stay in the file, their places are listed."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from pliant.bags.base import BagTopic, IndexedFile, MessageIndex, plain_type
from pliant.recording.mcap_reader import Channel, CutOff, McapScan

VERSIONS = {"cdr": 2, "ros1": 1}
TEXTS = {"ros2msg": 2, "ros1msg": 1}
"""Languages of definitions that are compared with pliant's own."""


class _Places(McapScan):
    """Lists where messages stand instead of keeping them."""

    def __init__(self, data: mmap.mmap, path: Path) -> None:
        super().__init__(data, path)
        self.index = MessageIndex(path)
        self.chunks: list[tuple[int, int, str, int]] = []

    def message(self, data: mmap.mmap | bytes, begin: int, length: int) -> None:
        """Note the message record at ``data[begin : begin + length]``."""
        if length < 22:
            raise CutOff
        number, _, log_time, _ = struct.unpack_from("<HIQQ", data, begin)
        if number not in self.channels:
            raise CutOff
        block, at = -1, begin + 22
        if data is not self.data:
            first, _, compression, _ = self.place
            if compression:
                if not self.chunks or self.chunks[-1] != self.place:
                    self.chunks.append(self.place)
                block = len(self.chunks) - 1
            else:
                at += first
        self.index.add(log_time, number, block, at, length - 22)


class McapBag(IndexedFile):
    """One MCAP file.

    Args:
        path: the file.
        data: the whole file, as a map of it; it is closed by `close`.

    Raises:
        RecordingError: it is no MCAP file, or its chunks are compressed in a way that is not known.
    """

    def __init__(self, path: Path, data: mmap.mmap) -> None:
        scan = _Places(data, path)
        super().__init__(path, data, scan.index, scan.chunks)
        self.fault = scan.run().fault
        self._list({number: _topic(channel) for number, channel in scan.channels.items()})


def _topic(channel: Channel) -> BagTopic:
    version = VERSIONS.get(channel.encoding, 0)
    text = ""
    if TEXTS.get(channel.schema_encoding) == version:
        text = channel.text.decode("utf-8", "replace")
    qos = channel.metadata.get("offered_qos_profiles", "")
    return BagTopic(
        name=channel.topic,
        type=plain_type(channel.type),
        version=version,
        text=text,
        latched="durability: 1" in qos or "transient_local" in qos or channel.metadata.get("latching") == "1",
    )
