"""The writers and readers of a participant, and what its readers get."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pliant.ros.ros2.endpoints import Reader, Writer
from pliant.ros.wire.rtps.parameters import EndpointData

READER_KINDS = (0x04, 0x07)
"""Last bytes of identifiers of readers that programs make, without and with a key (RTPS 2.5, table 9.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Sample that a reader received."""

    payload: bytes
    """Encapsulation and content."""
    writer: bytes
    """Identifier of the writer, 16 bytes."""
    sequence: int
    """Its number."""
    related: tuple[bytes, int] | None
    """Writer or reader, and number, of the sample that this one belongs to."""
    vendor: bytes
    """Who made the writer's participant."""


@dataclass(slots=True, kw_only=True)
class _Local:
    data: EndpointData
    """Its announced data."""
    state: Writer | Reader
    """Its samples, and those that it is matched with."""

    @property
    def guid(self) -> bytes:
        """Its identifier."""
        return self.data.guid

    @property
    def matched(self) -> int:
        """How many readers a writer has, or writers a reader."""
        return len(self.state.proxies)


@dataclass(slots=True, kw_only=True)
class LocalWriter(_Local):
    """A writer of this participant."""

    state: Writer
    """Its samples and readers."""
    seen: dict[bytes, None] = field(default_factory=dict)
    """Identifiers of the readers there are and were."""

    def reaches(self, client: bytes) -> bool:
        """Return whether a reader is matched, or, where another endpoint is named, any of its participant."""
        if client[-1] in READER_KINDS:
            return client in self.state.proxies
        return any(guid[:12] == client[:12] for guid in list(self.state.proxies))


@dataclass(slots=True, kw_only=True)
class LocalReader(_Local):
    """A reader of this participant."""

    state: Reader
    """Its writers."""
    callback: Callable[[Sample], None]
    """Takes what arrives, in the participant's thread."""
