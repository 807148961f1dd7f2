"""Elimination in compiled code: small dense systems, and the inertia of symmetric matrices."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.rods.kernels.jit import FAST, INNER


@njit(fastmath=FAST, **INNER)
def eliminate(e, rows, width):
    """Gauss-Jordan with row pivoting on e[:rows, :width]; False if singular."""
    for p in range(rows):
        best, at = abs(e[p, p]), p
        for t in range(p + 1, rows):
            if abs(e[t, p]) > best:
                best, at = abs(e[t, p]), t
        if not best > 1e-300:
            return False
        if at != p:
            for c in range(p, width):
                e[p, c], e[at, c] = e[at, c], e[p, c]
        inv = 1.0 / e[p, p]
        for c in range(p + 1, width):
            e[p, c] *= inv
        for t in range(rows):
            if t != p:
                k = e[t, p]
                if k != 0.0:
                    for c in range(p + 1, width):
                        e[t, c] -= k * e[p, c]
    return True


@njit(**INNER)
def solve_pivoted(u, rows, cols):
    """Solve u[:rows, :cols] x = u[:rows, cols] by Gauss-Jordan with complete pivoting.

    Unknowns that no equation determines (a plate free to turn about a shared pin) stay at zero. The solution
    is left in u[:cols, cols + 1]; returns the rank.
    """
    order = np.arange(cols)
    top, rank = 0.0, 0
    for p in range(min(rows, cols)):
        best, r0, c0 = -1.0, p, p
        for t in range(p, rows):
            for c in range(p, cols):
                if abs(u[t, c]) > best:
                    best, r0, c0 = abs(u[t, c]), t, c
        if p == 0:
            top = best
        if not best > 1e-14 * top:
            break
        rank += 1
        if r0 != p:
            for c in range(cols + 1):
                u[p, c], u[r0, c] = u[r0, c], u[p, c]
        if c0 != p:
            for t in range(rows):
                u[t, p], u[t, c0] = u[t, c0], u[t, p]
            order[p], order[c0] = order[c0], order[p]
        inv = 1.0 / u[p, p]
        for c in range(p, cols + 1):
            u[p, c] *= inv
        for t in range(rows):
            if t != p and u[t, p] != 0.0:
                k = u[t, p]
                for c in range(p, cols + 1):
                    u[t, c] -= k * u[p, c]
    for c in range(cols):
        u[order[c], cols + 1] = u[c, cols] if c < rank else 0.0
    return rank


@njit(**INNER)
def inertia_pivots(a, n, out):
    """Write the pivots of the symmetric a[:n, :n] to out[:n] (as many are negative as eigenvalues); changes a."""
    out[:n] = 0.0
    for p in range(n):
        best, at = abs(a[p, p]), p
        for t in range(p + 1, n):
            if abs(a[t, t]) > best:
                best, at = abs(a[t, t]), t
        if at != p:
            for c in range(n):
                a[p, c], a[at, c] = a[at, c], a[p, c]
            for c in range(n):
                a[c, p], a[c, at] = a[c, at], a[c, p]
        out[p] = a[p, p]
        if best == 0.0:
            break
        for t in range(p + 1, n):
            k = a[t, p] / a[p, p]
            for c in range(p + 1, n):
                a[t, c] -= k * a[p, c]
