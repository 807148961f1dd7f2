"""Feed-forward and feedback by a model: computed torque, and its way through spring and servo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.numerics import Array
from pliant.control.checks import gains, number
from pliant.control.gravity import equilibrium_for_torque
from pliant.laws import PID, DCMotor, Law


class ComputedTorque:
    """Inverse dynamics with a linear error loop (Siciliano et al. 2010, section 8.5.2).

        tau = M(q) (q''_d + kd (q'_d - q') + kp (q_d - q)) + n(q, q')

    With an exact model the error obeys e'' + kd e' + kp e = 0.

    Args:
        inertia: q -> M(q), shape (n, n).
        bias: (q, dq) -> Coriolis, centrifugal and gravity torques, shape (n,) [N m].
        kp: position gain, number or shape (n,) [1/s^2].
        kd: velocity gain [1/s]; None takes critical damping, 2 sqrt(kp).

    Raises:
        ControlError: gains that are negative or no numbers.
    """

    def __init__(
        self,
        inertia: Callable[[Array], ArrayLike],
        bias: Callable[[Array, Array], ArrayLike],
        kp: ArrayLike = 100.0,
        kd: ArrayLike | None = None,
    ) -> None:
        self.inertia, self.bias = inertia, bias
        name = type(self).__name__
        self.kp = gains(name, "kp", kp)
        self.kd = 2.0 * np.sqrt(self.kp) if kd is None else gains(name, "kd", kd)

    def __call__(
        self,
        q: ArrayLike,
        dq: ArrayLike,
        q_desired: ArrayLike,
        dq_desired: ArrayLike = 0.0,
        ddq_desired: ArrayLike = 0.0,
    ) -> Array:
        """Return the joint torques, shape (n,) [N m]; positions [rad], velocities [rad/s], accelerations [rad/s^2]."""
        q, dq = np.asarray(q, dtype=float), np.asarray(dq, dtype=float)
        a = np.asarray(ddq_desired) + self.kd * (np.asarray(dq_desired) - dq) + self.kp * (np.asarray(q_desired) - q)
        M = np.asarray(self.inertia(q), dtype=float)
        return M @ np.broadcast_to(a, q.shape) + np.asarray(self.bias(q, dq), dtype=float)


class ElasticFeedforward:
    """Equilibrium commands that make compliant joints follow a motion, if the model is right.

    The link side asks for tau = M(q_d) q''_d + n(q_d, q'_d); the springs give it at theta_eq = q_d + deflection(tau)
    (De Luca and Book 2016, Robots with flexible elements, for the linear spring).

    Args:
        laws: one per joint.
        inertia: q -> M(q), shape (n, n).
        bias: (q, dq) -> Coriolis, centrifugal, gravity and friction torques, shape (n,) [N m].
    """

    def __init__(
        self,
        laws: Sequence[Law],
        inertia: Callable[[Array], ArrayLike],
        bias: Callable[[Array, Array], ArrayLike],
    ) -> None:
        self.laws, self.inertia, self.bias = tuple(laws), inertia, bias

    def __call__(
        self, q: ArrayLike, dq: ArrayLike = 0.0, ddq: ArrayLike = 0.0, preset: ArrayLike = 0.0
    ) -> tuple[Array, Array]:
        """Return (theta_eq [rad], joint torque [N m]), each of shape (n,), for a desired motion.

        Raises:
            LawError: a spring cannot give its torque.
        """
        q = np.asarray(q, dtype=float)
        dq = np.broadcast_to(np.asarray(dq, dtype=float), q.shape)
        ddq = np.broadcast_to(np.asarray(ddq, dtype=float), q.shape)
        tau = np.asarray(self.inertia(q), dtype=float) @ ddq + np.asarray(self.bias(q, dq), dtype=float)
        presets = np.broadcast_to(np.asarray(preset, dtype=float), q.shape)
        eq = [equilibrium_for_torque(law, q[i], tau[i], presets[i]) for i, law in enumerate(self.laws)]
        return np.array(eq, dtype=float), tau


@dataclass(frozen=True, slots=True, kw_only=True)
class ServoFeedforward:
    """Inverse of a motor with its PD servo, so that the motor follows without lag.

    The motor obeys J theta'' + D theta' + load = kp (ref - theta) - kd theta' (derivative on the measurement), hence

        ref = theta + ((kd + D) theta' + J theta'' + load) / kp

    Friction, the integral part and saturation are left out.
    """

    inertia: float
    """J [kg m^2]."""
    damping: float
    """D [N m s/rad]."""
    kp: float
    """Position gain [N m/rad], positive."""
    kd: float
    """Velocity gain [N m s/rad]."""

    def __post_init__(self) -> None:
        name = type(self).__name__
        number(name, "inertia", self.inertia, "kg m^2", low=0.0)
        number(name, "damping", self.damping, "N m s/rad", low=0.0)
        number(name, "kp", self.kp, "N m/rad", low=0.0, above=True)
        number(name, "kd", self.kd, "N m s/rad", low=0.0)

    @classmethod
    def of(cls, motor: DCMotor, pid: PID) -> ServoFeedforward:
        """Return the inverse of a motor and its controller."""
        return cls(inertia=motor.inertia, damping=motor.damping, kp=pid.kp, kd=pid.kd)

    @property
    def lag(self) -> float:
        """Time by which the servo trails a slow reference without it: (kd + D) / kp [s]."""
        return (self.kd + self.damping) / self.kp

    def __call__(
        self, theta: ArrayLike, velocity: ArrayLike = 0.0, acceleration: ArrayLike = 0.0, load: ArrayLike = 0.0
    ) -> object:
        """Return the reference for a wanted motor motion [rad, rad/s, rad/s^2] under a load [N m]."""
        theta, velocity, acceleration, load = (
            np.asarray(x, dtype=float) for x in (theta, velocity, acceleration, load)
        )
        out = theta + ((self.kd + self.damping) * velocity + self.inertia * acceleration + load) / self.kp
        return float(out) if out.ndim == 0 else out
