"""Kinematics of a robot with a free base and hinges: poses, centre of mass, gravity torques, inverse kinematics.

All link frames are parallel to the base's frame when every joint is at 0, so a link has no orientation of its own.
Link 0 is the base and joint i moves link i. Everything is computed in world axes about the base's origin: a real robot
knows the base's orientation and rates from its inertial unit and the joints from their encoders, and its place from
neither.

Gravity torques and centres of mass: Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 5, for a body at rest.
Inverse kinematics: Newton's method on position and rotation vector, damped near singular poses (Nakamura and Hanafusa
1986).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pliant.base.codecache import njit
from pliant.base.errors import PliantError
from pliant.base.numerics import Array

Index = NDArray[np.int64]


@njit(error_model="numpy")
def _rodrigues(parent, axis, angle, out):
    """Write parent @ (rotation about a unit axis by an angle), all (3, 3)."""
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = axis[0], axis[1], axis[2]
    t = 1.0 - c
    m00, m01, m02 = c + x * x * t, x * y * t - z * s, x * z * t + y * s
    m10, m11, m12 = y * x * t + z * s, c + y * y * t, y * z * t - x * s
    m20, m21, m22 = z * x * t - y * s, z * y * t + x * s, c + z * z * t
    for r in range(3):
        a, b, d = parent[r, 0], parent[r, 1], parent[r, 2]
        out[r, 0] = a * m00 + b * m10 + d * m20
        out[r, 1] = a * m01 + b * m11 + d * m21
        out[r, 2] = a * m02 + b * m12 + d * m22


@njit(error_model="numpy")
def _observe_kernel(parent, offset, axis, mass, com, q, dq, R, P, Z, W, V, total, center, hold, out):
    """Fill poses and velocities of all links from those of link 0; see `KinematicTree.observe`."""
    n = parent.shape[0]
    for i in range(1, n):
        k = parent[i]
        for r in range(3):
            d = R[k, r, 0] * offset[i, 0] + R[k, r, 1] * offset[i, 1] + R[k, r, 2] * offset[i, 2]
            P[i, r] = P[k, r] + d
            Z[i, r] = R[k, r, 0] * axis[i, 0] + R[k, r, 1] * axis[i, 1] + R[k, r, 2] * axis[i, 2]
        _rodrigues(R[k], axis[i], q[i - 1], R[i])
        d0, d1, d2 = P[i, 0] - P[k, 0], P[i, 1] - P[k, 1], P[i, 2] - P[k, 2]
        V[i, 0] = V[k, 0] + W[k, 1] * d2 - W[k, 2] * d1
        V[i, 1] = V[k, 1] + W[k, 2] * d0 - W[k, 0] * d2
        V[i, 2] = V[k, 2] + W[k, 0] * d1 - W[k, 1] * d0
        for r in range(3):
            W[i, r] = W[k, r] + Z[i, r] * dq[i - 1]
    for r in range(6):
        out[r] = 0.0
    whole = 0.0
    for i in range(n):
        total[i] = mass[i]
        whole += mass[i]
        c0 = R[i, 0, 0] * com[i, 0] + R[i, 0, 1] * com[i, 1] + R[i, 0, 2] * com[i, 2]
        c1 = R[i, 1, 0] * com[i, 0] + R[i, 1, 1] * com[i, 1] + R[i, 1, 2] * com[i, 2]
        c2 = R[i, 2, 0] * com[i, 0] + R[i, 2, 1] * com[i, 1] + R[i, 2, 2] * com[i, 2]
        center[i, 0] = mass[i] * (P[i, 0] + c0)
        center[i, 1] = mass[i] * (P[i, 1] + c1)
        center[i, 2] = mass[i] * (P[i, 2] + c2)
        out[3] += mass[i] * (V[i, 0] + W[i, 1] * c2 - W[i, 2] * c1)
        out[4] += mass[i] * (V[i, 1] + W[i, 2] * c0 - W[i, 0] * c2)
        out[5] += mass[i] * (V[i, 2] + W[i, 0] * c1 - W[i, 1] * c0)
    for i in range(n - 1, 0, -1):
        k = parent[i]
        total[k] += total[i]
        for r in range(3):
            center[k, r] += center[i, r]
        # Moment of the weight of all that hangs on the joint, about its axis, for g = 1 m/s^2.
        m0 = center[i, 0] - total[i] * P[i, 0]
        m1 = center[i, 1] - total[i] * P[i, 1]
        hold[i - 1] = Z[i, 0] * m1 - Z[i, 1] * m0
    for r in range(3):
        out[r] = center[0, r] / whole
        out[3 + r] /= whole


@njit(error_model="numpy")
def _limb_kernel(links, offset, axis, q, R, P, J):
    """Forward kinematics of one limb, base at the origin; write pose of each link and the Jacobian of the last."""
    m = links.shape[0]
    rotation = np.eye(3)
    p0, p1, p2 = 0.0, 0.0, 0.0
    for j in range(m):
        i = links[j]
        o0, o1, o2 = offset[i, 0], offset[i, 1], offset[i, 2]
        p0 += rotation[0, 0] * o0 + rotation[0, 1] * o1 + rotation[0, 2] * o2
        p1 += rotation[1, 0] * o0 + rotation[1, 1] * o1 + rotation[1, 2] * o2
        p2 += rotation[2, 0] * o0 + rotation[2, 1] * o1 + rotation[2, 2] * o2
        P[j, 0], P[j, 1], P[j, 2] = p0, p1, p2
        for r in range(3):
            J[3 + r, j] = rotation[r, 0] * axis[i, 0] + rotation[r, 1] * axis[i, 1] + rotation[r, 2] * axis[i, 2]
        _rodrigues(rotation, axis[i], q[j], R[j])
        rotation = R[j]
    for j in range(m):
        d0, d1, d2 = p0 - P[j, 0], p1 - P[j, 1], p2 - P[j, 2]
        J[0, j] = J[4, j] * d2 - J[5, j] * d1
        J[1, j] = J[5, j] * d0 - J[3, j] * d2
        J[2, j] = J[3, j] * d1 - J[4, j] * d0


@njit(error_model="numpy")
def _least_squares_kernel(J, e, damping, x):
    """Write x = J' (J J' + damping^2 1)^-1 e, by Cholesky's decomposition; J has 6 rows."""
    L = np.empty((6, 6))
    y = np.empty(6)
    m = J.shape[1]
    for r in range(6):
        for c in range(r + 1):
            s = damping * damping if r == c else 0.0
            for k in range(m):
                s += J[r, k] * J[c, k]
            for k in range(c):
                s -= L[r, k] * L[c, k]
            L[r, c] = math.sqrt(max(s, 1e-300)) if r == c else s / L[c, c]
        s = e[r]
        for k in range(r):
            s -= L[r, k] * y[k]
        y[r] = s / L[r, r]
    for r in range(5, -1, -1):
        s = y[r]
        for k in range(r + 1, 6):
            s -= L[k, r] * y[k]
        y[r] = s / L[r, r]
    for k in range(m):
        s = 0.0
        for r in range(6):
            s += J[r, k] * y[r]
        x[k] = s


