"""Series elastic actuator: one motor, one linear spring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pliant.base.options import option
from pliant.laws.base import Law, law
from pliant.laws.functions import saturate


@law("sea")
@dataclass(frozen=True)
class SEA(Law):
    """Linear spring between motor and link (Pratt and Williamson 1995; Mengacci 2021, equation 3).

    With delta = sat(q - theta_1, max_deflection):

        load_1 = torque = -k delta,    stiffness = k,    H = k delta^2 / 2

    Beyond max_deflection the torque is constant (``clip="flat"``), H grows linearly with it, and the true
    stiffness is 0.
    """

    k: float = option(10.0, unit="N m/rad", low=0.0, source="default of the toolbox")
    """Spring stiffness."""
    max_deflection: float = option(0.8, unit="rad", low=0.0, above=True, source="default of the toolbox")
    """Maximum deflection of the spring."""

    motors: ClassVar[int] = 1
    second_input: ClassVar[str] = "none"

    def default_stop_stiffness(self) -> float:
        return 10.0 * self.k  # assumed

    @staticmethod
    def torques(q, theta_1, theta_2, p):
        k, limit, stop = p[0], p[1], p[2]
        x = q - theta_1
        delta = saturate(x, limit)
        torque = -k * delta - stop * (x - delta)
        return torque, torque, 0.0

    @staticmethod
    def stiffness(q, theta_1, theta_2, p):
        if abs(q - theta_1) > p[1]:
            return p[2]
        return p[0]

    @staticmethod
    def reported_stiffness(q, theta_1, theta_2, p):
        return p[0]

    @staticmethod
    def energy(q, theta_1, theta_2, p):
        k, limit, stop = p[0], p[1], p[2]
        x = q - theta_1
        delta = saturate(x, limit)
        e = x - delta
        return 0.5 * k * delta * delta + k * delta * e + 0.5 * stop * e * e

    @staticmethod
    def references(equilibrium, preset, p):
        return equilibrium, 0.0
