"""Find robots in the catalogue by name, and build them.

The catalogue contains every robot that a ``build.py`` in a folder of ``pliant.robots`` defines as ``ROBOT`` (a
`CatalogueRobot`) or ``ROBOTS`` (several), those that wings declare (`pliant.base.wing.Wing.robots`), and ``ROBOT`` and
``ROBOTS`` of every module that the user imports (`pliant.base.plugins.import_user_module`, ``--import`` on the command
line).
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from pliant.base.documents.files import is_file
from pliant.base.errors import ModelError, PliantError, nearest
from pliant.base.options import place_of
from pliant.base.plugins import user_modules
from pliant.base.wing import Offer, offer, offers
from pliant.robots.catalogue import CatalogueRobot

if TYPE_CHECKING:
    from pliant.model import Robot


def list_robots() -> list[CatalogueRobot]:
    """Return all robots in the catalogue by name, including those of other packages."""
    return [robot for _, robot in sorted(_catalogue().items())]


def find_robot(name: str) -> CatalogueRobot:
    """Return a robot in the catalogue by its name or an alias, ignoring case.

    Raises:
        ModelError: there is no robot of that name; the message suggests the most similar name.
    """
    if not user_modules():
        own = _from_folder(str(name).replace("-", "_"))
        declared = None if name in own else offer("robots", name)
        if declared is not None:
            own = {robot.name: robot for robot in _from_wing(declared)}
        if name in own:
            return own[name]
    robots = _catalogue()
    if name in robots:
        return robots[name]
    known = {other: robot for robot in robots.values() for other in (robot.name, *robot.aliases)}
    found = known.get(name) or {other.casefold(): robot for other, robot in known.items()}.get(name.casefold())
    if found is None:
        raise ModelError(
            f"the catalogue has no robot {name!r}; {nearest(name, known)}; `pliant list` shows all", field=str(name)
        )
    return found


def build_robot(name: str, options: Mapping[str, object] | None = None) -> Robot:
    """Build a robot from the catalogue.

    Args:
        name: name or alias of the robot.
        options: values by option; other options keep their defaults.

    Raises:
        ModelError: there is no such robot or option, or a value is not valid.
    """
    from pliant.model.interface import DEFAULT_NAMESPACE

    described = find_robot(name)
    robot = described.build(**(options or {}))
    if robot.interface.namespace == DEFAULT_NAMESPACE:
        # names of ROS have no hyphens
        robot.interface = robot.interface.replace(namespace=described.name.replace("-", "_"))
    return robot


def _catalogue() -> dict[str, CatalogueRobot]:
    found: dict[str, CatalogueRobot] = {}
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.ispkg:
            found.update(_from_folder(module.name))
    for declared in offers("robots"):
        for robot in _from_wing(declared):
            other = found.get(robot.name)
            found[robot.name] = robot if other is None else _broken(robot.name, _registered_twice(other, robot))
    for robot in _from_user():
        if robot.name in found:
            raise ModelError(_registered_twice(found[robot.name], robot), field=robot.name)
        found[robot.name] = robot
    return found


def _from_wing(declared: Offer) -> list[CatalogueRobot]:
    """Return the robot that a wing declares under a name; one that cannot be loaded says so when it is built."""
    try:
        value = declared.load()
        if isinstance(value, ModuleType):
            value = getattr(value, "ROBOTS", None) or getattr(value, "ROBOT", ())
        robots = _as_robots(declared.key, value)
    except Exception as error:  # a broken wing must not hide the catalogue
        return [
            _broken(declared.key, f"the wing {declared.wing.name!r} cannot load its robot {declared.key!r}: {error}")
        ]
    named = [robot for robot in robots if robot.name == declared.key]
    return named or [_broken(declared.key, f"the wing {declared.wing.name!r} has no robot {declared.key!r} there")]


def _registered_twice(one: CatalogueRobot, other: CatalogueRobot) -> str:
    return (
        f"the robot {one.name!r} is registered twice, at {place_of(one.function)} and {place_of(other.function)}; "
        "give one of them another name"
    )


def _from_folder(folder: str) -> dict[str, CatalogueRobot]:
    # A robot whose build module is heavy to import has its entries in a light module of their own.
    if not (folder.isidentifier() and is_file(Path(__file__).parent / folder / "__init__.py")):
        return {}
    for name in (f"pliant.robots.{folder}.entry", f"pliant.robots.{folder}.build"):
        if importlib.util.find_spec(name) is not None:
            module = importlib.import_module(name)
            robots = getattr(module, "ROBOTS", None) or getattr(module, "ROBOT", ())
            return {robot.name: robot for robot in _as_robots(folder, robots)}
    return {}


def _from_user() -> list[CatalogueRobot]:
    found: list[CatalogueRobot] = []
    for module in user_modules():
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


def _as_robots(name: str, value: object) -> list[CatalogueRobot]:
    if isinstance(value, CatalogueRobot):
        return [value]
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [robot for item in value for robot in _as_robots(name, item)]
    if callable(value):
        summary = (inspect.getdoc(value) or name).splitlines()[0]
        return [CatalogueRobot(name=name, summary=summary, function=value, source=value.__module__)]
    raise ModelError(
        f"the robot {name!r} is a {type(value).__name__}; must be a CatalogueRobot, several of them, or a function "
        "that returns a Robot",
        field=name,
    )


def _broken(name: str, reason: str) -> CatalogueRobot:
    def fail() -> Robot:
        raise PliantError(reason)

    return CatalogueRobot(name=name, summary="cannot be loaded", function=fail, source=reason)
