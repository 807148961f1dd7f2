"""The bridges by name: those that wings declare, and those of a user's module."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from pliant.base.errors import BridgeError, nearest
from pliant.base.options import Registry, options_of, parse_text, place_of
from pliant.base.wing import BridgeEntry, offer, offers, resolve

if TYPE_CHECKING:
    from pliant.model import Robot
    from pliant.simulation import Bridge
    from pliant.simulation.replayed import Replayed

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
        found = offer("bridges", name)
        if found is not None:
            raise BridgeError(
                f"the bridge {name!r} is registered twice, at {found.value.factory} and {where}; "
                "give yours another name",
                field=name,
            )
        _OF_USERS.add(name, BridgeEntry(summary or f"from {where}", factory), place=where)
        return factory

    return register


def _entries() -> dict[str, BridgeEntry]:
    return {**{found.key: found.value for found in offers("bridges")}, **dict(_OF_USERS.items())}


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


def bridge_options(name: str) -> type:
    """Return the dataclass of a bridge's options; its module is imported.

    Raises:
        BridgeError: no bridge of that name.
        PliantError: its options are declared wrongly.
    """
    return _factory(name)[0]


def check_bridge(text: str) -> object:
    """Return the options of a bridge, without making it.

    Args:
        text: as `make_bridge` takes it.

    Raises:
        BridgeError: no bridge of that name, or an option that it does not have.
        MissingDependency: the bridge needs a package that is not installed.
    """
    return _parse(text)[1]


def make_bridge(text: str, robot: Robot | Replayed | None) -> Bridge:
    """Make a bridge for a robot.

    Args:
        text: a name as `list_bridges` has it, with options behind a colon: ``fci:port=1337,mode=paced``.
        robot: the robot that it serves, or what is replayed; None where there is neither.

    Raises:
        BridgeError: no bridge of that name, or an option that it does not have.
        ModelError: what is given is no robot.
        MissingDependency: the bridge needs a package that is not installed.
    """
    from pliant.model.wanted import check_source  # it brings MuJoCo, which the list of bridges does not need

    check_source(robot, "make_bridge")
    factory, options = _parse(text)
    return factory(robot, options)


def _parse(text: str) -> tuple[BridgeFactory, object]:
    name, _, rest = text.partition(":")
    kind, factory = _factory(name)
    return factory, parse_text(kind, rest, where=f"--bridge {name}: ", error=BridgeError)


def _factory(name: str) -> tuple[type, BridgeFactory]:
    factory = find_bridge(name).factory
    if isinstance(factory, str):
        factory = resolve(factory, f"the bridge {name!r}")
    return options_of(factory, skip=1)
