"""qbMove Advanced: two motors, two nonlinear springs in agonist-antagonist arrangement."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.base.errors import LawError
from pliant.base.options import option
from pliant.laws.base import Law, law
from pliant.laws.functions import cosh, saturate, sinh

__all__ = ["QbMove"]


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
        slopes = (a * k * cosh(a * self.max_deflection) for a, k in ((self.a1, self.k1), (self.a2, self.k2)))
        return 3.0 * max(slopes)

    @staticmethod
    def torques(q, theta_1, theta_2, p):
        x1 = q - theta_1
        x2 = q - theta_2
        d1 = saturate(x1, p[4])
        d2 = saturate(x2, p[4])
        t1 = -p[0] * sinh(p[1] * d1) - p[5] * (x1 - d1)
        t2 = -p[2] * sinh(p[3] * d2) - p[5] * (x2 - d2)
        return t1 + t2, t1, t2

    @staticmethod
    def stiffness(q, theta_1, theta_2, p):
        s1 = p[5] if abs(q - theta_1) > p[4] else p[1] * p[0] * cosh(p[1] * (q - theta_1))
        s2 = p[5] if abs(q - theta_2) > p[4] else p[3] * p[2] * cosh(p[3] * (q - theta_2))
        return s1 + s2

    @staticmethod
    def reported_stiffness(q, theta_1, theta_2, p):
        c1 = cosh(p[1] * saturate(q - theta_1, p[4]))
        c2 = cosh(p[3] * saturate(q - theta_2, p[4]))
        return p[1] * p[0] * c1 + p[3] * p[2] * c2

    @staticmethod
    def energy(q, theta_1, theta_2, p):
        x1 = q - theta_1
        x2 = q - theta_2
        d1 = saturate(x1, p[4])
        d2 = saturate(x2, p[4])
        e1 = x1 - d1
        e2 = x2 - d2
        s1 = sinh(p[1] * d1)
        s2 = sinh(p[3] * d2)
        h1 = 2.0 * p[0] / p[1] * sinh(0.5 * p[1] * d1) ** 2 + p[0] * s1 * e1 + 0.5 * p[5] * e1 * e1
        h2 = 2.0 * p[2] / p[3] * sinh(0.5 * p[3] * d2) ** 2 + p[2] * s2 * e2 + 0.5 * p[5] * e2 * e2
        return h1 + h2
