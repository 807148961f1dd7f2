"""Tasks of `pliant bench compliance` by name."""

from __future__ import annotations

import pkgutil
from pathlib import Path
from typing import Any

from pliant.base.errors import PliantError, nearest
from pliant.base.wing import resolve
from pliant.learn.compliance.task import ComplianceTask, registered_tasks


def list_tasks() -> list[ComplianceTask]:
    """Return all tasks in the order of their names: those of `pliant.learn.compliance.tasks` and registered ones."""
    found = {}
    for module in pkgutil.iter_modules([str(Path(__file__).parent / "tasks")]):
        loaded: Any = resolve(f"{__package__}.tasks.{module.name}")
        found[loaded.TASK.name] = loaded.TASK
    return [task for _, task in sorted((found | registered_tasks()).items())]


def find_task(name: str) -> ComplianceTask:
    """Return a task by name.

    Raises:
        PliantError: there is no such task; the message names the nearest one.
    """
    tasks = {task.name: task for task in list_tasks()}
    if name not in tasks:
        raise PliantError(f"there is no task {name!r}; {nearest(name, list(tasks))}", field="task")
    return tasks[name]
