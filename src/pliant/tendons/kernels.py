"""Compiled statics of a rod with tendons: forces on all strains and their tangent.

The rod's configuration is g(s) in SE(3) with g' = g xi^; a step of length h with strains xi_1, xi_2 at its Gauss points
is g <- g exp(Omega), Omega = h/2 (xi_1 + xi_2) + sqrt(3)/12 h^2 [xi_1, xi_2], the Magnus expansion of fourth order
(Iserles et al., "Lie-group methods", Acta Numerica 9, 2000, section 5). Equilibrium is a stationary point of
elastic energy + weight + sum_i int T_i(s) d(path length of tendon i); its strong form are the equations of Rucker and
Webster, IEEE T-RO 27(6), 2011. Twists and wrenches are (angular, linear), about the world's origin unless said.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pliant.rods.kernels.jit import FAST, INNER, entry
from pliant.tendons.chain import Chain, Loads, Memory, Scratch, Work

MAGNUS = math.sqrt(3.0) / 12.0
SERIES = 14
"""Most terms of the series of exp and its derivative; a step that turns 0.5 rad needs 10."""
OPTIONS = {**INNER, "fastmath": FAST}


@njit(**OPTIONS)
def _dual(a, w, out):
    """out = ad_a^T w: moment m x omega + f x v, force f x omega."""
    out[0] = w[1] * a[2] - w[2] * a[1] + w[4] * a[5] - w[5] * a[4]
    out[1] = w[2] * a[0] - w[0] * a[2] + w[5] * a[3] - w[3] * a[5]
    out[2] = w[0] * a[1] - w[1] * a[0] + w[3] * a[4] - w[4] * a[3]
    out[3] = w[4] * a[2] - w[5] * a[1]
    out[4] = w[5] * a[0] - w[3] * a[2]
    out[5] = w[3] * a[1] - w[4] * a[0]


@njit(**OPTIONS)
def _dual_matrix(w, out):
    """out = matrix M with M a = ad_a^T w, added to out, shape (6, 6)."""
    for block in range(3):
        source, i0, j0 = (0, 0, 0) if block == 0 else (3, 0, 3) if block == 1 else (3, 3, 0)
        x, y, z = w[source], w[source + 1], w[source + 2]
        out[i0, j0 + 1] -= z
        out[i0, j0 + 2] += y
        out[i0 + 1, j0] += z
        out[i0 + 1, j0 + 2] -= x
        out[i0 + 2, j0] -= y
        out[i0 + 2, j0 + 1] += x


@njit(**OPTIONS)
def _terms(omega):
    """Return how many terms the series needs for 1e-15."""
    size = math.sqrt(omega[0] ** 2 + omega[1] ** 2 + omega[2] ** 2) + 1e-3
    term, count = 1.0, 0
    while term > 1e-15 and count < SERIES:
        count += 1
        term *= size / (count + 1)
    return count + 1


@njit(**OPTIONS)
def _exponential(omega, R, p):
    """R, p = exp(omega) in SE(3)."""
    x, y, z = omega[0], omega[1], omega[2]
    a2 = x * x + y * y + z * z
    if a2 < 1e-4:
        s = 1.0 - a2 / 6.0 * (1.0 - a2 / 20.0 * (1.0 - a2 / 42.0))
        c = 0.5 - a2 / 24.0 * (1.0 - a2 / 30.0 * (1.0 - a2 / 56.0))
        d = 1.0 / 6.0 - a2 / 120.0 * (1.0 - a2 / 42.0 * (1.0 - a2 / 72.0))
    else:
        a = math.sqrt(a2)
        s = math.sin(a) / a
        c = (1.0 - math.cos(a)) / a2
        d = (1.0 - s) / a2
    R[0, 0], R[0, 1], R[0, 2] = 1.0 - c * (y * y + z * z), c * x * y - s * z, c * x * z + s * y
    R[1, 0], R[1, 1], R[1, 2] = c * x * y + s * z, 1.0 - c * (x * x + z * z), c * y * z - s * x
    R[2, 0], R[2, 1], R[2, 2] = c * x * z - s * y, c * y * z + s * x, 1.0 - c * (x * x + y * y)
    v0, v1, v2 = omega[3], omega[4], omega[5]
    w0, w1, w2 = y * v2 - z * v1, z * v0 - x * v2, x * v1 - y * v0
    p[0] = v0 + c * w0 + d * (y * w2 - z * w1)
    p[1] = v1 + c * w1 + d * (z * w0 - x * w2)
    p[2] = v2 + c * w2 + d * (x * w1 - y * w0)


@njit(**OPTIONS)
def _product(A, D, m, out):
    """out = A D, shapes (6, 6) and (6, m)."""
    for i in range(6):
        for j in range(m):
            value = 0.0
            for a in range(6):
                value += A[i, a] * D[a, j]
            out[i, j] = value


@njit(**OPTIONS)
def _add_pair(D, Z, rows, columns, r0, c0, H):
    """H += D^T Z at rows r0 and columns c0."""
    for i in range(rows):
        for a in range(6):
            value = D[a, i]
            for j in range(columns):
                H[r0 + i, c0 + j] += value * Z[a, j]


@njit(**OPTIONS)
def _strain(chain, k, g, x, c0, m, out):
    for i in range(6):
        value = chain.rest[k, g, i]
        for j in range(m):
            value += chain.basis[k, g, i, j] * x[c0 + j]
        out[i] = value


@njit(**OPTIONS)
def _bracket_matrix(a, out):
    """out = matrix of b -> [a, b]."""
    for i in range(3):
        for j in range(3):
            out[i, 3 + j] = 0.0
        out[i, i] = out[3 + i, i] = out[3 + i, 3 + i] = 0.0
    for block in range(3):
        source, i0, j0 = (0, 0, 0) if block == 0 else (3, 3, 0) if block == 1 else (0, 3, 3)
        x, y, z = a[source], a[source + 1], a[source + 2]
        out[i0, j0 + 1], out[i0, j0 + 2] = -z, y
        out[i0 + 1, j0], out[i0 + 1, j0 + 2] = z, -x
        out[i0 + 2, j0], out[i0 + 2, j0 + 1] = -y, x


@njit(**OPTIONS)
def _increment(chain, k, x, c0, m, work, a, b, A, B):
    """Set Omega of step k and its derivative by the unknowns of its element; a, b, A, B are scratch."""
    _strain(chain, k, 0, x, c0, m, a)
    _strain(chain, k, 1, x, c0, m, b)
    h = chain.length[k]
    s = MAGNUS * h * h
    _bracket_matrix(a, A)
    _bracket_matrix(b, B)
    for i in range(6):
        value = 0.5 * h * (a[i] + b[i])
        for c in range(6):
            value += s * A[i, c] * b[c]
        work.omega[k, i] = value
        for j in range(m):
            work.slope[k, i, j] = 0.5 * h * (chain.basis[k, 0, i, j] + chain.basis[k, 1, i, j])
        for c in range(6):
            left, right = s * A[i, c], s * B[i, c]
            for j in range(m):
                work.slope[k, i, j] += left * chain.basis[k, 1, c, j] - right * chain.basis[k, 0, c, j]


@njit(**OPTIONS)
def _turn_matrix(R, p, J, A):
    """A = Ad_g J."""
    for c in range(6):
        for i in range(3):
            A[i, c] = R[i, 0] * J[0, c] + R[i, 1] * J[1, c] + R[i, 2] * J[2, c]
            A[3 + i, c] = R[i, 0] * J[3, c] + R[i, 1] * J[4, c] + R[i, 2] * J[5, c]
        A[3, c] += p[1] * A[2, c] - p[2] * A[1, c]
        A[4, c] += p[2] * A[0, c] - p[0] * A[2, c]
        A[5, c] += p[0] * A[1, c] - p[1] * A[0, c]


@njit(**OPTIONS)
def _derivative_of_exp(omega, J, P, Q, A):
    """J = sum ad^k / (k + 1)!, by powers P of A = ad; lower block triangles with equal diagonal blocks."""
    _bracket_matrix(omega, A)
    for i in range(6):
        for j in range(6):
            J[i, j] = P[i, j] = 1.0 if i == j else 0.0
    factor = 1.0
    for order in range(1, _terms(omega)):
        factor /= order + 1
        for j in range(3):
            for i in range(3):
                value, below = 0.0, 0.0
                for c in range(3):
                    value += A[i, c] * P[c, j]
                    below += A[3 + i, c] * P[c, j] + A[i, c] * P[3 + c, j]
                Q[i, j] = value
                Q[3 + i, j] = below
        for j in range(3):
            for i in range(3):
                P[i, j] = Q[i, j]
                P[3 + i, j] = Q[3 + i, j]
                J[i, j] += factor * P[i, j]
                J[3 + i, 3 + j] = J[i, j]
                J[3 + i, j] += factor * P[3 + i, j]


@njit(**OPTIONS)
def _forward(chain, x, work):
    """Set poses of all nodes, and the world twist of each step by its unknowns."""
    step_R, step_p, a, b = np.empty((3, 3)), np.empty(3), np.empty(6), np.empty(6)
    J, P, Q, A = np.empty((6, 6)), np.empty((6, 6)), np.empty((6, 6)), np.empty((6, 6))
    R, p = work.rotation, work.position
    R[0], p[0] = chain.base_rotation, chain.base_position
    for e in range(len(chain.element)):
        c0, m = chain.element[e, 2], chain.element[e, 3]
        for k in range(chain.element[e, 0], chain.element[e, 1]):
            _increment(chain, k, x, c0, m, work, a, b, P, Q)
            omega = work.omega[k]
            _exponential(omega, step_R, step_p)
            for i in range(3):
                p[k + 1, i] = p[k, i]
                for j in range(3):
                    p[k + 1, i] += R[k, i, j] * step_p[j]
                    R[k + 1, i, j] = R[k, i, 0] * step_R[0, j] + R[k, i, 1] * step_R[1, j] + R[k, i, 2] * step_R[2, j]
            _derivative_of_exp(omega, J, P, Q, A)
            _turn_matrix(R[k], p[k], J, A)
            _product(A, work.slope[k], m, work.twist[k])


@njit(**OPTIONS)
def _to_step(R, p, w, out):
    """out = Ad_g^T w for a wrench w."""
    m0 = w[0] - (p[1] * w[5] - p[2] * w[4])
    m1 = w[1] - (p[2] * w[3] - p[0] * w[5])
    m2 = w[2] - (p[0] * w[4] - p[1] * w[3])
    for i in range(3):
        out[i] = R[0, i] * m0 + R[1, i] * m1 + R[2, i] * m2
        out[3 + i] = R[0, i] * w[3] + R[1, i] * w[4] + R[2, i] * w[5]


@njit(**OPTIONS)
def _add_force(P, f, w, K):
    """Add a fixed force f at P: its wrench to w, and the wrench's change by a twist of P to K."""
    w[0] += P[1] * f[2] - P[2] * f[1]
    w[1] += P[2] * f[0] - P[0] * f[2]
    w[2] += P[0] * f[1] - P[1] * f[0]
    dot = P[0] * f[0] + P[1] * f[1] + P[2] * f[2]
    for i in range(3):
        w[3 + i] += f[i]
        K[i, i] -= dot
        for j in range(3):
            K[i, j] += P[i] * f[j]
    K[0, 4] += f[2]
    K[0, 5] -= f[1]
    K[1, 3] -= f[2]
    K[1, 5] += f[0]
    K[2, 3] += f[1]
    K[2, 4] -= f[0]


