"""Bytes that sockets of this machine have not read yet, from the system's tables."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path


def unread_bytes(tables: tuple[str, ...], ports: Container[int], peer: int | None = None) -> int:
    """Return how many bytes wait in sockets of this machine; 0 where the system does not tell.

    Args:
        tables: tables of Linux, such as ``udp``, or ``tcp`` and ``tcp6``.
        ports: ports of the sockets.
        peer: port to which they are connected; None for any.
    """
    total = 0
    for table in tables:
        try:
            rows = Path(f"/proc/net/{table}").read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for row in map(str.split, rows):
            # number, own address, peer's address, state, bytes to send : bytes to read
            if len(row) > 4 and _port(row[1]) in ports and peer in (None, _port(row[2])):
                total += int(row[4].partition(":")[2], 16)
    return total


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)
