"""Numbers of the SoftFoot, each with its source.

Sources: RELEASE is the model that the authors of the paper released (MuJoCo Menagerie, folder ``iit_softfoot``,
December 2024; MIT licence, earlier BSD-3-Clause, (c) 2024 Istituto Italiano di Tecnologia). PAPER is arXiv 2412.03191.
Of both, pliant uses numbers only: the meshes are replaced by primitive shapes.

Frame of all numbers: the body ``attachment_cube``, its origin on the axis of the ankle, x to the toes, y DOWN to the
ground, z to the left. All hinges have the axis +z; a positive angle of a module turns its distal end down (plantar
flexion). Units: m, kg, rad, N.
"""

from __future__ import annotations

from dataclasses import dataclass

Vector = tuple[float, ...]

CHAINS = 5
"""Number of chains of the foot that was built (PAPER, section II-A)."""
CHAIN_PITCH = 0.0185
"""Lateral distance of neighbouring chains [m] (RELEASE)."""
CHAIN_EDGE = 2.0 * CHAIN_PITCH + 0.0055
"""Lateral position of the outer edge of the sole of the outermost chain [m] (RELEASE: 0.037 + 0.0055)."""
QUIRK_OFFSET = 0.0005
"""The release has the bodies of chain 4 at z = -0.018 and its heel pulleys and closure at -0.0185; difference [m]."""
AXIS_DISTANCE = 0.013
"""Distance of the two axes of a coupling: two cylinders of 6.5 mm radius roll on each other [m] (RELEASE)."""
RANGE = (-0.15707963267948966, 0.7853981633974483)
"""Range of each of the two hinges of a coupling: -9 to 45 degrees [rad] (RELEASE; PAPER says 20 and 90 degrees of
the coupling)."""
HEEL_JOINT = {"stiffness": 0.001, "damping": 0.001, "range": (-1.5707963267948966, 1.5707963267948966)}
"""Hinge of the heel on the posterior arch [N m/rad, N m s/rad, rad] (RELEASE)."""
ARCH_DAMPING = 0.001
"""Damping of the hinge of the frontal arch on the ankle [N m s/rad] (RELEASE)."""
SOLVER_REFERENCE = (0.02, 1.0)
"""Time constant [s] and damping ratio of the constraints (RELEASE: the default of MuJoCo)."""
COUPLING_SOLIMP = (0.85, 0.95, 0.01, 0.5, 2.0)
"""Impedance of the equality of the two hinges of a coupling (RELEASE)."""
STOP_SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)
"""Impedance of the stops of a hinge (RELEASE: the default of MuJoCo)."""
CLOSURE_SOLIMP = (0.95, 0.99, 0.001, 0.5, 2.0)
"""Impedance of the closure of frontal arch and metatarsus: least, largest, width [m], midpoint, power (RELEASE)."""
CLOSURE_ANCHOR = 0.129632
"""Distance of the metatarsal joint from the ankle, on the x axis of the frontal arch [m] (RELEASE)."""
TENDON_RANGE = 0.286
"""Length at which a tendon is taut [m] (RELEASE)."""
TENDON_OFFSET = 0.0038
"""Distance of the tendon below the rolling axes [m] (RELEASE: sites at y = 0.0038)."""
PULLEY_RADIUS = 0.0035
"""Radius of the pulleys on the rolling axes [m] (RELEASE)."""
PULLEY_HALF_WIDTH = 0.006
"""Half width of the pulleys [m] (RELEASE)."""
REDIRECT_RADIUS = 0.0025
"""Radius of the redirecting pulley in the heel [m] (RELEASE)."""
TENDON_START = (-0.007, 0.012)
"""Fixed end of the tendon in the frame of the heel, x and y [m] (RELEASE)."""
REDIRECT = (0.0008, 0.0335)
"""Centre of the redirecting pulley in the frame of the heel [m] (RELEASE)."""
REDIRECT_SIDE = (0.0008, 0.038)
"""Side of the redirecting pulley that the tendon passes, in the frame of the heel [m] (RELEASE)."""
HEEL_PULLEY = (0.013, 0.0)
"""Centre of the last pulley of the heel, on the axis of the first coupling [m] (RELEASE)."""
HEEL_PULLEY_SIDE = (0.017, 0.002)
"""Side of that pulley that the tendon passes [m] (RELEASE)."""
TENDON_END = 0.019
"""x of the fixed end of the tendon in the frame of the distal phalanx [m] (RELEASE)."""
ANKLE_HEIGHT = 0.0952
"""Height of the ankle above the soles at rest [m] (the boxes below: 95.2 mm under the phalanges, 95.3 under the
heel)."""