@njit(**OPTIONS)
def _loads(chain, loads, work):
    """Set the negative wrench of all loads beyond each node, and its change by a twist of all that is beyond."""
    w, K = work.wrench, work.change
    w[:] = 0.0
    K[:] = 0.0
    P, f = np.empty(3), np.empty(3)
    for i in range(len(chain.mass)):
        k = chain.mass_node[i]
        for a in range(3):
            f[a] = -chain.mass[i] * loads.gravity[a]
            P[a] = work.position[k, a]
            for b in range(3):
                P[a] += work.rotation[k, a, b] * chain.mass_offset[i, b]
        _add_force(P, f, w[k], K[k])
    q = np.empty(6)
    for k in range(len(w)):
        P[:] = work.position[k]
        f[:] = -loads.dead[k, 3:]
        if f[0] != 0.0 or f[1] != 0.0 or f[2] != 0.0:
            _add_force(P, f, w[k], K[k])
        for a in range(3):
            w[k, a] -= loads.dead[k, a]
        moving = False
        for a in range(6):
            moving = moving or loads.follower[k, a] != 0.0
        if moving:
            for a in range(3):
                q[a] = q[3 + a] = 0.0
                for b in range(3):
                    q[a] -= work.rotation[k, a, b] * loads.follower[k, b]
                    q[3 + a] -= work.rotation[k, a, b] * loads.follower[k, 3 + b]
            q[0] += P[1] * q[5] - P[2] * q[4]
            q[1] += P[2] * q[3] - P[0] * q[5]
            q[2] += P[0] * q[4] - P[1] * q[3]
            M = np.zeros((6, 6))
            _dual_matrix(q, M)
            for a in range(6):
                w[k, a] += q[a]
                for b in range(6):
                    K[k, a, b] -= M[a, b]
    for k in range(len(w) - 2, -1, -1):
        for a in range(6):
            w[k, a] += w[k + 1, a]
            for b in range(6):
                K[k, a, b] += K[k + 1, a, b]


