"""Motors: rotary motor, lever drive, armature circuit, cogging, winding temperature."""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass, field

from pliant.base.errors import LawError
from pliant.base.options import check_values, option
from pliant.laws.friction import PreslidingFriction
from pliant.laws.transmission import Backlash, Gear, Tendon


@dataclass(frozen=True, slots=True)
class Electrical:
    """Voltage-driven armature circuit: V = R i + L di/dt + K_b omega, torque = K_t i.

    A torque command u becomes the voltage R u / K_t, which would give the torque u at standstill, limited to the supply
    voltage. This reproduces the torque-speed line of a real motor. All values are reflected to the link (after the
    gear).
    """

    resistance: float = option(2.3, unit="ohm", low=0.0, above=True, source="Maker Pro paper draft")
    """Armature resistance R."""
    inductance: float = option(0.0, unit="H", low=0.0)
    """Armature inductance L; with 0 the current changes instantaneously."""
    torque_constant: float = option(0.8, unit="N m/A", low=0.0, above=True, source="Maker Pro paper draft")
    """Torque constant K_t, reflected to the link."""
    back_emf_constant: float = option(0.3, unit="V s/rad", low=0.0, source="Maker Pro paper draft")
    """Back-EMF constant K_b, reflected to the link."""
    supply_voltage: float = option(24.0, unit="V", low=0.0, above=True, infinite=True, source="qbMove supply")
    """Maximum voltage."""
    supply_resistance: float = option(0.0, unit="ohm", low=0.0)
    """Resistance of battery and cable: the available voltage sags by this times the current."""
    max_current: float = option(math.inf, unit="A", low=0.0, above=True, infinite=True)
    """Largest current that the drive allows."""
    max_current_rate: float = option(math.inf, unit="A/s", low=0.0, above=True, infinite=True)
    """Largest rate of change of the current that the drive allows."""

    def __post_init__(self) -> None:
        check_values(self, LawError)


@dataclass(frozen=True, slots=True)
class Cogging:
    """Cogging and torque ripple: position-dependent torques of a motor with slots and few poles.

    The cogging torque -torque sin(periods theta + phase) is the gradient of the energy
    torque (1 - cos(periods theta + phase)) / periods (first harmonic of Hanselman 2006, chapter 9): detents, and
    no work over a period. The ripple scales the motor's torque by 1 + ripple sin(periods theta + phase).
    """

    torque: float = option(0.05, unit="N m", low=0.0, source="assumed")
    """Amplitude of the cogging torque, reflected to the link."""
    periods: float = option(84.0, low=0.0, above=True, source="assumed")
    """Periods per revolution of the motor position theta, which is after the gear: the least common multiple of slots
    and poles, times the gear ratio."""
    phase: float = option(0.0, unit="rad")
    """Phase at theta = 0."""
    ripple: float = option(0.0, low=0.0, high=0.5)
    """Relative amplitude of the torque ripple."""

    def __post_init__(self) -> None:
        check_values(self, LawError)


_MELTING = 1358.0
"""Melting point of copper [K]."""


