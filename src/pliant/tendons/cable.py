"""A cable between motor and link, which pulls and cannot push."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pliant.base.errors import LawError
from pliant.base.options import option
from pliant.laws.base import Law, law


@law("cable")
@dataclass(frozen=True)
class Cable(Law):
    """One elastic cable from the spool of a motor to the link; positive angles draw it in.

    With the stretch x = theta_1 - q + pretension / k - slack:

        torque = load_1 = k x,    stiffness = k,    H = k x^2 / 2        where x > 0
        torque = load_1 = stiffness = H = 0                              where the cable is slack

    On a spool of radius r, a cable of stiffness K [N/m] has k = K r^2, and its tension is torque / r. ``clip`` has no
    effect.
    """

    k: float = option(10.0, unit="N m/rad", low=0.0, above=True, source="assumed")
    """Stiffness of the cable, reflected to the spool."""
    pretension: float = option(0.0, unit="N m", low=0.0)
    """Torque at q = theta_1."""
    slack: float = option(0.0, unit="rad", low=0.0)
    """Angle that must be drawn in at q = theta_1 before the cable is taut."""

    motors: ClassVar[int] = 1

    def validate(self) -> None:
        if self.pretension > 0.0 and self.slack > 0.0:
            raise LawError(
                f"Cable: pretension {self.pretension:g} N m contradicts slack {self.slack:g} rad; one of them must be "
                "0: a cable under tension is not slack",
                field="slack",
            )

    @staticmethod
    def torques(q, theta_1, theta_2, p):
        torque = max(p[0] * (theta_1 - q - p[2]) + p[1], 0.0)
        return torque, torque, 0.0

    @staticmethod
    def stiffness(q, theta_1, theta_2, p):
        if p[0] * (theta_1 - q - p[2]) + p[1] > 0.0:
            return p[0]
        return 0.0

    @staticmethod
    def energy(q, theta_1, theta_2, p):
        torque = max(p[0] * (theta_1 - q - p[2]) + p[1], 0.0)
        return 0.5 * torque * torque / p[0]
