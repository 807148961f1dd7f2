"""Continuum parallel robots as dynamic models."""

from pliant.parallel.model.builder import build_parallel
from pliant.parallel.model.comparison import compare_with_statics, first_frequency, settle
from pliant.parallel.model.drawing import draw_solutions
from pliant.parallel.model.mechanism import MechanismState, ParallelMechanism, find_mechanism, mechanism_of
from pliant.parallel.model.options import ParallelOptions

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