@dataclass(frozen=True, slots=True)
class Thermal:
    """Temperature of the winding: one heat capacity behind one thermal resistance, heated by the copper losses.

    capacity dT/dt = R i^2 - (T - ambient) / resistance, with R = R_0 (1 + temperature_coefficient (T - ambient)): the
    resistance of `Electrical` is that at the ambient temperature. Between ``derating_temperature`` and
    ``max_temperature`` the drive reduces the largest current linearly to 0; a motor whose drive has no ``max_current``
    is cut off at ``max_temperature``. Temperatures are absolute.
    """

    resistance: float = option(10.0, unit="K/W", low=0.0, above=True, source="assumed")
    """Thermal resistance from the winding to the ambient air."""
    capacity: float = option(20.0, unit="J/K", low=0.0, above=True, source="assumed")
    """Heat capacity of the winding."""
    ambient: float = option(298.15, unit="K", low=150.0, high=450.0)
    """Ambient temperature, and that of the winding at the start."""
    temperature_coefficient: float = option(0.00393, unit="1/K", low=0.0, high=0.02, source="copper at 20 C, IEC 60028")
    """Relative increase of the resistance per kelvin."""
    derating_temperature: float = option(math.inf, unit="K", infinite=True)
    """Temperature above which the drive reduces the current."""
    max_temperature: float = option(math.inf, unit="K", infinite=True)
    """Temperature at which the drive allows no current."""

    def __post_init__(self) -> None:
        check_values(self, LawError)
        limits = {"derating_temperature": self.derating_temperature, "max_temperature": self.max_temperature}
        for name, limit in limits.items():
            if limit <= self.ambient or _MELTING < limit < math.inf:
                raise LawError(
                    f"Thermal: {name} is {limit:g} K; must be above ambient {self.ambient:g} K and at most "
                    f"{_MELTING:g} K, where copper melts, or inf for none; temperatures are absolute",
                    field=name,
                )
        if self.derating_temperature < math.inf and not self.derating_temperature < self.max_temperature < math.inf:
            raise LawError(
                f"Thermal: derating from {self.derating_temperature:g} K needs a max_temperature above it; "
                f"max_temperature is {self.max_temperature:g} K",
                field="derating_temperature",
            )


@dataclass(frozen=True, slots=True)
class DCMotor:
    """Motor with inertia, viscous damping, presliding friction and stops, reflected to the link.

    inertia theta'' + damping theta' = u - load - friction (Mengacci 2021, equation 7). The equation is integrated with
    semi-implicit Euler in the order of the original code: saturate u, move the friction anchor, update the velocity,
    update the position, apply the stops.
    """

    inertia: float = option(0.0233, unit="kg m^2", low=0.0, above=True, source="default of the toolbox")
    """Inertia J, reflected to the link."""
    damping: float = option(0.2698, unit="N m s/rad", low=0.0, source="default of the toolbox's code")
    """Viscous damping D. The comments in the templates of the toolbox state 0.0019."""
    max_torque: float = option(6.0, unit="N m", low=0.0, infinite=True, source="default of the toolbox")
    """Maximum torque."""
    max_velocity: float = option(6.0, unit="rad/s", low=0.0, above=True, infinite=True, source="default of the toolbox")
    """Largest speed; enforced only with ``limit_velocity`` or ``torque_speed``."""
    min_position: float = option(-math.inf, unit="rad", infinite=True)
    """Lower stop."""
    max_position: float = option(math.inf, unit="rad", infinite=True)
    """Upper stop."""
    friction: PreslidingFriction = field(default_factory=PreslidingFriction)
    """Friction of motor and gear: 0.02 N m in the code of the toolbox; its templates state 0.5."""
    limit_velocity: bool = False
    """Whether to limit the speed to max_velocity. The original toolbox stores the limit but does not apply it."""
    torque_speed: bool = False
    """Whether the available torque in the direction of motion decreases linearly with speed, to 0 at max_velocity."""
    preset_damping: float = option(0.0, unit="N m s/rad^2", low=0.0)
    """Increase of the damping per magnitude of the preset."""
    electrical: Electrical | None = None
    """Armature circuit; None to apply the commanded torque directly."""
    cogging: Cogging | None = None
    """Cogging and torque ripple; None for none."""
    thermal: Thermal | None = None
    """Temperature of the winding, which needs ``electrical``; None for a winding that stays cold."""
    gear: Gear | None = None
    """Elastic gear, which makes the motor two masses; None for a rigid one."""
    backlash: Backlash | None = None
    """Play between the motor, or its gear, and the spring; None for none."""
    tendon: Tendon | None = None
    """Tendons between the motor and the spring; None for a rigid connection."""

    def __post_init__(self) -> None:
        name = type(self).__name__
        check_values(self, LawError)
        if self.min_position >= self.max_position:
            raise LawError(
                f"{name}: min_position {self.min_position:g} is not below max_position {self.max_position:g}",
                field="min_position",
            )
        if self.thermal is not None and self.electrical is None:
            raise LawError(
                f"{name}: thermal needs a winding that heats; set electrical, or omit thermal", field="thermal"
            )
        if self.torque_speed and math.isinf(self.max_velocity):
            raise LawError(f"{name}: torque_speed needs a finite max_velocity", field="max_velocity")

    @property
    def stall_torque(self) -> float:
        """Largest torque at rest, which torque limit, supply and largest current allow together."""
        winding = self.electrical
        if winding is None:
            return self.max_torque
        current = winding.supply_voltage / (winding.resistance + winding.supply_resistance)
        return min(self.max_torque, winding.torque_constant * min(current, winding.max_current))

    @property
    def holding_torque(self) -> float:
        """Torque at which friction and cogging let the motor go."""
        return self.friction.torque + self.friction.breakaway + (self.cogging.torque if self.cogging else 0.0)

    def step(
        self, state: tuple[float, float, float], torque: float, load: float, dt: float
    ) -> tuple[tuple[float, float, float], float]:
        """Advance the mechanical state of the motor by one step.

        Args:
            state: (position [rad], velocity [rad/s], friction anchor [rad]).
            torque: commanded torque [N m].
            load: load of the transmission [N m].
            dt: time step [s].

        Returns:
            The new state, and the torque applied after saturation [N m].
        """
        from pliant.laws import motor_kernels as kernels
        from pliant.laws.layout import M_PARAMETERS, pack_motor

        par = [0.0] * M_PARAMETERS
        pack_motor(par, 0, self)
        cold = 0.0 if self.thermal is None else self.thermal.ambient
        pos, vel, w = state
        effort, friction, hold, d, w, _ = kernels.motor_torques(par, 0, pos, vel, w, 0.0, cold, torque, load, 0.0, dt)
        pos, vel = kernels.motor_motion(par, 0, pos, vel, effort - load - friction - hold - d * vel, dt)
        return (pos, vel, w), effort


