"""qbMove Advanced: two motors, two nonlinear springs in agonist-antagonist arrangement."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.errors import LawError
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

    k1: float = 0.0019
    """Torque scale of spring 1 [N m]. Default of the toolbox."""
    a1: float = 8.9992
    """Shape of spring 1 [1/rad]. Default of the toolbox."""
    k2: float = 0.0019
    """Torque scale of spring 2 [N m]."""
    a2: float = 8.9992
    """Shape of spring 2 [1/rad]."""
    max_deflection: float = 0.8
    """Largest deflection of each spring [rad]."""

    def validate(self) -> None:
        for name in ("k1", "k2"):
            if getattr(self, name) < 0.0:
                raise LawError(f"QbMove: {name} is {getattr(self, name)}; valid: 0 or more N m", field=name)
        for name in ("a1", "a2", "max_deflection"):
            if getattr(self, name) <= 0.0:
                raise LawError(f"QbMove: {name} is {getattr(self, name)}; valid: more than 0", field=name)
        if max(self.a1, self.a2) * self.max_deflection > 300.0:
            raise LawError(
                f"QbMove: a * max_deflection is {max(self.a1, self.a2) * self.max_deflection:g}, the spring torque "
                "overflows; valid: at most 300",
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
