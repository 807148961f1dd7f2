"""Find robots in the catalogue by name, and build them.

The catalogue contains every robot that wings declare (`pliant.base.wing.Wing.robots`), and ``ROBOT`` (a
`CatalogueRobot`) and ``ROBOTS`` (several) of every module that the user imports
(`pliant.base.plugins.import_user_module`, ``--import`` on the command line).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING

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
        declared = offer("robots", name)
        if declared is not None:
            return _from_wing(declared)
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
    found = {declared.key: _from_wing(declared) for declared in offers("robots")}
    for robot in _from_user():
        other = found.get(robot.name)
        if other is not None:
            places = f"{place_of(other.function)} and {place_of(robot.function)}"
            raise ModelError(
                f"the robot {robot.name!r} is registered twice, at {places}; give one of them another name",
                field=robot.name,
            )
        found[robot.name] = robot
    return found


def _from_wing(declared: Offer) -> CatalogueRobot:
    """Return the robot that a wing declares under a name; one that cannot be loaded says so when it is built."""
    try:
        value = declared.load()
        if isinstance(value, ModuleType):
            value = getattr(value, "ROBOTS", None) or getattr(value, "ROBOT", ())
        robots = _as_robots(declared.key, value)
    except Exception as error:  # a broken wing must not hide the catalogue
        return _broken(declared.key, f"the wing {declared.wing.name!r} cannot load its robot {declared.key!r}: {error}")
    named = [robot for robot in robots if robot.name == declared.key]
    missing = f"the wing {declared.wing.name!r} has no robot {declared.key!r} there"
    return named[0] if named else _broken(declared.key, missing)


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
