"""First-order closed-loop inverse kinematics (Siciliano, Sciavicco, Villani and Oriolo 2010, section 3.7).

    q' = J^+(q) (x'_d + K e) + (I - J^+ J) k_0 (q_posture - q)

The pseudo-inverse is damped near singularities (Nakamura and Hanafusa 1986) with a damping that grows as the smallest
singular value falls (Chiaverini 1997), so joint speeds stay bounded; away from them it is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.argument_checks import ControlError, gains, number, vector
from pliant.base.numerics import Array
from pliant.base.spatial import pose_error
from pliant.control.trajectory import Motion


def damped_pseudo_inverse(J: ArrayLike, damping: float = 0.05, threshold: float = 0.02) -> Array:
    """Return J^T (J J^T + lambda^2 I)^-1 with damping only near singularities.

        lambda^2 = (1 - (s_min / threshold)^2) damping^2   where the smallest singular value s_min < threshold, else 0

    Args:
        J: Jacobian, shape (m, n).
        damping: largest lambda, in the unit of the singular values.
        threshold: singular value below which damping sets in; 0 gives the plain pseudo-inverse.

    Returns:
        shape (n, m).
    """
    U, s, Vt = np.linalg.svd(np.asarray(J, dtype=float), full_matrices=False)
    square = (1.0 - (s[-1] / threshold) ** 2) * damping**2 if s[-1] < threshold else 0.0
    tiny = np.finfo(float).eps * max(np.shape(J)) * s[0]
    inverse = np.divide(s, s * s + square, out=np.zeros_like(s), where=s > tiny)
    return (Vt.T * inverse) @ U.T


@dataclass(frozen=True, slots=True, kw_only=True)
class InverseKinematicsSolution:
    """Result of `ClosedLoopInverseKinematics.solve`."""

    q: Array
    """Joint positions, shape (n,) [rad]."""
    error: Array
    """Task error that is left, shape (m,) [m, rad]."""
    iterations: int
    """Steps taken."""
    converged: bool
    """Whether the norm of the error is inside the tolerance."""


class ClosedLoopInverseKinematics:
    """Inverse kinematics as an integrator that chases the desired task.

    The task is a position (``forward`` returns shape (m,)) or a pose (``forward`` returns (4, 4)); a pose has six
    rows: position, then rotation, both in world axes, as the Jacobian's rows must be.

    Args:
        forward: q -> task position (m,) or pose (4, 4).
        jacobian: q -> Jacobian, shape (m, n), or (6, n) for a pose.
        gain: K, one number or one per row [1/s]; K dt < 2 keeps the loop stable.
        rows: which rows of the task count, such as (0, 2) for x and z; None takes all.
        damping: largest damping of the pseudo-inverse near singularities.
        threshold: singular value below which it sets in.
        posture: joint positions that the null space seeks, shape (n,) [rad]; None leaves it alone.
        posture_gain: k_0 [1/s].
        limits: lower and upper joint limits, each of shape (n,) [rad]; None for none.
        max_velocity: largest joint speed, number or shape (n,) [rad/s]; the whole step is scaled, its direction kept.

    Example:
        >>> clik = ClosedLoopInverseKinematics(forward, jacobian, gain=10.0, rows=(0, 2))
        >>> q = clik.step(q, x_desired, dx_desired, dt=0.001)
    """

    def __init__(
        self,
        forward: Callable[[Array], ArrayLike],
        jacobian: Callable[[Array], ArrayLike],
        *,
        gain: ArrayLike = 10.0,
        rows: Sequence[int] | None = None,
        damping: float = 0.05,
        threshold: float = 0.02,
        posture: ArrayLike | None = None,
        posture_gain: float = 1.0,
        limits: tuple[ArrayLike, ArrayLike] | None = None,
        max_velocity: ArrayLike | None = None,
    ) -> None:
        name = type(self).__name__
        self.forward, self.jacobian = forward, jacobian
        self.rows = None if rows is None else list(rows)
        self.gain = gains(name, "gain", gain)
        self.damping = number(name, "damping", damping, "", low=0.0)
        self.threshold = number(name, "threshold", threshold, "", low=0.0)
        self.posture = None if posture is None else vector(name, "posture", posture)
        self.posture_gain = number(name, "posture_gain", posture_gain, "1/s", low=0.0)
        self.lower, self.upper = None, None
        if limits is not None:
            self.lower, self.upper = vector(name, "lower", limits[0]), vector(name, "upper", limits[1])
        if self.lower is not None and self.upper is not None and np.any(self.lower > self.upper):
            i = int(np.flatnonzero(self.lower > self.upper)[0])
            raise ControlError(f"{name}: lower[{i}] {self.lower[i]:g} is above upper[{i}] {self.upper[i]:g}")
        self.max_velocity = None if max_velocity is None else gains(name, "max_velocity", max_velocity)
        if self.max_velocity is not None and np.any(self.max_velocity == 0.0):
            raise ControlError(f"{name}: max_velocity is 0; must be more than 0 rad/s", field="max_velocity")

    def error(self, q: ArrayLike, desired: ArrayLike) -> Array:
        """Return the task error of the rows that count: desired minus actual."""
        actual = np.asarray(self.forward(np.asarray(q, dtype=float)), dtype=float)
        wanted = np.asarray(desired, dtype=float)
        if actual.shape == (4, 4):
            if wanted.shape != (4, 4):
                raise ControlError(f"clik: the desired pose has shape {wanted.shape}; must be (4, 4)", field="desired")
            e = pose_error(wanted, actual)
            return e if self.rows is None else e[self.rows]
        if self.rows is not None:
            wanted = self._select(wanted, actual.shape[0])
            actual = actual[self.rows]
        if actual.shape != wanted.shape:
            raise ControlError(
                f"clik: desired has shape {wanted.shape}; must be {actual.shape}, as the task", field="desired"
            )
        return wanted - actual

    def _select(self, value: Array, full: int) -> Array:
        """Return the rows that count of a value that has all rows, or the value as it is."""
        return value if self.rows is None or value.shape[0] != full else value[self.rows]

    def velocity(self, q: ArrayLike, desired: ArrayLike, desired_velocity: ArrayLike | None = None) -> Array:
        """Return joint velocities, shape (n,) [rad/s].

        Args:
            q: joint positions, shape (n,) [rad].
            desired: task position or pose.
            desired_velocity: velocity of the task, shape of its rows [m/s, rad/s]; None takes 0.

        Raises:
            ControlError: shapes that do not fit.
        """
        q = np.asarray(q, dtype=float)
        e = self.error(q, desired)
        J = np.atleast_2d(np.asarray(self.jacobian(q), dtype=float))
        full = J.shape[0] if self.rows is None else max(J.shape[0], max(self.rows) + 1)
        J = self._select(J, full)
        if J.shape != (e.size, q.size):
            raise ControlError(f"clik: the Jacobian has shape {J.shape}, not ({e.size}, {q.size})", field="jacobian")
        v = self.gain * e
        if desired_velocity is not None:
            rate = np.asarray(desired_velocity, dtype=float)
            rate = self._select(rate, full)
            if rate.shape != e.shape:
                raise ControlError(
                    f"clik: desired_velocity has shape {rate.shape}; must be {e.shape}", field="desired_velocity"
                )
            v = v + rate
        inverse = damped_pseudo_inverse(J, self.damping, self.threshold)
        dq = inverse @ v
        if self.posture is not None:
            # The projector comes from the exact inverse: a damped one would let the posture disturb the task.
            exact = damped_pseudo_inverse(J, 0.0, 0.0)
            wish = self.posture_gain * (self.posture - q)
            dq = dq + wish - exact @ (J @ wish)
        if self.max_velocity is not None:
            worst = float(np.max(np.abs(dq) / self.max_velocity))
            if worst > 1.0:
                dq = dq / worst
        return dq

    def step(
        self, q: ArrayLike, desired: ArrayLike, desired_velocity: ArrayLike | None = None, dt: float = 1e-3
    ) -> Array:
        """Return the joint positions one time step later, inside the limits, shape (n,) [rad]."""
        q = np.asarray(q, dtype=float)
        new = q + dt * self.velocity(q, desired, desired_velocity)
        if self.lower is not None or self.upper is not None:
            new = np.clip(new, self.lower, self.upper)
        return new

    def solve(
        self,
        q: ArrayLike,
        desired: ArrayLike,
        *,
        tolerance: float = 1e-8,
        max_iterations: int = 1000,
        rate: float = 0.5,
    ) -> InverseKinematicsSolution:
        """Iterate until the task is reached; a step after which the error would grow is halved, at most eight times.

        Args:
            q: where to start, shape (n,) [rad].
            desired: task position or pose.
            tolerance: norm of the error that ends it [m, rad].
            max_iterations: steps at most.
            rate: part of the error removed in a step, gain times dt, in (0, 1].

        Returns:
            The solution; ``converged`` is False where the target is out of reach.
        """
        number("solve", "rate", rate, "", low=0.0, above=True, high=1.0)
        fastest = float(np.max(self.gain))
        if fastest <= 0.0:
            raise ControlError("clik: solve needs a gain above 0", field="gain")
        dt = rate / fastest
        q = np.asarray(q, dtype=float)
        e = self.error(q, desired)
        count = 0
        while (size := np.linalg.norm(e)) > tolerance and count < max_iterations:
            start = q
            for halvings in range(9):
                q = self.step(start, desired, None, dt / 2**halvings)
                e = self.error(q, desired)
                if np.linalg.norm(e) <= size:
                    break
            count += 1
        return InverseKinematicsSolution(q=q, error=e, iterations=count, converged=bool(np.linalg.norm(e) <= tolerance))

    def track(self, q: ArrayLike, trajectory: Callable[[float], Motion], times: Iterable[float]) -> Array:
        """Return joint positions along a task trajectory, shape (t, n) [rad].

        Args:
            q: joint positions at the first time, shape (n,) [rad].
            trajectory: time -> (position, velocity, ...), such as a `pliant.control.Trajectory`.
            times: increasing times [s].
        """
        times = np.asarray(list(times), dtype=float)
        q = np.asarray(q, dtype=float)
        out = np.empty((times.size, q.size))
        for i, t in enumerate(times):
            out[i] = q
            if i + 1 < times.size:
                position, velocity, *_ = trajectory(float(t))
                q = self.step(q, position, velocity, float(times[i + 1] - t))
        return out
