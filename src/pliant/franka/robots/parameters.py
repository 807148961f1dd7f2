"""Every constant of the Franka arms (FER, "Panda", FR3, FP3 and FR3 v2), with its source.

Sources, by the letters used below:

* [G] Gaz, Cognetti, Oliva, Robuffo Giordano, De Luca: Dynamic identification of the Franka Emika Panda robot with
  retrieval of feasible parameters using penalty-based optimization. IEEE RA-L, 2019. Links and friction.
* [D] The manufacturer's public robot description (franka_description, Apache-2.0): links of FR3, FP3 and FR3 v2,
  joint limits.
* [L] The manufacturer's public client library (libfranka, Apache-2.0): rate limits, combination of loads.
* [S] Schmalz, operating instructions of the compact terminal SCTSi: default thresholds of its vacuum controllers. The
  manufacturer of the arms refers to a pump of the same maker.
* [O] Oliva, Spindler, Robuffo Giordano, Chaumette: FrankaSim. ICARCV 2022. Hand, kinematics, library interface.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from pliant.base.errors import ModelError, nearest
from pliant.franka.device.parameters import Arm, Cup, Hand, Limits, Link, Payload

Q_READY = np.array([0.0, -math.pi / 4, 0.0, -3 * math.pi / 4, 0.0, math.pi / 2, math.pi / 4])
"""The manufacturer's ready pose [rad] [L]."""

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

# [D] 1.0.1.
_FR3V2_BASE = Link(3.85, (-0.0172, 0.0004, 0.0745), (0.009, 0.0, 0.002, 0.0115, 0.0, 0.0085))
_FR3V2_LINKS = (
    Link(2.4377, (-0.00458, 0.027016, -0.0618), (0.02324, 0.000333, -0.000676, 0.02146, 0.003739, 0.0055)),
    Link(2.2375, (-0.003473, -0.168509, -0.010479), (0.019026, 0.001241, 0.000499, 0.00566, -0.001804, 0.017114)),
    Link(2.185794, (0.092968, 0.01801, 0.033533), (0.010225, 0.001144, 0.003497, 0.012398, 0.002156, 0.006877)),
    Link(2.175867, (-0.068745, 0.092947, 0.011195), (0.008878, -0.003749, 0.001139, 0.007628, -0.00046, 0.010295)),
    Link(2.174817, (-0.004197, 0.010257, -0.058103), (0.031874, 0.000134, -0.000265, 0.029674, -0.004734, 0.004751)),
    Link(1.567617, (0.070958, -0.014137, -0.035324), (0.00286, -0.000553, -0.000638, 0.00391, -0.00024, 0.00453)),
    Link(0.682876, (0.008204, 0.001156, 0.061016), (0.000899, 0.0, -1.3e-05, 0.001099, -2.2e-05, 0.000702)),
)

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

_MOTOR_INERTIA = (0.6057, 0.6057, 0.4625, 0.4625, 0.2055, 0.2055, 0.2055)
"""Of the FR3, vendor's numbers that Drake quotes [kg m^2]. The identified set of the FER has no such term."""

FER = Arm(
    name="fer",
    title="Franka Emika Robot",
    protocols=(4, 5),
    links=_FER_LINKS,
    base=_FER_BASE,
    friction=FRICTION,
    motor_inertia=_MOTOR_INERTIA,  # assumed
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
    protocols=(6, 10),
    links=_FR3_LINKS,
    base=_FR3_BASE,
    friction=FRICTION,
    motor_inertia=_MOTOR_INERTIA,
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

_LIMITS_1_0 = dataclasses.replace(
    FR3.limits,
    position_min=(-2.7437, -1.7837, -2.9007, -3.0421, -2.8065, 0.5445, -3.0159),
    position_max=(2.7437, 1.7837, 2.9007, -0.1518, 2.8065, 4.5169, 3.0159),
)
"""Of FP3 and FR3 v2: positions, velocities and torques [D] 1.0.1; the rest assumed as the FR3's [L]."""

FP3 = dataclasses.replace(FR3, name="fp3", title="Franka Production 3", limits=_LIMITS_1_0)
"""The FP3: links [D] 1.0.1, the numbers of the FR3. Protocols, friction and motors are assumed as the FR3's."""

FR3V2 = dataclasses.replace(
    FR3, name="fr3v2", title="Franka Research 3 v2", links=_FR3V2_LINKS, base=_FR3V2_BASE, limits=_LIMITS_1_0
)
"""The FR3 v2: links [D] 1.0.1. Protocols, friction and motors are assumed as the FR3's."""

ARMS: dict[str, Arm] = {arm.name: arm for arm in (FER, FR3, FP3, FR3V2)}
"""Name of a type -> its parameters."""


def arm(name: str | Arm) -> Arm:
    """Return the arm of a name: ``"fer"``, ``"fr3"``, ``"fp3"`` or ``"fr3v2"``.

    Raises:
        ModelError: no such arm.
    """
    if isinstance(name, Arm):
        return name
    try:
        return ARMS[name]
    except (KeyError, TypeError):
        raise ModelError(f"no Franka arm {name!r}: {nearest(str(name), ARMS)}", field="arm") from None


FRANKA_HAND = Payload(
    mass=0.73, center_of_mass=(-0.01, 0.0, 0.03), inertia=(0.001, 0.0, 0.0, 0.0, 0.0025, 0.0, 0.0, 0.0, 0.0017)
)
"""The Franka Hand as the manufacturer's interface states it [O], figure 2."""

_HALF = math.sqrt(0.5)
EE_OF_HAND = np.array(
    [[_HALF, _HALF, 0.0, 0.0], [-_HALF, _HALF, 0.0, 0.0], [0.0, 0.0, 1.0, 0.1034], [0.0, 0.0, 0.0, 1.0]]
)
"""F_T_NE with the Franka Hand: Rz(-45 deg), 0.1034 m along z [O]."""
FINGER_Z = 0.0584
"""Where the fingers start, along z of the hand [m], franka_description."""

HAND = Hand(
    max_width=0.08,  # data sheet
    max_speed=0.1,  # data sheet: 50 mm/s for each finger
    max_force=70.0,  # data sheet: continuous
    finger_mass=0.0291,  # [D]
    temperature=30,  # assumed
)
"""The Franka Hand."""

CUP = Cup(
    radius=0.015,  # assumed
    max_vacuum=800.0,  # assumed
    max_setpoint=750.0,  # [S]: H1; that a larger setpoint counts as this is assumed
    setpoint_hysteresis=150.0,  # [S]: h1
    present=550.0,  # [S]: H2
    present_hysteresis=10.0,  # [S]: h2
    detached=10.0,  # assumed
    open_vacuum=20.0,  # assumed
    evacuation_time=0.1,  # assumed: 20 ml at 12 l/min
    leak_time=60.0,  # assumed
    open_time=0.02,  # assumed
    vent_time=0.02,  # assumed
)
"""The vacuum gripper's pump and cup."""
VACUUM_GRIPPER = Payload(
    mass=0.8, center_of_mass=(0.0, 0.0, 0.05), inertia=(0.0015, 0.0, 0.0, 0.0, 0.0015, 0.0, 0.0, 0.0, 0.001)
)
"""The vacuum gripper at the flange."""  # assumed
EE_OF_CUP = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.15], [0.0, 0.0, 0.0, 1.0]])
"""F_T_NE with the vacuum gripper: the centre of the lip, 0.15 m along z."""  # assumed
