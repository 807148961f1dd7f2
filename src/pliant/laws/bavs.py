"""BAVS: bidirectional antagonistic variable stiffness joint of the DLR Hand Arm System."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pliant.base.errors import LawError
from pliant.base.options import option
from pliant.laws.base import Law, law
from pliant.laws.functions import saturate


@law("bavs")
@dataclass(frozen=True)
class BAVS(Law):
    """Two bidirectional exponential springs (Petit et al. 2015, doi 10.1109/TMECH.2014.2321428).

    With d_i = sat(theta_i - q, max_deflection):

        load_1 = k (b exp(k_e d_1) - a exp(-k_e d_1))
        load_2 = k (a exp(k_e d_2) - b exp(-k_e d_2)),    torque = load_1 + load_2
        stiffness = k k_e (b exp(k_e d_1) + a exp(-k_e d_1) + a exp(k_e d_2) + b exp(-k_e d_2))
        H = stiffness / k_e^2 + const (inside the clip)

    At theta_1,2 = theta_eq +- p the equilibrium is exactly theta_eq. At d = 0 the springs are preloaded:
    load_1 = -load_2 = k (b - a).
    """

    a: float = option(1.21e-6, low=0.0, source="default of the toolbox")
    """Weight of the weak side of a spring."""
    b: float = option(2.38e-6, low=0.0, source="default of the toolbox")
    """Weight of the strong side of a spring."""
    k: float = option(1.60e5, unit="N m", low=0.0, source="default of the toolbox")
    """Torque scale."""
    k_e: float = option(8.71, unit="1/rad", low=0.0, above=True, source="default of the toolbox")
    """Exponent of the springs."""
    max_deflection: float = option(0.27, unit="rad", low=0.0, above=True, source="default of the toolbox")
    """Maximum deflection of each spring."""

    def validate(self) -> None:
        if self.k_e * self.max_deflection > 300.0:
            raise LawError("BAVS: k_e * max_deflection overflows the exponential; must be <= 300", field="k_e")

    def default_stop_stiffness(self) -> float:
        # Three times the slope of one spring at the clip: assumed.
        x = self.k_e * self.max_deflection
        return 3.0 * self.k * self.k_e * (max(self.a, self.b) * math.exp(x) + min(self.a, self.b) * math.exp(-x))

    @staticmethod
    def torques(q, theta_1, theta_2, p):
        x1 = theta_1 - q
        x2 = theta_2 - q
        d1 = saturate(x1, p[4])
        d2 = saturate(x2, p[4])
        e1 = math.exp(p[3] * d1)
        e2 = math.exp(p[3] * d2)
        t1 = p[2] * (p[1] * e1 - p[0] / e1) + p[5] * (x1 - d1)
        t2 = p[2] * (p[0] * e2 - p[1] / e2) + p[5] * (x2 - d2)
        return t1 + t2, t1, t2

    @staticmethod
    def stiffness(q, theta_1, theta_2, p):
        x1 = theta_1 - q
        x2 = theta_2 - q
        s1 = p[5]
        s2 = p[5]
        if abs(x1) <= p[4]:
            e1 = math.exp(p[3] * x1)
            s1 = p[2] * p[3] * (p[1] * e1 + p[0] / e1)
        if abs(x2) <= p[4]:
            e2 = math.exp(p[3] * x2)
            s2 = p[2] * p[3] * (p[0] * e2 + p[1] / e2)
        return s1 + s2

    @staticmethod
    def reported_stiffness(q, theta_1, theta_2, p):
        e1 = math.exp(p[3] * saturate(theta_1 - q, p[4]))
        e2 = math.exp(p[3] * saturate(theta_2 - q, p[4]))
        return p[2] * p[3] * (p[1] * e1 + p[0] / e1 + p[0] * e2 + p[1] / e2)

    @staticmethod
    def energy(q, theta_1, theta_2, p):
        x1 = theta_1 - q
        x2 = theta_2 - q
        d1 = saturate(x1, p[4])
        d2 = saturate(x2, p[4])
        e1 = math.exp(p[3] * d1)
        e2 = math.exp(p[3] * d2)
        r1 = x1 - d1
        r2 = x2 - d2
        h1 = p[2] / p[3] * (p[1] * e1 + p[0] / e1) + p[2] * (p[1] * e1 - p[0] / e1) * r1 + 0.5 * p[5] * r1 * r1
        h2 = p[2] / p[3] * (p[0] * e2 + p[1] / e2) + p[2] * (p[0] * e2 - p[1] / e2) * r2 + 0.5 * p[5] * r2 * r2
        return h1 + h2
