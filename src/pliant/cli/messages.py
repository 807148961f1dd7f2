"""What is said beside the results: notes, faults of a robot, errors, warnings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from pliant.errors import PliantError

__all__ = ["say_error", "say_if_compiling"]


def say_if_compiling(robot: Any, console: Console) -> None:
    from pliant.laws.compile import is_cached

    missing = sorted({a.law.name for a in robot.actuators.values() if not is_cached(type(a.law))})
    if missing:
        console.print(
            f"[dim]compiling the law{'s' if len(missing) > 1 else ''} {', '.join(missing)} "
            "(some seconds, once; later runs load it)[/dim]"
        )


def say_error(error: PliantError) -> None:
    """Print an error for people on standard error."""
    for i, line in enumerate(str(error).splitlines()):
        print(f"pliant: {line}" if i == 0 else f"        {line}", file=sys.stderr)
