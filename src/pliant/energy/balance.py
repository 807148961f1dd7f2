"""The energy balance of a run as numbers, as a line and for JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EnergyBalance:
    """Energies of a run [J]. Work done on the robot is positive; losses are positive."""

    motors: float
    """Mechanical work of the motors' torques (modes 4 to 6), of torques applied to the link (modes 0, 1), and of all
    actuators that are not compliant joints: arm motors, servos of parallel robots, MuJoCo's own actuators. Only the
    torque that remains after the torque limits of the joints is counted. With muscles, also the work that the air from
    their supply can do against the ambient air."""
    references: float
    """Work of moving references in modes 2 and 3, where the motors are ideal."""
    external: float
    """Work of external torques and wrenches, and of MuJoCo's gravity compensation of single bodies."""
    stored: float
    """Change of kinetic, potential, spring and motor energy. Energy in friction bristles counts as friction loss."""
    motor_friction: float
    """Loss in the presliding friction of the motors, and in friction that a device includes in a motor's torque."""
    motor_damping: float
    """Loss in the viscous friction of the motors."""
    velocity_limit: float
    """Kinetic energy that the speed limit of the motors takes (``limit_velocity``)."""
    motor_stops: float
    """Energy that the stops of the motors take in impacts (``min_position``, ``max_position``)."""
    cogging: float
    """Work against the cogging of the motors, 0 over a period of it."""
    transmission: float
    """Loss in backlash, tendons and elastic gears between motors, springs and links."""
    spring_losses: float
    """Loss in hysteresis, creep, plastic flow and breakage of the springs."""
    valves: float
    """Loss in the valves of muscles, the air that flows out included."""
    link_losses: float
    """Loss in the friction and damping that the actuators apply to the link."""
    joint_damping: float
    """Loss in the viscous damping of the joints and in other passive forces of the model."""
    constraints: float
    """Loss in joint friction, joint limits and contacts."""
    integrator: float
    """Loss by the order of evaluation in a step: numerical damping of the springs of joints and tendons by MuJoCo's
    integrator ``discrete``, and in modes 5 and 6 the work of the torque that the link gets from a spring because it is
    evaluated at the motor positions of the next step, as in the original toolbox. Negative where a step adds energy."""
    copper: float
    """Heat in the motor windings; not part of the mechanical balance."""

    @property
    def residual(self) -> float:
        """Energy balance error [J], caused by the time integration: supplied less lost less stored energy."""
        supplied = self.motors + self.references + self.external
        lost = self.motor_friction + self.motor_damping + self.velocity_limit + self.motor_stops + self.cogging
        lost += self.transmission + self.spring_losses
        lost += self.valves
        lost += self.link_losses + self.joint_damping + self.constraints
        return supplied - lost - self.integrator - self.stored

    throughput: float = 0.0
    """Sum of the magnitudes of all exchanges over the run [J]."""

    @property
    def relative(self) -> float:
        """Residual divided by throughput; 0 if nothing moved."""
        return abs(self.residual) / self.throughput if self.throughput > 1e-12 else 0.0

    def as_dict(self) -> dict[str, float]:
        """Return all terms, with ``residual`` and ``relative``, as a dictionary for JSON."""
        return {**asdict(self), "residual": self.residual, "relative": self.relative}

    def line(self) -> str:
        """Return the balance as one line; terms that few robots have are left out where they are 0."""
        terms = {
            "in": self.motors + self.references + self.external,
            "stored": self.stored,
            "motor losses": self.motor_friction + self.motor_damping + self.valves,
            "speed limit": self.velocity_limit,
            "motor stops": self.motor_stops,
            "cogging": self.cogging,
            "transmission": self.transmission,
            "springs": self.spring_losses,
            "joint losses": self.joint_damping + self.link_losses + self.constraints,
            "integrator": self.integrator,
        }
        least = 1e-6 * self.throughput
        rare = ("speed limit", "motor stops", "cogging", "transmission", "springs", "integrator")
        shown = ", ".join(
            f"{name} {value:.4g}" for name, value in terms.items() if name not in rare or abs(value) > least
        )
        error = f"{self.residual:.2g} J ({100 * self.relative:.2g} % of the exchanged energy)"
        return f"energy [J]: {shown}, energy balance error: {error}"
