"""Progress bars."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Bar"]


class Bar:
    """A progress bar that appears if the work takes longer than 0.5 s."""

    def __init__(self, console: Console, label: str, unit: str, *, shown: bool = True) -> None:
        self._console, self._label, self._unit, self._shown = console, label, unit, shown
        self._progress: Any = None
        self._task: Any = None
        self._began = time.perf_counter()

    def __call__(self, done: float, total: float | None, note: str = "") -> None:
        if not self._shown:
            return
        if self._progress is None:
            if time.perf_counter() - self._began < 0.5:
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
        self._progress.update(self._task, completed=done, note=note)

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
