"""Entry of the robot catalogue: name, options, build function and source of the numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from types import NoneType
from typing import TYPE_CHECKING

from pliant.base.errors import ModelError
from pliant.base.options import describe, options_of, parse, place_of
from pliant.base.wing import resolve

if TYPE_CHECKING:
    from pliant.model import Robot


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueRobot:
    """Robot in the catalogue.

    Raises:
        PliantError: the declaration of the options is not valid; the message names file and line.
    """

    name: str
    """Name on the command line, such as "qbmove-2dof"."""
    aliases: tuple[str, ...] = ()
    """Alternative names."""
    summary: str
    """Description in one line."""
    function: Callable[..., object]
    """Function that builds the robot from its options. Keyword arguments with defaults are options too."""
    source: str
    """Source of the numbers."""
    options: type[object] | str = NoneType
    """Frozen dataclass of the options (`pliant.base.options`), or its "module:name" if its import is slow; by default
    it is created from the signature of the function."""
    package: str = ""
    """PyPI package with the files of the robot, installed by the user; "" if pliant needs no other package."""
    scenarios: tuple[str, ...] = ()
    """Scenarios of pliant that fit the robot with its default options, by name. ``pliant list ROBOT`` shows them; a
    test compares them with those that fit."""
    view_settings: tuple[str, ...] = ()
    """Settings of `pliant view`, such as "robot.controller=walking", where the command line sets none: the robot begins
    with something that moves."""
    assumed: tuple[str, ...] = ()
    """Assumptions about unpublished values, one sentence each."""

    def __post_init__(self) -> None:
        if self.options is NoneType:
            kind, function = options_of(self.function)
            object.__setattr__(self, "options", kind)
            object.__setattr__(self, "function", function)
        if not isinstance(self.options, str):
            describe(self.options)

    @property
    def options_class(self) -> type[object]:
        """The dataclass of the options."""
        if not isinstance(self.options, str):
            return self.options
        return resolve(self.options, f"the options of {self.name}")

    def build(self, **options: object) -> Robot:
        """Return the robot.

        Args:
            options: values by option; strings, such as those of a command line, are converted.

        Raises:
            ModelError: an option does not exist, a value is not valid, or the function returns something else.
        """
        from pliant.model.robot import Robot

        robot = self.function(parse(self.options_class, options, where=f"{self.name}: ", error=ModelError))
        if not isinstance(robot, Robot):
            raise ModelError(
                f"the function of the robot {self.name!r} ({place_of(self.function)}) returned a "
                f"{type(robot).__name__}; must return a pliant.Robot",
                field=self.name,
            )
        return robot


def scenario_file(name: str, package: str) -> Traversable:
    """Return the file of a scenario that a wing has for its robots.

    Args:
        name: its name, a key of `pliant.base.wing.Wing.scenarios`.
        package: the package that the wing names.
    """
    return resources.files(package) / "scenarios" / f"{name}.yaml"
