"""Imperfections of the sensors and motors of real joints: rounding of encoders, noise and bias of torques."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from pliant.base.errors import DeviceError
from pliant.base.numerics import Array
from pliant.franka.device.memory import DT


@dataclass(frozen=True, slots=True, kw_only=True)
class Imperfections:
    """Imperfections of an arm's joints; the vendor publishes no numbers of the parts, so they are 0 by default."""

    encoder_resolution: float = 0.0
    """Step of the measured joint positions [rad]; the measured velocities change by the rate of the rounding error."""
    torque_sensor_noise: float = 0.0
    """Standard deviation of the measured torques, white in each cycle [N m]."""
    torque_sensor_bias: float = 0.0
    """Standard deviation of a constant error of each torque sensor, drawn at the start of a run [N m]."""
    motor_noise: float = 0.0
    """Standard deviation of the motors' torques at the joints, white in each cycle [N m]: the flange trembles by it."""

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if not (np.isfinite(value) and value >= 0.0):
                raise DeviceError(f"{entry.name} is {value!r}; must be a finite number >= 0", field=entry.name)

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return any(getattr(self, entry.name) for entry in fields(self))


NO_IMPERFECTIONS = Imperfections()
"""Exact sensors and motors."""


class JointNoise:
    """The imperfections of seven joints in a run.

    Args:
        imperfections: their sizes.
    """

    def __init__(self, imperfections: Imperfections) -> None:
        self.sizes = imperfections
        self._rng = np.random.default_rng(0)
        self._bias = np.zeros(7)
        self._rounding: Array | None = None

    def restart(self, rng: np.random.Generator) -> None:
        """Draw the biases of a new run."""
        self._rng = rng
        self._bias = self.sizes.torque_sensor_bias * rng.standard_normal(7)
        self._rounding = None

    def measure(self, q: Array, dq: Array, tau: Array) -> tuple[Array, Array, Array]:
        """Return what the sensors of a cycle measure.

        Args:
            q: joint positions, shape (7,) [rad].
            dq: joint velocities, shape (7,) [rad/s].
            tau: link-side torques, shape (7,) [N m].
        """
        sizes = self.sizes
        if step := sizes.encoder_resolution:
            measured = step * np.round(q / step)
            rounding = measured - q
            if self._rounding is not None:
                dq = dq + (rounding - self._rounding) / DT
            q, self._rounding = measured, rounding
        if sizes.torque_sensor_noise or sizes.torque_sensor_bias:
            tau = tau + self._bias + sizes.torque_sensor_noise * self._rng.standard_normal(7)
        return q, dq, tau

    def of_motors(self) -> Array:
        """Return what the motors exert in a cycle beside the torques of the cabinet, shape (7,) [N m]."""
        if not self.sizes.motor_noise:
            return np.zeros(7)
        return self.sizes.motor_noise * self._rng.standard_normal(7)
