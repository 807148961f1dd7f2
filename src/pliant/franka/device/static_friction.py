"""Static friction of a Franka arm's joints: LuGre bristles that hold a joint at rest and vanish where it slides.

The identified friction (`friction_kernel`) was fitted to motions: it passes smoothly through zero at rest and holds
nothing. Of a real arm the gears hold what the Coulomb part of that curve says. Here a bristle of the LuGre model,
`pliant.laws.PreslidingFriction`, adds it: its break-away torque is the Coulomb part, and its Stribeck velocity is the
speed at which the identified curve has reached it, so that steady sliding remains the identified curve within
`RESIDUAL` of the break-away torque. The cabinet does not compensate the bristles: at rest their torque is not known.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.base.numerics import Array
from pliant.franka.device.parameters import Arm
from pliant.laws import PreslidingFriction
from pliant.laws.friction_kernels import friction_step
from pliant.laws.layout import F_LEVEL, F_PARAMETERS, pack_friction

PRESLIDING = 2.0e-4
"""Deflection of a bristle at the break-away torque [rad]."""  # assumed
DAMPING = (5.0, 5.0, 5.0, 5.0, 1.0, 1.0, 1.0)
"""Damping of the bristles [N m s/rad] besides that against the torque loop."""  # assumed
RESIDUAL = 0.01
"""Part of the break-away torque that remains where a joint slides; LuGre's model needs one above 0."""  # assumed


def bristles(arm: Arm, rotor_inertia: Array, bandwidth: float) -> list[PreslidingFriction]:
    """Return the bristle of each joint.

    The identified curve a/(1 + exp(-b (dq + c))) - a/(1 + exp(-b c)) has the limits a (1 - s) and -a s, with
    s = 1/(1 + exp(-b c)): its Coulomb part, half of their distance, is a/2. It is reached within 24 % at 2/b.

    The torque loop drives a rotor of inertia J with J ddq, low-passed at the bandwidth w. At high frequencies that is
    the damping -J w; the bristle has twice as much against it.

    Args:
        arm: whose friction, Gaz et al. 2019, decides.
        rotor_inertia: of the joints, shape (7,) [kg m^2].
        bandwidth: w [rad/s].
    """
    found = []
    loop = 2.0 * bandwidth * rotor_inertia
    rows = np.reshape(arm.friction, (7, 3)).tolist()
    for (a, b, _), damping in zip(rows, (np.array(DAMPING) + loop).tolist(), strict=True):
        level = 0.5 * a
        found.append(
            PreslidingFriction(
                torque=RESIDUAL * level,
                stiffness=level / PRESLIDING,
                stribeck_velocity=1.0 / b,
                breakaway=(1.0 - RESIDUAL) * level,
                bristle_damping=damping,
            )
        )
    return found


def bristles_step(par, q, dq, anchors, h, friction):
    """Advance the bristles of seven joints by h [s] and add their friction.

    Args:
        par: their parameters, one block a joint.
        q: joint positions, shape (7,) [rad].
        dq: joint velocities, shape (7,) [rad/s].
        anchors: anchors of the bristles, shape (7,) [rad]; advanced.
        h: time step [s].
        friction: torques against the motion, shape (7,) [N m]; added to.
    """
    for i in range(7):
        f = F_PARAMETERS * i
        w, torque = friction_step(par, f, q[i], dq[i], anchors[i], par[f + F_LEVEL], h)
        anchors[i] = w
        friction[i] += torque


def packed(joints: Sequence[PreslidingFriction]) -> Array:
    """Return the bristles of an arm as `bristles_step` reads them, one block a joint."""
    par = np.zeros(len(joints) * F_PARAMETERS)
    for i, bristle in enumerate(joints):
        pack_friction(par, F_PARAMETERS * i, bristle)
    return par
