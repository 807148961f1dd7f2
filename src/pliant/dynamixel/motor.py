"""The motor of a servo behind any actuator: what its controllers give becomes a reference or a torque of the joint.

A DC motor with gear has the torque

    tau = tau_stall (u - v / v_0)

with the duty cycle u (-1 to 1), the speed v of its output, and torque at stall and speed without load of the data sheet
at the recommended supply. If the actuator of the joint takes torques, tau is its command. If it takes positions, the
reference moves with the speed at which that motor turns under the measured torque, v = v_0 (u - tau / tau_stall): a
motor whose own inertia is not modelled. A limit of the current or of the duty cycle then limits the torque that builds
up, as it does in a servo.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

SPEED_LAG = 0.02
"""Lag of the reference of an actuator that takes velocities [s]. # assumed"""


class Actuation(enum.Enum):
    """Input of the actuator of a joint."""

    POSITION = "position"
    VELOCITY = "velocity"
    TORQUE = "torque"


@dataclass(frozen=True, slots=True)
class Motion:
    """Measured state of the output of a servo."""

    position: float
    """Position [rad]."""
    velocity: float
    """Velocity [rad/s]."""
    torque: float
    """Torque of the actuator on the joint [N m]; 0 where it is not measured."""
    slack: float
    """Reference at which an actuator that takes positions gives no torque [rad]."""
    stiffness: float = 0.0
    """Stiffness of an actuator that takes positions [N m/rad]; 0 where it is not known."""


@dataclass(slots=True)
class Motor:
    """A motor on one kind of actuator."""

    stall_torque: float
    """Torque at stall [N m]."""
    no_load_speed: float
    """Speed without load [rad/s]."""
    actuation: Actuation
    """What the actuator of the joint takes."""
    inertia: float = math.inf
    """Inertia of the joint [kg m^2]; a light joint gets less damping than the motor has, or a step would reverse it."""
    reference: float = 0.0
    """Reference of an actuator that takes positions or velocities [rad or rad/s]."""

    def start(self, motion: Motion) -> None:
        """Begin at a state, without a jump of the reference."""
        self.reference = motion.velocity if self.actuation is Actuation.VELOCITY else motion.position

    def pull(self, torque: float, band: tuple[float, float], motion: Motion, dt: float) -> float:
        """Return the command with which the motor has a torque at its output.

        Args:
            torque: the torque [N m].
            band: lowest and highest duty cycle that the supply and the limits allow.
            motion: state of the output.
            dt: step [s].
        """
        low, high = self._torques(band, motion, dt)
        if self.actuation is Actuation.TORQUE:
            return min(max(torque, low), high)
        return self.turn(math.copysign(math.inf, torque - motion.torque), (torque, torque), band, motion, dt)

    def apply(self, duty: float, motion: Motion, dt: float) -> float:
        """Return the command with which the motor has a duty cycle, -1 to 1."""
        if self.actuation is Actuation.TORQUE:
            return self._torques((duty, duty), motion, dt)[0]
        torque = duty * self.stall_torque
        return self.turn(math.copysign(math.inf, torque - motion.torque), (torque, torque), (duty, duty), motion, dt)

    def turn(
        self, speed: float, torques: tuple[float, float], band: tuple[float, float], motion: Motion, dt: float
    ) -> float:
        """Return the reference of an actuator that takes positions or velocities, for a wanted speed of the output.

        Args:
            speed: the wanted speed [rad/s].
            torques: lowest and highest torque that a limit of the current allows [N m].
            band: lowest and highest duty cycle.
            motion: state of the output.
            dt: step [s].
        """
        slope = self.no_load_speed / self.stall_torque
        if self.actuation is Actuation.POSITION and motion.stiffness > 0.0:
            # The torque follows the reference a step later: a steeper slope would overshoot.
            slope = min(slope, 0.5 / (motion.stiffness * dt))
        lowest = slope * (max(torques[0], band[0] * self.stall_torque) - motion.torque)
        highest = slope * (min(torques[1], band[1] * self.stall_torque) - motion.torque)
        speed = min(max(speed, lowest), highest)
        if self.actuation is Actuation.VELOCITY:
            # The torque follows a velocity at once: without a lag, a limit of the torque would make it oscillate.
            self.reference += (speed - self.reference) * min(1.0, dt / SPEED_LAG)
            return self.reference
        self.reference += speed * dt
        return self.reference

    def duty(self, torque: float, velocity: float) -> float:
        """Return the duty cycle of a motor with a torque [N m] at a speed [rad/s]."""
        return torque / self.stall_torque + velocity / self.no_load_speed

    def _torques(self, band: tuple[float, float], motion: Motion, dt: float) -> tuple[float, float]:
        """Return the torques at the ends of a band of duty cycles at the present speed."""
        damping = self.stall_torque / self.no_load_speed
        damping /= 1.0 + 3.0 * damping * dt / self.inertia
        drag = damping * motion.velocity
        return band[0] * self.stall_torque - drag, band[1] * self.stall_torque - drag
