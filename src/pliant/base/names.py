"""Names that differ from those that are taken."""

from __future__ import annotations

from collections.abc import Container


def free_name(name: str, taken: Container[str], suffix: str = "_") -> str:
    """Return a name, with the suffix behind it as often as makes it differ from those that are taken."""
    while name in taken:
        name += suffix
    return name


def numbered_name(name: str, taken: Container[str]) -> str:
    """Return a name, with the first of _2, _3 and so on behind it that makes it differ from those that are taken."""
    base, number = name, 2
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    return name
