"""Whom a participant looks for: this machine or the subnet, and the variables of ROS 2 that say so."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pliant.base.errors import BridgeError, nearest

RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
RANGES = ("SUBNET", "LOCALHOST", "OFF", "SYSTEM_DEFAULT")
PEERS = "ROS_STATIC_PEERS"
LOCALHOST_ONLY = "ROS_LOCALHOST_ONLY"
"""Variable of Humble and before; later distributions read it where `RANGE` is not set."""
MAX_PEERS = 32
"""Most addresses in ``ROS_STATIC_PEERS``."""
_ADDRESS = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """Whom a participant looks for."""

    loopback: bool = True
    """Whether it talks on 127.0.0.1 only."""
    multicast: bool = True
    """Whether it announces itself, to the group of discovery and to the well-known ports of this machine, and listens
    to the group."""
    peers: tuple[str, ...] = ()
    """IPv4 addresses of machines to which it announces itself as well."""


def discovery(loopback: bool, environment: Mapping[str, str] | None = None) -> Discovery:
    """Return whom a node looks for.

    Args:
        loopback: whether it is to talk on 127.0.0.1 only, whatever the variables say.
        environment: variables; None for those of the process. ``ROS_AUTOMATIC_DISCOVERY_RANGE`` is SUBNET, LOCALHOST,
            OFF or SYSTEM_DEFAULT; without it ``ROS_LOCALHOST_ONLY=1`` is LOCALHOST. ``ROS_STATIC_PEERS`` has addresses,
            separated by semicolons.

    Raises:
        BridgeError: a variable has a value that ROS 2 does not know.
    """
    variables = os.environ if environment is None else environment
    only = variables.get(LOCALHOST_ONLY, "").strip() or "0"
    if only not in ("0", "1"):
        raise BridgeError(f"{LOCALHOST_ONLY} is {only!r}; must be 0 or 1", field=LOCALHOST_ONLY)
    found = variables.get(RANGE, "").strip().upper() or ("LOCALHOST" if only == "1" else "SUBNET")
    if found not in RANGES:
        raise BridgeError(f"{RANGE} is {found!r}; {nearest(found, RANGES)}", field=RANGE)
    peers = tuple(filter(None, (part.strip() for part in variables.get(PEERS, "").split(";"))))
    peers = tuple("127.0.0.1" if peer == "localhost" else peer for peer in peers)
    if len(peers) > MAX_PEERS:
        raise BridgeError(f"{PEERS} has {len(peers)} addresses; it must have at most {MAX_PEERS}", field=PEERS)
    for peer in peers:
        if not _ADDRESS.fullmatch(peer) or any(int(part) > 255 for part in peer.split(".")):
            raise BridgeError(f"{PEERS} has {peer!r}; each part must be an IPv4 address such as 10.0.0.2", field=PEERS)
    local = loopback or found == "LOCALHOST"
    return Discovery(
        loopback=local, multicast=found != "OFF", peers=tuple(p for p in peers if not local or p.startswith("127."))
    )
