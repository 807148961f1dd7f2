"""AwAS-II: one motor sets the equilibrium, a lever with a movable pivot sets the stiffness."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from pliant.base.errors import LawError
from pliant.base.options import option
from pliant.laws.base import Law, law
from pliant.laws.functions import saturate


@law("awas_ii")
@dataclass(frozen=True)
class AwAS2(Law):
    """Variable lever ratio (Jafari et al. 2011, doi 10.1109/ICRA.2011.5979994).

    theta_2 is the position sigma of the pivot [m]. With delta = sat(q - theta_1, max_deflection) and the lever
    ratio R = (L / r_t) sigma / (L - sigma):

        load_1 = torque = -Ks R^2 sin(2 delta),    stiffness = 2 Ks R^2 cos(2 delta),    H = Ks R^2 sin^2(delta)
        load_2 = dH/dsigma = 2 Ks (L / r_t)^2 sigma L / (L - sigma)^3 sin^2(delta)   [N], on the lever drive

    At sigma = L the law is singular and the stiffness infinite. The law therefore clips sigma to [0, 0.999 L], and
    commanded references at or beyond L are refused.
    """

    Ks: float = option(10.0, unit="N m/rad", low=0.0, source="default of the toolbox")
    """Stiffness of the lever spring."""
    L: float = option(0.05, unit="m", low=0.0, above=True, source="default of the toolbox")
    """Length of the lever."""
    r_t: float = option(0.015, unit="m", low=0.0, above=True, source="default of the toolbox")
    """Radius of the transmission."""
    max_deflection: float = option(0.3, unit="rad", low=0.0, above=True, source="default of the toolbox")
    """Maximum deflection (17 degrees for the arm), below pi/4, where the stiffness changes sign."""

    second_input: ClassVar[str] = "lever"

    def validate(self) -> None:
        if self.max_deflection >= math.pi / 4.0:
            raise LawError(
                f"AwAS2: max_deflection is {self.max_deflection}; must be below pi/4 rad, where the stiffness changes "
                "sign",
                field="max_deflection",
            )

    def default_stop_stiffness(self) -> float:
        return 1000.0  # assumed: twelve times the 80 N m class of the real device per radian

    @staticmethod
    def torques(q, theta_1, theta_2, p):
        x = q - theta_1
        delta = saturate(x, p[3])
        sigma = min(max(theta_2, 0.0), 0.999 * p[1])
        ratio = p[1] / p[2] * sigma / (p[1] - sigma)
        s = math.sin(delta)
        # Beyond the clip H grows with the torque at the clip, so the force on the lever does too.
        spread = s * s + math.sin(2.0 * delta) * (x - delta)
        torque = -p[0] * ratio * ratio * math.sin(2.0 * delta) - p[4] * (x - delta)
        gap = p[1] - sigma
        force = 2.0 * p[0] * (p[1] / p[2]) ** 2 * sigma * p[1] / (gap * gap * gap) * spread
        return torque, torque, force

    @staticmethod
    def stiffness(q, theta_1, theta_2, p):
        if abs(q - theta_1) > p[3]:
            return p[4]
        sigma = min(max(theta_2, 0.0), 0.999 * p[1])
        ratio = p[1] / p[2] * sigma / (p[1] - sigma)
        return 2.0 * p[0] * ratio * ratio * math.cos(2.0 * (q - theta_1))

    @staticmethod
    def reported_stiffness(q, theta_1, theta_2, p):
        sigma = min(max(theta_2, 0.0), 0.999 * p[1])
        ratio = p[1] / p[2] * sigma / (p[1] - sigma)
        return 2.0 * p[0] * ratio * ratio * math.cos(2.0 * saturate(q - theta_1, p[3]))

    @staticmethod
    def energy(q, theta_1, theta_2, p):
        x = q - theta_1
        delta = saturate(x, p[3])
        e = x - delta
        sigma = min(max(theta_2, 0.0), 0.999 * p[1])
        ratio = p[1] / p[2] * sigma / (p[1] - sigma)
        s = math.sin(delta)
        return p[0] * ratio * ratio * (s * s + math.sin(2.0 * delta) * e) + 0.5 * p[4] * e * e

    @staticmethod
    def references(equilibrium, preset, p):
        return equilibrium, preset
