"""Compiled integration of concentric tubes from the tip to the base, in complex numbers for exact derivatives.

The equations are those of Rucker, Jones and Webster, "A geometrically exact model for externally loaded concentric-tube
continuum robots", IEEE T-RO 26(5), 2010, and of Dupont, Lock, Itkowitz and Butler, "Design and control of
concentric-tube robots", IEEE T-RO 26(2), 2010, in a frame R = (d1, d2, d3) of the backbone that does not turn about
its own tangent d3 (Bishop frame); tube i is turned by psi_i against it. Tubes touch without friction and clearance::

    R' = R u^, u = (m . d1 + w_1, m . d2 + w_2, 0) / sum k_i,  w = sum k_i v_i,  v_i = kappa_i (-sin psi_i, cos psi_i)
    p' = d3,   n' = -f,   m' = -d3 x n,   psi_i' = t_i / c_i,   t_i' = k_i (u x v_i)_z

with bending stiffness k_i, torsional stiffness c_i, precurvature kappa_i, internal force n and moment m [N, N m], and
weight f [N/m]; the sums are over the tubes that exist at s. At the end of a tube t_i = 0. Every operation is analytic:
an imaginary step of 1e-30 in an input gives the derivative to the last digit (Squire and Trapp, SIAM Rev. 40, 1998).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.rods.kernels.jit import INNER, entry

BEND, TWIST, CURVATURE, MASS = 0, 1, 2, 3
"""Rows of the table of tubes."""
ENERGY, POSITION, MOMENT, FORCE, ANGLE = 9, 10, 13, 16, 19
"""Offsets into a state: R by columns, energy, p, m, n, psi_i, t_i."""


@njit(**INNER)
def _slope(y, tubes, active, curved, gravity, out):
    """out = dy/ds."""
    N = tubes.shape[1]
    stiffness, mass = 0.0, 0.0
    w1, w2 = 0.0j, 0.0j
    for i in range(N):
        if active[i]:
            stiffness += tubes[BEND, i]
            mass += tubes[MASS, i]
            if curved[i]:
                k = tubes[BEND, i] * tubes[CURVATURE, i]
                w1 -= k * np.sin(y[ANGLE + i])
                w2 += k * np.cos(y[ANGLE + i])
    u1 = (y[13] * y[0] + y[14] * y[1] + y[15] * y[2] + w1) / stiffness
    u2 = (y[13] * y[3] + y[14] * y[4] + y[15] * y[5] + w2) / stiffness
    for k in range(3):
        out[k] = -u2 * y[6 + k]
        out[3 + k] = u1 * y[6 + k]
        out[6 + k] = u2 * y[k] - u1 * y[3 + k]
        out[POSITION + k] = y[6 + k]
        out[FORCE + k] = -mass * gravity[k]
    out[13] = -(y[7] * y[18] - y[8] * y[17])
    out[14] = -(y[8] * y[16] - y[6] * y[18])
    out[15] = -(y[6] * y[17] - y[7] * y[16])
    energy = -mass * (gravity[0] * y[10] + gravity[1] * y[11] + gravity[2] * y[12])
    for i in range(N):
        t = y[ANGLE + N + i]
        out[ANGLE + i] = 0.0
        out[ANGLE + N + i] = 0.0
        if not active[i]:
            continue
        kappa = tubes[CURVATURE, i] if curved[i] else 0.0
        sine, cosine = np.sin(y[ANGLE + i]), np.cos(y[ANGLE + i])
        out[ANGLE + i] = t / tubes[TWIST, i]
        out[ANGLE + N + i] = tubes[BEND, i] * kappa * (u1 * cosine + u2 * sine)
        d1, d2 = u1 + kappa * sine, u2 - kappa * cosine
        energy += 0.5 * tubes[BEND, i] * (d1 * d1 + d2 * d2) + 0.5 * t * t / tubes[TWIST, i]
    out[ENERGY] = energy


@njit(**INNER)
def _step(y, h, tubes, active, curved, gravity, k, work):
    """One step of the method of Dormand and Prince of fifth order, J. Comput. Appl. Math. 6(1), 1980, table 2."""
    _slope(y, tubes, active, curved, gravity, k[0])
    work[:] = y + h * (k[0] / 5.0)
    _slope(work, tubes, active, curved, gravity, k[1])
    work[:] = y + h * (3.0 / 40.0 * k[0] + 9.0 / 40.0 * k[1])
    _slope(work, tubes, active, curved, gravity, k[2])
    work[:] = y + h * (44.0 / 45.0 * k[0] - 56.0 / 15.0 * k[1] + 32.0 / 9.0 * k[2])
    _slope(work, tubes, active, curved, gravity, k[3])
    work[:] = y + h * (
        19372.0 / 6561.0 * k[0] - 25360.0 / 2187.0 * k[1] + 64448.0 / 6561.0 * k[2] - 212.0 / 729.0 * k[3]
    )
    _slope(work, tubes, active, curved, gravity, k[4])
    work[:] = y + h * (
        9017.0 / 3168.0 * k[0] - 355.0 / 33.0 * k[1] + 46732.0 / 5247.0 * k[2] + 49.0 / 176.0 * k[3]
        - 5103.0 / 18656.0 * k[4]
    )  # fmt: skip
    _slope(work, tubes, active, curved, gravity, k[5])
    y += h * (
        35.0 / 384.0 * k[0] + 500.0 / 1113.0 * k[2] + 125.0 / 192.0 * k[3] - 2187.0 / 6784.0 * k[4]
        + 11.0 / 84.0 * k[5]
    )  # fmt: skip


@entry
def integrate(tip, cuts, steps, active, curved, tubes, gravity, out):
    """Integrate columns from the tip to the end of the guide.

    Args:
        tip: states at the tip, shape (columns, 19 + 2 N), complex.
        cuts: places between which nothing changes, from the tip down to 0, shape (columns, pieces + 1), complex.
        steps: number of steps of each piece, shape (pieces,).
        active: whether a tube exists in a piece, shape (pieces, N).
        curved: whether it is curved there, shape (pieces, N).
        tubes: stiffness against bending and torsion, curvature, mass per length, shape (4, N).
        gravity: shape (3,) [m/s^2].
        out: states behind each step, that at the tip first, shape (columns, sum steps + 1, 19 + 2 N), complex.
    """
    size = tip.shape[1]
    k = np.empty((6, size), dtype=np.complex128)
    work = np.empty(size, dtype=np.complex128)
    y = np.empty(size, dtype=np.complex128)
    for column in range(tip.shape[0]):
        y[:] = tip[column]
        row = 0
        out[column, 0] = y
        for piece in range(len(steps)):
            h = (cuts[column, piece + 1] - cuts[column, piece]) / steps[piece]
            for _ in range(steps[piece]):
                _step(y, h, tubes, active[piece], curved[piece], gravity, k, work)
                row += 1
                out[column, row] = y
