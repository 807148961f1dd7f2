"""Numbers of the biped. All of them are ours, in the class of COMAN (31 kg, 0.95 m); none is a number of COMAN itself.

Frames at rest: x forward, y left, z up in every body. Roll turns about x, pitch about y, yaw about z. Lengths [m],
masses [kg], angles [rad].
"""

from __future__ import annotations

import math
from typing import NamedTuple

SIDES = {"l": 1.0, "r": -1.0}
"""First letter of the names on each side -> sign of y."""

HIP_SPACING = 0.16  # assumed
"""Distance between the hip centres; the feet of a standing robot are as far apart."""
WAIST_TO_HIP = 0.07  # assumed
"""Height of the waist's frame over the hip centres."""
KNEE_TO_HIP = 0.225  # assumed
ANKLE_TO_KNEE = 0.21  # assumed
ANKLE_HEIGHT = 0.0952
"""Height of the ankle over the sole: that of the SoftFoot, so that both feet give the same leg."""
STANDING_HEIGHT = 0.40  # assumed
"""Height of the hip centres over the ankles of a standing robot; the straight leg has 0.435 m."""
STANDING_SHIFT = 0.0  # assumed
"""Place of the hip centres ahead of the ankles of a standing robot."""

SOLE = (0.20, 0.10, 0.02)  # assumed
"""Length, width and thickness of the rigid sole."""
SOLE_FORWARD = 0.03  # assumed
"""Middle of the rigid sole ahead of the ankle."""
PAD_SLICES, PAD_ARMATURE = 10, 0.04  # assumed
"""Slices of the pad of a padded foot, and the inertia of each [kg]: stable with the biped's step of 2 ms."""
FOOT_MASS = 0.937
"""Mass of the rigid foot: that of the SoftFoot, so that both feet give the same leg.  # assumed"""


class Joint(NamedTuple):
    """One joint: axis, limits, servo."""

    axis: tuple[float, float, float]
    low: float
    high: float
    """Limits [rad]."""
    effort: float
    """Largest torque [N m]."""
    armature: float
    """Reflected inertia of motor and gear [kg m^2]."""
    damping: float
    """Viscous friction [N m s/rad]."""
    stiffness: float
    """Proportional gain of the position servo [N m/rad]."""
    servo_damping: float
    """Derivative gain of the position servo [N m s/rad]."""


_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def _leg(axis: tuple[float, float, float], low: float, high: float, effort: float, kp: float) -> Joint:
    # Servo damping: critical for the reflected inertia alone.
    return Joint(axis, low, high, effort, 0.1, 0.5, kp, 2.0 * math.sqrt(0.1 * kp))


def _arm(axis: tuple[float, float, float], low: float, high: float) -> Joint:
    return Joint(axis, low, high, 40.0, 0.05, 0.3, 200.0, 2.0 * math.sqrt(0.05 * 200.0))


def _torso(axis: tuple[float, float, float], low: float, high: float) -> Joint:
    return Joint(axis, low, high, 100.0, 0.1, 0.5, 1000.0, 2.0 * math.sqrt(0.1 * 1000.0))


_JOINTS = {
    "torso_yaw": _torso(_Z, -1.2, 1.2),
    "torso_roll": _torso(_X, -0.5, 0.5),
    "torso_pitch": _torso(_Y, -0.4, 0.9),
}
_ARM = {
    "shoulder_pitch": _arm(_Y, -3.0, 1.5),
    "shoulder_roll": _arm(_X, -0.3, 2.6),
    "shoulder_yaw": _arm(_Z, -1.5, 1.5),
    "elbow": _arm(_Y, -2.3, 0.0),
}
_LEG = {
    "hip_yaw": _leg(_Z, -0.8, 0.8, 80.0, 1000.0),
    "hip_roll": _leg(_X, -0.5, 0.8, 120.0, 1500.0),
    "hip_pitch": _leg(_Y, -2.0, 0.8, 120.0, 1500.0),
    "knee": _leg(_Y, 0.0, 2.2, 120.0, 1500.0),
    "ankle_pitch": _leg(_Y, -1.2, 0.8, 80.0, 1000.0),
    "ankle_roll": _leg(_X, -0.5, 0.5, 80.0, 1000.0),
}
_MIRRORED = ("shoulder_roll", "hip_roll", "ankle_roll", "shoulder_yaw", "hip_yaw")


def _mirror(name: str, joint: Joint, side: str) -> Joint:
    """Return a joint of one side: angles about x and z of the right side have their limits mirrored."""
    if side == "l" or name not in _MIRRORED:
        return joint
    return joint._replace(low=-joint.high, high=-joint.low)


JOINTS: dict[str, Joint] = {
    **_JOINTS,
    **{f"{s}_{name}": _mirror(name, joint, s) for s in SIDES for name, joint in _ARM.items()},
    **{f"{s}_{name}": _mirror(name, joint, s) for s in SIDES for name, joint in _LEG.items()},
}
"""Every joint by its name.  # assumed: limits, torques, reflected inertias, friction, gains"""

