"""The bridges by name: pliant's own, those of a user's module, and those of packages under ``pliant.bridges``."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pliant.base.errors import BridgeError, nearest
from pliant.base.options import Registry, options_of, parse_text, place_of

if TYPE_CHECKING:
    from pliant.model import Robot
    from pliant.simulation import Bridge, Replay

__all__ = [
    "BridgeEntry",
    "bridge_options",
    "check_bridge",
    "find_bridge",
    "list_bridges",
    "make_bridge",
    "register_bridge",
]

BridgeFactory = Callable[..., "Bridge"]
F = TypeVar("F", bound=BridgeFactory)


@dataclass(frozen=True, slots=True)
class BridgeEntry:
    """Where a bridge comes from."""

    summary: str
    """One sentence for `pliant list`."""
    factory: str | BridgeFactory
    """The function, or ``module:function``; it takes the robot and one frozen dataclass of options (`pliant.base.options`),
    and returns a Bridge. Keyword arguments with defaults are read as such a dataclass."""
    needs: tuple[str, ...] = ()
    """Modules of optional packages that it cannot run without."""


_OWN: dict[str, BridgeEntry] = {
    "fci": BridgeEntry(
        "Franka Control Interface: libfranka's clients connect to 127.0.0.1", "pliant.franka.bridge:make"
    ),
    "foxglove": BridgeEntry(
        "Foxglove: devices, scene, cameras and commands for Foxglove's app, over WebSocket",
        "pliant.foxglove:make",
        ("foxglove",),
    ),
    "pictures": BridgeEntry(
        "Camera images in files that programs of this machine map", "pliant.vision.pictures_bridge:make"
    ),
    "ros1": BridgeEntry("ROS 1: the toolbox's topics on a real master (roscore)", "pliant.ros.ros1:make"),
    "ros2": BridgeEntry("ROS 2: the same topics over DDS", "pliant.ros.ros2:make"),
    "yarp": BridgeEntry(
        "YARP: ports for programs of YARP 3 and 4, with a name server", "pliant.yarp.bridge.bridge:make"
    ),
    "zenoh": BridgeEntry("ROS 2 on zenoh: the same topics for nodes of rmw_zenoh", "pliant.ros.zenoh:make", ("zenoh",)),
}


_OF_USERS: Registry[BridgeEntry] = Registry("bridge", BridgeError)


def register_bridge(name: str, summary: str = "") -> Callable[[F], F]:
    """Register a bridge under a name, for ``--bridge`` and `make_bridge` (decorator of its factory).

    Args:
        name: its name.
        summary: one sentence for `pliant list`.

    Raises:
        BridgeError: the name is taken; the message has both places.
        PliantError: its options are declared wrongly.

    Example:
        >>> @register_bridge("printer", "Prints every sample")
        ... def make(robot, prefix: str = ""):
        ...     return Printer(prefix)
    """

    def register(factory: F) -> F:
        options_of(factory, skip=1)
        where = place_of(factory)
        if name in _OWN:
            raise BridgeError(
                f"the bridge {name!r} is registered twice, at {_OWN[name].factory} and {where}; "
                "give yours another name",
                field=name,
            )
        _OF_USERS.add(name, BridgeEntry(summary or f"from {where}", factory), place=where)
        return factory

    return register


def _entries() -> dict[str, BridgeEntry]:
    entries = {**_OWN, **dict(_OF_USERS.items())}
    for point in _points(importlib.metadata.entry_points, tuple(sys.path)):
        origin = point.dist.name if point.dist else point.value
        other = entries.get(point.name)
        if other is None:
            entries[point.name] = BridgeEntry(f"from {origin}", point.value)
        elif other.factory != point.value:
            places = f"{other.factory} and {point.value} ({origin})"
            entries[point.name] = BridgeEntry(f"registered twice, at {places}; one must get another name", "")
    return entries


@functools.cache
def _points(find: Callable[..., Iterable[Any]], path: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the entry points of bridges; reading those of all packages takes about 10 ms."""
    return tuple(find(group="pliant.bridges"))


def list_bridges() -> dict[str, str]:
    """Return the summary of every bridge by name."""
    return {name: entry.summary for name, entry in sorted(_entries().items())}


def find_bridge(text: str) -> BridgeEntry:
    """Return where a bridge comes from.

    Args:
        text: a name as `list_bridges` has it; options behind a colon are not looked at.

    Raises:
        BridgeError: no bridge of that name, or several.
    """
    name = text.partition(":")[0]
    entries = _entries()
    if name not in entries:
        raise BridgeError(f"no bridge {name!r}; {nearest(name, entries)}", field="bridge")
    if not entries[name].factory:
        raise BridgeError(f"the bridge {name!r} is {entries[name].summary}", field="bridge")
    return entries[name]


def bridge_options(name: str) -> type:
    """Return the dataclass of a bridge's options; its module is imported.

    Raises:
        BridgeError: no bridge of that name.
        PliantError: its options are declared wrongly.
    """
    return _factory(name)[0]


def check_bridge(text: str) -> None:
    """Look at the name and the options of a bridge without making it.

    Args:
        text: as `make_bridge` takes it.

    Raises:
        BridgeError: no bridge of that name, or an option that it does not have.
        MissingDependency: the bridge needs a package that is not installed.
    """
    _parse(text)


def make_bridge(text: str, robot: Robot | Replay | None) -> Bridge:
    """Make a bridge for a robot.

    Args:
        text: a name as `list_bridges` has it, with options behind a colon: ``fci:port=1337,mode=paced``.
        robot: the robot that it serves, or what is replayed; None where there is neither.

    Raises:
        BridgeError: no bridge of that name, or an option that it does not have.
        MissingDependency: the bridge needs a package that is not installed.
    """
    factory, options = _parse(text)
    return factory(robot, options)


def _parse(text: str) -> tuple[BridgeFactory, Any]:
    name, _, rest = text.partition(":")
    kind, factory = _factory(name)
    return factory, parse_text(kind, rest, where=f"--bridge {name}: ", error=BridgeError)


def _factory(name: str) -> tuple[type, BridgeFactory]:
    factory = find_bridge(name).factory
    if isinstance(factory, str):
        module, _, function = factory.partition(":")
        factory = getattr(importlib.import_module(module), function)
    return options_of(factory, skip=1)