@njit(**OPTIONS)
def _place(work, k, r, out):
    for a in range(3):
        out[a] = work.position[k, a]
        for b in range(3):
            out[a] += work.rotation[k, a, b] * r[b]


@njit(**OPTIONS)
def _links(chain, x, work):
    """Set length, direction and gradient of each link of each tendon."""
    A, B, t = np.empty(3), np.empty(3), np.empty(3)
    w, xi = np.empty(6), np.empty(6)
    for i in range(len(chain.link)):
        v, k, g = chain.link[i, 0], chain.link[i, 1], chain.link[i, 2]
        e = chain.interval[v, 2]
        c0, m = chain.element[e, 2], chain.element[e, 3]
        r = chain.hole[i, 0]
        for j in range(m):
            work.link_gradient[i, j] = 0.0
        if k < 0:
            _place(work, chain.interval[v, 0], r, A)
            _place(work, chain.interval[v, 1], chain.hole[i, 1], B)
            size = math.sqrt((B[0] - A[0]) ** 2 + (B[1] - A[1]) ** 2 + (B[2] - A[2]) ** 2)
            for a in range(3):
                t[a] = (B[a] - A[a]) / size
                work.link_direction[i, a] = w[3 + a] = t[a]
            w[0] = B[1] * t[2] - B[2] * t[1]
            w[1] = B[2] * t[0] - B[0] * t[2]
            w[2] = B[0] * t[1] - B[1] * t[0]
            work.link_length[i] = size
            for step in range(chain.interval[v, 0], chain.interval[v, 1]):
                for j in range(m):
                    for a in range(6):
                        work.link_gradient[i, j] += w[a] * work.twist[step, a, j]
        else:
            _strain(chain, k, g, x, c0, m, xi)
            d = chain.hole[i, 1]
            t[0] = xi[3] + xi[1] * r[2] - xi[2] * r[1] + d[0]
            t[1] = xi[4] + xi[2] * r[0] - xi[0] * r[2] + d[1]
            t[2] = xi[5] + xi[0] * r[1] - xi[1] * r[0] + d[2]
            size = math.sqrt(t[0] ** 2 + t[1] ** 2 + t[2] ** 2)
            half = 0.5 * chain.length[k]
            work.link_length[i] = half * size
            for a in range(3):
                t[a] /= size
            w[0], w[1], w[2] = r[1] * t[2] - r[2] * t[1], r[2] * t[0] - r[0] * t[2], r[0] * t[1] - r[1] * t[0]
            w[3], w[4], w[5] = t[0], t[1], t[2]
            for j in range(m):
                for a in range(6):
                    work.link_gradient[i, j] += half * w[a] * chain.basis[k, g, a, j]
            # Axes at the Gauss point: those of the step's nearer end, turned by the strain over the rest.
            node, rest = (k, 0.2113248654051871) if g == 0 else (k + 1, -0.2113248654051871)
            s = rest * chain.length[k]
            u0, u1, u2 = s * xi[0], s * xi[1], s * xi[2]
            b0 = t[0] + u1 * t[2] - u2 * t[1]
            b1 = t[1] + u2 * t[0] - u0 * t[2]
            b2 = t[2] + u0 * t[1] - u1 * t[0]
            n = math.sqrt(b0 * b0 + b1 * b1 + b2 * b2)
            for a in range(3):
                R = work.rotation[node, a]
                work.link_direction[i, a] = (R[0] * b0 + R[1] * b1 + R[2] * b2) / n