BASE_QUATERNION = (-0.7071068, 0.7071068, 0.0, 0.0)
"""Orientation of the root body in a world whose z axis is up (w, x, y, z) (RELEASE)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inertial:
    """Mass, centre of mass and inertia of a body."""

    mass: float
    """Mass [kg]."""
    center: Vector
    """Centre of mass in the frame of the body [m]."""
    inertia: Vector
    """Three principal moments about the centre of mass, or xx, yy, zz, xy, xz, yz [kg m^2]."""
    quaternion: Vector = (1.0, 0.0, 0.0, 0.0)
    """Orientation of the principal axes (w, x, y, z)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One module of a chain."""

    name: str
    """Name of the body, without the number of the chain."""
    offset: float
    """x of the module in the frame of the module before it [m]; of the first one see `CHAIN_START`."""
    inertial: Inertial
    """Mass properties."""
    sole: Vector
    """Half length (x) and half height (y) of the contact box, x of its centre [m]."""
    exit: float | None
    """x of the pulley on the rolling axis of the next coupling [m]; None at the tip."""
    mirrored: bool = False
    """Whether the range of the coupling before it is mirrored."""


# All masses, positions, inertias and contact boxes below: RELEASE.

ROOT = Inertial(
    mass=0.45418805,
    center=(-9.5664949e-05, -1.6749134e-05, 0.0013880927),
    inertia=(0.000179789, 0.00017806823, 0.00016882624),
)
"""Housing of the ankle, ``attachment_cube``."""

POSTERIOR_ARCH = Inertial(
    mass=0.067640931,
    center=(-0.03061955, 0.04238064, 0.0),
    inertia=(9.8002561e-05, 8.62928888e-05, 4.82264560e-05, 2.03100023e-05, -2.77008333e-07, 3.47120498e-07),
)
"""Posterior arch, fixed to the ankle."""

HEEL = Inertial(
    mass=0.0795653,
    center=(0.00603181, 0.0151581, 6.61892e-05),
    inertia=(8.50326e-05, 7.83421e-05, 1.43078e-05),
    quaternion=(0.983478, 0.000179772, 5.11301e-05, 0.181025),
)
"""Heel, hinged on the posterior arch."""

FRONTAL_ARCH = Inertial(
    mass=0.0720266,
    center=(0.0718088, -0.00348336, 0.0),
    inertia=(0.000204936, 0.000105624, 0.000104631),
    quaternion=(0.518722, 0.518722, 0.480549, 0.480549),
)
"""Frontal arch, hinged on the axis of the ankle."""

HEEL_POSITION = (-0.053, 0.0727411, 0.0)
"""Hinge of the heel in the frame of the ankle [m] (RELEASE)."""
HEEL_QUATERNION = (0.821926, 0.0, 0.0, 0.569595)
"""Orientation of the heel at rest: 69.443 degrees about z (RELEASE)."""
FRONTAL_QUATERNION = (0.955962, 0.0, 0.0, 0.293492)
"""Orientation of the frontal arch at rest: 34.134 degrees about z (RELEASE)."""
CHAIN_START = (0.017380606797550806, -0.012172278537059241)
"""First module in the frame of the heel, x and y [m] (RELEASE)."""
CHAIN_QUATERNION = (0.8219256656813927, 0.0, 0.0, -0.5695947683170903)
"""Orientation of the first module in the frame of the heel: level (RELEASE)."""
HEEL_SOLE = {"half": (0.026, 0.0126, 0.058), "center": (0.005, 0.015, 0.0), "angle": -1.2130038301360591}
"""Contact box of the heel: half lengths and centre [m], angle about z [rad] (RELEASE)."""

BAR = {"mass": 0.005, "damping": 0.05, "range": 0.35}
"""Bar on the metatarsal joint where it also turns about the long axis of the foot: mass, which is taken from the
frontal arch [kg], damping [N m s/rad], largest turn [rad].  # assumed: the feet with two arches of Pace et al. 2024 are
described in kind only"""
SKID = {"radius": 0.0055, "end": 0.0005}
"""Skid under a module [m]: radius, the half width of a module; how much shorter its axis is than the box at each end.
# assumed: chosen so that the load on the heel on flat ground is that of boxes"""

