"""Progress bars."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import TYPE_CHECKING

from pliant.base.compiling import Compilation, observed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.progress import Progress, TaskID

_terminal = threading.Lock()
"""Held by the bar that is shown: two would overwrite each other."""


@contextlib.contextmanager
def without_bars() -> Iterator[None]:
    """Show no bar in the block."""
    with _terminal:  # a bar that cannot have the terminal is not shown
        yield


FIRST_LINE_S, LINE_FACTOR = 10.0, 3.0
"""Outside a terminal a line is printed after this time, and each after so many times the time of the one before."""


class Bar:
    """A progress bar, shown if the work takes longer than 0.5 s; outside a terminal a line after 10 s, 30 s, ..."""

    def __init__(self, console: Console, label: str, unit: str, *, shown: bool = True) -> None:
        self._console, self._label, self._unit, self._shown = console, label, unit, shown
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._began = time.perf_counter()
        self._line_due = FIRST_LINE_S

    def __call__(self, done: float, total: float | None, note: str = "") -> None:
        if not self._shown:
            return
        if not self._console.is_terminal:
            self._print_line(done, total, note)
            return
        if self._progress is None:
            if time.perf_counter() - self._began < 0.5 or not _terminal.acquire(blocking=False):
                return
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

            self._progress = Progress(
                TextColumn("[bold]{task.description}"),
                BarColumn(),
                TextColumn("{task.completed:.5g}/{task.total:.5g} {task.fields[unit]} {task.fields[note]}")
                if total is not None
                else TextColumn("{task.completed:.5g} {task.fields[unit]} {task.fields[note]}"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
            )
            self._progress.start()
            self._task = self._progress.add_task(self._label, total=total, unit=self._unit, note="")
        if self._task is not None:
            self._progress.update(self._task, completed=done, note=note)

    def _print_line(self, done: float, total: float | None, note: str) -> None:
        passed = time.perf_counter() - self._began
        if passed < self._line_due or not 0.0 < done < (total or 0.0) or self._console.quiet:
            return
        self._line_due = LINE_FACTOR * passed
        rest = passed * ((total or 0.0) / done - 1.0)
        text = f"{self._label}: {done:.5g} of {total:.5g} {self._unit} {note}".rstrip()
        print(f"pliant: {text} after {passed:.0f} s; about {rest:.0f} s more", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
            self._shown = False
            _terminal.release()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Compiling:
    """Shows on standard error what is compiled while the block runs: a bar on a terminal, else a line.

    Outside a terminal more lines say after 10 s, 30 s, ... how far a long compilation is.

    Another bar that is shown already stays alone.

    Args:
        console: where to show it; by default standard error.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._told: set[str] = set()
        self._began, self._line_due = 0.0, FIRST_LINE_S
        self._observing = contextlib.ExitStack()

    def __enter__(self) -> Compiling:
        self._observing.enter_context(observed(self._show))
        return self

    def __exit__(self, *_: object) -> None:
        self._observing.close()
        self._close()

    def _show(self, now: Compilation) -> None:
        if now.over:
            self._began = 0.0
            self._close()
            return
        if self._console is None:
            from rich.console import Console

            self._console = Console(stderr=True)
        if not self._console.is_terminal:
            self._print_line(now)
            return
        if self._bar is None and _terminal.acquire(blocking=False):
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("functions"),
                TimeElapsedColumn(),
                console=self._console,
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(_sentence(now), total=now.total)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=now.done, total=now.total)

    def _print_line(self, now: Compilation) -> None:
        if not self._began:
            self._began, self._line_due = time.perf_counter(), FIRST_LINE_S
        passed = time.perf_counter() - self._began
        if now.what not in self._told:
            self._told.add(now.what)
            text = _sentence(now)
        elif passed >= self._line_due:
            self._line_due = LINE_FACTOR * passed
            text = f"compiling {now.what}: {now.done} of about {now.total} functions after {passed:.0f} s"
        else:
            return
        print(f"pliant: {text}", file=sys.stderr, flush=True)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
            _terminal.release()


def _sentence(now: Compilation) -> str:
    return f"compiling {now.what} (once; later runs load it)"
