"""Blocks of the spring beside its law: hysteresis, creep, yield and breakage."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pliant.base.errors import LawError
from pliant.base.options import check_values, option


@dataclass(frozen=True, slots=True)
class Hysteresis:
    """Rate-independent hysteresis of the spring: four Maxwell-slip elements in parallel to the law.

    Element i of 4 is a spring of stiffness k = 2 torque / (5 deflection) whose end slips beyond the deflection
    z_i = i deflection / 4 (Iwan 1966, Journal of Applied Mechanics 33(4); Al-Bender, Lampaert and Swevers 2005, IEEE
    Transactions on Automatic Control 50(11)). All slip together with ``torque``, and a cycle of amplitude
    A >= deflection dissipates sum 4 k z_i (A - z_i) [J]. They act on the deflection q - (theta_1 + theta_2) / 2,
    or q - theta_1 with one motor or a lever.

    Maxwell slip and not Bouc-Wen, because its minor loops close, it never supplies energy, its stored energy is
    explicit, and its step is exact for every size of the step. Bouc-Wen's minor loops drift under loads that do not
    change sign.
    """

    torque: float = option(0.05, unit="N m", low=0.0, source="assumed")
    """Torque at which all elements slip: half the height of a wide loop."""
    deflection: float = option(0.05, unit="rad", low=0.0, above=True, source="assumed")
    """Deflection from rest at which all elements slip."""

    def __post_init__(self) -> None:
        check_values(self, LawError)


@dataclass(frozen=True, slots=True)
class Creep:
    """Creep of the spring: one branch of a Prony series (Maxwell element) in parallel to the law.

        torque = stiffness (d - y),    time dy/dt = d - y

    with the deflection d of `Hysteresis` (standard linear solid; Ferry 1980, Viscoelastic Properties of Polymers,
    chapter 3). With a linear law of stiffness K, a constant load deflects by T / (K + stiffness) at once, and by T / K
    after the retardation time, time (K + stiffness) / K. The branch stores stiffness (d - y)^2 / 2.
    """

    stiffness: float = option(1.0, unit="N m/rad", low=0.0, source="assumed")
    """Stiffness that relaxes."""
    time: float = option(1.0, unit="s", low=0.0, above=True, source="assumed")
    """Relaxation time."""

    def __post_init__(self) -> None:
        check_values(self, LawError)


@dataclass(frozen=True, slots=True)
class Strength:
    """Yield and breakage of the spring.

    Beyond the yield torque the spring flows plastically, with the permanent deflection p on the side of the link:
    dp/dt = -sign(T) max(0, |T| - yield_torque) / flow_damping, torque T = law(q - p) (Perzyna 1966, Advances in
    Applied Mechanics 9, without hardening). At the torque ``break_torque`` the spring breaks: it transmits nothing
    from the next step on, its energy is lost, and the device of the joint ends the run with a fault that names joint,
    time and torque.
    """

    yield_torque: float = option(math.inf, unit="N m", low=0.0, above=True, infinite=True)
    """Torque on the link at which the spring begins to flow."""
    flow_damping: float = option(0.05, unit="N m s/rad", low=0.0, above=True, source="assumed")
    """Torque beyond the yield torque per rate of flow."""
    break_torque: float = option(math.inf, unit="N m", low=0.0, above=True, infinite=True)
    """Torque on the link at which the spring breaks."""

    def __post_init__(self) -> None:
        check_values(self, LawError)
        if not math.isinf(self.yield_torque) and self.yield_torque >= self.break_torque:
            raise LawError(
                f"Strength: yield_torque {self.yield_torque:g} N m must be below break_torque "
                f"{self.break_torque:g} N m; a spring that has broken does not yield",
                field="yield_torque",
            )
