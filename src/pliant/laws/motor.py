"""The motor side: rotary motor, lever drive, and their electrical part."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from pliant.errors import LawError
from pliant.laws.checks import check_flag, check_kind, check_number
from pliant.laws.friction import PreslidingFriction

__all__ = ["DCMotor", "Electrical", "LeverDrive"]


@dataclass(frozen=True, slots=True)
class Electrical:
    """Voltage-driven armature circuit: V = R i + L di/dt + K_b omega, torque = K_t i.

    A torque command u becomes the voltage R u / K_t that would give u at standstill, held inside the supply, so the
    torque-speed line of a real motor follows by itself. All values as seen at the link (after the gear).
    """

    resistance: float = 2.3
    """Armature resistance R [ohm]. Maker Pro paper draft."""
    inductance: float = 0.0
    """Armature inductance L [H]; 0 takes the current as instantaneous."""
    torque_constant: float = 0.8
    """K_t at the link [N m/A]. Maker Pro paper draft."""
    back_emf_constant: float = 0.3
    """K_b at the link [V s/rad]. Maker Pro paper draft."""
    supply_voltage: float = 24.0
    """Largest voltage [V], positive. qbMove supply."""

    def __post_init__(self) -> None:
        check_number("Electrical", "resistance", self.resistance, "ohm", low=0.0, above=True)
        check_number("Electrical", "inductance", self.inductance, "H", low=0.0)
        check_number("Electrical", "torque_constant", self.torque_constant, "N m/A", low=0.0, above=True)
        check_number("Electrical", "back_emf_constant", self.back_emf_constant, "V s/rad", low=0.0)
        check_number("Electrical", "supply_voltage", self.supply_voltage, "V", low=0.0, above=True, infinite=True)


@dataclass(frozen=True, slots=True)
class DCMotor:
    """Motor with inertia, viscous damping, presliding friction and stops, reflected at the link.

    inertia theta'' + damping theta' = u - load - friction (Mengacci 2021, equation 7), advanced with semi-implicit
    Euler in the order of the original code: saturate u, slide the friction anchor, accelerate, move, stop.
    """

    inertia: float = 0.0233
    """J [kg m^2], positive. Default of the toolbox."""
    damping: float = 0.2698
    """D [N m s/rad]. Default of the toolbox's code; its templates' comments print 0.0019."""
    max_torque: float = 6.0
    """Largest torque [N m], positive. Default of the toolbox."""
    max_velocity: float = 6.0
    """Largest speed [rad/s]; enforced only with ``limit_velocity`` or ``torque_speed``. Default of the toolbox."""
    min_position: float = -math.inf
    """Lower stop [rad]."""
    max_position: float = math.inf
    """Upper stop [rad]."""
    friction: PreslidingFriction = field(default_factory=PreslidingFriction)
    """Friction of the motor and gear. 0.02 N m in the toolbox's code; its templates print 0.5."""
    limit_velocity: bool = False
    """Hold the speed inside max_velocity (the original stores the limit and never applies it)."""
    torque_speed: bool = False
    """Let the available torque fall linearly to 0 at max_velocity, in the direction of motion."""
    preset_damping: float = 0.0
    """Growth of the damping with the magnitude of the preset [N m s/rad per rad]."""
    electrical: Electrical | None = None
    """Armature circuit; None applies the commanded torque directly."""

    def __post_init__(self) -> None:
        name = type(self).__name__
        check_number(name, "inertia", self.inertia, "kg m^2", low=0.0, above=True)
        check_number(name, "damping", self.damping, "N m s/rad", low=0.0)
        check_number(name, "max_torque", self.max_torque, "N m", low=0.0, infinite=True)
        check_number(name, "max_velocity", self.max_velocity, "rad/s", low=0.0, above=True, infinite=True)
        check_number(name, "min_position", self.min_position, "rad", infinite=True)
        check_number(name, "max_position", self.max_position, "rad", infinite=True)
        check_number(name, "preset_damping", self.preset_damping, "N m s/rad^2", low=0.0)
        check_flag(name, "limit_velocity", self.limit_velocity)
        check_flag(name, "torque_speed", self.torque_speed)
        check_kind(name, "friction", self.friction, PreslidingFriction)
        check_kind(name, "electrical", self.electrical, Electrical, optional=True)
        if self.min_position >= self.max_position:
            raise LawError(
                f"{name}: min_position {self.min_position:g} is not below max_position {self.max_position:g}",
                field="min_position",
            )
        if self.torque_speed and math.isinf(self.max_velocity):
            raise LawError(f"{name}: torque_speed needs a finite max_velocity", field="max_velocity")

    def step(
        self, state: tuple[float, float, float], torque: float, load: float, dt: float
    ) -> tuple[tuple[float, float, float], float]:
        """Advance the motor by one step, mechanical part only.

        Args:
            state: (position [rad], velocity [rad/s], friction anchor [rad]).
            torque: commanded torque [N m].
            load: load of the transmission [N m].
            dt: time step [s].

        Returns:
            The new state, and the torque applied after saturation [N m].
        """
        from pliant.laws import kernels
        from pliant.laws.layout import M_PARAMETERS, pack_motor

        par = [0.0] * M_PARAMETERS
        pack_motor(par, 0, self)
        pos, vel, w, effort, _ = kernels.motor_step(par, 0, *state, 0.0, torque, load, 0.0, dt)
        return (pos, vel, w), effort


def _lever_friction() -> PreslidingFriction:
    return PreslidingFriction(torque=5.0, stiffness=1.0e6)  # assumed


@dataclass(frozen=True, slots=True)
class LeverDrive(DCMotor):
    """Linear drive of a lever: the same equations as `DCMotor` with mass [kg], damping [N s/m], force [N].

    The load on it is dH/dsigma [N]. The original toolbox drives sigma with a rotary motor of 0.0233 kg m^2 whose
    reference is undefined; nothing is published of the real drive, so all values here are assumed.
    """

    inertia: float = 2.0
    """Reflected mass of the drive [kg]. Assumed."""
    damping: float = 100.0
    """Viscous friction [N s/m]. Assumed."""
    max_torque: float = 2000.0
    """Largest force [N]. Assumed."""
    max_velocity: float = 0.1
    """Largest speed [m/s]; enforced only by option. Assumed."""
    min_position: float = 0.0
    """Lower stop [m]."""
    max_position: float = 0.045
    """Upper stop [m], below the lever's length, where the stiffness is infinite."""
    friction: PreslidingFriction = field(default_factory=_lever_friction)
    """Friction of the screw [N], presliding stiffness [N/m]. Assumed."""
