"""The one printer of warnings: each begins with ``warning:`` on standard error, and none inside a table."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from collections.abc import Iterator

INDENT = 9
"""Columns by which the lines after the first are indented: the length of ``warning: ``."""
_lock = threading.RLock()


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """Print a table or another text of several lines in the block: no warning of another thread comes between."""
    with _lock:
        yield


def print_warning(text: str) -> None:
    """Print a warning on standard error, after the table that another thread prints; later lines are indented."""
    first, *rest = text.splitlines() or [""]
    with _lock:
        shown = "\n".join([f"warning: {first}", *(f"{'':{INDENT}}{line}" for line in rest)])
        print(shown, file=sys.stderr, flush=True)


class PrintUnhandled(logging.Handler):
    """Print what is logged as a warning or an error where the program has no handler of its own.

    Python prints the bare text then, which does not say that it is a warning.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record, unless another handler gets it."""
        logger: logging.Logger | None = logging.getLogger(record.name)
        while logger is not None:
            if any(not isinstance(handler, PrintUnhandled) for handler in logger.handlers):
                return
            logger = logger.parent if logger.propagate else None
        text = self.format(record)
        if record.levelno >= logging.ERROR:
            print(text, file=sys.stderr, flush=True)
        else:
            print_warning(text)
