"""The bridges by name: pliant's own and those that other packages register under ``pliant.bridges``."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import inspect
import typing
from dataclasses import dataclass
from typing import Any

from pliant.errors import BridgeError, nearest

__all__ = ["BridgeEntry", "find_bridge", "list_bridges", "make_bridge"]


@dataclass(frozen=True, slots=True)
class BridgeEntry:
    """Where a bridge comes from."""

    summary: str
    """One sentence for `pliant list`."""
    factory: str
    """``module:function``; the function takes the robot and its options, and returns a Bridge. The options are keyword
    arguments with defaults, or one frozen dataclass with defaults."""


_OWN: dict[str, BridgeEntry] = {
    "fci": BridgeEntry(
        "Franka Control Interface: libfranka's clients connect to 127.0.0.1", "pliant.bridges.fci_bridge:make"
    ),
    "ros1": BridgeEntry("ROS 1: the toolbox's topics on a real master (roscore)", "pliant.bridges.ros1:make"),
    "ros2": BridgeEntry("ROS 2: the same topics over DDS (cyclonedds)", "pliant.bridges.ros2:make"),
    "zenoh": BridgeEntry("ROS 2 on zenoh: the same topics for nodes of rmw_zenoh", "pliant.bridges.zenoh:make"),
}


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


def find_bridge(text: str) -> BridgeEntry:
    """Return where a bridge comes from.

    Args:
        text: a name as `list_bridges` has it; options behind a colon are not looked at.

    Raises:
        BridgeError: no bridge of that name.
    """
    name = text.partition(":")[0]
    entries = _entries()
    if name not in entries:
        raise BridgeError(f"no bridge {name!r}; {nearest(name, entries)}", field="bridge")
    return entries[name]


def make_bridge(text: str, robot: Any) -> Any:
    """Make a bridge for a robot.

    Args:
        text: a name as `list_bridges` has it, with options behind a colon: ``fci:port=1337,mode=paced``.
        robot: the robot that it serves; None for a replay.

    Raises:
        BridgeError: no bridge of that name, or an option that it does not have.
        MissingDependency: the bridge needs a package that is not installed.
    """
    name, _, rest = text.partition(":")
    module, _, function = find_bridge(text).factory.partition(":")
    factory = getattr(importlib.import_module(module), function)
    described = _described_options(factory)
    if described is None:
        parameters = list(inspect.signature(factory).parameters.values())[1:]
        types = {p.name: type(p.default) for p in parameters}
    else:
        types = {f.name: type(f.default) for f in dataclasses.fields(described)}
    options: dict[str, Any] = {}
    for item in filter(None, rest.split(",")):
        key, eq, value = item.partition("=")
        if not eq or key not in types:
            raise BridgeError(
                f"--bridge {text}: no option {key!r}; {nearest(key, types)} (written {name}:KEY=VALUE,KEY=VALUE)",
                field=key,
            )
        options[key] = _converted(value, types[key], f"--bridge {text}: {key}")
    return factory(robot, **options) if described is None else factory(robot, described(**options))


def _described_options(factory: Any) -> Any:
    """Return the dataclass that a factory takes as its second argument; None where it takes keyword options."""
    names = list(inspect.signature(factory).parameters)
    kind = typing.get_type_hints(factory).get(names[1]) if len(names) > 1 else None
    return kind if dataclasses.is_dataclass(kind) else None


def _converted(value: str, kind: type, where: str) -> Any:
    if kind is bool:
        if value.lower() not in ("true", "false", "1", "0", "yes", "no"):
            raise BridgeError(f"{where} is {value!r}; valid: true, false", field=where)
        return value.lower() in ("true", "1", "yes")
    if kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            raise BridgeError(f"{where} is {value!r}; valid: a number", field=where) from None
    return value
