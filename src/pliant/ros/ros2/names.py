"""Who listens: the names of the nodes that readers belong to, as ``ros_discovery_info`` tells them."""

from __future__ import annotations

from collections.abc import Iterable

from pliant.base.errors import WireError
from pliant.ros.wire import Codec, Registry

GID_SIZES = (24, 16)
"""Bytes of a global identifier in ``ros_discovery_info``: Humble's, and those of later distributions.

The longer one is tried first. A message of the shorter kind does not read as one of the longer: what would be the
length of a name is part of a name. The other way round it could read as a participant without nodes.
"""
READERS = 20_000
"""Readers whose node is remembered."""
NAME_LIMIT = 255


class NodeNames:
    """The nodes of a domain by the identifiers of their endpoints; what has gone is remembered, for the report."""

    def __init__(self) -> None:
        self._codecs: list[Codec] = []
        for size in GID_SIZES:
            registry = Registry(2)
            registry.add({"rmw_dds_common/Gid": f"uint8[{size}] data\n"})
            self._codecs.append(Codec(2, registry))
        self._names: dict[bytes, str] = {}

    def take(self, data: bytes) -> None:
        """Read a ``rmw_dds_common/ParticipantEntitiesInfo``, encapsulation included.

        Raises:
            WireError: it is none, of any distribution.
        """
        fault: WireError | None = None
        for codec in self._codecs:
            try:
                found = codec.decode("rmw_dds_common/ParticipantEntitiesInfo", data)
            except WireError as error:
                fault = error
                continue
            for node in found["node_entities_info_seq"]:
                self._remember(node)
            return
        assert fault is not None
        raise fault

    def _remember(self, node: dict) -> None:
        name = f"{node['node_namespace'].rstrip('/')}/{node['node_name']}"[:NAME_LIMIT]
        for gid in [*node["reader_gid_seq"], *node["writer_gid_seq"]]:
            key = bytes(gid["data"])[:16]
            if key not in self._names and len(self._names) >= READERS:
                del self._names[next(iter(self._names))]
            self._names[key] = name

    def of(self, readers: Iterable[bytes], kind: str = "reader") -> list[str]:
        """Return the nodes of readers or writers, sorted, each once; those that belong to no node are counted.

        Args:
            readers: their identifiers, 16 bytes each.
            kind: what they are, for the count.
        """
        names = [self._names.get(reader) for reader in list(readers)]
        without = names.count(None)
        told = sorted({name for name in names if name is not None})
        return [*told, f"{without} {kind}{'s' if without > 1 else ''} without a node"] if without else told
