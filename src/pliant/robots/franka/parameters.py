"""Every constant of the Franka arms (FER, "Panda", and FR3), with its source.

Sources, by the letters used below:

* [G] Gaz, Cognetti, Oliva, Robuffo Giordano, De Luca: Dynamic identification of the Franka Emika Panda robot with
  retrieval of feasible parameters using penalty-based optimization. IEEE RA-L, 2019. Links and friction.
* [D] The manufacturer's public robot description (franka_description, Apache-2.0): FR3 links, joint limits.
* [L] The manufacturer's public client library (libfranka, Apache-2.0): rate limits, combination of loads.
* [O] Oliva, Spindler, Robuffo Giordano, Chaumette: FrankaSim. ICARCV 2022. Hand, kinematics, library interface.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, nearest

__all__ = [
    "DH",
    "EE_OF_HAND",
    "FER",
    "FR3",
    "FRANKA_HAND",
    "FRICTION",
    "HAND",
    "NO_PAYLOAD",
    "Q_READY",
    "Arm",
    "ArmName",
    "Hand",
    "Limits",
    "Link",
    "Payload",
    "arm",
]

Array = NDArray[np.float64]
ArmName = Literal["fer", "fr3"]

DH = np.array(
    [
        # a_(i-1) [m], alpha_(i-1) [rad], d_i [m]; theta_i = q_i; the last row is the flange
        [0.0, 0.0, 0.333],
        [0.0, -math.pi / 2, 0.0],
        [0.0, math.pi / 2, 0.316],
        [0.0825, math.pi / 2, 0.0],
        [-0.0825, -math.pi / 2, 0.384],
        [0.0, math.pi / 2, 0.0],
        [0.088, math.pi / 2, 0.0],
        [0.0, 0.0, 0.107],
    ]
)
"""Modified (Craig) Denavit-Hartenberg parameters of both arms [O], table I and figure 1."""

D_FLANGE = 0.107
"""Distance of the flange from the origin of link 7 along z [m] [O]."""

Q_READY = np.array([0.0, -math.pi / 4, 0.0, -3 * math.pi / 4, 0.0, math.pi / 2, math.pi / 4])
"""The manufacturer's ready pose [rad] [L]."""

ELBOW_FLIP = -0.467
"""q4 at which the elbow changes its sign [rad] [L]; on the FR3 assumed the same."""


@dataclass(frozen=True, slots=True)
class Link:
    """One rigid body, in its link frame (axes of the modified DH convention)."""

    mass: float
    """[kg]."""
    center_of_mass: tuple[float, float, float]
    """[m]."""
    inertia: tuple[float, float, float, float, float, float]
    """xx, xy, xz, yy, yz, zz about the centre of mass [kg m^2]."""


# [G], the feasible set. Link 1's z of the centre of mass enters neither M, C nor g of a fixed base.
_FER_LINKS = (
    Link(4.970684, (3.875e-3, 2.081e-3, -0.04762), (0.70337, -1.39e-4, 6.772e-3, 0.70661, 1.9169e-2, 9.117e-3)),
    Link(0.646926, (-3.141e-3, -2.872e-2, 3.495e-3), (7.962e-3, -3.925e-3, 1.0254e-2, 2.811e-2, 7.04e-4, 2.5995e-2)),
    Link(
        3.228604,
        (2.7518e-2, 3.9252e-2, -6.6502e-2),
        (3.7242e-2, -4.761e-3, -1.1396e-2, 3.6155e-2, -1.2805e-2, 1.083e-2),
    ),
    Link(
        3.587895,
        (-5.317e-2, 1.04419e-1, 2.7454e-2),
        (2.5853e-2, 7.796e-3, -1.332e-3, 1.9552e-2, 8.641e-3, 2.8323e-2),
    ),
    Link(
        1.225946,
        (-1.1953e-2, 4.1065e-2, -3.8437e-2),
        (3.5549e-2, -2.117e-3, -4.037e-3, 2.9474e-2, 2.29e-4, 8.627e-3),
    ),
    Link(
        1.666555,
        (6.0149e-2, -1.4117e-2, -1.0517e-2),
        (1.964e-3, 1.09e-4, -1.158e-3, 4.354e-3, 3.41e-4, 5.433e-3),
    ),
    Link(
        0.735522,
        (1.0517e-2, -4.252e-3, 6.1597e-2),
        (1.2516e-2, -4.28e-4, -1.196e-3, 1.0027e-2, -7.41e-4, 4.815e-3),
    ),
)
_FER_BASE = Link(0.629769, (-0.041018, -1.4e-4, 0.049974), (3.15e-3, 8.2904e-7, 1.5e-4, 3.88e-3, 8.2299e-6, 4.285e-3))