PARTS: dict[str, tuple[str, ...]] = {
    "torso": tuple(_JOINTS),
    "left_arm": tuple(f"l_{name}" for name in _ARM),
    "right_arm": tuple(f"r_{name}" for name in _ARM),
    "left_leg": tuple(f"l_{name}" for name in _LEG),
    "right_leg": tuple(f"r_{name}" for name in _LEG),
}
"""Part of the robot -> its joints from the waist outwards, as control boards serve them."""


class Link(NamedTuple):
    """Mass properties of one body, as those of a box."""

    mass: float
    size: tuple[float, float, float]
    """Edges of the box whose inertia it has [m]."""
    center: tuple[float, float, float]
    """Centre of mass in the body's frame; y is that of the left side [m]."""


LINKS: dict[str, Link] = {
    "waist": Link(3.0, (0.12, 0.16, 0.10), (-0.01, 0.0, 0.0)),
    "torso_yaw": Link(0.5, (0.08, 0.08, 0.06), (0.0, 0.0, 0.0)),
    "torso_roll": Link(0.5, (0.08, 0.08, 0.06), (0.0, 0.0, 0.0)),
    "torso_pitch": Link(8.6, (0.14, 0.20, 0.28), (0.0, 0.0, 0.17)),
    "shoulder_pitch": Link(0.6, (0.07, 0.07, 0.07), (0.0, 0.03, 0.0)),
    "shoulder_roll": Link(0.4, (0.06, 0.06, 0.08), (0.0, 0.0, -0.02)),
    "shoulder_yaw": Link(1.0, (0.06, 0.06, 0.14), (0.0, 0.0, -0.10)),
    "elbow": Link(0.8, (0.05, 0.05, 0.16), (0.0, 0.0, -0.08)),
    "hand": Link(0.4, (0.06, 0.04, 0.08), (0.0, 0.0, -0.04)),
    "hip_yaw": Link(0.4, (0.07, 0.07, 0.07), (0.0, 0.0, 0.0)),
    "hip_roll": Link(0.5, (0.08, 0.08, 0.08), (0.0, 0.0, 0.0)),
    "hip_pitch": Link(2.2, (0.09, 0.09, 0.22), (0.0, 0.0, -0.10)),
    "knee": Link(1.4, (0.07, 0.08, 0.20), (0.0, 0.0, -0.09)),
    "ankle_pitch": Link(0.2, (0.05, 0.05, 0.05), (0.0, 0.0, 0.0)),
    "ankle_roll": Link(0.2, (0.05, 0.05, 0.05), (0.0, 0.0, 0.0)),
}
"""Every link by the joint that moves it; the right side is the mirror image of the left one.  # assumed"""

OFFSETS: dict[str, tuple[float, float, float]] = {
    "torso_yaw": (0.0, 0.0, 0.07),
    "torso_roll": (0.0, 0.0, 0.03),
    "torso_pitch": (0.0, 0.0, 0.0),
    "shoulder_pitch": (0.0, 0.13, 0.26),
    "shoulder_roll": (0.0, 0.05, 0.0),
    "shoulder_yaw": (0.0, 0.0, 0.0),
    "elbow": (0.0, 0.0, -0.18),
    "hand": (0.0, 0.0, -0.17),
    "hip_yaw": (0.0, 0.5 * HIP_SPACING, -WAIST_TO_HIP),
    "hip_roll": (0.0, 0.0, 0.0),
    "hip_pitch": (0.0, 0.0, 0.0),
    "knee": (0.0, 0.0, -KNEE_TO_HIP),
    "ankle_pitch": (0.0, 0.0, -ANKLE_TO_KNEE),
    "ankle_roll": (0.0, 0.0, 0.0),
    "foot": (0.0, 0.0, 0.0),
}
"""Place of every body in the one that carries it, of the left side.  # assumed"""


def leg_angles(forward: float, height: float) -> tuple[float, float, float]:
    """Return the pitch of hip, knee and ankle that puts the hip over a level foot.

    The cosine rule in the triangle of hip, knee and ankle, knee forward.

    Args:
        forward: place of the hip ahead of the ankle [m].
        height: of the hip over the ankle [m]; together at most the length of the straight leg.
    """
    a, b = KNEE_TO_HIP, ANKLE_TO_KNEE
    distance = math.hypot(forward, height)
    knee = math.pi - math.acos((a * a + b * b - distance * distance) / (2.0 * a * b))
    lean = math.atan2(forward, height)
    hip = lean - math.asin(b * math.sin(knee) / distance)
    return hip, knee, -hip - knee


_HIP, _KNEE, _ANKLE = leg_angles(STANDING_SHIFT, STANDING_HEIGHT)

REST: dict[str, float] = {
    **dict.fromkeys(JOINTS, 0.0),
    **{f"{s}_hip_pitch": _HIP for s in SIDES},
    **{f"{s}_knee": _KNEE for s in SIDES},
    **{f"{s}_ankle_pitch": _ANKLE for s in SIDES},
    **{f"{s}_elbow": -0.5 for s in SIDES},
    **{f"{s}_shoulder_pitch": 0.15 for s in SIDES},
    **{f"{s}_shoulder_roll": 0.12 * sign for s, sign in SIDES.items()},
}
"""Joint positions of the standing robot."""
