"""Compiled kernels of rods: the Cosserat rod, its sensitivities, a parallel robot's residual and its Newton solver."""

from pliant.rods.kernels.ahead import follow
from pliant.rods.kernels.arrays import Model, Newton, Rows, Tasks, Unknowns, Work
from pliant.rods.kernels.integrator import STAGE_ABSCISSAE
from pliant.rods.kernels.newton import solve
from pliant.rods.kernels.stability import survey

__all__ = ["STAGE_ABSCISSAE", "Model", "Newton", "Rows", "Tasks", "Unknowns", "Work", "follow", "solve", "survey"]
