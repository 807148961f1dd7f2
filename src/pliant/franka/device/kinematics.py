"""Kernels of the kinematics of a Franka arm: link frames, end effector, Jacobian, inverse kinematics.

`pliant.franka.robots.kinematics` has the functions of arrays.
"""

from __future__ import annotations

import math

from pliant.base.codecache import njit
from pliant.franka.device.parameters import D_FLANGE, DH

_A = tuple(float(x) for x in DH[:7, 0])
_CA = tuple(float(round(math.cos(x))) for x in DH[:7, 1])
_SA = tuple(float(round(math.sin(x))) for x in DH[:7, 1])
_D = tuple(float(x) for x in DH[:7, 2])


@njit(error_model="numpy")
def copy_kernel(x, out, n):
    """Write the first n numbers of x to out; compiled code allocates memory to copy a slice."""
    for i in range(n):
        out[i] = x[i]


@njit(error_model="numpy")
def copy_rows_kernel(X, out, n):
    """Write the first n rows of a pose to out."""
    for r in range(n):
        for c in range(4):
            out[r, c] = X[r, c]


@njit(fastmath=False, error_model="numpy")
def frames_kernel(q, R, p):
    """Write rotation (7, 3, 3) and origin (7, 3) of the links, in the base."""
    x0, x1, x2 = 1.0, 0.0, 0.0
    y0, y1, y2 = 0.0, 1.0, 0.0
    z0, z1, z2 = 0.0, 0.0, 1.0
    p0, p1, p2 = 0.0, 0.0, 0.0
    for i in range(7):
        a, ca, sa, d = _A[i], _CA[i], _SA[i], _D[i]
        p0 += a * x0
        p1 += a * x1
        p2 += a * x2
        u0, u1, u2 = ca * y0 + sa * z0, ca * y1 + sa * z1, ca * y2 + sa * z2
        z0, z1, z2 = ca * z0 - sa * y0, ca * z1 - sa * y1, ca * z2 - sa * y2
        p0 += d * z0
        p1 += d * z1
        p2 += d * z2
        c, s = math.cos(q[i]), math.sin(q[i])
        y0, y1, y2 = c * u0 - s * x0, c * u1 - s * x1, c * u2 - s * x2
        x0, x1, x2 = c * x0 + s * u0, c * x1 + s * u1, c * x2 + s * u2
        R[i, 0, 0], R[i, 1, 0], R[i, 2, 0] = x0, x1, x2
        R[i, 0, 1], R[i, 1, 1], R[i, 2, 1] = y0, y1, y2
        R[i, 0, 2], R[i, 1, 2], R[i, 2, 2] = z0, z1, z2
        p[i, 0], p[i, 1], p[i, 2] = p0, p1, p2


@njit(error_model="numpy")
def tool_kernel(R7, p7, F_T_EE, T):
    """Write the end effector's pose (4, 4) from link 7 and its pose in the flange."""
    for r in range(3):
        for c in range(3):
            T[r, c] = R7[r, 0] * F_T_EE[0, c] + R7[r, 1] * F_T_EE[1, c] + R7[r, 2] * F_T_EE[2, c]
        T[r, 3] = p7[r] + R7[r, 0] * F_T_EE[0, 3] + R7[r, 1] * F_T_EE[1, 3] + R7[r, 2] * (F_T_EE[2, 3] + D_FLANGE)
        T[3, r] = 0.0
    T[3, 3] = 1.0


@njit(error_model="numpy")
def jacobian_kernel(R, p, x, n, J):
    """Write the Jacobian (6, 7) of point x that moves with link n (1 to 7), in base axes."""
    for i in range(7):
        if i >= n:
            for r in range(6):
                J[r, i] = 0.0
            continue
        z0, z1, z2 = R[i, 0, 2], R[i, 1, 2], R[i, 2, 2]
        d0, d1, d2 = x[0] - p[i, 0], x[1] - p[i, 1], x[2] - p[i, 2]
        J[0, i] = z1 * d2 - z2 * d1
        J[1, i] = z2 * d0 - z0 * d2
        J[2, i] = z0 * d1 - z1 * d0
        J[3, i], J[4, i], J[5, i] = z0, z1, z2


@njit(error_model="numpy")
def _dot(A, i, B, k):
    return A[i, 0] * B[k, 0] + A[i, 1] * B[k, 1] + A[i, 2] * B[k, 2]


