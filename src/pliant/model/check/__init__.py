"""Checks of a robot before a run: step size, parameters, names and assumed defaults.

Step size. A spring K (N m/rad) with explicit damping D on an inertia I, advanced with semi-implicit Euler, is stable
if and only if

    h^2 K / I + 2 h D / I < 4                                                                            (1)

(undamped: w h < 2 with w = sqrt(K / I)). MuJoCo's implicit integrators and its Euler integrator treat joint damping
implicitly; with such damping D_i the condition becomes h^2 K + 2 h D < 4 (I + h D_i / 2). The square root of the left
side over I + h D_i / 2 is reported as ``stability``, so that the bound is 2 for any damping. The product w h states how
well the oscillation is resolved.

I is the inertia seen by the torque of a single joint, 1 / (M^-1)_jj with the full mass matrix M (including armature).
It is the smallest inertia, because the other joints are free, and therefore a conservative choice. It is evaluated at
the initial pose and at several random poses. Stiff joints can oscillate faster together than each joint alone; the
largest eigenvalue of K^1/2 M^-1 K^1/2 covers this case. Equality constraints and contacts are not considered.
"""

from pliant.model.check.checker import check
from pliant.model.check.slopes import preset_reach
from pliant.model.check.step_sizes import (
    REFUSE_ABOVE,
    WARN_ABOVE,
    StepSize,
    propose_timestep,
    stable_timestep,
    step_sizes,
)

__all__ = [
    "REFUSE_ABOVE",
    "WARN_ABOVE",
    "StepSize",
    "check",
    "preset_reach",
    "propose_timestep",
    "stable_timestep",
    "step_sizes",
]
