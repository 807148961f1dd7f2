"""Files that include others: the chain that leads to a file, and the faults of a file that is named."""

from __future__ import annotations

from pathlib import Path

from pliant.base.errors import ModelError, nearest

MAX_INCLUDE_DEPTH = 16
"""Deepest nesting of includes. # assumed"""
Chain = tuple[str, ...]
"""Places, ``file:line``, through which a file is included, the first one first."""


def through(chain: Chain) -> str:
    """Return how a file is included, for the end of a message."""
    return f" (included from {', '.join(reversed(chain))})" if chain else ""


def entered(target: Path, file: str | Path | None, line: int | None, chain: Chain) -> Chain:
    """Return the chain that leads into a file that is named at a place.

    Raises:
        ModelError: the file includes itself.
    """
    places = (*chain, f"{file}:{line}")
    if target.resolve() in {Path(place.rpartition(":")[0]).resolve() for place in places}:
        raise ModelError(f"the file includes itself: {target}{through(places)}", file=file, line=line)
    return places


def missing(target: Path, file: str | Path | None, line: int | None, chain: Chain, field: str) -> ModelError:
    """Return the error for a file that is named and does not exist; it says which file has a similar name."""
    try:
        names = [path.name for path in target.parent.iterdir() if path.suffix == target.suffix]
    except OSError:
        names = []
    hint = f"; {nearest(target.name, names)}" if names else ""
    message = f"the included file {str(target)!r} does not exist{through(chain)}{hint}"
    return ModelError(message, file=file, line=line, field=field)
