"""What the catalogue knows of a robot: its name, its options, how it is built, where its numbers come from."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any

from pliant.errors import ModelError
from pliant.options import describe, options_of, parse

if TYPE_CHECKING:
    from pliant.model import Robot

__all__ = ["CatalogueRobot"]


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
    package: str = ""
    """Package of PyPI that its files come with, which users install; "" where pliant has everything."""
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
