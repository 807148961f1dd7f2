"""What is said beside the results: faults of the other side, errors, warnings."""

from __future__ import annotations

import logging
import queue
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any

from pliant.errors import DivergedError, PliantError
from pliant.ratelimit import RateLimit

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Messages", "as_dict", "say", "say_error", "say_if_compiling"]

BURST = 10
"""Messages of the library that are shown at once."""
RATE = 1.0
"""Messages of the library that are shown a second after that."""
LENGTH = 2000
"""Characters of a message that are shown: its text may come from a network."""


def say_if_compiling(robot: Any, console: Console) -> None:
    from pliant.laws.compile import is_cached

    missing = sorted({a.law.name for a in robot.actuators.values() if not is_cached(type(a.law))})
    if missing:
        console.print(
            f"[dim]compiling the law{'s' if len(missing) > 1 else ''} {', '.join(missing)} "
            "(some seconds, once; later runs load it)[/dim]"
        )


def say(text: str) -> None:
    """Print a message for people on standard error; a second line and those after it are indented."""
    first, *rest = text.splitlines() or [""]
    print("\n".join([f"pliant: {first}", *(f"        {line}" for line in rest)]), file=sys.stderr, flush=True)


def say_error(error: PliantError) -> None:
    """Print an error for people on standard error."""
    say(str(error))


def as_dict(error: BaseException, code: int) -> dict[str, Any]:
    """Return an error as the one JSON object that is printed instead of a result.

    Args:
        error: what ended the command.
        code: its exit code.
    """
    details: dict[str, Any] = {"type": type(error).__name__, "message": str(error), "code": code}
    if isinstance(error, PliantError):
        details |= {"message": error.message, "file": error.file, "line": error.line, "field": error.field}
    if isinstance(error, DivergedError):
        details |= {"joint": error.joint, "time": error.time, "dump": error.dump}
    return {"error": details}


class Messages(logging.Handler):
    """Shows the library's warnings on standard error while a command runs, and so many only.

    What a bridge refuses comes from threads of its sockets, or from the loop: both must not wait for a terminal, so a
    thread of this handler's own prints. What is held back is counted, and said with the next message or at the end.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._limit = RateLimit(burst=BURST, rate=RATE)
        self._queue: queue.SimpleQueue[str | None] = queue.SimpleQueue()  # bounded by the limit
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
    def _warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        # An overflow inside a solver is no news for people: the solver's own result or error says what came of it.
        if not issubclass(category, RuntimeWarning):
            say(f"warning: {message}")

    def __exit__(self, *_: object) -> None:
        warnings.showwarning = self._showwarning
        self._logger.removeHandler(self)
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(timeout=5.0)
        held = self._limit.release()
        if held:
            say(f"{held} more message{'s' if held > 1 else ''} like these {'were' if held > 1 else 'was'} held back")

    def emit(self, record: logging.LogRecord) -> None:
        """Take a message; it is printed, or counted."""
        held = self._limit.admit()
        if held is None:
            return
        try:
            text = record.getMessage()
        except Exception:  # a message that does not fit its values must not end the thread that sent it
            text = str(record.msg)
        source = record.name.removeprefix("pliant").lstrip(".")
        text = f"{source}: {text}" if source else text
        if record.exc_info and record.exc_info[1] is not None:
            text += f": {type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
        if len(text) > LENGTH:
            text = f"{text[:LENGTH]} ... ({len(text)} characters)"
        # What a network brought must not steer the terminal.
        text = "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)
        if held:
            text += f" ({held} messages before it were held back)"
        with self._start:
            if self._thread is None:
                self._thread = threading.Thread(target=self._print, name="pliant-messages", daemon=True)
                self._thread.start()
        self._queue.put(text)

    def _print(self) -> None:
        while (text := self._queue.get()) is not None:
            say(text)
