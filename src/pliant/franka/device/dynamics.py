"""Kernels of the dynamics of a Franka arm: mass matrix, Coriolis matrix, gravity, friction.

Recursions in base coordinates about the base's origin: composite inertias, and for C the scheme of Echeandia and
Wensing, "Numerical methods to compute the Coriolis matrix and Christoffel symbols for rigid-body systems" (2021),
whose matrix is the Christoffel one for revolute joints. Everything is linear in (m, m c, J about the link's origin)
of a link, the rows of `link_table`. `pliant.franka.robots.dynamics` has the functions of arrays.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np

from pliant.base.codecache import njit
from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import Array
from pliant.franka.device.parameters import D_FLANGE, NO_PAYLOAD, Arm, Payload, steiner

Variant = Literal["feasible", "frankasim"]
"""How the published link tensors are read; see `pliant.franka.robots.dynamics`."""


@njit(error_model="numpy", inline="always")
def _to_base(R, p, row):
    """Return mass, first moment and tensor of one link about the base's origin, in base axes."""
    m = row[0]
    a0 = R[0, 0] * row[1] + R[0, 1] * row[2] + R[0, 2] * row[3]
    a1 = R[1, 0] * row[1] + R[1, 1] * row[2] + R[1, 2] * row[3]
    a2 = R[2, 0] * row[1] + R[2, 1] * row[2] + R[2, 2] * row[3]
    xx, xy, xz, yy, yz, zz = row[4], row[5], row[6], row[7], row[8], row[9]
    t00 = R[0, 0] * xx + R[0, 1] * xy + R[0, 2] * xz
    t01 = R[0, 0] * xy + R[0, 1] * yy + R[0, 2] * yz
    t02 = R[0, 0] * xz + R[0, 1] * yz + R[0, 2] * zz
    t10 = R[1, 0] * xx + R[1, 1] * xy + R[1, 2] * xz
    t11 = R[1, 0] * xy + R[1, 1] * yy + R[1, 2] * yz
    t12 = R[1, 0] * xz + R[1, 1] * yz + R[1, 2] * zz
    t20 = R[2, 0] * xx + R[2, 1] * xy + R[2, 2] * xz
    t21 = R[2, 0] * xy + R[2, 1] * yy + R[2, 2] * yz
    t22 = R[2, 0] * xz + R[2, 1] * yz + R[2, 2] * zz
    p0, p1, p2 = p[0], p[1], p[2]
    # moving the reference point by p: J + 2 (p.a) 1 - p a' - a p' + m (p.p 1 - p p')
    b0, b1, b2 = a0 + m * p0, a1 + m * p1, a2 + m * p2
    trace = p0 * (a0 + b0) + p1 * (a1 + b1) + p2 * (a2 + b2)
    jxx = t00 * R[0, 0] + t01 * R[0, 1] + t02 * R[0, 2] + trace - p0 * (a0 + b0)
    jxy = t00 * R[1, 0] + t01 * R[1, 1] + t02 * R[1, 2] - p1 * a0 - p0 * b1
    jxz = t00 * R[2, 0] + t01 * R[2, 1] + t02 * R[2, 2] - p2 * a0 - p0 * b2
    jyy = t10 * R[1, 0] + t11 * R[1, 1] + t12 * R[1, 2] + trace - p1 * (a1 + b1)
    jyz = t10 * R[2, 0] + t11 * R[2, 1] + t12 * R[2, 2] - p2 * a1 - p1 * b2
    jzz = t20 * R[2, 0] + t21 * R[2, 1] + t22 * R[2, 2] + trace - p2 * (a2 + b2)
    return m, b0, b1, b2, jxx, jxy, jxz, jyy, jyz, jzz