# [D], system image 5.9.
_FR3_LINKS = (
    Link(
        2.9274653454,
        (4.128e-7, -0.0181251324, -0.0386035970),
        (
            0.023927316485107913,
            1.3317903455714081e-05,
            -0.00011404774918616684,
            0.0224821613275756,
            -0.0019950320628240115,
            0.006350098258530016,
        ),
    ),
    Link(
        2.9355370338,
        (0.0031828864, -0.0743221644, 0.0088146084),
        (
            0.041938946257609425,
            0.00020257331521090626,
            0.004077784227179924,
            0.02514514885014724,
            -0.0042252158006570156,
            0.06170214472888839,
        ),
    ),
    Link(
        2.2449013699,
        (0.0407015686, -0.0048200565, -0.0289730823),
        (
            0.02410142547240885,
            0.002404694559042109,
            -0.002856269270114313,
            0.01974053266708178,
            -0.002104212683891874,
            0.019044494482244823,
        ),
    ),
    Link(
        2.6155955791,
        (-0.0459100965, 0.0630492960, -0.0085187868),
        (
            0.03452998321913202,
            0.01322552265982813,
            0.01015142998484113,
            0.028881621933049058,
            -0.0009762833870704552,
            0.04125471171146641,
        ),
    ),
    Link(
        2.3271207594,
        (-0.0016039605, 0.0292536262, -0.0972965990),
        (
            0.051610278463662895,
            -0.005715173387783472,
            -0.0035673167625872135,
            0.04787729713371481,
            0.010673985108535986,
            0.016423625579357254,
        ),
    ),
    Link(
        1.8170376524,
        (0.0597131221, -0.0410294666, -0.0101692726),
        (
            0.005412333594383447,
            0.006193456360285834,
            0.0014219289306117652,
            0.014058329545509979,
            -0.0013140753741120031,
            0.016080817924212554,
        ),
    ),
    Link(
        0.6271432862,
        (0.0045225817, 0.0086261921, -0.0161633251),
        (
            0.00021092389150104718,
            -2.433299114461931e-05,
            4.564480393778983e-05,
            0.00017718568002411474,
            8.744070223226438e-05,
            5.993190599659971e-05,
        ),
    ),
)
_FR3_BASE = Link(2.3966, (-0.0172, 0.0004, 0.0745), (0.0090, 0.0, 0.0020, 0.0115, 0.0, 0.0085))