@njit(error_model="numpy")
def _inverse_kernel(links, offset, axis, low, high, target_R, target_p, q, iterations, damping, R, P, J):
    """Newton iterations towards a pose of the limb's last link; return the residual [m, rad] of the last pose."""
    m = links.shape[0]
    e, step, E = np.empty(6), np.empty(m), np.empty((3, 3))
    residual = 0.0
    for k in range(iterations + 1):
        _limb_kernel(links, offset, axis, q, R, P, J)
        last = R[m - 1]
        for r in range(3):
            e[r] = target_p[r] - P[m - 1, r]
        # Rotation vector of target_R @ last.T, in the base's axes.
        for r in range(3):
            for c in range(3):
                E[r, c] = target_R[r, 0] * last[c, 0] + target_R[r, 1] * last[c, 1] + target_R[r, 2] * last[c, 2]
        s0, s1, s2 = 0.5 * (E[2, 1] - E[1, 2]), 0.5 * (E[0, 2] - E[2, 0]), 0.5 * (E[1, 0] - E[0, 1])
        sine = math.sqrt(s0 * s0 + s1 * s1 + s2 * s2)
        cosine = 0.5 * (E[0, 0] + E[1, 1] + E[2, 2] - 1.0)
        factor = 1.0 if sine < 1e-9 else math.atan2(sine, cosine) / sine
        e[3], e[4], e[5] = factor * s0, factor * s1, factor * s2
        residual = 0.0
        for r in range(6):
            residual = max(residual, abs(e[r]))
        if k == iterations or residual < 1e-11:
            break
        _least_squares_kernel(J, e, damping, step)
        for j in range(m):
            q[j] = min(max(q[j] + min(max(step[j], -0.3), 0.3), low[j]), high[j])
    return residual


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KinematicTree:
    """Links and hinges of a robot with a free base.

    Raises:
        PliantError: a parent that does not come before its child, or arrays of different lengths.
    """

    parent: Index
    """Index of the link that carries each link, -1 for the base, which is link 0; shape (n+1,)."""
    offset: Array
    """Place of each joint in the frame of the carrying link, shape (n+1, 3) [m]."""
    axis: Array
    """Unit vector of each joint, shape (n+1, 3)."""
    mass: Array
    """Mass of each link, shape (n+1,) [kg]."""
    com: Array
    """Centre of mass of each link in its frame, shape (n+1, 3) [m]."""
    low: Array
    """Lowest position of each joint, shape (n,) [rad]."""
    high: Array
    """Highest position of each joint, shape (n,) [rad]."""
    R: Array = field(init=False)
    """Orientation of each link in the world, shape (n+1, 3, 3); filled by `observe`."""
    P: Array = field(init=False)
    """Origin of each link from the base's origin, world axes, shape (n+1, 3) [m]."""
    Z: Array = field(init=False)
    """Axis of each joint in the world, shape (n+1, 3)."""
    W: Array = field(init=False)
    """Angular velocity of each link, shape (n+1, 3) [rad/s]."""
    V: Array = field(init=False)
    """Velocity of each link's origin for a base whose origin rests, shape (n+1, 3) [m/s]."""
    hold: Array = field(init=False)
    """Torque of each joint against the weight of what it carries, for a gravity of 1 m/s^2, shape (n,) [kg m]."""
    _work: tuple[Array, Array, Array] = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.parent)
        shapes = {"offset": (n, 3), "axis": (n, 3), "mass": (n,), "com": (n, 3), "low": (n - 1,), "high": (n - 1,)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise PliantError(f"{name} has shape {getattr(self, name).shape}; must be {shape}", field=name)
        if n < 1 or self.parent[0] != -1 or any(not 0 <= self.parent[i] < i for i in range(1, n)):
            raise PliantError(
                f"parent is {self.parent.tolist()}; must be -1 for link 0 and a lower index for every other link",
                field="parent",
            )
        for name, shape in {
            "R": (n, 3, 3),
            "P": (n, 3),
            "Z": (n, 3),
            "W": (n, 3),
            "V": (n, 3),
            "hold": (n - 1,),
        }.items():
            object.__setattr__(self, name, np.zeros(shape))
        self.R[:] = np.eye(3)
        object.__setattr__(self, "_work", (np.zeros(n), np.zeros((n, 3)), np.zeros(6)))

    @property
    def total_mass(self) -> float:
        """Mass of the robot [kg]."""
        return float(self.mass.sum())

    def observe(self, rotation: Array, rates: Array, q: Array, dq: Array) -> tuple[Array, Array]:
        """Fill `R`, `P`, `Z`, `W`, `V`, `hold` for a base at the origin that does not translate.

        Args:
            rotation: orientation of the base in the world, shape (3, 3).
            rates: its angular velocity, world axes, shape (3,) [rad/s].
            q: joint positions, shape (n,) [rad].
            dq: joint velocities, shape (n,) [rad/s].

        Returns:
            Centre of mass from the base's origin, and its velocity for a base whose origin rests, world axes; views
            that the next call overwrites, shape (3,) [m], [m/s].
        """
        total, center, out = self._work
        self.R[0] = rotation
        self.W[0] = rates
        _observe_kernel(
            self.parent, self.offset, self.axis, self.mass, self.com, q, dq,
            self.R, self.P, self.Z, self.W, self.V, total, center, self.hold, out,
        )  # fmt: skip
        return out[:3], out[3:]

    def limb_rates(self, J: Array, twist: Array, *, damping: float = 1e-3) -> Array:
        """Return joint velocities that give the last link of a limb a twist, by damped least squares.

        Args:
            J: Jacobian from `limb_pose` or `solve_limb`, shape (6, m).
            twist: velocity and angular velocity in the base, shape (6,).
            damping: as in `solve_limb`.
        """
        out = np.empty(J.shape[1])
        _least_squares_kernel(J, twist, damping, out)
        return out

    def limb(self, last: int) -> Index:
        """Return the links from the base to a link, without the base."""
        links = []
        while last > 0:
            links.append(last)
            last = int(self.parent[last])
        return np.array(links[::-1], dtype=np.int64)

    def limb_pose(self, links: Index, q: Array) -> tuple[Array, Array, Array]:
        """Return pose and Jacobian of the last link of a limb, in the base.

        Args:
            links: of the limb, from `limb`.
            q: positions of its joints, shape (m,) [rad].

        Returns:
            Orientation (3, 3), origin (3,) [m], Jacobian (6, m), translation first, at the origin.
        """
        m = len(links)
        R, P, J = np.empty((m, 3, 3)), np.empty((m, 3)), np.empty((6, m))
        _limb_kernel(links, self.offset, self.axis, np.asarray(q, dtype=float), R, P, J)
        return R[-1], P[-1], J

    def solve_limb(
        self, links: Index, rotation: Array, position: Array, q: Array, *, iterations: int = 4, damping: float = 1e-3
    ) -> tuple[Array, float, Array]:
        """Return joint positions that put the last link of a limb into a pose in the base.

        Args:
            links: of the limb, from `limb`.
            rotation: orientation that is wanted, shape (3, 3).
            position: origin that is wanted, shape (3,) [m].
            q: positions to start from, shape (m,) [rad].
            iterations: most Newton steps, each of at most 0.3 rad a joint.
            damping: of the least squares; the error after a step is about damping^2 / (smallest singular value)^2.

        Returns:
            Positions within the limits, shape (m,) [rad]; the largest component of the error that is left [m, rad]; the
            Jacobian there, shape (6, m).
        """
        m = len(links)
        R, P, J = np.empty((m, 3, 3)), np.empty((m, 3)), np.empty((6, m))
        out = np.array(q, dtype=float)
        residual = _inverse_kernel(
            links, self.offset, self.axis, self.low[links - 1], self.high[links - 1],
            np.ascontiguousarray(rotation), position, out, iterations, damping, R, P, J,
        )  # fmt: skip
        return out, float(residual), J
