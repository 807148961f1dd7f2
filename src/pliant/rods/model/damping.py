"""Damping of rods: of the material, of the integrator, and what a model needs so that both together are as asked.

The integrator ``discrete`` advances springs K and dampers D in the metric M + dt D + dt^2 K: besides D it has the
damping dt K. This is the damping of a material, moment = E I (curvature + dt x its rate), in every mode, whatever
part of its stiffness the load has. So the dampers of the model are D = (damping - dt) K: not a mode is damped too much
as long as the time step is at most the damping. What remains is of second order: (2 pi f dt)^2 / 3 of the ratio.
"""

from __future__ import annotations

import cmath
import math
from typing import TYPE_CHECKING

import mujoco
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pliant.rods.description import Rod

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


def added_damping(damping: float, timestep: float) -> float:
    """Return the damping that a model needs beside that of the integrator ``discrete`` [s], never below zero.

    Args:
        damping: time constant of the material [s].
        timestep: length of a step [s].
    """
    return max(damping - timestep, 0.0)


def install_damping(spec: mujoco.MjSpec, elastic: Mapping[str, float], damping: float) -> None:
    """Give the joints or flexes of rods the damping of their material, less what the integrator of the spec adds.

    A joint whose damping the user has set by name keeps it.

    Args:
        spec: the model, with its time step and its integrator.
        elastic: stiffness of joints, 1 of flexes, by name.
        damping: time constant of the material [s].
    """
    discrete = spec.option.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE
    own = added_damping(damping, float(spec.option.timestep)) if discrete else damping
    for name, stiffness in elastic.items():
        joint = spec.joint(name)
        if joint is not None:
            if not joint.damping.any():
                joint.damping = [own * stiffness, 0.0, 0.0]
        else:
            spec.flex(name).damping = own


def simulated_damping(frequency: float, damping: float, timestep: float) -> float:
    """Return the damping ratio of an oscillation of a rod of a given material under the integrator ``discrete``.

    The integrator is implicit in positions and speeds: it maps an exponential exp(s t) to steps of the factor
    1 / (1 - s timestep). The dampers of the model are those of `added_damping`.

    Args:
        frequency: undamped frequency [Hz].
        damping: time constant of the material [s].
        timestep: length of a step [s].
    """
    ratio = material_damping(frequency, added_damping(damping, timestep))
    s = 2.0 * math.pi * frequency * (-ratio + cmath.sqrt(ratio**2 - 1.0))
    exponent = -cmath.log(1.0 - s * timestep)
    return -exponent.real / abs(exponent)
