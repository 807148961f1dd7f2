"""Antagonistic pair of pneumatic artificial muscles (McKibben muscles) on one joint."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar

import numpy as np

from pliant.base.errors import LawError
from pliant.base.options import option
from pliant.laws.actuator import CompliantActuator
from pliant.laws.base import Law, law
from pliant.laws.friction import PreslidingFriction
from pliant.laws.functions import saturate
from pliant.laws.modes import Mode
from pliant.laws.motor import DCMotor
from pliant.laws.pid import PID
from pliant.muscles import kernels
from pliant.muscles.drive import VALVE_GAINS, PneumaticDrive


def muscle(p, contraction):
    """Return force per gauge pressure [m^2], volume [m^3] and slope of the former over the contraction of one muscle.

    ``p`` is that of `McKibben`. A muscle at or beyond its largest contraction is slack.
    """
    section = math.pi * p[0] * p[0]
    cot = 1.0 / math.tan(p[2])
    a = 3.0 * cot * cot
    b = 1.0 + cot * cot
    k = p[3]
    most = (1.0 - math.sqrt(b / a)) / k
    e = min(contraction, most)
    x = 1.0 - k * e
    volume = section * p[1] * (1.0 + a / (3.0 * k) * (1.0 - x * x * x) - b * e)
    if contraction >= most:
        return 0.0, volume, 0.0
    return section * (a * x * x - b), volume, -2.0 * section * a * k * x


class PressureLaw(Law):
    """Law of a pair of muscles, whose inputs are pressures. A subclass is a dataclass as any law."""

    motors: ClassVar[int] = 2
    second_input: ClassVar[str] = "pressure"
    step: ClassVar[ModuleType | None] = kernels

    def complete(self, actuator: CompliantActuator, put: Callable[[str, object], None]) -> None:
        """Fill in drives and controllers of muscles, and refuse what a muscle cannot have."""
        for block in ("hysteresis", "creep", "strength", "link_backlash"):
            if getattr(actuator, block) is not None:
                raise LawError(
                    f"CompliantActuator: {self.label} has no {block}, which belongs to a spring; leave it out, and "
                    "give hysteresis of muscles as link_friction (pliant.muscles.muscle_friction)",
                    field=block,
                )
        name = "CompliantActuator"
        if actuator.motor_1 == DCMotor():
            put("motor_1", PneumaticDrive())
        if actuator.motor_2 is None or actuator.motor_2 == DCMotor():
            put("motor_2", actuator.motor_1)
        for which in ("motor_1", "motor_2"):
            if not isinstance(getattr(actuator, which), PneumaticDrive):
                raise LawError(f"{name}: {self.label} needs a PneumaticDrive as {which}", field=which)
        link = actuator.mode == Mode.LINK_PID
        if actuator.pid_1 is None or (actuator.pid_1 == PID() and not link):
            put("pid_1", PID(kp=0.8, kd=0.2) if link else VALVE_GAINS)
        if actuator.pid_2 is None or actuator.pid_2 == PID():
            put("pid_2", VALVE_GAINS)
        for which in ("pid_2",) if link else ("pid_1", "pid_2"):
            pid = getattr(actuator, which)
            if pid.kd > 0.0 or pid.velocity_feedforward:
                raise LawError(
                    f"{name}: {which} controls a pressure; kd must be 0 and velocity_feedforward false", field=which
                )


@law("pam")
@dataclass(frozen=True)
class McKibben(PressureLaw):
    """Two equal McKibben muscles that pull on a pulley in opposite directions (Tondu and Lopez 2000, IEEE Control
    Systems Magazine 20(2); Chou and Hannaford 1996, IEEE Transactions on Robotics and Automation 12(1)).

    The inputs theta_1 and theta_2 are the gauge pressures p_1 and p_2 of the muscles [Pa]. Muscle 1 pulls towards
    positive q: its contraction is e_1 = contraction + pulley_radius q / length, that of muscle 2 has the other sign.
    Each muscle pulls with

        F(e, p) = p A (a (1 - k e)^2 - b),    A = pi radius^2,  a = 3 / tan^2(braid_angle),  b = 1 / sin^2(braid_angle)

    With k = 1 this is the force -p dV/dL of Chou and Hannaford for a cylinder with an inextensible braid; k > 1 is the
    correction of Tondu and Lopez for the conical ends. A muscle cannot push: F = 0 beyond its largest contraction
    (1 - sqrt(b / a)) / k. The volume of which F is the derivative at constant pressure,

        V(e) = A length (1 + a (1 - (1 - k e)^3) / (3 k) - b e)

    is that of the cylinder at k = 1, and otherwise an effective volume. At constant pressures the muscles have the
    potential H = -p_1 V_1 - p_2 V_2, so that load_i = dH/dp_i = -V_i is a volume [m^3],

        torque = pulley_radius (F_1 - F_2),    stiffness = -d torque/dq at constant pressures

    Of trapped air the stiffness is larger (`closed_stiffness`). The preset is the mean pressure p_0: an equilibrium at
    q needs p_1,2 = p_0 (1 +- (f_2 - f_1) / (f_1 + f_2)), with f_i the force per pressure at q. Valid for p_i >= 0. The
    friction between the threads of the braid is that of the actuator's ``link_friction`` (`muscle_friction`); the
    bladder's elasticity is neglected.
    """

    radius: float = option(0.007, unit="m", low=0.0, above=True, source="assumed")
    """Radius of the muscle at rest."""
    length: float = option(0.3, unit="m", low=0.0, above=True, source="assumed")
    """Length of the muscle at rest."""
    braid_angle: float = option(math.radians(20.0), unit="rad", low=0.01, high=0.95, source="assumed")
    """Angle between the threads and the axis at rest. Above atan(sqrt(2)) = 0.955 rad a muscle does not contract. With
    20 degrees, the radius above and 500 kPa a muscle pulls with 1085 N at rest, as the muscles of Tondu and Lopez
    ("more than 1000 N under 5 bar")."""
    end_correction: float = option(1.25, low=0.5, high=3.0, source="assumed")
    """Correction k for the conical ends."""
    contraction: float = option(0.15, low=0.0, high=1.0, source="assumed")
    """Relative contraction of both muscles at q = 0."""
    pulley_radius: float = option(0.025, unit="m", low=0.0, above=True, source="assumed")
    """Radius of the pulley."""
    max_deflection: float = option(1.2, unit="rad", low=0.0, above=True, source="assumed")
    """Largest angle of the joint on both sides: beyond it the torque is constant, or that of a stop (``clip``)."""

    def validate(self) -> None:
        stroke = self.pulley_radius * self.max_deflection / self.length
        if stroke > self.contraction + 1e-12:
            raise LawError(
                f"McKibben: at max_deflection a muscle is stretched to {1.0 + stroke - self.contraction:.4g} of its "
                f"length; pulley_radius * max_deflection / length = {stroke:.4g} must be at most the contraction at "
                f"q = 0, {self.contraction:g}",
                field="max_deflection",
            )
        if self.contraction >= self.largest_contraction:
            raise LawError(
                f"McKibben: the contraction at q = 0 is {self.contraction:g}; must be below the largest contraction of "
                f"the muscle, (1 - sqrt(b/a)) / k = {self.largest_contraction:.4g}",
                field="contraction",
            )

    @property
    def largest_contraction(self) -> float:
        """Contraction at which a muscle has no force."""
        return (1.0 - 1.0 / (math.sqrt(3.0) * math.cos(self.braid_angle))) / self.end_correction

    def drive_stiffness(self, actuator: CompliantActuator, preset: float) -> float:
        """Return the largest stiffness that trapped air adds [N m/rad]; 0 without valves."""
        drive = actuator.motor_1
        if not (isinstance(drive, PneumaticDrive) and actuator.mode.has_motors):
            return 0.0
        p = self.parameters()
        reach = np.linspace(-self.max_deflection, self.max_deflection, 9)
        return max(
            closed_stiffness(self, q, preset, preset, drive) - self.stiffness(q, preset, preset, p)
            for q in reach.tolist()
        )

    @staticmethod
    def torques(q, theta_1, theta_2, p):
        d = saturate(q, p[6])
        e = q - d
        s = p[5] * d / p[1]
        f1, v1, _ = muscle(p, p[4] + s)
        f2, v2, _ = muscle(p, p[4] - s)
        torque = p[5] * (theta_1 * f1 - theta_2 * f2) - p[7] * e
        return torque, -v1 - p[5] * f1 * e, -v2 + p[5] * f2 * e

    @staticmethod
    def stiffness(q, theta_1, theta_2, p):
        if abs(q) > p[6]:
            return p[7]
        s = p[5] * q / p[1]
        _, _, g1 = muscle(p, p[4] + s)
        _, _, g2 = muscle(p, p[4] - s)
        return -p[5] * p[5] / p[1] * (theta_1 * g1 + theta_2 * g2)

    @staticmethod
    def energy(q, theta_1, theta_2, p):
        d = saturate(q, p[6])
        e = q - d
        s = p[5] * d / p[1]
        f1, v1, _ = muscle(p, p[4] + s)
        f2, v2, _ = muscle(p, p[4] - s)
        push = p[5] * (theta_1 * f1 - theta_2 * f2)
        return -theta_1 * v1 - theta_2 * v2 - push * e + 0.5 * p[7] * e * e

    @staticmethod
    def references(equilibrium, preset, p):
        s = p[5] * saturate(equilibrium, p[6]) / p[1]
        f1, _, _ = muscle(p, p[4] + s)
        f2, _, _ = muscle(p, p[4] - s)
        share = 0.0
        if f1 + f2 > 0.0:
            share = (f2 - f1) / (f1 + f2)
        return preset * (1.0 + share), preset * (1.0 - share)


def closed_stiffness(
    law: McKibben, q: float, p_1: float, p_2: float, drive_1: PneumaticDrive, drive_2: PneumaticDrive | None = None
) -> float:
    """Return the stiffness of the joint with closed valves [N m/rad]: that at constant pressures, and that of the air.

    The air of muscle i adds exponent P_i (dV_i/dq)^2 / V_i, with its absolute pressure P_i and its volume V_i.

    Args:
        law: the pair of muscles.
        q: joint angle [rad].
        p_1: gauge pressure of muscle 1 [Pa].
        p_2: gauge pressure of muscle 2 [Pa].
        drive_1: valve and air of muscle 1.
        drive_2: those of muscle 2; None for equal ones.
    """
    p = law.parameters()
    stiffness = McKibben.stiffness(q, p_1, p_2, p)
    idle, v1, v2 = McKibben.torques(q, 0.0, 0.0, p)
    for pressure, volume, drive, rate in (
        (p_1, -v1, drive_1, McKibben.torques(q, 1.0, 0.0, p)[0] - idle),
        (p_2, -v2, drive_2 or drive_1, McKibben.torques(q, 0.0, 1.0, p)[0] - idle),
    ):
        air = pressure + drive.ambient_pressure
        stiffness += drive.exponent * air * rate * rate / (volume + drive.dead_volume)
    return float(stiffness)


def muscle_friction(
    law: McKibben, force: float = 2.5, pressure_area: float = 2.0e-5, stiffness: float = 100.0
) -> PreslidingFriction:
    """Return the friction of the threads of both muscles as the ``link_friction`` of an actuator: their hysteresis.

    The friction of a muscle is force + pressure_area p: a constant force as Chou and Hannaford 1996 use it, and a part
    in proportion to the pressure, which presses the threads on each other, as in Tondu and Lopez 2000. On the joint it
    is 2 pulley_radius (force + pressure_area p_0) with the mean pressure p_0, the preset of the pair.

    Args:
        law: the pair of muscles.
        force: constant friction of a muscle [N]; 2.5 is assumed after Chou and Hannaford.
        pressure_area: friction of a muscle per pressure [m^2]; assumed.
        stiffness: presliding stiffness at the joint [N m/rad]; assumed.
    """
    arm = 2.0 * law.pulley_radius
    return PreslidingFriction(torque=arm * force, preset_coefficient=arm * pressure_area, stiffness=stiffness)
