"""Parameter sweeps: thousands of simulations of one robot, over a grid or random parameters, on all cores.

A sweep is divided into chunks of simulations (`chunks`), which an executor runs (`executor`). Finished chunks are
appended to the result at once (`table`), so an interrupted sweep can be resumed. Executor and journal serve everything
else that runs many simulations as well.
"""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "METRICS": "pliant.sweep.chunks",
    "Executor": "pliant.base.executor",
    "Journal": "pliant.base.journal",
    "SweepPlan": "pliant.sweep.plan",
    "SweepResult": "pliant.sweep.table",
    "Variation": "pliant.sweep.plan",
    "map_tasks": "pliant.base.journal",
    "parse_variation": "pliant.sweep.plan",
    "run_sweep": "pliant.sweep.runner",
    "run_tasks": "pliant.base.executor",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
