"""The bridges by name: pliant's own and those that other packages register under ``pliant.bridges``."""

from __future__ import annotations

import importlib
import importlib.metadata
from dataclasses import dataclass
from typing import Any

from pliant.errors import BridgeError, nearest

__all__ = ["BridgeEntry", "list_bridges", "make_bridge"]


@dataclass(frozen=True, slots=True)
class BridgeEntry:
    """Where a bridge comes from."""

    summary: str
    """One sentence for `pliant list`."""
    factory: str
    """``module:function``; the function takes the robot and returns a Bridge."""


_OWN: dict[str, BridgeEntry] = {}


def _entries() -> dict[str, BridgeEntry]:
    entries = dict(_OWN)
    for point in importlib.metadata.entry_points(group="pliant.bridges"):
        entries.setdefault(
            point.name, BridgeEntry(f"from {point.dist.name if point.dist else point.value}", point.value)
        )
    return entries


def list_bridges() -> dict[str, str]:
    """Return the summary of every bridge by name."""
    return {name: entry.summary for name, entry in sorted(_entries().items())}


def make_bridge(name: str, robot: Any) -> Any:
    """Make a bridge for a robot.

    Args:
        name: as `list_bridges` has it.
        robot: the robot that it serves; None for a replay.

    Raises:
        BridgeError: no bridge of that name.
        MissingDependency: the bridge needs a package that is not installed.
    """
    entries = _entries()
    if name not in entries:
        raise BridgeError(f"no bridge {name!r}; {nearest(name, entries)}", field="bridge")
    module, _, function = entries[name].factory.partition(":")
    return getattr(importlib.import_module(module), function)(robot)
