"""Handing on what strangers tell of themselves to another participant of this process.

A participant drops what a stranger's writers of discovery send before it has heard of the stranger, and Fast DDS tells
it again only 1 to 3 s later; it takes itself for connected meanwhile, and what it writes is lost. A participant that
was there earlier has it already: it sends announcement, heartbeats and samples of the stranger on, in the stranger's
name, as they came.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pliant.bridges.ros2.rtps_endpoints import Address
from pliant.wire.rtps import Data, Header, Heartbeat, InfoDestination, ParticipantData, Submessage

__all__ = ["CYCLONE", "PUB_WRITER", "SUB_WRITER", "Relay"]

CYCLONE = b"\x01\x10"
"""Number of Cyclone DDS among the makers (OMG's list); it tells others again at once."""
PUB_WRITER, SUB_WRITER = b"\0\0\3\xc2", b"\0\0\4\xc2"
"""The writers of discovery: of a participant's writers, and of its readers."""
SAMPLE_LIMIT = 4000
"""Most samples that are kept of one writer."""


@dataclass(slots=True, kw_only=True)
class _Known:
    data: ParticipantData
    address: Address
    announcement: Data
    told: dict[bytes, OrderedDict[int, Data]] = field(default_factory=dict)
    """What its writers of discovery said: entity -> number -> sample."""
    beats: dict[bytes, Heartbeat] = field(default_factory=dict)
    handed: set[tuple[bytes, bytes]] = field(default_factory=set)
    """(sibling, entity) of which a heartbeat was handed on; what comes later follows at once."""


class Relay:
    """What strangers said, and to whom it goes on. It has no lock; its participant has.

    Args:
        send: sends submessages under a header to an address.
    """

    def __init__(self, send: Callable[[Address, Header, Iterable[Submessage]], None]) -> None:
        self.count = 0
        """Datagrams that were handed on."""
        self._send = send
        self._siblings: set[bytes] = set()
        self._known: dict[bytes, _Known] = {}

    def add_sibling(self, prefix: bytes) -> None:
        """Hand on to this participant from now on."""
        self._siblings.add(prefix)
        self._hand_on_all()

    def met(self, data: ParticipantData, address: Address, announcement: Data) -> None:
        """Take a participant that was not known, and where its discovery listens."""
        prefix = data.guid[:12]
        self._known[prefix] = _Known(data=data, address=address, announcement=announcement)
        if prefix in self._siblings:
            self._hand_on_all()
        else:
            self._hand_on(self._known[prefix])

    def forget(self, prefix: bytes) -> None:
        """Drop a participant that is gone."""
        self._known.pop(prefix, None)

    def told(self, prefix: bytes, message: Data) -> None:
        """Keep a sample of a stranger's writers of discovery, and hand it on where its heartbeat is known."""
        known = self._stranger(prefix, message.writer)
        if known is None:
            return
        samples = known.told.setdefault(message.writer, OrderedDict())
        if message.sequence in samples:
            return
        samples[message.sequence] = message
        if len(samples) > SAMPLE_LIMIT:
            samples.popitem(last=False)
        for sibling in self._known_siblings():
            if (sibling.data.guid, message.writer) in known.handed:
                self._put(known, sibling, message)

    def beat(self, prefix: bytes, message: Heartbeat) -> None:
        """Keep a heartbeat of a stranger's writers of discovery; the first one goes on with all that was said."""
        known = self._stranger(prefix, message.writer)
        if known is None:
            return
        first = message.writer not in known.beats
        known.beats[message.writer] = message
        if first:
            self._hand_on(known)

    def _stranger(self, prefix: bytes, writer: bytes) -> _Known | None:
        if writer not in (PUB_WRITER, SUB_WRITER) or prefix in self._siblings:
            return None
        known = self._known.get(prefix)
        return None if known is None or known.data.vendor == CYCLONE else known

    def _known_siblings(self) -> list[_Known]:
        return [self._known[prefix] for prefix in self._siblings if prefix in self._known]

    def _hand_on_all(self) -> None:
        for known in list(self._known.values()):
            self._hand_on(known)

    def _hand_on(self, known: _Known) -> None:
        """Hand on a stranger's announcement, then what its writers of discovery have, then what they said."""
        if known.data.vendor == CYCLONE or known.data.guid[:12] in self._siblings:
            return
        for sibling in self._known_siblings():
            announced = (sibling.data.guid, known.announcement.writer)
            if announced not in known.handed:
                known.handed.add(announced)
                self._put(known, sibling, known.announcement)
            for entity, beat in known.beats.items():
                if (sibling.data.guid, entity) in known.handed:
                    continue
                known.handed.add((sibling.data.guid, entity))
                self._put(known, sibling, beat)
                for message in known.told.get(entity, {}).values():
                    self._put(known, sibling, message)

    def _put(self, known: _Known, sibling: _Known, message: Submessage) -> None:
        data = known.data
        header = Header(prefix=data.guid[:12], vendor=data.vendor, version=data.version)
        self.count += 1
        self._send(sibling.address, header, (InfoDestination(prefix=sibling.data.guid[:12]), message))
