"""What all commands print alike: tables to people, one JSON object to programs."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["clean", "emit", "make_console", "number", "plain", "print_table"]


def make_console(quiet: bool = False) -> Console:
    """Return a console on standard output, or on standard error where standard output belongs to JSON."""
    from rich.console import Console

    return Console(stderr=quiet, soft_wrap=False, highlight=False)


def clean(value: Any) -> Any:
    """Make a value fit for JSON: NaN and infinity become null."""
    import dataclasses

    import numpy as np

    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if isinstance(value, dict):
        return {str(k): clean(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [clean(v) for v in value]
    if isinstance(value, np.ndarray):
        return clean(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def emit(data: dict[str, Any]) -> None:
    """Print an object as JSON."""
    print(json.dumps(clean(data), indent=2))


def plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def number(value: float, digits: int = 4) -> str:
    return "-" if not math.isfinite(value) else f"{value:.{digits}g}"


def print_table(console: Console, table: Any, *, prose: bool = False) -> None:
    """Print a table and cut nothing: a terminal folds long words, a file has lines as wide as they must be.

    Args:
        console: where to.
        table: of rich.
        prose: its cells hold sentences, which are wrapped in a file as well.
    """
    from rich.console import Console
    from rich.measure import Measurement

    for column in table.columns:
        if not column.no_wrap:
            column.overflow = "fold"
    if not console.is_terminal and not prose:
        width = Measurement.get(console, console.options.update(max_width=10_000), table).maximum
        if width > console.width:
            console = Console(file=console.file, width=width, soft_wrap=False, highlight=False)
    console.print(table)