@dataclass(frozen=True, slots=True)
class LeverDrive(DCMotor):
    """Linear drive of a lever: the equations of `DCMotor` with mass [kg], damping [N s/m] and force [N].

    Its load is dH/dsigma [N]. The original toolbox drives sigma with a rotary motor of 0.0233 kg m^2 whose reference is
    undefined. No data of the real drive have been published, so all values are assumed.
    """

    inertia: float = option(2.0, unit="kg", low=0.0, above=True, source="assumed", other_meaning=True)
    """Reflected mass of the drive."""
    damping: float = option(100.0, unit="N s/m", low=0.0, source="assumed", other_meaning=True)
    """Viscous friction."""
    max_torque: float = option(2000.0, unit="N", low=0.0, infinite=True, source="assumed", other_meaning=True)
    """Maximum force."""
    max_velocity: float = option(
        0.1, unit="m/s", low=0.0, above=True, infinite=True, source="assumed", other_meaning=True
    )
    """Largest speed; enforced only with ``limit_velocity`` or ``torque_speed``."""
    min_position: float = option(0.0, unit="m", infinite=True, other_meaning=True)
    """Lower stop."""
    max_position: float = option(0.045, unit="m", infinite=True, source="assumed", other_meaning=True)
    """Upper stop, less than the lever length, at which the stiffness is infinite."""
    friction: PreslidingFriction = field(default_factory=lambda: PreslidingFriction(torque=5.0, stiffness=1.0e6))
    """Friction of the screw [N] and its presliding stiffness [N/m]; assumed."""


@dataclass(frozen=True, slots=True)
class Drive(abc.ABC):
    """Source of a law's input in place of a motor, with a step of its own (`pliant.laws.base.Law.step`)."""

    @property
    @abc.abstractmethod
    def min_position(self) -> float:
        """Least reference, in the unit of the input."""

    @property
    @abc.abstractmethod
    def max_position(self) -> float:
        """Largest reference, in the unit of the input."""

    @property
    @abc.abstractmethod
    def max_torque(self) -> float:
        """Largest command of the drive."""

    @abc.abstractmethod
    def pack(self) -> list[float]:
        """Return its numbers in the place of those of a motor in the parameter vector."""