ARCHES = {"cube": 0.033, "radius": 0.010, "side": 0.045}
"""Primitive stand-ins for the colliding meshes of the release [m]: half edge of the ankle's cube (outline of the mesh),
radius and lateral position of two capsules per arch.  # assumed: radius and position, inside the outline of the mesh"""

_SHORT_INERTIA = (2.7888e-07, 2.19926e-07, 1.90046e-07)
_TURNED = (0.5, 0.5, -0.5, 0.5)
_SHORT = Inertial(
    mass=0.00523906, center=(0.00422892, 0.000458611, -1.66954e-07), inertia=_SHORT_INERTIA, quaternion=_TURNED
)
_TOE = Inertial(
    mass=0.00523906, center=(0.00477108, 0.000458611, 1.66954e-07), inertia=_SHORT_INERTIA, quaternion=_TURNED
)
_REVERSE = Inertial(
    mass=0.00482342,
    center=(0.00514694, 0.00159805, -1.09751e-05),
    inertia=(2.34003e-07, 2.21199e-07, 1.46524e-07),
    quaternion=(0.0, 0.707107, 0.0, 0.707107),
)
_METATARSUS = Inertial(
    mass=0.00692955,
    center=(0.00982416, -0.00192716, 1.24761e-07),
    inertia=(3.2379098e-07, 4.8681189e-07, 6.2561967e-07),
)
_DISTAL = Inertial(
    mass=0.00955892,
    center=(0.0109173, 0.00203691, 1.0587e-07),
    inertia=(7.4877e-07, 6.58265e-07, 3.0432e-07),
    quaternion=(0.0204427, 0.706811, -0.0204427, 0.706811),
)
_SHORT_SOLE = (0.010, 0.0105, 0.005)

MODULES = (
    *(
        Module(name=f"phalanx_{i}", offset=0.0 if i == 1 else 0.022, inertial=_SHORT, sole=_SHORT_SOLE, exit=0.009)
        for i in range(1, 6)
    ),
    Module(name="reverse_phalanx", offset=0.022, inertial=_REVERSE, sole=(0.012, 0.010, 0.005), exit=0.010),
    Module(
        name="rollover_phalanx",
        offset=0.0233,
        inertial=_METATARSUS,
        sole=(0.016, 0.010, 0.010),
        exit=0.018,
        mirrored=True,
    ),
    Module(name="phalanx_6", offset=0.032, inertial=_TOE, sole=_SHORT_SOLE, exit=0.009),
    Module(name="distal_phalanx", offset=0.022, inertial=_DISTAL, sole=(0.014, 0.011, 0.008), exit=None),
)
"""The nine modules of a chain, from the heel on: five of the plantar fascia, the reverse module, the metatarsus
(``rollover_phalanx``) and two of the toe."""