@njit(error_model="numpy")
def mass_coriolis_kernel(R, p, dq, table, S, V, D, M, C):
    """Write M and C (7, 7). S, V, D (7, 6) are scratch: joint axes (z, p x z), link twists, rates of the axes."""
    w0, w1, w2, u0, u1, u2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(7):
        z0, z1, z2 = R[i, 0, 2], R[i, 1, 2], R[i, 2, 2]
        o0 = p[i, 1] * z2 - p[i, 2] * z1
        o1 = p[i, 2] * z0 - p[i, 0] * z2
        o2 = p[i, 0] * z1 - p[i, 1] * z0
        S[i, 0], S[i, 1], S[i, 2], S[i, 3], S[i, 4], S[i, 5] = z0, z1, z2, o0, o1, o2
        D[i, 0] = w1 * z2 - w2 * z1
        D[i, 1] = w2 * z0 - w0 * z2
        D[i, 2] = w0 * z1 - w1 * z0
        D[i, 3] = w1 * o2 - w2 * o1 + u1 * z2 - u2 * z1
        D[i, 4] = w2 * o0 - w0 * o2 + u2 * z0 - u0 * z2
        D[i, 5] = w0 * o1 - w1 * o0 + u0 * z1 - u1 * z0
        w0 += z0 * dq[i]
        w1 += z1 * dq[i]
        w2 += z2 * dq[i]
        u0 += o0 * dq[i]
        u1 += o1 * dq[i]
        u2 += o2 * dq[i]
        V[i, 0], V[i, 1], V[i, 2], V[i, 3], V[i, 4], V[i, 5] = w0, w1, w2, u0, u1, u2
    m, h0, h1, h2 = 0.0, 0.0, 0.0, 0.0
    xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    # B of a body about a fixed point is [[B11, 0], [-hat(f), 0]]: B11 split in a symmetric (s) and a skew part (k)
    sxx, sxy, sxz, syy, syz, szz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    k0, k1, k2, f0, f1, f2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(6, -1, -1):
        dm, d0, d1, d2, axx, axy, axz, ayy, ayz, azz = _to_base(R[j], p[j], table[j])
        w0, w1, w2, u0, u1, u2 = V[j, 0], V[j, 1], V[j, 2], V[j, 3], V[j, 4], V[j, 5]
        m += dm
        h0 += d0
        h1 += d1
        h2 += d2
        xx += axx
        xy += axy
        xz += axz
        yy += ayy
        yz += ayz
        zz += azz
        dot = u0 * d0 + u1 * d1 + u2 * d2
        # symmetric part: (hat(w) J + (hat(w) J)')/2 - (h u' + u h')/2 + (u.h) 1
        sxx += w1 * axz - w2 * axy - d0 * u0 + dot
        syy += w2 * axy - w0 * ayz - d1 * u1 + dot
        szz += w0 * ayz - w1 * axz - d2 * u2 + dot
        sxy += 0.5 * (w1 * ayz - w2 * ayy + w2 * axx - w0 * axz - d0 * u1 - d1 * u0)
        sxz += 0.5 * (w1 * azz - w2 * ayz + w0 * axy - w1 * axx - d0 * u2 - d2 * u0)
        syz += 0.5 * (w2 * axz - w0 * azz + w0 * ayy - w1 * axy - d1 * u2 - d2 * u1)
        # skew part: -hat(n)/2 with n the angular momentum
        k0 -= 0.5 * (axx * w0 + axy * w1 + axz * w2 + d1 * u2 - d2 * u1)
        k1 -= 0.5 * (axy * w0 + ayy * w1 + ayz * w2 + d2 * u0 - d0 * u2)
        k2 -= 0.5 * (axz * w0 + ayz * w1 + azz * w2 + d0 * u1 - d1 * u0)
        f0 += dm * u0 + w1 * d2 - w2 * d1
        f1 += dm * u1 + w2 * d0 - w0 * d2
        f2 += dm * u2 + w0 * d1 - w1 * d0
        z0, z1, z2, o0, o1, o2 = S[j, 0], S[j, 1], S[j, 2], S[j, 3], S[j, 4], S[j, 5]
        e0, e1, e2, g0, g1, g2 = D[j, 0], D[j, 1], D[j, 2], D[j, 3], D[j, 4], D[j, 5]
        s0 = sxx * z0 + sxy * z1 + sxz * z2
        s1 = sxy * z0 + syy * z1 + syz * z2
        s2 = sxz * z0 + syz * z1 + szz * z2
        c0, c1, c2 = k1 * z2 - k2 * z1, k2 * z0 - k0 * z2, k0 * z1 - k1 * z0
        # I dPhi + B Phi
        a0 = xx * e0 + xy * e1 + xz * e2 + h1 * g2 - h2 * g1 + s0 + c0
        a1 = xy * e0 + yy * e1 + yz * e2 + h2 * g0 - h0 * g2 + s1 + c1
        a2 = xz * e0 + yz * e1 + zz * e2 + h0 * g1 - h1 * g0 + s2 + c2
        b0 = m * g0 + e1 * h2 - e2 * h1 - (f1 * z2 - f2 * z1)
        b1 = m * g1 + e2 * h0 - e0 * h2 - (f2 * z0 - f0 * z2)
        b2 = m * g2 + e0 * h1 - e1 * h0 - (f0 * z1 - f1 * z0)
        # I Phi
        n0 = xx * z0 + xy * z1 + xz * z2 + h1 * o2 - h2 * o1
        n1 = xy * z0 + yy * z1 + yz * z2 + h2 * o0 - h0 * o2
        n2 = xz * z0 + yz * z1 + zz * z2 + h0 * o1 - h1 * o0
        l0 = m * o0 + z1 * h2 - z2 * h1
        l1 = m * o1 + z2 * h0 - z0 * h2
        l2 = m * o2 + z0 * h1 - z1 * h0
        # B' Phi, whose linear part vanishes
        r0 = s0 - c0 + f1 * o2 - f2 * o1
        r1 = s1 - c1 + f2 * o0 - f0 * o2
        r2 = s2 - c2 + f0 * o1 - f1 * o0
        for i in range(j + 1):
            v = S[i, 0] * n0 + S[i, 1] * n1 + S[i, 2] * n2 + S[i, 3] * l0 + S[i, 4] * l1 + S[i, 5] * l2
            M[i, j] = v
            M[j, i] = v
            C[i, j] = S[i, 0] * a0 + S[i, 1] * a1 + S[i, 2] * a2 + S[i, 3] * b0 + S[i, 4] * b1 + S[i, 5] * b2
            if i < j:
                C[j, i] = (
                    D[i, 0] * n0
                    + D[i, 1] * n1
                    + D[i, 2] * n2
                    + D[i, 3] * l0
                    + D[i, 4] * l1
                    + D[i, 5] * l2
                    + S[i, 0] * r0
                    + S[i, 1] * r1
                    + S[i, 2] * r2
                )


