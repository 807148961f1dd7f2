"""Messages on standard error: errors, warnings, and what bridges report."""

from __future__ import annotations

import logging
import queue
import sys
import threading
import warnings
from functools import partial

from pliant.base.errors import DivergedError, PliantError
from pliant.base.ratelimit import RateLimit
from pliant.base.warn import print_warning, printing

BURST = 10
"""Number of messages of the library that are printed without delay."""
RATE = 1.0
"""Rate of further messages [1/s]."""
LENGTH = 2000
"""Longest printed message [characters]; the text may come from a network."""


def say(text: str) -> None:
    """Print a message that is no warning on standard error; lines after the first are indented."""
    first, *rest = text.splitlines() or [""]
    with printing():
        print("\n".join([f"pliant: {first}", *(f"        {line}" for line in rest)]), file=sys.stderr, flush=True)


def say_error(error: PliantError) -> None:
    """Print an error on standard error."""
    say(str(error))


def as_dict(error: BaseException, code: int) -> dict[str, object]:
    """Return an error as the JSON object that is printed instead of a result.

    Args:
        error: the exception that ended the command.
        code: its exit code.
    """
    details: dict[str, object] = {"type": type(error).__name__, "message": str(error), "code": code}
    if isinstance(error, PliantError):
        details |= {"message": error.message, "file": error.file, "line": error.line, "field": error.field}
    if isinstance(error, DivergedError):
        details |= {"joint": error.joint, "time": error.time, "dump": error.dump}
    return {"error": details}


class Messages(logging.Handler):
    """Print the library's warnings and errors on standard error while a command runs, at a limited rate.

    Messages of a bridge come from its socket threads or from the simulation loop. Neither must wait for a terminal, so
    a thread of this handler prints them. Suppressed messages are counted; the next message or the end has the number.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._limit = RateLimit(burst=BURST, rate=RATE)
        self._queue: queue.SimpleQueue[partial[None] | None] = queue.SimpleQueue()  # bounded by the limit
        self._thread: threading.Thread | None = None
        self._logger = logging.getLogger("pliant")
        self._start = threading.Lock()
        self._showwarning = warnings.showwarning

    def __enter__(self) -> Messages:
        self._logger.addHandler(self)
        self._showwarning = warnings.showwarning
        warnings.showwarning = self._warn
        return self

    @staticmethod
    def _warn(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        # Numerical warnings inside a solver are not shown: the result or error of the solver covers them.
        if not issubclass(category, RuntimeWarning):
            print_warning(str(message))

    def __exit__(self, *_: object) -> None:
        warnings.showwarning = self._showwarning
        self._logger.removeHandler(self)
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(timeout=5.0)
        held = self._limit.release()
        if held:
            print_warning(f"{held} more message{'s were' if held > 1 else ' was'} suppressed")

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a message for printing, or count it."""
        held = self._limit.admit()
        if held is None:
            return
        try:
            text = record.getMessage()
        except Exception:  # a message whose format does not match its values must not end the sending thread
            text = str(record.msg)
        source = record.name.removeprefix("pliant").lstrip(".")
        text = f"{source}: {text}" if source else text
        if record.exc_info and record.exc_info[1] is not None:
            text += f": {type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
        if len(text) > LENGTH:
            text = f"{text[:LENGTH]} ... ({len(text)} characters)"
        # Text from a network must not control the terminal.
        text = "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)
        if held:
            text += f" ({held} messages before it were suppressed)"
        with self._start:
            if self._thread is None:
                self._thread = threading.Thread(target=self._print, name="pliant-messages", daemon=True)
                self._thread.start()
        self._queue.put(partial(say if record.levelno >= logging.ERROR else print_warning, text))

    def _print(self) -> None:
        while (message := self._queue.get()) is not None:
            message()
