"""Damping of a rod's first bending oscillation: of the material, and with that of the integrator."""

from __future__ import annotations

import cmath
import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pliant.rods.description import Rod

__all__ = ["CANTILEVER", "bending_frequency", "material_damping", "simulated_damping"]

CANTILEVER = 1.8751040687119611
"""First root of cos(b) cosh(b) = -1: clamped-free beam."""


def bending_frequency(rod: Rod) -> float:
    """Return the first bending frequency of a uniform rod that is clamped at one end [Hz].

    Euler and Bernoulli: f = 1.8751^2 / (2 pi) sqrt(E I / (rho A L^4)), in the softer plane, with the section at the
    middle of the rod.

    Args:
        rod: a rod with mass.
    """
    v = rod.values(0.5)
    return float(CANTILEVER**2 / (2.0 * np.pi) * np.sqrt(min(v.bending) / (v.mass * rod.length**4)))


def material_damping(frequency: float, damping: float) -> float:
    """Return the damping ratio pi f damping of a material with moment = E I (curvature + damping x its rate).

    Args:
        frequency: undamped frequency [Hz].
        damping: time constant of the material [s].
    """
    return math.pi * frequency * damping


def simulated_damping(frequency: float, damping: float, timestep: float) -> float:
    """Return the damping ratio of an oscillation under the integrator ``discrete``; about pi f (damping + timestep).

    The integrator is implicit in positions and speeds: it maps an exponential exp(s t) to steps of the factor
    1 / (1 - s timestep).

    Args:
        frequency: undamped frequency [Hz].
        damping: time constant of the material [s].
        timestep: length of a step [s].
    """
    ratio = material_damping(frequency, damping)
    s = 2.0 * math.pi * frequency * (-ratio + cmath.sqrt(ratio**2 - 1.0))
    exponent = -cmath.log(1.0 - s * timestep)
    return -exponent.real / abs(exponent)
