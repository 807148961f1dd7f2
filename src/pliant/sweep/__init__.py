"""Parameter sweeps: thousands of simulations of one robot, over a grid or random parameters, on all cores.

A sweep is divided into chunks of simulations (`chunks`), which an executor runs (`pliant.tasks`). Finished chunks are
appended to the result at once (`table`), so an interrupted sweep can be resumed.
"""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "METRICS": "pliant.sweep.chunks",
    "SweepPlan": "pliant.sweep.plan",
    "SweepResult": "pliant.sweep.table",
    "Variation": "pliant.sweep.plan",
    "parse_variation": "pliant.sweep.plan",
    "run_sweep": "pliant.sweep.runner",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