@njit(**OPTIONS)
def _friction(chain, memory, work):
    """Set turning angles, the share of the limit in use, and the tension of each link by that at the spool."""
    for i in range(len(chain.tendon)):
        first, last = chain.tendon[i, 0], chain.tendon[i, 1]
        distal = 0.0
        for j in range(last - 1, first - 1, -1):
            distal += work.link_length[j]
            z = memory.state[j] + (memory.distal[j] - distal) / memory.presliding[i]
            work.slip[j] = min(1.0, max(-1.0, z))
            work.angle[j] = memory.guide[i]
            if j > first:
                gap = 0.0
                for a in range(3):
                    gap += (work.link_direction[j, a] - work.link_direction[j - 1, a]) ** 2
                work.angle[j] = 2.0 * math.asin(min(1.0, 0.5 * math.sqrt(gap)))
        exponent = 0.0
        for j in range(first, last):
            exponent -= memory.friction[i] * work.slip[j] * work.angle[j]
            work.weight[j] = math.exp(exponent)
        work.path[i] = distal


@njit(**OPTIONS)
def _tendons(chain, tension, memory, work, pull, pull_change):
    """Add forces of the tendons to the unknowns; gather wrench and its change for the chords of each interval."""
    m = chain.basis.shape[3]
    work.column[:] = 0.0
    work.row[:] = 0.0
    pull[:] = 0.0
    pull_change[:] = 0.0
    B = np.empty(3)
    K = np.empty((6, 6))
    for i in range(len(chain.tendon)):
        first, last = chain.tendon[i, 0], chain.tendon[i, 1]
        work.stretch[i] = 0.0
        for j in range(first, last):
            v, k = chain.link[j, 0], chain.link[j, 1]
            e = chain.interval[v, 2]
            c0, width = chain.element[e, 2], chain.element[e, 3]
            work.stretch[i] += work.weight[j] * work.link_length[j]
            for a in range(width):
                work.column[c0 + a, i] += work.weight[j] * work.link_gradient[j, a]
                work.row[i, c0 + a] += work.link_gradient[j, a]
            T = tension[i] * work.weight[j]
            if T == 0.0:
                continue
            t = work.link_direction[j]
            if k < 0:
                _place(work, chain.interval[v, 1], chain.hole[j, 1], B)
                K[:] = 0.0
                _add_force(B, T * t, pull[v], K)
                # The direction turns with the hole: T (1 - t t^T) / l on its displacement.
                scale = T / work.link_length[j]
                for a in range(6):
                    da, db, dc = _moved(B, a)
                    along = t[0] * da + t[1] * db + t[2] * dc
                    da, db, dc = scale * (da - along * t[0]), scale * (db - along * t[1]), scale * (dc - along * t[2])
                    K[0, a] += B[1] * dc - B[2] * db
                    K[1, a] += B[2] * da - B[0] * dc
                    K[2, a] += B[0] * db - B[1] * da
                    K[3, a] += da
                    K[4, a] += db
                    K[5, a] += dc
                pull_change[v] += K
            else:
                _curve_hessian(chain, j, T, work, c0, width)
    for i in range(len(chain.tendon)):
        for c in range(len(work.force)):
            work.force[c] += tension[i] * work.column[c, i]
        if memory.friction[i] > 0.0 and tension[i] != 0.0:
            _friction_tangent(chain, i, tension[i], memory, work, m)


