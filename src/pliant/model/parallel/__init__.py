"""Continuum parallel robots as dynamic models."""

from pliant.model.parallel.builder import build_parallel
from pliant.model.parallel.comparison import compare_with_statics, first_frequency, settle
from pliant.model.parallel.drawing import draw_solutions
from pliant.model.parallel.mechanism import MechanismState, ParallelMechanism, find_mechanism, mechanism_of
from pliant.model.parallel.options import ParallelOptions

__all__ = [
    "MechanismState",
    "ParallelMechanism",
    "ParallelOptions",
    "build_parallel",
    "compare_with_statics",
    "draw_solutions",
    "find_mechanism",
    "first_frequency",
    "mechanism_of",
    "settle",
]
