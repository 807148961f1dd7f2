"""Many calls of one function, in threads, in processes or on a Dask cluster, and results that outlive a run."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "Executor": "pliant.tasks.executor",
    "Journal": "pliant.tasks.journal",
    "is_interrupted": "pliant.tasks.executor",
    "map_tasks": "pliant.tasks.journal",
    "run_tasks": "pliant.tasks.executor",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
