"""Options of commands that say where tasks run."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from pliant.base.errors import PliantError
from pliant.tasks.executor import Executor

Processes = Annotated[int | None, Parameter(help="Processes that share the cores.")]
Dask = Annotated[
    str | None, Parameter(help="Address of the scheduler of a Dask cluster, which simulates instead of this machine.")
]


def make_executor(processes: int | None, dask: str | None) -> Executor | None:
    """Return where a command runs its simulations; None if neither option is given."""
    if processes is not None and processes < 1:
        raise PliantError(f"--processes is {processes}; must be a whole number >= 1", field="--processes")
    if dask is not None and processes is not None:
        raise PliantError(
            "--processes has no effect with --dask, because the cluster has its own processes; omit one of them",
            field="dask",
        )
    return None if dask is None and processes is None else Executor(processes=processes or 1, dask=dask)
