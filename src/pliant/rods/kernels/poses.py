"""Poses of 12 numbers, rotation vectors and quaternions in compiled code."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.rods.kernels.jit import INNER


@njit(**INNER)
def multiply(a, b, out):
    """out = a b for poses of 12 numbers; out may not be a or b."""
    for i in range(3):
        for j in range(3):
            out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j]
        out[9 + i] = a[3 * i] * b[9] + a[3 * i + 1] * b[10] + a[3 * i + 2] * b[11] + a[9 + i]


@njit(**INNER)
def turn(x, y, z, out):
    """Left-multiply the rotation in out[:9] by the rotation vector (x, y, z)."""
    angle2 = x * x + y * y + z * z
    if angle2 < 1e-12:
        s, c = 1.0 - angle2 / 6.0, 0.5 - angle2 / 24.0
    else:
        angle = np.sqrt(angle2)
        s, c = np.sin(angle) / angle, (1.0 - np.cos(angle)) / angle2
    for j in range(3):
        a, b, d = out[j], out[3 + j], out[6 + j]
        t0, t1, t2 = y * d - z * b, z * a - x * d, x * b - y * a
        out[j] = a + s * t0 + c * (y * t2 - z * t1)
        out[3 + j] = b + s * t1 + c * (z * t0 - x * t2)
        out[6 + j] = d + s * t2 + c * (x * t1 - y * t0)


@njit(**INNER)
def write_quaternion(m, w, at):
    """Write the quaternion of the rotation m[:9] to w[at:at + 4]."""
    t = m[0] + m[4] + m[8]
    if t > 0.0:
        s = 2.0 * np.sqrt(1.0 + t)
        w[at], w[at + 1], w[at + 2], w[at + 3] = 0.25 * s, (m[7] - m[5]) / s, (m[2] - m[6]) / s, (m[3] - m[1]) / s
    elif m[0] >= m[4] and m[0] >= m[8]:
        s = 2.0 * np.sqrt(1.0 + m[0] - m[4] - m[8])
        w[at], w[at + 1], w[at + 2], w[at + 3] = (m[7] - m[5]) / s, 0.25 * s, (m[1] + m[3]) / s, (m[2] + m[6]) / s
    elif m[4] >= m[8]:
        s = 2.0 * np.sqrt(1.0 + m[4] - m[0] - m[8])
        w[at], w[at + 1], w[at + 2], w[at + 3] = (m[2] - m[6]) / s, (m[1] + m[3]) / s, 0.25 * s, (m[5] + m[7]) / s
    else:
        s = 2.0 * np.sqrt(1.0 + m[8] - m[0] - m[4])
        w[at], w[at + 1], w[at + 2], w[at + 3] = (m[3] - m[1]) / s, (m[2] + m[6]) / s, (m[5] + m[7]) / s, 0.25 * s


@njit(**INNER)
def read_quaternion(w, at, out):
    """out[:9] = rotation of the quaternion w[at:at + 4], of any norm."""
    a, x, y, z = w[at], w[at + 1], w[at + 2], w[at + 3]
    k = 2.0 / (a * a + x * x + y * y + z * z)
    out[0], out[1], out[2] = 1.0 - k * (y * y + z * z), k * (x * y - a * z), k * (x * z + a * y)
    out[3], out[4], out[5] = k * (x * y + a * z), 1.0 - k * (x * x + z * z), k * (y * z - a * x)
    out[6], out[7], out[8] = k * (x * z - a * y), k * (y * z + a * x), 1.0 - k * (x * x + y * y)


@njit(**INNER)
def rotation_log(rot, ref, out):
    """out[:3] = rotation vector, world axes, that takes the rotation ref[:9] to rot[:9]."""
    d = np.empty(9)
    for i in range(3):
        for j in range(3):
            d[3 * i + j] = rot[3 * i] * ref[3 * j] + rot[3 * i + 1] * ref[3 * j + 1] + rot[3 * i + 2] * ref[3 * j + 2]
    q = np.empty(4)
    write_quaternion(d, q, np.int64(0))
    n = np.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    k = 2.0 if n < 1e-12 else 2.0 * np.arctan2(n, abs(q[0])) / n
    if q[0] < 0.0:
        k = -k
    out[0], out[1], out[2] = k * q[1], k * q[2], k * q[3]


@njit(**INNER)
def add_cross(g, row, at, ax, ay, az, bx, by, bz):
    """g[row, at:at + 3] += a x b."""
    g[row, at] += ay * bz - az * by
    g[row, at + 1] += az * bx - ax * bz
    g[row, at + 2] += ax * by - ay * bx
