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
import math
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pliant.errors import ModelError, PliantError, nearest

if TYPE_CHECKING:
    from pliant.model import Robot

__all__ = ["ENTRY_POINTS", "CatalogueRobot", "Option", "build_robot", "find_robot", "list_robots"]

ENTRY_POINTS = "pliant.robots"
"""Entry point group of robots from other packages."""

_TRUE = {"true", "yes", "on", "1"}
_FALSE = {"false", "no", "off", "0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One choice that a catalogue robot offers; ``--set robot.<name>=<value>`` on the command line."""

    name: str
    """Name of the keyword argument of the build function."""
    default: float | int | bool | str
    """Default value; its type is the option's type."""
    description: str
    """What it changes, in one sentence."""
    unit: str = ""
    """Unit; empty for none."""
    choices: tuple[str, ...] = ()
    """The valid texts; empty where any value of the type is valid."""
    low: float = -math.inf
    """Smallest valid number."""
    high: float = math.inf
    """Largest valid number."""
    source: str = ""
    """Where the default comes from; "assumed" where nobody has published it."""

    def parse(self, value: Any, where: str = "") -> float | int | bool | str:
        """Return a value in the option's type, text converted.

        Raises:
            ModelError: a value that the option does not take.
        """
        name = f"{where}{self.name}"
        if self.choices:
            text = str(value)
            if text not in self.choices:
                raise ModelError(f"{name} is {text!r}; {nearest(text, self.choices)}", field=self.name)
            return text
        if isinstance(self.default, bool):
            text = str(value).strip().lower()
            if text in _TRUE | _FALSE:
                return text in _TRUE
            raise ModelError(f"{name} is {value!r}; valid: true, false", field=self.name)
        if isinstance(self.default, str):
            return str(value)
        kind = int if isinstance(self.default, int) else float
        unit = f" [{self.unit}]" if self.unit else ""
        try:
            number = kind(value)
        except (TypeError, ValueError):
            what = "a whole number" if kind is int else "a number"
            raise ModelError(f"{name} is {value!r}; valid: {what}{unit}", field=self.name) from None
        if not (math.isfinite(number) and self.low <= number <= self.high):
            raise ModelError(f"{name} is {number:g}; valid: {self.low:g} to {self.high:g}{unit}", field=self.name)
        return number


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueRobot:
    """A robot that pliant knows by name.

    Raises:
        ModelError: the options and the build function's keyword arguments do not fit each other.
    """

    name: str
    """Name on the command line, such as "qbmove-2dof"."""
    summary: str
    """What it is, in one line."""
    function: Callable[..., Robot]
    """Builds the robot; every argument is an option of the same name and default."""
    source: str
    """Where its numbers come from."""
    options: tuple[Option, ...] = ()
    """What can be chosen."""
    assumed: tuple[str, ...] = field(default=())
    """What nobody has published, one sentence each."""

    def __post_init__(self) -> None:
        parameters = inspect.signature(self.function).parameters
        taken = {p.name: p.default for p in parameters.values()}
        for option in self.options:
            if option.name not in taken:
                raise ModelError(f"robot {self.name!r}: the build function does not take the option {option.name!r}")
            if taken[option.name] != option.default:
                raise ModelError(
                    f"robot {self.name!r}: the option {option.name!r} says {option.default!r}, "
                    f"the build function {taken[option.name]!r}"
                )
        offered = {option.name for option in self.options}
        for name, default in taken.items():
            if default is inspect.Parameter.empty:
                raise ModelError(f"robot {self.name!r}: the argument {name!r} of the build function has no default")
            if self.options and name not in offered:
                raise ModelError(f"robot {self.name!r}: the argument {name!r} of the build function is not an option")

    def option(self, name: str) -> Option:
        """Return one option.

        Raises:
            ModelError: there is no such option.
        """
        for option in self.options:
            if option.name == name:
                return option
        valid = [option.name for option in self.options]
        raise ModelError(f"the robot {self.name!r} has no option {name!r}; {nearest(name, valid)}", field=name)

    def build(self, **options: Any) -> Robot:
        """Return the robot.

        Args:
            options: values by option; text is converted, so what a command line gives can be handed on.

        Raises:
            ModelError: an option that does not exist, or a value that it does not take.
        """
        values = {}
        for name, value in options.items():
            values[name] = self.option(name).parse(value, f"{self.name}: ") if self.options else value
        return self.function(**values)


def list_robots() -> list[CatalogueRobot]:
    """Return all robots of the catalogue, by name, those of other packages included."""
    return [robot for _, robot in sorted(_catalogue().items())]


def find_robot(name: str) -> CatalogueRobot:
    """Return a robot of the catalogue.

    Raises:
        ModelError: there is none of that name; the message has the nearest.
    """
    own = _from_folder(str(name).replace("-", "_"))
    if name in own and not _user_modules():
        return own[name]
    robots = _catalogue()
    if name not in robots:
        raise ModelError(f"the catalogue has no robot {name!r}; {nearest(name, robots)}", field=str(name))
    return robots[name]


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
    found.update(_from_user(found))
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        try:
            value = entry.load()
        except Exception as error:  # a broken package of others must not hide the catalogue
            reason = f"the entry point {entry.name!r} ({entry.value}) cannot be loaded: {error}"
            found.setdefault(entry.name, _broken(entry.name, reason))
            continue
        for robot in _as_robots(entry.name, value):
            found.setdefault(robot.name, robot)
    return found


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


def _from_user(taken: Mapping[str, CatalogueRobot]) -> dict[str, CatalogueRobot]:
    found: dict[str, CatalogueRobot] = {}
    for module in _user_modules():
        file = getattr(module, "__file__", None) or module.__name__
        value = getattr(module, "ROBOTS", None) or getattr(module, "ROBOT", ())
        robots = [value] if isinstance(value, CatalogueRobot) else value
        if not isinstance(robots, list | tuple) or not all(isinstance(robot, CatalogueRobot) for robot in robots):
            raise ModelError(
                f"ROBOT is {value!r}; valid: ROBOT = CatalogueRobot(...), or ROBOTS = [CatalogueRobot(...), ...]",
                file=file,
                field="ROBOT",
            )
        for robot in robots:
            if robot.name in taken or robot.name in found:
                raise ModelError(
                    f"the catalogue has a robot {robot.name!r} already; give this one another name",
                    file=file,
                    field=robot.name,
                )
            found[robot.name] = robot
    return found


def _as_robots(name: str, value: Any) -> list[CatalogueRobot]:
    if isinstance(value, CatalogueRobot):
        return [value]
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [robot for item in value for robot in _as_robots(name, item)]
    if callable(value):
        summary = (inspect.getdoc(value) or name).splitlines()[0]
        options = tuple(
            Option(name=p.name, default=p.default, description="")
            for p in inspect.signature(value).parameters.values()
            if isinstance(p.default, bool | int | float | str)
        )
        return [CatalogueRobot(name=name, summary=summary, function=value, options=options, source=value.__module__)]
    raise ModelError(
        f"the entry point {name!r} of group {ENTRY_POINTS!r} is a {type(value).__name__}; valid: a CatalogueRobot, "
        "several of them, or a function that returns a Robot",
        field=name,
    )


def _broken(name: str, reason: str) -> CatalogueRobot:
    def fail() -> Robot:
        raise PliantError(reason)

    return CatalogueRobot(name=name, summary="cannot be loaded", function=fail, source=reason)