@njit(**OPTIONS)
def _moved(B, a):
    """Return the displacement of B by unit twist a about the origin."""
    if a == 0:
        return 0.0, -B[2], B[1]
    if a == 1:
        return B[2], 0.0, -B[0]
    if a == 2:
        return -B[1], B[0], 0.0
    if a == 3:
        return 1.0, 0.0, 0.0
    if a == 4:
        return 0.0, 1.0, 0.0
    return 0.0, 0.0, 1.0


@njit(**OPTIONS)
def _curve_hessian(chain, j, T, work, c0, m):
    """Add T d2|e| of a tangent link; e = v + u x r + r' in axes of the section."""
    k, g, r = chain.link[j, 1], chain.link[j, 2], chain.hole[j, 0]
    half = 0.5 * chain.length[k]
    A = np.empty((3, m))
    gradient = np.empty(m)
    basis = chain.basis[k, g]
    for c in range(m):
        A[0, c] = basis[3, c] + basis[1, c] * r[2] - basis[2, c] * r[1]
        A[1, c] = basis[4, c] + basis[2, c] * r[0] - basis[0, c] * r[2]
        A[2, c] = basis[5, c] + basis[0, c] * r[1] - basis[1, c] * r[0]
        gradient[c] = work.link_gradient[j, c] / half
    scale = T * half * half / work.link_length[j]
    for a in range(m):
        for b in range(m):
            dot = A[0, a] * A[0, b] + A[1, a] * A[1, b] + A[2, a] * A[2, b]
            work.hessian[c0 + a, c0 + b] += scale * (dot - gradient[a] * gradient[b])