FRICTION = np.array(
    [
        # a [N m], b [s/rad], c [rad/s]
        [0.54615, 5.1181, 0.039533],
        [0.87224, 9.0657, 0.025882],
        [0.64068, 10.136, -0.04607],
        [1.2794, 5.5903, 0.036194],
        [0.83904, 8.3469, 0.026226],
        [0.30301, 17.133, -0.021047],
        [0.56489, 10.336, 0.0035526],
    ]
)
"""Friction of the FER [G]: tau = a/(1 + exp(-b (dq + c))) - a/(1 + exp(-b c)). On the FR3 assumed the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an arm may do. Vectors of 7 in joint order."""

    position_min: tuple[float, ...]
    """[rad]."""
    position_max: tuple[float, ...]
    """[rad]."""
    velocity: tuple[float, ...]
    """[rad/s]."""
    acceleration: tuple[float, ...]
    """[rad/s^2]."""
    jerk: tuple[float, ...]
    """[rad/s^3]."""
    torque: tuple[float, ...] = (87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0)
    """[N m] [D]."""
    torque_rate: float = 1000.0
    """[N m/s], all joints [L]."""
    velocity_offset: tuple[float, ...] | None = None
    """FR3: offset of the position-dependent velocity limit [rad/s]; None: the limit is constant."""
    deceleration: tuple[float, ...] | None = None
    """FR3: deceleration of the position-dependent velocity limit [rad/s^2]."""
    translation: tuple[float, float, float]
    """Cartesian velocity, acceleration, jerk [m/s, m/s^2, m/s^3]."""
    rotation: tuple[float, float, float]
    """The same about axes [rad/s, ...]."""
    elbow: tuple[float, float, float]
    """The same of the elbow angle [rad/s, ...]."""

    def velocity_bounds(self, q: Sequence[float] | Array) -> tuple[Array, Array]:
        """Return the lower and upper joint velocity limits at q.

        On the FR3, upper = min(dq_max, max(0, -offset + sqrt(max(0, 2 a (q_max - q))))), lower mirrored [L].

        Args:
            q: joint positions, shape (..., 7) [rad].

        Returns:
            lower and upper, shape (..., 7) [rad/s].
        """
        q = np.asarray(q, dtype=float)
        top = np.broadcast_to(np.array(self.velocity), q.shape)
        if self.velocity_offset is None or self.deceleration is None:
            return -top, top.copy()
        offset, dec = np.array(self.velocity_offset), np.array(self.deceleration)
        room_up = np.maximum(0.0, 2.0 * dec * (np.array(self.position_max) - q))
        room_down = np.maximum(0.0, 2.0 * dec * (q - np.array(self.position_min)))
        upper = np.minimum(top, np.maximum(0.0, -offset + np.sqrt(room_up)))
        lower = -np.minimum(top, np.maximum(0.0, -offset + np.sqrt(room_down)))
        return lower, upper


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One type of arm."""

    name: ArmName
    """``"fer"`` or ``"fr3"``."""
    title: str
    """The manufacturer's name."""
    links: tuple[Link, ...]
    """Links 1 to 7."""
    base: Link
    """Link 0."""
    limits: Limits
    """What it may do."""
    friction: Array
    """Rows a, b, c of 7 joints; see `FRICTION`."""
    motor_inertia: tuple[float, ...] = (0.0,) * 7
    """Inertia of the motors reflected at the joints [kg m^2]; zeros where the identified set has no such term. A model
    has it only where it is asked for (`Mount.motor_inertia`)."""


FER = Arm(
    name="fer",
    title="Franka Emika Robot",
    links=_FER_LINKS,
    base=_FER_BASE,
    friction=FRICTION,
    limits=Limits(
        position_min=(-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973),
        position_max=(2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973),
        velocity=(2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61),
        acceleration=(15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0),
        jerk=(7500.0, 3750.0, 5000.0, 6250.0, 7500.0, 10000.0, 10000.0),
        translation=(2.0, 13.0, 6500.0),
        rotation=(2.5, 25.0, 12500.0),
        elbow=(2.175, 10.0, 5000.0),
    ),
)
"""The FER, "Panda": links and friction [G], limits [L] 0.9.2."""

FR3 = Arm(
    name="fr3",
    title="Franka Research 3",
    links=_FR3_LINKS,
    base=_FR3_BASE,
    friction=FRICTION,
    motor_inertia=(0.6057, 0.6057, 0.4625, 0.4625, 0.2055, 0.2055, 0.2055),  # vendor's numbers, quoted in Drake
    limits=Limits(
        position_min=(-2.7501, -1.7918, -2.9065, -3.0481, -2.8101, 0.54092, -3.0196),
        position_max=(2.7501, 1.7918, 2.9065, -0.1458, 2.8101, 4.5205, 3.0196),
        velocity=(2.62, 2.62, 2.62, 2.62, 5.26, 4.18, 5.26),
        acceleration=(10.0,) * 7,
        jerk=(5000.0,) * 7,
        velocity_offset=(0.30, 0.20, 0.20, 0.30, 0.35, 0.35, 0.35),
        deceleration=(6.0, 2.585, 3.5, 4.0, 17.0, 5.5, 17.0),
        translation=(3.0, 9.0, 4500.0),
        rotation=(2.5, 17.0, 8500.0),
        elbow=(1.5, 10.0, 5000.0),
    ),
)
"""The FR3: links [D], limits [L] 0.21 and [D]; friction assumed as the FER's."""

