"""The identified dynamics of the Franka arms: mass, Coriolis, gravity, friction.

``M(q) ddq + C(q, dq) dq + g(q) + friction(dq) = tau``. C is the matrix of Christoffel symbols of the first kind,
so ``dM/dt - 2 C`` is skew and ``coriolis(q, dq) @ dq_r`` is the term that momentum observers and passivity-based
controllers need.

The kernels (`pliant.franka.device.dynamics`) are linear in the link parameters, so that two readings of the published
parameters run through the same code:

* ``variant="feasible"``: the published tensors are about the centres of mass. A physical rigid-body system; what
  MuJoCo, Pinocchio and URDF users have. The default.
* ``variant="frankasim"``: the published tensors are read as being about the link origins, as the FrankaSim library
  (Oliva et al. 2022) does. M differs by up to 0.085 kg m^2, g is the same. No rigid-body system has these numbers:
  for comparison with published work only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.codecache import njit
from pliant.base.errors import ModelError
from pliant.base.numerics import Array, for_kernels
from pliant.franka.device.dynamics import (
    Variant,
    friction_kernel,
    gravity_kernel,
    link_table,
    mass_coriolis_kernel,
)
from pliant.franka.device.kinematics import frames_kernel
from pliant.franka.device.parameters import Arm, Payload
from pliant.franka.robots.kinematics import as_joints, as_numbers
from pliant.franka.robots.parameters import FER


@njit(error_model="numpy")
def _mass_coriolis_batch(q, dq, table, M, C):
    """Write M and C of each row of q; arrays of one row serve for all."""
    R, p = np.empty((7, 3, 3)), np.empty((7, 3))
    S, V, D = np.empty((7, 6)), np.empty((7, 6)), np.empty((7, 6))
    for k in range(q.shape[0]):
        frames_kernel(q[k], R, p)
        mass_coriolis_kernel(R, p, dq[k % len(dq)], table, S, V, D, M[k % len(M)], C[k % len(C)])


_REST = np.zeros((1, 7))


@njit(error_model="numpy")
def _gravity_batch(q, table, g, out):
    R, p = np.empty((7, 3, 3)), np.empty((7, 3))
    for k in range(q.shape[0]):
        frames_kernel(q[k], R, p)
        gravity_kernel(R, p, table, g[k if g.shape[0] > 1 else 0], out[k])


def mass(q: ArrayLike, payload: Payload | None = None, *, variant: Variant = "feasible", arm: Arm = FER) -> Array:
    """Return the mass matrix M(q).

    Args:
        q: joint positions, shape (..., 7) [rad].
        payload: body fixed to the flange, such as `FRANKA_HAND`; None for none.
        variant: ``"feasible"`` or ``"frankasim"``; see the module.
        arm: `FER` or `FR3`.

    Returns:
        shape (..., 7, 7) [kg m^2], symmetric.

    Raises:
        ModelError: a wrong shape or variant.

    Example:
        >>> mass(Q_READY, FRANKA_HAND).shape
        (7, 7)
    """
    q = as_joints(q, "q")
    flat = for_kernels(q.reshape(-1, 7))
    M = np.empty((len(flat), 7, 7))
    _mass_coriolis_batch(flat, _REST, link_table(payload, variant=variant, arm=arm), M, np.empty((1, 7, 7)))
    return M.reshape(*q.shape[:-1], 7, 7)


def coriolis(
    q: ArrayLike,
    dq: ArrayLike,
    payload: Payload | None = None,
    *,
    variant: Variant = "feasible",
    arm: Arm = FER,
) -> Array:
    """Return the Coriolis matrix C(q, dq) of Christoffel symbols.

    Args:
        q: joint positions, shape (..., 7) [rad].
        dq: joint velocities, broadcast against q [rad/s].
        payload: body fixed to the flange; None for none.
        variant: ``"feasible"`` or ``"frankasim"``; see the module.
        arm: `FER` or `FR3`.

    Returns:
        shape (..., 7, 7) [N m s/rad]; dM/dt - 2 C is skew, dM/dt = C + C'.

    Raises:
        ModelError: a wrong shape or variant.
    """
    q, dq = as_joints(q, "q"), as_joints(dq, "dq")
    if q.shape != dq.shape:
        try:
            q, dq = np.broadcast_arrays(q, dq)
        except ValueError:
            raise ModelError(f"dq has shape {dq.shape}; must fit that of q, {q.shape}", field="dq") from None
    flat = for_kernels(q.reshape(-1, 7))
    C = np.empty((len(flat), 7, 7))
    table = link_table(payload, variant=variant, arm=arm)
    _mass_coriolis_batch(flat, for_kernels(dq.reshape(-1, 7)), table, np.empty((1, 7, 7)), C)
    return C.reshape(*q.shape[:-1], 7, 7)


def gravity(
    q: ArrayLike,
    payload: Payload | None = None,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    *,
    variant: Variant = "feasible",
    arm: Arm = FER,
) -> Array:
    """Return the joint torques g(q) that hold the arm against gravity.

    Args:
        q: joint positions, shape (..., 7) [rad].
        payload: body fixed to the flange; None for none.
        gravity: acceleration in the base frame, shape (3,) or broadcast against q's leading axes [m/s^2]. For a
            base mounted with rotation R_WB it is ``R_WB.T @ gravity_world``.
        variant: as in `mass`; both give the same torques.
        arm: `FER` or `FR3`.

    Returns:
        shape (..., 7) [N m].

    Raises:
        ModelError: a wrong shape or variant.
    """
    q = as_joints(q, "q")
    g = as_numbers(gravity, "gravity")
    if g.shape[-1:] != (3,):
        raise ModelError(f"gravity has shape {g.shape}; must be (..., 3)", field="gravity")
    if g.ndim == 1:
        flat_g = g.reshape(1, 3)
    else:
        try:
            shape = np.broadcast_shapes(q.shape[:-1], g.shape[:-1])
        except ValueError:
            raise ModelError(
                f"gravity has shape {g.shape}; must be (3,) or fit that of q, {q.shape}", field="gravity"
            ) from None
        q = np.broadcast_to(q, (*shape, 7))
        flat_g = np.broadcast_to(g, (*shape, 3)).reshape(-1, 3)
    flat = for_kernels(q.reshape(-1, 7))
    out = np.empty(flat.shape)
    _gravity_batch(flat, link_table(payload, variant=variant, arm=arm), for_kernels(flat_g), out)
    return out.reshape(q.shape)


def friction(dq: ArrayLike, *, arm: Arm = FER) -> Array:
    """Return the friction torques, a/(1 + exp(-b (dq + c))) - a/(1 + exp(-b c)): zero at rest, saturating.

    Args:
        dq: joint velocities, shape (..., 7) [rad/s].
        arm: `FER` or `FR3` (the latter's friction is assumed to be the former's).

    Returns:
        shape (..., 7) [N m], opposing the motion: it enters ``M ddq + C dq + g + friction = tau``.

    Raises:
        ModelError: a wrong shape.
    """
    dq = for_kernels(as_joints(dq, "dq"))
    out, table = np.empty(dq.shape), np.ravel(arm.friction)
    for row in np.ndindex(dq.shape[:-1]):
        friction_kernel(dq[row], table, out[row])
    return out