@njit(error_model="numpy")
def gravity_kernel(R, p, table, g, out):
    """Write the joint torques (7) that hold the arm against gravity g (3), in the base."""
    m, h0, h1, h2 = 0.0, 0.0, 0.0, 0.0
    for i in range(6, -1, -1):
        dm = table[i, 0]
        m += dm
        a0, a1, a2 = table[i, 1], table[i, 2], table[i, 3]
        h0 += R[i, 0, 0] * a0 + R[i, 0, 1] * a1 + R[i, 0, 2] * a2 + dm * p[i, 0]
        h1 += R[i, 1, 0] * a0 + R[i, 1, 1] * a1 + R[i, 1, 2] * a2 + dm * p[i, 1]
        h2 += R[i, 2, 0] * a0 + R[i, 2, 1] * a1 + R[i, 2, 2] * a2 + dm * p[i, 2]
        c0, c1, c2 = h0 - m * p[i, 0], h1 - m * p[i, 1], h2 - m * p[i, 2]
        out[i] = -(
            R[i, 0, 2] * (c1 * g[2] - c2 * g[1])
            + R[i, 1, 2] * (c2 * g[0] - c0 * g[2])
            + R[i, 2, 2] * (c0 * g[1] - c1 * g[0])
        )


@njit(error_model="numpy")
def friction_kernel(dq, table, out):
    """Write the friction torques (7), which oppose the motion; table (21) has three numbers a joint."""
    for i in range(7):
        a, b, c = table[3 * i], table[3 * i + 1], table[3 * i + 2]
        out[i] = a / (1.0 + math.exp(-b * (dq[i] + c))) - a / (1.0 + math.exp(-b * c))


@lru_cache(maxsize=256)
def _link_table(arm: Arm, payload: Payload, variant: str) -> Array:
    if variant not in ("feasible", "frankasim"):
        raise ModelError(f"no variant {variant!r}: {nearest(variant, ('feasible', 'frankasim'))}", field="variant")
    table = np.zeros((7, 10))
    for row, link in zip(table, arm.links, strict=True):
        c = np.array(link.center_of_mass)
        row[0] = link.mass
        row[1:4] = link.mass * c
        row[4:] = link.inertia
        if variant == "feasible":
            row[4:] += _point(link.mass, c)
    if payload.mass > 0.0:
        c = np.add(payload.center_of_mass, (0.0, 0.0, D_FLANGE))
        I = np.reshape(payload.inertia, (3, 3))
        table[6, 0] += payload.mass
        table[6, 1:4] += payload.mass * c
        table[6, 4:] += I[np.triu_indices(3)] + _point(payload.mass, c)
    table.flags.writeable = False
    return table


def _point(m: float, c: Array) -> Array:
    """Return the inertia of a point mass about the origin: xx, xy, xz, yy, yz, zz."""
    return steiner(m, c)[np.triu_indices(3)]


def link_table(payload: Payload | None = None, *, variant: Variant = "feasible", arm: Arm) -> Array:
    """Return the table of the kernels: a row (m, m c, J about the link's origin) for each link, payload in link 7.

    Args:
        payload: body fixed to the flange; None for none.
        variant: how the published tensors are read.
        arm: the arm.

    Returns:
        shape (7, 10), read-only, shared between calls.
    """
    return _link_table(arm, NO_PAYLOAD if payload is None else payload, variant)
