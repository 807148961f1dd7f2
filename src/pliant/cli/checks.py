"""Checks of options that several commands share."""

from __future__ import annotations

from pathlib import Path

from pliant.base.errors import PliantError, require

FIGURES = (".pdf", ".png", ".svg")
"""Suffixes of figures."""


def refuse_unused(condition: bool, option: str, needs: str) -> None:
    """Refuse an option that has no effect.

    Args:
        condition: whether the option was given and has no effect.
        option: its name.
        needs: what must be added.

    Raises:
        PliantError: the condition holds.
    """
    if condition:
        raise PliantError(f"{option} has no effect without {needs}; add it, or omit {option}", field=option)


def check_figure(path: Path, name: str) -> None:
    """Refuse the file of a figure that cannot be written, before anything runs.

    Args:
        path: the file.
        name: of the option.

    Raises:
        PliantError: another suffix, or a folder that does not exist.
        MissingDependency: nothing can draw a figure here.
    """
    field = name.lstrip("-")
    if path.suffix.lower() not in FIGURES:
        raise PliantError(
            f"{name} {path}: the suffix is {path.suffix!r}; must be one of {', '.join(FIGURES)}", field=field
        )
    check_folder(path, name)
    require("matplotlib", extra="plot", purpose="drawing a figure")


def check_page(path: Path, name: str) -> None:
    """Refuse the file of a page that cannot be written, before anything runs; arguments as for `check_folder`."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise PliantError(f"{name} {path}: the suffix is {path.suffix!r}; must be .html", field=name.lstrip("-"))
    check_folder(path, name)


def check_folder(path: Path, name: str) -> None:
    """Refuse a file that cannot be written because its folder does not exist, or because it is a folder.

    Args:
        path: the file.
        name: of the option.

    Raises:
        PliantError: the folder of the file does not exist, or the file is a folder.
    """
    field = name.lstrip("-")
    if path.is_dir():
        raise PliantError(f"{name}: this is a folder; name a file in it", file=path, field=field)
    if not path.absolute().parent.is_dir():
        raise PliantError(f"{name}: the folder {path.parent} does not exist", file=path, field=field)