@njit(**OPTIONS)
def _friction_tangent(chain, i, T, memory, work, m):
    """Add how the tensions of tendon i change where it sticks: mu angle T / presliding times slide of each hole."""
    n = len(work.force)
    beyond, weighted = np.zeros(n), np.zeros(n)
    low = n
    for j in range(chain.tendon[i, 1] - 1, chain.tendon[i, 0] - 1, -1):
        e = chain.interval[chain.link[j, 0], 2]
        c0, width = chain.element[e, 2], chain.element[e, 3]
        low = min(low, c0)
        for a in range(width):
            beyond[c0 + a] += work.link_gradient[j, a]
            weighted[c0 + a] += work.weight[j] * work.link_gradient[j, a]
        if -1.0 < work.slip[j] < 1.0:
            scale = T * memory.friction[i] * work.angle[j] / memory.presliding[i]
            high = chain.element[chain.interval[chain.link[chain.tendon[i, 1] - 1, 0], 2], 2]
            high += chain.element[chain.interval[chain.link[chain.tendon[i, 1] - 1, 0], 2], 3]
            for a in range(low, high):
                value = scale * weighted[a]
                for b in range(low, high):
                    work.hessian[a, b] += value * beyond[b]


@njit(**OPTIONS)
def _within_step(chain, k, c0, m, f, work, s):
    """Add f . d2(Omega) of step k, f in axes of its start: phi(Omega) = dexp^T f, its derivative and the brackets."""
    omega, H = work.omega[k], work.hessian
    p, q, phi, dp, dq, dphi, M, left = s.p, s.q, s.phi, s.dp, s.dq, s.dphi, s.M, s.left
    dphi[:] = 0.0
    dp[:] = 0.0
    for a in range(6):
        p[a] = phi[a] = f[a]
    factor = 1.0
    for order in range(1, _terms(omega)):
        factor /= order + 1
        M[:] = 0.0
        _dual_matrix(p, M)
        for c in range(6):
            # Row c: derivative by Omega_c, ad_Omega^T dp + ad_c^T p.
            w, a = dp[c], omega
            dq[c, 0] = M[0, c] + w[1] * a[2] - w[2] * a[1] + w[4] * a[5] - w[5] * a[4]
            dq[c, 1] = M[1, c] + w[2] * a[0] - w[0] * a[2] + w[5] * a[3] - w[3] * a[5]
            dq[c, 2] = M[2, c] + w[0] * a[1] - w[1] * a[0] + w[3] * a[4] - w[4] * a[3]
            dq[c, 3] = M[3, c] + w[4] * a[2] - w[5] * a[1]
            dq[c, 4] = M[4, c] + w[5] * a[0] - w[3] * a[2]
            dq[c, 5] = M[5, c] + w[3] * a[1] - w[4] * a[0]
        _dual(omega, p, q)
        for a in range(6):
            p[a] = q[a]
            phi[a] += factor * q[a]
            for c in range(6):
                dp[c, a] = dq[c, a]
                dphi[c, a] += factor * dq[c, a]
    _product(dphi.T, work.slope[k], m, left)
    _add_pair(work.slope[k], left, m, m, c0, c0, H)
    # phi . [a, b] = b . M a with M of phi.
    M[:] = 0.0
    _dual_matrix(phi, M)
    h = MAGNUS * chain.length[k] ** 2
    _product(M, chain.basis[k, 0], m, left)
    for a in range(m):
        for b in range(m):
            value = 0.0
            for c in range(6):
                value += chain.basis[k, 1, c, b] * left[c, a] + chain.basis[k, 1, c, a] * left[c, b]
            H[c0 + a, c0 + b] += h * value