_ARMS = {"fer": FER, "fr3": FR3}


def arm(name: str | Arm) -> Arm:
    """Return the arm of a name, ``"fer"`` or ``"fr3"``.

    Raises:
        ModelError: no such arm.
    """
    if isinstance(name, Arm):
        return name
    try:
        return _ARMS[name]
    except (KeyError, TypeError):
        raise ModelError(f"no Franka arm {name!r}: {nearest(str(name), _ARMS)}", field="arm") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What is fixed to the flange: an end effector, a load, or both together."""

    mass: float
    """[kg], not negative."""
    center_of_mass: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """In the flange frame [m]."""
    inertia: tuple[float, ...] = (0.0,) * 9
    """About the centre of mass, axes of the flange, 9 numbers of the symmetric matrix [kg m^2]."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mass) and self.mass >= 0.0):
            raise ModelError(f"a payload of mass {self.mass}; valid are finite values >= 0 kg", field="mass")
        if len(self.center_of_mass) != 3 or not all(map(math.isfinite, self.center_of_mass)):
            raise ModelError(f"centre of mass {self.center_of_mass} is not 3 finite numbers", field="center_of_mass")
        if len(self.inertia) != 9 or not all(map(math.isfinite, self.inertia)):
            raise ModelError(f"inertia {self.inertia} is not 9 finite numbers", field="inertia")
        I = np.reshape(self.inertia, (3, 3))
        if not np.allclose(I, I.T, rtol=0.0, atol=1e-9 * max(1.0, float(np.abs(I).max()))):
            raise ModelError("the inertia of a payload is not symmetric", field="inertia")
        if np.linalg.eigvalsh(I)[0] < -1e-9:
            raise ModelError("the inertia of a payload has a negative principal moment", field="inertia")

    def combined(self, other: Payload) -> Payload:
        """Return both payloads as one rigid body; a body of zero mass counts with zero inertia [L].

        Each tensor is moved to the flange, summed, and moved to the common centre of mass.
        """
        bodies = [p for p in (self, other) if p.mass > 0.0]
        mass = sum(p.mass for p in bodies)
        if mass == 0.0:
            return NO_PAYLOAD
        center = sum((p.mass * np.array(p.center_of_mass) for p in bodies), np.zeros(3)) / mass
        I = -_steiner(mass, center)
        for p in bodies:
            I = I + np.reshape(p.inertia, (3, 3)) + _steiner(p.mass, np.array(p.center_of_mass))
        return Payload(
            mass=mass,
            center_of_mass=tuple(center.tolist()),
            inertia=tuple((0.5 * (I + I.T)).reshape(-1).tolist()),
        )


def _steiner(mass: float, c: Array) -> Array:
    """Return m (c.c 1 - c c'), what a point mass adds about the origin."""
    return mass * (float(c @ c) * np.eye(3) - np.outer(c, c))


NO_PAYLOAD = Payload(mass=0.0)
"""A bare flange."""

FRANKA_HAND = Payload(
    mass=0.73, center_of_mass=(-0.01, 0.0, 0.03), inertia=(0.001, 0.0, 0.0, 0.0, 0.0025, 0.0, 0.0, 0.0, 0.0017)
)
"""The Franka Hand as the manufacturer's interface states it [O], figure 2."""

_HALF = math.sqrt(0.5)
EE_OF_HAND = np.array(
    [[_HALF, _HALF, 0.0, 0.0], [-_HALF, _HALF, 0.0, 0.0], [0.0, 0.0, 1.0, 0.1034], [0.0, 0.0, 0.0, 1.0]]
)
"""F_T_NE with the Franka Hand: Rz(-45 deg), 0.1034 m along z [O]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """The two-finger hand."""

    max_width: float = 0.08
    """Largest opening [m], data sheet."""
    max_speed: float = 0.1
    """Largest rate of the opening [m/s], data sheet: 50 mm/s a finger."""
    max_force: float = 70.0
    """Largest continuous grasping force [N], data sheet."""
    finger_mass: float = 0.0291
    """Of one finger [kg] [D]."""
    temperature: int = 30
    """What the state reports [degC]."""  # assumed


HAND = Hand()
"""The Franka Hand."""
