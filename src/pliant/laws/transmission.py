"""Blocks between motor, spring and link: backlash, tendons, elastic gear."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.base.errors import LawError
from pliant.base.options import check_values, option


@dataclass(frozen=True, slots=True)
class Backlash:
    """Play between two parts of which the second is the massless end of the spring.

    The state b is the position of the first part less that of the second one, |b| <= width / 2 (the state theta_b of
    Nordin, Galic and Gutman 1997, International Journal of Adaptive Control and Signal Processing 11(1)). With the
    load T that the spring puts on the play,

        db/dt = T / damping,    0 where this would leave |b| <= width / 2

    In contact, the parts move together and T is transmitted. Inside the play, the spring relaxes against the lubricant
    with the time constant damping / stiffness, so T is small; Nordin puts this damping into the shaft. The play
    dissipates T db/dt >= 0 and stores nothing. On a lever drive, width is in [m] and damping in [N s/m].
    """

    width: float = option(0.003, unit="rad", low=0.0, source="assumed: 10 arcmin, a planetary gear")
    """Total play, from flank to flank."""
    damping: float = option(0.01, unit="N m s/rad", low=0.0, above=True, source="assumed")
    """Damping of the lubricant in the play."""

    def __post_init__(self) -> None:
        check_values(self, LawError)


@dataclass(frozen=True, slots=True)
class Tendon:
    """Two opposing tendons round a pulley between motor and spring, which pull and cannot push.

    The state s is the position of the motor less that of the spring's end. With the load T of the spring,

        damping ds/dt + F(s) = T
        F(s) = max(0, pretension + stiffness s) - max(0, pretension - stiffness s)             with pretension
        F(s) = stiffness (s - clip(s, -slack / 2, slack / 2))                                   with slack

    (Kelvin-Voigt element, of which a part does not push.) Two tendons under tension have twice the stiffness of one;
    beyond |s| = pretension / stiffness one of them is slack. The tendons store the integral of F and dissipate
    damping (ds/dt)^2. On a lever drive, values are in [N] and [m].
    """

    stiffness: float = option(500.0, unit="N m/rad", low=0.0, above=True, source="assumed")
    """Stiffness of one tendon, reflected to the link: E A r^2 / length."""
    damping: float = option(0.5, unit="N m s/rad", low=0.0, above=True, source="assumed")
    """Damping of the tendons."""
    pretension: float = option(0.0, unit="N m", low=0.0)
    """Torque of each tendon at s = 0."""
    slack: float = option(0.0, unit="rad", low=0.0)
    """Angle in which neither tendon pulls, because they are too long."""

    def __post_init__(self) -> None:
        check_values(self, LawError)
        if self.pretension > 0.0 and self.slack > 0.0:
            raise LawError(
                f"Tendon: pretension {self.pretension:g} N m contradicts slack {self.slack:g} rad; one of them must "
                "be 0: tendons under tension are not slack",
                field="slack",
            )


@dataclass(frozen=True, slots=True)
class Gear:
    """Elastic gear: the motor becomes two masses, rotor and output, with a spring and a damper between them.

        T = stiffness (theta - output) + damping (theta' - output')
        rotor:   J theta'' + D theta' = u - T - friction
        output:  inertia output'' = T - load

    (Spong 1987, Journal of Dynamic Systems, Measurement and Control 109(4), with the gear as the elastic element.)
    Everything is reflected to the link. Motor position, controller, friction and stops are the rotor's; the spring
    sees the output. The damping is implicit in the relative velocity. Where the time step h does not resolve the
    resonance, h^2 stiffness (1/J + 1/inertia) > 1, the spring is implicit too, which adds the damping h stiffness.
    """

    inertia: float = option(0.005, unit="kg m^2", low=0.0, above=True, source="assumed")
    """Inertia between gear and spring; on a lever drive a mass [kg]."""
    stiffness: float = option(
        6700.0, unit="N m/rad", low=0.0, above=True, source="the least of WALK-MAN's gears, CompliantJointToolbox"
    )
    """Torsional stiffness of the gear."""
    damping: float = option(0.5, unit="N m s/rad", low=0.0, source="assumed")
    """Damping of the gear."""

    def __post_init__(self) -> None:
        check_values(self, LawError)
