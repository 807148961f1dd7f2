"""The runs of `pliant bench compliance`, each kept on disk as soon as it has ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.base.documents.files import writable_folder
from pliant.base.errors import PliantError
from pliant.learn.compliance.listing import find_task, list_tasks
from pliant.learn.compliance.results import FILE, Results, read_results, registered_claims
from pliant.learn.compliance.runs import Budget, Outcome, run_method
from pliant.learn.compliance.task import ComplianceTask
from pliant.tasks.journal import Journal, map_tasks

if TYPE_CHECKING:
    from pliant.tasks.executor import Executor


def run_benchmark(
    names: Sequence[str] = (),
    output: str | Path = "compliance",
    *,
    budget: Budget | None = None,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Results:
    """Run tasks with all their methods; what the folder holds already is not run again.

    Args:
        names: names of tasks; () for all.
        output: folder of the journal ``outcomes.jsonl`` and of the result ``compliance.json``; created if absent.
        budget: budget of each method.
        seed: seed of all randomness, >= 0.
        executor: where runs are made; None: in this process.
        progress: called with the number of finished runs, that of all, and a text.

    Raises:
        PliantError: a task does not exist, the seed is negative, the folder cannot be written to, or it holds results
            of another seed, budget or version.
    """
    budget = budget or Budget()
    if seed < 0:
        raise PliantError(f"seed is {seed}; must be a whole number >= 0", field="seed")
    tasks = [find_task(name) for name in dict.fromkeys(names)] or list_tasks()
    folder = writable_folder(output)
    if (folder / FILE).exists():
        read_results(folder / FILE).require(seed=seed, budget=budget)
    found: dict[tuple[str, str, int], Outcome] = {}
    sizes = [_calls(task, seed, budget) for task in tasks]
    total = sum(map(len, sizes))

    def finished(done: int, _: int, call: tuple[str, str, int]) -> None:
        if progress is not None:
            progress(len(found) + done, total, " ".join(map(str, call)))

    with Journal(folder / "outcomes.jsonl", Outcome) as journal:
        for task, calls in zip(tasks, sizes, strict=True):
            found |= map_tasks(
                run_method, calls, code=_code(task), journal=journal, executor=executor, progress=finished
            )
    results = Results(
        seed=seed,
        budget=budget,
        family=registered_claims(list_tasks()),
        outcomes=tuple(found[key] for key in sorted(found)),
    )
    results.write(folder / FILE)
    return results


def _code(task: ComplianceTask) -> tuple[str, ...]:
    """Return the modules that the results of a task depend on."""
    place = task.evaluate.__module__
    return (
        "pliant.learn.compliance.task",
        "pliant.learn.compliance.runs",
        "pliant.learn.envs.search",
        *((place,) if place.startswith("pliant.") else ()),
        *task.code,
    )


def _calls(
    task: ComplianceTask, seed: int, budget: Budget
) -> dict[tuple[str, str, int], tuple[str, str, int, int, Budget]]:
    """Return the runs of a task: (task, method, run) -> arguments of `run_method`."""
    return {
        (task.name, method.name, run): (task.name, method.name, run, seed, budget)
        for method in task.methods
        for run in range(budget.runs if task.free(method) else 1)
    }
