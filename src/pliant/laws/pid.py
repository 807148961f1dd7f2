"""PID controller of a motor or of the link."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pliant.base.errors import LawError
from pliant.base.options import check_values, option


@dataclass(frozen=True, slots=True)
class PID:
    """PID position controller (Mengacci 2021, eq. 11). As in its code, the derivative acts only on the measurement.

    I += ki e dt;  output = I + kp e - kd velocity

    with the position error e = reference - position. Options beyond the original: an integral limit, anti-windup (the
    integral is constant while a limit of the motor cuts the output and the error would increase the difference), and
    velocity feed-forward kd d(ref)/dt.
    """

    kp: float = option(125.0, unit="N m/rad", low=0.0, source="default of the toolbox's motors")
    """Proportional gain."""
    ki: float = option(0.0, unit="N m/(rad s)", low=0.0)
    """Integral gain."""
    kd: float = option(4.5, unit="N m s/rad", low=0.0, source="default of the toolbox's motors")
    """Derivative gain."""
    integral_limit: float = option(math.inf, unit="N m", low=0.0, infinite=True)
    """Maximum magnitude of the integral term."""
    anti_windup: bool = False
    """Whether to stop the integration while a limit of the motor cuts the output in the direction of the error: its
    torque, its supply voltage, its speed or a stop."""
    velocity_feedforward: bool = False
    """Whether to add kd times the finite-difference derivative of the reference."""

    def __post_init__(self) -> None:
        check_values(self, LawError)

    def step(
        self, integral: float, reference: float, position: float, velocity: float, dt: float
    ) -> tuple[float, float]:
        """Advance the integral term and return the output, without anti-windup and velocity feed-forward.

        Args:
            integral: integral term at the start of the step [N m].
            reference: reference position [rad].
            position: measured position [rad].
            velocity: measured velocity [rad/s].
            dt: time step [s].

        Returns:
            (integral, output) [N m].
        """
        from pliant.laws import motor_kernels as kernels
        from pliant.laws.layout import C_PARAMETERS, pack_pid

        par = [0.0] * C_PARAMETERS
        pack_pid(par, 0, self)
        return kernels.pid_step(par, 0, integral, reference, position, velocity, 0.0, -math.inf, math.inf, dt)