@njit(**OPTIONS)
def _elements(chain, x, work, pull, pull_change):
    """Add forces and tangent of loads, chords and elasticity."""
    E, m_max = len(chain.element), chain.basis.shape[3]
    D, Y, Z = np.zeros((E, 6, m_max)), np.zeros((E, 6, m_max)), np.zeros((E, 6, m_max))
    y, z, f_y, chord_D = np.empty((6, m_max)), np.empty((6, m_max)), np.empty((6, m_max)), np.empty((6, m_max))
    f, w, mixed = np.empty(6), np.empty(6), np.empty((6, 6))
    scratch = Scratch(
        np.empty(6),
        np.empty(6),
        np.empty(6),
        np.empty((6, 6)),
        np.empty((6, 6)),
        np.empty((6, 6)),
        np.empty((6, 6)),
        np.empty((6, m_max)),
    )
    H = work.hessian
    step_interval = np.empty(len(chain.length), np.int64)
    for v in range(len(chain.interval)):
        step_interval[chain.interval[v, 0] : chain.interval[v, 1]] = v
    for e in range(E):
        c0, m = chain.element[e, 2], chain.element[e, 3]
        first = chain.element[e, 0]
        for k in range(first, chain.element[e, 1]):
            v = step_interval[k]
            if k == chain.interval[v, 0]:
                chord_D[:] = 0.0
            K = work.change[k + 1]
            d = work.twist[k]
            W = work.wrench[k + 1]
            for j in range(m):
                value = 0.0
                for a in range(6):
                    value += d[a, j] * W[a]
                work.force[c0 + j] += value
            mixed[:] = K
            _dual_matrix(W, mixed)
            # Y = (K + M)^T D meets steps upstream; Z = K D meets steps downstream and itself.
            _product(mixed.T, d, m, y)
            _product(K, d, m, z)
            _add_pair(y, D[e], m, m, c0, c0, H)
            _add_pair(D[e], z, m, m, c0, c0, H)
            _add_pair(d, z, m, m, c0, c0, H)
            C = pull_change[v]
            mixed[:] = C
            _dual_matrix(pull[v], mixed)
            _product(mixed.T, d, m, f_y)
            _add_pair(f_y, chord_D, m, m, c0, c0, H)
            _product(C, d, m, f_y)
            _add_pair(chord_D, f_y, m, m, c0, c0, H)
            _add_pair(d, f_y, m, m, c0, c0, H)
            for a in range(6):
                w[a] = W[a] + pull[v, a]
                for j in range(m):
                    D[e, a, j] += d[a, j]
                    chord_D[a, j] += d[a, j]
                    Y[e, a, j] += y[a, j]
                    Z[e, a, j] += z[a, j]
            _to_step(work.rotation[k], work.position[k], w, f)
            _within_step(chain, k, c0, m, f, work, scratch)
            _elastic(chain, k, x, c0, m, work)
        for other in range(e):
            o0, width = chain.element[other, 2], chain.element[other, 3]
            _add_pair(Y[e], D[other], m, width, c0, o0, H)
            _add_pair(D[other], Z[e], width, m, o0, c0, H)


@njit(**OPTIONS)
def _elastic(chain, k, x, c0, m, work):
    for g in range(2):
        for i in range(6):
            scale = 0.5 * chain.length[k] * chain.stiffness[k, g, i]
            strain = 0.0
            for j in range(m):
                strain += chain.basis[k, g, i, j] * x[c0 + j]
            if strain == 0.0 and chain.basis[k, g, i, 0] == 0.0 and m == 1:
                continue
            for a in range(m):
                value = scale * chain.basis[k, g, i, a]
                if value != 0.0:
                    work.force[c0 + a] += value * strain
                    for b in range(m):
                        work.hessian[c0 + a, c0 + b] += value * chain.basis[k, g, i, b]


@njit(**INNER)
def evaluate(chain, loads, memory, x, tension, work):
    V = len(chain.interval)
    pull, pull_change = np.zeros((V, 6)), np.zeros((V, 6, 6))
    work.force[:] = 0.0
    work.hessian[:] = 0.0
    _forward(chain, x, work)
    _loads(chain, loads, work)
    _links(chain, x, work)
    _friction(chain, memory, work)
    _tendons(chain, tension, memory, work, pull, pull_change)
    _elements(chain, x, work, pull, pull_change)


@entry
def assemble(chain: Chain, loads: Loads, memory: Memory, x, tension, work: Work):
    """Evaluate forces on all unknowns, their tangent, tendon lengths and their gradients into ``work``.

    Args:
        chain: the robot.
        loads: what acts on it.
        memory: friction.
        x: unknowns, shape (n,).
        tension: of the tendons at the spool [N], shape (N,).
        work: results.
    """
    evaluate(chain, loads, memory, x, tension, work)
