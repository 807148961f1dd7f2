"""The catalogue of robots: what exists, what can be chosen, how it is built.

Every folder of this room with a ``build.py`` that defines ``ROBOT`` (a `CatalogueRobot`) or ``ROBOTS`` (several) is in
the catalogue; nothing else has to be registered. So is every ``ROBOT`` or ``ROBOTS`` of a module that the user imports
(`pliant.plugins.import_user_module`, ``--import`` on the command line). Another package adds robots through the
entry point group ``pliant.robots``, each entry naming a `CatalogueRobot`, several of them, or a function that returns a
`Robot`.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any

from pliant.errors import ModelError, PliantError, nearest
from pliant.options import describe, options_of, parse, place_of

if TYPE_CHECKING:
    from pliant.model import Robot

__all__ = ["ENTRY_POINTS", "CatalogueRobot", "build_robot", "find_robot", "list_robots"]

ENTRY_POINTS = "pliant.robots"
"""Entry point group of robots from other packages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueRobot:
    """A robot that pliant knows by name.

    Raises:
        PliantError: its options are declared wrongly; the message has file and line.
    """

    name: str
    """Name on the command line, such as "qbmove-2dof"."""
    aliases: tuple[str, ...] = ()
    """Other names that it is found by."""
    summary: str
    """What it is, in one line."""
    function: Callable[..., Robot]
    """Builds the robot from its options; keyword arguments with defaults are read as options, too."""
    source: str
    """Where its numbers come from."""
    options: type[Any] | str = NoneType
    """Frozen dataclass of what can be chosen (`pliant.options`), or its "module:name" where its import is slow; without
    it that of the function's signature."""
    assumed: tuple[str, ...] = ()
    """What nobody has published, one sentence each."""

    def __post_init__(self) -> None:
        if self.options is NoneType:
            kind, function = options_of(self.function)
            object.__setattr__(self, "options", kind)
            object.__setattr__(self, "function", function)
        if not isinstance(self.options, str):
            describe(self.options)

    @property
    def options_class(self) -> type[Any]:
        """The dataclass of what can be chosen."""
        if not isinstance(self.options, str):
            return self.options
        module, _, name = self.options.partition(":")
        return getattr(importlib.import_module(module), name)

    def build(self, **options: Any) -> Robot:
        """Return the robot.

        Args:
            options: values by option; text is converted, so what a command line gives can be handed on.

        Raises:
            ModelError: an option that does not exist, or a value that it does not take.
        """
        return self.function(parse(self.options_class, options, where=f"{self.name}: ", error=ModelError))


def list_robots() -> list[CatalogueRobot]:
    """Return all robots of the catalogue, by name, those of other packages included."""
    return [robot for _, robot in sorted(_catalogue().items())]


def find_robot(name: str) -> CatalogueRobot:
    """Return a robot of the catalogue, by its name or an alias, whatever the case of its letters.

    Raises:
        ModelError: there is none of that name; the message has the nearest.
    """
    own = _from_folder(str(name).replace("-", "_"))
    if name in own and not _user_modules():
        return own[name]
    robots = _catalogue()
    if name in robots:
        return robots[name]
    known = {other: robot for robot in robots.values() for other in (robot.name, *robot.aliases)}
    found = known.get(name) or {other.casefold(): robot for other, robot in known.items()}.get(name.casefold())
    if found is None:
        raise ModelError(f"the catalogue has no robot {name!r}; {nearest(name, known)}", field=str(name))
    return found


def build_robot(name: str, options: Mapping[str, Any] | None = None) -> Robot:
    """Build a robot of the catalogue.

    Args:
        name: its name.
        options: values by option; others keep their default.

    Raises:
        ModelError: an unknown robot, option or value.
    """
    return find_robot(name).build(**(options or {}))


def _catalogue() -> dict[str, CatalogueRobot]:
    import pliant.robots

    found: dict[str, CatalogueRobot] = {}
    for module in pkgutil.iter_modules(pliant.robots.__path__):
        if module.ispkg:
            found.update(_from_folder(module.name))
    for robot in _from_user():
        if robot.name in found:
            raise ModelError(_registered_twice(found[robot.name], robot), field=robot.name)
        found[robot.name] = robot
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        try:
            robots = _as_robots(entry.name, entry.load())
        except Exception as error:  # a broken package of others must not hide the catalogue
            reason = f"the entry point {entry.name!r} ({entry.value}) cannot be loaded: {error}"
            robots = [_broken(entry.name, reason)]
        for robot in robots:
            other = found.get(robot.name)
            found[robot.name] = robot if other is None else _broken(robot.name, _registered_twice(other, robot))
    return found


def _registered_twice(one: CatalogueRobot, other: CatalogueRobot) -> str:
    return (
        f"the robot {one.name!r} is registered twice, at {place_of(one.function)} and {place_of(other.function)}; "
        "give one of them another name"
    )


def _from_folder(folder: str) -> dict[str, CatalogueRobot]:
    # A robot whose build module is heavy to import has its entries in a light module of their own.
    if not folder.isidentifier() or importlib.util.find_spec(f"pliant.robots.{folder}") is None:
        return {}
    for name in (f"pliant.robots.{folder}.entry", f"pliant.robots.{folder}.build"):
        if importlib.util.find_spec(name) is not None:
            module = importlib.import_module(name)
            robots = getattr(module, "ROBOTS", None) or getattr(module, "ROBOT", ())
            return {robot.name: robot for robot in _as_robots(folder, robots)}
    return {}


def _user_modules() -> list[Any]:
    from pliant.plugins import user_modules  # here, for the room of models brings MuJoCo

    return user_modules()


def _from_user() -> list[CatalogueRobot]:
    found: list[CatalogueRobot] = []
    for module in _user_modules():
        value = getattr(module, "ROBOTS", None) or getattr(module, "ROBOT", ())
        robots = [value] if isinstance(value, CatalogueRobot) else value
        if not isinstance(robots, list | tuple) or not all(isinstance(robot, CatalogueRobot) for robot in robots):
            raise ModelError(
                f"ROBOT is {value!r}; must be ROBOT = CatalogueRobot(...), or ROBOTS = [CatalogueRobot(...), ...]",
                file=getattr(module, "__file__", None) or module.__name__,
                field="ROBOT",
            )
        found += robots
    return found


def _as_robots(name: str, value: Any) -> list[CatalogueRobot]:
    if isinstance(value, CatalogueRobot):
        return [value]
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [robot for item in value for robot in _as_robots(name, item)]
    if callable(value):
        summary = (inspect.getdoc(value) or name).splitlines()[0]
        return [CatalogueRobot(name=name, summary=summary, function=value, source=value.__module__)]
    raise ModelError(
        f"the entry point {name!r} of group {ENTRY_POINTS!r} is a {type(value).__name__}; must be a CatalogueRobot, "
        "several of them, or a function that returns a Robot",
        field=name,
    )


def _broken(name: str, reason: str) -> CatalogueRobot:
    def fail() -> Robot:
        raise PliantError(reason)

    return CatalogueRobot(name=name, summary="cannot be loaded", function=fail, source=reason)
