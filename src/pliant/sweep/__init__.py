"""Parameter sweeps: thousands of simulations of one robot, over a grid or random parameters, on all cores.

A sweep is divided into chunks of simulations (`chunks`), which an executor runs (`executor`). Finished chunks are
appended to the result at once (`table`), so an interrupted sweep can be resumed. Executor and journal serve everything
else that runs many simulations as well.
"""

from pliant.base.executor import Executor, run_tasks
from pliant.sweep.chunks import METRICS
from pliant.sweep.journal import Journal, map_tasks
from pliant.sweep.plan import SweepPlan, Variation, parse_variation
from pliant.sweep.runner import run_sweep
from pliant.sweep.table import SweepResult

__all__ = [
    "METRICS",
    "Executor",
    "Journal",
    "SweepPlan",
    "SweepResult",
    "Variation",
    "map_tasks",
    "parse_variation",
    "run_sweep",
    "run_tasks",
]