@njit(error_model="numpy")
def rotation_error_kernel(Rd, R, out):
    """Write the rotation vector, in base axes, that turns R into Rd."""
    E = (
        (_dot(Rd, 0, R, 0), _dot(Rd, 0, R, 1), _dot(Rd, 0, R, 2)),
        (_dot(Rd, 1, R, 0), _dot(Rd, 1, R, 1), _dot(Rd, 1, R, 2)),
        (_dot(Rd, 2, R, 0), _dot(Rd, 2, R, 1), _dot(Rd, 2, R, 2)),
    )
    v0, v1, v2 = 0.5 * (E[2][1] - E[1][2]), 0.5 * (E[0][2] - E[2][0]), 0.5 * (E[1][0] - E[0][1])
    sine = math.sqrt(v0 * v0 + v1 * v1 + v2 * v2)
    cosine = 0.5 * (E[0][0] + E[1][1] + E[2][2] - 1.0)
    angle = math.atan2(sine, cosine)
    if angle < 1e-8:
        out[0], out[1], out[2] = v0, v1, v2
    elif math.pi - angle > 1e-4:
        k = angle / sine
        out[0], out[1], out[2] = v0 * k, v1 * k, v2 * k
    else:
        best = 0
        for i in range(1, 3):
            if E[i][i] > E[best][best]:
                best = i
        length = 0.0
        for i in range(3):
            out[i] = 0.5 * (E[i][best] + E[best][i])
        out[best] -= cosine
        for i in range(3):
            length += out[i] * out[i]
        length = math.sqrt(length)
        sign = 1.0 if out[0] * v0 + out[1] * v1 + out[2] * v2 >= 0.0 else -1.0
        for i in range(3):
            out[i] = sign * angle * out[i] / length


@njit(error_model="numpy")
def cholesky_kernel(A, n):
    """Replace the lower part of A, symmetric positive definite, by its factor; return whether it is that."""
    for j in range(n):
        s = A[j, j]
        for k in range(j):
            s -= A[j, k] * A[j, k]
        if not s > 1e-300:
            return False
        d = math.sqrt(s)
        A[j, j] = d
        for i in range(j + 1, n):
            t = A[i, j]
            for k in range(j):
                t -= A[i, k] * A[j, k]
            A[i, j] = t / d
    return True


@njit(error_model="numpy")
def factor_solve_kernel(A, b, n):
    """Solve A x = b in place (x replaces b), A having the factor of `cholesky_kernel`."""
    for i in range(n):
        t = b[i]
        for k in range(i):
            t -= A[i, k] * b[k]
        b[i] = t / A[i, i]
    for i in range(n - 1, -1, -1):
        t = b[i]
        for k in range(i + 1, n):
            t -= A[k, i] * b[k]
        b[i] = t / A[i, i]


@njit(error_model="numpy")
def cholesky_solve_kernel(A, b, n):
    """Solve A x = b in place (x replaces b, the factor replaces A's lower part), A symmetric positive definite."""
    solved = cholesky_kernel(A, n)
    if solved:
        factor_solve_kernel(A, b, n)
    return solved


@njit(error_model="numpy")
def inverse_kernel(s, q, T, F_T_EE, use_elbow, q3, iterations, damping):
    """Move q, in place, so that the end effector comes to T; return the residual (metres and radians mixed).

    Newton steps on six pose equations, of least norm; with use_elbow also q[2] = q3. The damping keeps the steps
    bounded near singular poses; at the solution it does not bias the result. s is scratch, a `memory.SEARCH`.
    """
    R, p, X, J, A, b, e, w = s.R, s.p, s.X, s.J, s.A, s.b, s.e, s.w
    residual = 0.0
    for k in range(iterations + 1):
        frames_kernel(q, R, p)
        tool_kernel(R[6], p[6], F_T_EE, X)
        rotation_error_kernel(T, X, w)
        residual = 0.0
        for r in range(3):
            e[r] = T[r, 3] - X[r, 3]
            e[3 + r] = w[r]
            residual = max(residual, abs(e[r]), abs(w[r]))
        n = 6
        if use_elbow:
            e[6] = q3 - q[2]
            residual = max(residual, abs(e[6]))
            n = 7
        if residual < 1e-12 or k == iterations:
            break
        jacobian_kernel(R, p, X[:3, 3], 7, J)
        for r in range(n):
            for c in range(r + 1):
                s = 0.0
                if r < 6 and c < 6:
                    for i in range(7):
                        s += J[r, i] * J[c, i]
                elif r == 6 and c < 6:
                    s = J[c, 2]
                else:
                    s = 1.0
                A[r, c] = s
            A[r, r] += damping
            b[r] = e[r]
        if not cholesky_solve_kernel(A, b, n):
            break
        for i in range(7):
            s = 0.0
            for r in range(6):
                s += J[r, i] * b[r]
            if use_elbow and i == 2:
                s += b[6]
            q[i] += s
    return residual
