"""Output of all commands: tables, or one JSON object."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from typing import TYPE_CHECKING, Any, TextIO

from pliant.base.warn import printing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.table import Table


def make_console(quiet: bool = False) -> Console:
    """Return a console on standard output, or on standard error if standard output is reserved for JSON."""
    return _console(stderr=quiet)


def _console(**options: Any) -> Console:
    from rich.console import Console

    class _Console(Console):
        def on_broken_pipe(self) -> None:
            """Let the program handle a closed pipe; rich would exit with an error."""
            raise BrokenPipeError

    return _Console(soft_wrap=False, highlight=False, **options)


def clean(value: object) -> object:
    """Convert a value for JSON: NaN and infinity become null."""
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


_standard_output: TextIO | None = None


@contextlib.contextmanager
def only_json() -> Iterator[None]:
    """Reserve standard output for `emit`: everything else that is printed in the block goes to standard error."""
    with reserved_output(), contextlib.redirect_stdout(sys.stderr):
        yield


@contextlib.contextmanager
def reserved_output() -> Iterator[None]:
    """Let `emit` print where standard output is now, whatever becomes of it in the block."""
    global _standard_output
    before = _standard_output
    _standard_output = before or sys.stdout
    try:
        yield
    finally:
        _standard_output = before


def emit(data: dict[str, object], *, line: bool = False) -> None:
    """Print an object as JSON; one of several in one line each, at once."""
    text, stream = json.dumps(clean(data), indent=None if line else 2), _standard_output or sys.stdout
    with printing():
        print(text, file=stream, flush=line)


def plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def number(value: float, digits: int = 4, *, infinities: bool = False) -> str:
    """Return a number as text: "-" for NaN (and infinity, without ``infinities``), 0 for nothing but rounding."""
    if math.isnan(value) or (math.isinf(value) and not infinities):
        return "-"
    return f"{value if abs(value) > 1e-15 else 0.0:.{digits}g}"


def counted(count: int, thing: str) -> str:
    """Return a number with its noun, such as "1 error" and "2 errors"."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def print_table(console: Console, table: Table, *, prose: bool = False) -> None:
    """Print a table without cutting text: a terminal folds long words, a file has lines of the necessary width.

    Args:
        console: the output.
        table: a table of rich.
        prose: whether its cells contain sentences, which are wrapped in a file too.
    """
    from rich.measure import Measurement

    for column in table.columns:
        if not column.no_wrap:
            column.overflow = "fold"
    if not console.is_terminal and not prose:
        width = Measurement.get(console, console.options.update(max_width=10_000), table).maximum
        if width > console.width:
            console = _console(file=console.file, width=width)
    with printing():
        console.print(table)
