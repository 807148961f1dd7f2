"""Opening a zenoh session as rmw_zenoh does, on the loopback interface unless asked otherwise."""

from __future__ import annotations

import json
import re
from types import ModuleType
from typing import TYPE_CHECKING

from pliant.base.errors import BridgeError, MissingDependency
from pliant.base.listening import check_listening_host

if TYPE_CHECKING:
    from zenoh import Session

ROUTER = "tcp/127.0.0.1:7447"
"""Where nodes of rmw_zenoh look for the router (DEFAULT_RMW_ZENOH_SESSION_CONFIG.json5)."""
MODES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "peer": (("tcp/127.0.0.1:0",), (ROUTER,)),
    "router": ((ROUTER,), ()),
    "client": ((), (ROUTER,)),
}
"""Mode -> where it listens and what it connects to where nothing is asked for."""
WAIT_BEFORE_DROP = 20_000
"""How long the writer waits for room towards one receiver before it drops the message for this one [us]. It is the
bridge's writer thread that waits, and for a receiver that does not follow zenoh waits but once."""
BATCHES = 16
"""Batches (64 KiB) that wait for one receiver; the most that zenoh allows."""
MAX_MESSAGE_BYTES = 17 * 2**20
"""Longest message that zenoh puts together: that of a bridge and what travels beside it; zenoh's own is 1 GiB."""
SCOUTING_DELAY_MS = 500
"""How long a peer waits at its start for others, if none is there yet; rmw_zenoh's number."""
RETRY_MS = 250
RETRY_MOST_MS = 1000
_ENDPOINT = re.compile(r"[a-z][a-z0-9_-]*/[^\s/+][^\s+]*")


def load_zenoh() -> ModuleType:
    """Return the package, its extension loaded.

    Raises:
        MissingDependency: it is not installed.
    """
    try:
        import zenoh
        import zenoh.ext
        import zenoh.handlers
    except ImportError as error:
        raise MissingDependency(
            f"eclipse-zenoh ({error})", command="pip install 'pliant[zenoh]'", purpose="the zenoh bridge"
        ) from None
    if not hasattr(zenoh, "Locality"):
        raise MissingDependency(
            "eclipse-zenoh 1.5 or later (an older one is installed)",
            command="pip install --upgrade 'pliant[zenoh]'",
            purpose="the zenoh bridge",
        )
    return zenoh


def endpoints(text: str, option: str) -> tuple[str, ...]:
    """Return the addresses of an option, ``tcp/127.0.0.1:7447+tcp/10.0.0.2:7447``.

    Raises:
        BridgeError: an address without protocol.
    """
    found = tuple(filter(None, text.split("+")))
    for item in found:
        if not _ENDPOINT.fullmatch(item):
            raise BridgeError(
                f"{option} has {item!r}; must be PROTOCOL/ADDRESS such as {ROUTER}, several joined by +",
                field=option,
            )
    return found


def open_session(zenoh: ModuleType, mode: str, listen: tuple[str, ...], connect: tuple[str, ...]) -> Session:
    """Open a session in one of the `MODES`.

    Raises:
        BridgeError: an address in use or not reachable, or every interface to listen on.
    """
    for item in listen:
        check_listening_host(re.sub(r":\d+$", "", item.partition("/")[2].partition("?")[0].partition("#")[0]), "listen")
    config = {
        "mode": mode,
        "listen": {"endpoints": list(listen)},
        "connect": {
            "endpoints": list(connect),
            "retry": {"period_init_ms": RETRY_MS, "period_max_ms": RETRY_MOST_MS, "period_increase_factor": 2},
        },
        # A router waits for nobody; a peer waits for those of whom the router tells it.
        "scouting": {"multicast": {"enabled": False}, "delay": 0 if mode == "router" else SCOUTING_DELAY_MS},
        # The cache of latched topics orders messages by time.
        "timestamping": {"enabled": True},
        "transport": {
            "link": {
                "rx": {"max_message_size": MAX_MESSAGE_BYTES},
                "tx": {
                    "queue": {
                        "size": {"data": BATCHES},
                        "congestion_control": {"drop": {"wait_before_drop": WAIT_BEFORE_DROP}},
                    }
                },
            }
        },
    }
    try:
        return zenoh.open(zenoh.Config.from_json5(json.dumps(config)))
    except zenoh.ZError as error:
        raise BridgeError(_why(str(error), mode, listen, connect), field=_field(str(error), mode)) from None


def _short(error: str) -> str:
    """Return zenoh's words without the places in its sources."""
    return re.sub(r" at \S+\.rs:\d+\.?", "", error).strip(" .")


def _field(error: str, mode: str) -> str:
    return "connect" if mode == "client" or "connect" in error.lower() else "listen"


def _why(error: str, mode: str, listen: tuple[str, ...], connect: tuple[str, ...]) -> str:
    if "in use" in error:
        return (
            f"{', '.join(listen)} cannot be listened to: the port is in use. If a zenoh router runs there (rmw_zenohd, "
            "or another pliant), use mode=peer; else choose another address (listen=tcp/127.0.0.1:PORT)"
        )
    if _field(error, mode) == "connect":
        return (
            f"no zenoh router answers at {', '.join(connect)} ({_short(error)}). Start one (ros2 run rmw_zenoh_cpp "
            "rmw_zenohd), say where it is (connect=tcp/ADDRESS:PORT), or let pliant be the router (mode=router)"
        )
    return f"zenoh cannot listen to {', '.join(listen)} (mode={mode}): {_short(error)}"
