"""Public names of a package that resolve on first use, so that importing the package stays light."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(package: str, table: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: name of the package, ``__name__``.
        table: public name -> module that defines it, or "module:name" where it has another name there.

    Example:
        >>> __getattr__, __dir__ = lazy_names(__name__, {"Robot": "pliant.model.robot"})
    """

    def resolve(name: str) -> object:
        place = table.get(name)
        if place is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, other = place.partition(":")
        value = getattr(importlib.import_module(module), other or name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *table})

    return resolve, names
