"""qbMove Advanced: two motors, two nonlinear springs in agonist-antagonist arrangement."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pliant.base.errors import LawError
from pliant.base.options import option
from pliant.laws.base import Law, law
from pliant.laws.functions import saturate


@law("qbmove")
@dataclass(frozen=True)
class QbMove(Law):
    """Hyperbolic-sine springs (Mengacci 2021 IEEE/ASME TMECH; qbMove Advanced Kit manual, p. 15).

    With delta_i = sat(q - theta_i, max_deflection):

        load_i = -k_i sinh(a_i delta_i),    torque = load_1 + load_2
        stiffness = sum a_i k_i cosh(a_i delta_i),    H = sum (k_i / a_i) (cosh(a_i delta_i) - 1)

    For equal springs and theta_1,2 = theta_eq +- p: torque = -2 k cosh(a p) sinh(a (q - theta_eq)).
    """

    k1: float = option(0.0019, unit="N m", low=0.0, source="default of the toolbox")
    """Torque scale of spring 1."""
    a1: float = option(8.9992, unit="1/rad", low=0.0, above=True, source="default of the toolbox")
    """Shape factor of spring 1."""
    k2: float = option(0.0019, unit="N m", low=0.0, source="default of the toolbox")
    """Torque scale of spring 2."""
    a2: float = option(8.9992, unit="1/rad", low=0.0, above=True, source="default of the toolbox")
    """Shape factor of spring 2."""
    max_deflection: float = option(0.8, unit="rad", low=0.0, above=True, source="default of the toolbox")
    """Maximum deflection of each spring."""

    def validate(self) -> None:
        if max(self.a1, self.a2) * self.max_deflection > 300.0:
            raise LawError(
                f"QbMove: a * max_deflection is {max(self.a1, self.a2) * self.max_deflection:g}, the spring torque "
                "overflows; must be <= 300",
                field="a1",
            )

    def default_stop_stiffness(self) -> float:
        # Three times the slope at the clip: assumed.
        slopes = (a * k * math.cosh(a * self.max_deflection) for a, k in ((self.a1, self.k1), (self.a2, self.k2)))
        return 3.0 * max(slopes)

    # Each kernel has the same exponentials, so that the machine code of a step takes each of them once.
    @staticmethod
    def torques(q, theta_1, theta_2, p):
        x1 = q - theta_1
        x2 = q - theta_2
        d1 = saturate(x1, p[4])
        d2 = saturate(x2, p[4])
        e1 = math.exp(p[1] * d1)
        e2 = math.exp(p[3] * d2)
        t1 = -0.5 * p[0] * (e1 - 1.0 / e1) - p[5] * (x1 - d1)
        t2 = -0.5 * p[2] * (e2 - 1.0 / e2) - p[5] * (x2 - d2)
        return t1 + t2, t1, t2

    @staticmethod
    def stiffness(q, theta_1, theta_2, p):
        x1 = q - theta_1
        x2 = q - theta_2
        e1 = math.exp(p[1] * saturate(x1, p[4]))
        e2 = math.exp(p[3] * saturate(x2, p[4]))
        s1 = p[5] if abs(x1) > p[4] else 0.5 * p[1] * p[0] * (e1 + 1.0 / e1)
        s2 = p[5] if abs(x2) > p[4] else 0.5 * p[3] * p[2] * (e2 + 1.0 / e2)
        return s1 + s2

    @staticmethod
    def reported_stiffness(q, theta_1, theta_2, p):
        e1 = math.exp(p[1] * saturate(q - theta_1, p[4]))
        e2 = math.exp(p[3] * saturate(q - theta_2, p[4]))
        return 0.5 * p[1] * p[0] * (e1 + 1.0 / e1) + 0.5 * p[3] * p[2] * (e2 + 1.0 / e2)

    @staticmethod
    def energy(q, theta_1, theta_2, p):
        x1 = q - theta_1
        x2 = q - theta_2
        d1 = saturate(x1, p[4])
        d2 = saturate(x2, p[4])
        e1 = math.exp(p[1] * d1)
        e2 = math.exp(p[3] * d2)
        r1 = 1.0 / e1
        r2 = 1.0 / e2
        h1 = 0.5 * p[0] / p[1] * (e1 - 1.0) * (e1 - 1.0) * r1 + 0.5 * p[0] * (e1 - r1) * (x1 - d1)
        h2 = 0.5 * p[2] / p[3] * (e2 - 1.0) * (e2 - 1.0) * r2 + 0.5 * p[2] * (e2 - r2) * (x2 - d2)
        return h1 + h2 + 0.5 * p[5] * ((x1 - d1) * (x1 - d1) + (x2 - d2) * (x2 - d2))
