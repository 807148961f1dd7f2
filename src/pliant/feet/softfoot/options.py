"""Options of a SoftFoot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pliant.base.options import option

MAX_LUMPED = 5
"""Most chains of a lumped sole, which stand for the five of the foot."""
MAX_SEPARATE = 6
"""Most chains of their real width: modules of 14 mm at a pitch of 18.5 mm beside each other on a heel of 116 mm."""

_RELEASE = "the released model (MuJoCo Menagerie, iit_softfoot, 2024)"


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftFootOptions:
    """Options of the foot itself."""

    n_chains: int = option(5, low=1, high=MAX_SEPARATE, source="Crotti et al. 2024, section II-A")
    """Number of chains of modules side by side."""
    lump: bool = option(False, source="of pliant")
    """Whether the chains, where there are fewer, stand for five: with the mass, stiffness, width and lateral second
    moment of five. On ground that is the same across the foot they have the forces, the load of the heel and the centre
    of pressure of five; on an obstacle under a part of the width each presses as all the chains that it stands for.
    Otherwise the sole has fewer chains of the real kind, as the one of the bench."""
    coupling: Literal["exact", "midpoint"] = option("exact", source=_RELEASE)
    """exact: two hinges a coupling, tied so that the modules roll on each other; midpoint: one hinge between the two
    axes, of the same first-order motion, with half the joints. The coupling at the heel, which bends by up to 30
    degrees, rolls in both."""
    tendon: Literal["spatial", "fixed"] = option("spatial", source=_RELEASE)
    """spatial: routed over pulleys; fixed: a constant lever arm of 3.8 mm, which costs less."""
    contact: Literal["box", "capsule", "skid"] = option("box", source=_RELEASE)
    """Shape of the soles, all with the stiffness of their area. Capsules lie across the foot, rounded under the modules
    and the heel: on obstacles half as many contact points, and the heel takes more of the load. Skids are capsules
    along each chain under a box as heel: half as many contact points."""
    shapes: Literal["full", "plain"] = option("full", source="of pliant")
    """full: modules, rollers and axles are drawn beside the shapes that touch; plain: only these, visible, which saves
    2 to 9 % of a step."""
    band_stiffness: float = option(0.8, unit="N m/rad", low=0.0, high=1000.0, source=_RELEASE)
    """Stiffness of the elastic bands on each of the two hinges of a coupling; the whole coupling has half of it."""
    band_damping: float = option(0.04, unit="N m s/rad", low=0.0, high=100.0, source=_RELEASE)
    """Damping on each of the two hinges of a coupling."""
    armature: float = option(0.001, unit="kg m^2", low=1e-7, high=1.0, source=_RELEASE)
    """Numerical inertia on each hinge."""
    tendon_slack: float = option(
        0.0019572020875, unit="m", low=-0.02, high=0.2, source=f"0.286 m less the length at rest of {_RELEASE}"
    )
    """How far the tendons can lengthen from the straight sole before they are taut. With the released slack the
    windlass is nearly inactive."""
    closure_compliance: float = option(
        7.7e-6,
        unit="m/N",
        low=0.0,
        above=True,
        high=1.0,
        source="fitted to a pitch sweep of the release, as if its ankle had been held rigidly; the real one is unknown",
    )
    """Compliance of the closure between frontal arch and metatarsus of a whole foot, for deflections of more than 1 mm;
    below that it is up to 5.4 times larger, as in the release. It sets most of the stiffness in standing. On the rig of
    that sweep, whose servo gave way, the release has 7.0e-6 m/N, and the default is a tenth softer."""
    coupling_compliance: float = option(
        0.0386, unit="rad/(N m)", low=0.0, above=True, high=10.0, source=f"the mean over the couplings of {_RELEASE}"
    )
    """Compliance of the constraint that keeps the two hinges of a coupling equal, in a chain of its own, beyond 0.01
    rad and at scale 1. It does not depend on the armature."""
    stop_compliance: float = option(
        0.0193, unit="rad/(N m)", low=0.0, above=True, high=10.0, source=f"the mean over the hinges of {_RELEASE}"
    )
    """Compliance of the stops of each of the two hinges of a coupling, in a chain of its own, beyond 0.001 rad and at
    scale 1. It does not depend on the armature."""
    sole_stiffness: float = option(
        8e7,
        unit="N/m^3",
        low=1e6,
        high=1e10,
        source="assumed: E / t of 5 mm of silicone of 10 Shore A, 0.4 MPa by Gent 1958",
    )
    """Stiffness of the soles per area. A contact point has its share of the area of a module, see `ContactLaw`."""
    sole_damping: float = option(
        8e4,
        unit="N s/m^3",
        low=0.0,
        high=1e12,
        source="assumed: a relaxation time of 1 ms, the loss factor of rubber (0.1 to 0.3) from 20 to 45 Hz",
    )
    """Damping of the soles per area. The loss factor is angular frequency times damping over stiffness. The force of a
    damper jumps at the first touch; the force of an impact still grows from there where the loss factor is below 1."""
    frontal_freedom: bool = option(False, source="assumed, after the feet with two arches of Pace et al. 2024")
    """Whether the metatarsal joint also turns about the long axis of the foot, so that the forefoot follows ground that
    is tilted sideways."""
    frontal_stiffness: float = option(5.0, unit="N m/rad", low=0.0, high=10000.0, source="assumed")
    """Stiffness of that turn."""
    chain_spring: float = option(0.0, unit="N m/rad", low=0.0, high=1000.0, source="assumed")
    """Stiffness of the springs between neighbouring chains, one at every coupling, against a difference of their
    angles; 0: none, as in the release."""
    scale: float = option(1.0, low=0.0, above=True, high=100.0, source="of pliant")
    """Size: lengths grow with it, masses with its cube, inertias with its fifth power. Bands, springs, closure
    compliance and tendon slack are as given; coupling and stop compliance shrink as the inertias grow."""
    side: Literal["left", "right"] = option("left", source="assumed: the release does not name its side")
    """Which foot; the right one is the mirror image of the left one, and chain 1 is the outer chain of both."""
    release_quirks: bool = option(False, source="of pliant")
    """Whether to repeat what is odd in the release: chain 4 is 0.5 mm off its tendon, tendons are taut at 0.286 m and
    closure and soles have the solver's default time constant, whatever compliance that gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftFootRigOptions(SoftFootOptions):
    """Options of the foot on its test rig, ``softfoot`` of the catalogue."""

    load: float = option(300.0, unit="N", low=-1000.0, high=5000.0, source="assumed")
    """Force that presses the ankle down; the control of the actuator ``load`` is added to it."""
    bar: float = option(0.0, unit="m", low=0.0, high=0.06, source="assumed")
    """Height and length of a square bar across under the foot; 0: none."""
    bar_position: float = option(0.02, unit="m", low=-0.2, high=0.3, source="assumed")
    """Middle of the bar ahead of the ankle."""
    timestep: float = option(0.002, unit="s", low=1e-6, high=0.01, source="assumed: the default of MuJoCo")
    """Length of a simulation step."""
