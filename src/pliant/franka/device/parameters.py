"""Parameter types of the Franka arms, and the kinematic constants that all arms share.

The values of each arm, with their sources, are in `pliant.franka.robots.parameters`. Letters as there: [O] Oliva et
al., FrankaSim, ICARCV 2022; [L] the manufacturer's client library; [D] the manufacturer's robot description.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pliant.base.errors import ModelError
from pliant.base.numerics import Array
from pliant.base.spatial import is_rotation

ArmName = Literal["fer", "fr3", "fp3", "fr3v2"]
HandName = Literal["fingers", "vacuum", "none"]

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

ELBOW_FLIP = -0.467
"""q4 at which the elbow changes its sign [rad] [L]; on the FR3 assumed the same."""

CAPSULES: tuple[tuple[int, tuple[float, float, float], tuple[float, float, float], float], ...] = (
    # link, start, end, radius, in the link frame [m]: a coarse hull of the published meshes
    (0, (-0.09, 0.0, 0.06), (0.0, 0.0, 0.06), 0.06),
    (1, (0.0, 0.0, -0.20), (0.0, 0.0, -0.05), 0.06),
    (2, (0.0, 0.0, -0.05), (0.0, 0.0, 0.05), 0.06),
    (3, (0.0, 0.0, -0.15), (0.0, 0.0, -0.05), 0.06),
    (4, (0.0, 0.0, -0.05), (0.0, 0.0, 0.05), 0.06),
    (5, (0.0, 0.0, -0.28), (0.0, 0.0, -0.20), 0.06),
    (5, (0.0, 0.08, -0.16), (0.0, 0.08, -0.04), 0.025),
    (6, (0.0, 0.0, -0.03), (0.0, 0.0, 0.05), 0.05),
    (7, (0.0, 0.0, 0.02), (0.0, 0.0, 0.06), 0.045),
)
"""Shapes of the arm for drawing, contact and self collision: capsules a little inside the real surfaces."""  # assumed

_HAND_END = 0.05 * math.sqrt(0.5)
HAND_CAPSULES = (
    # start, end, radius, in the frame of link 7 [m]: the hand is turned by -45 degrees about z
    ((-_HAND_END, -_HAND_END, 0.147), (_HAND_END, _HAND_END, 0.147), 0.04),
    ((-_HAND_END, -_HAND_END, 0.207), (_HAND_END, _HAND_END, 0.207), 0.02),
)
"""Shapes of the hand for self collision: the two capsules of the manufacturer's description [D], without the safety
distance of 30 mm that it adds for planning."""


@dataclass(frozen=True, slots=True)
class Link:
    """One rigid body, in its link frame (axes of the modified DH convention)."""

    mass: float
    """[kg]."""
    center_of_mass: tuple[float, float, float]
    """[m]."""
    inertia: tuple[float, float, float, float, float, float]
    """xx, xy, xz, yy, yz, zz about the centre of mass [kg m^2]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of an arm. Vectors of 7 numbers are in joint order."""

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arm:
    """One type of arm."""

    name: ArmName
    """The manufacturer's identifier of the type."""
    title: str
    """The manufacturer's name."""
    links: tuple[Link, ...]
    """Links 1 to 7."""
    base: Link
    """Link 0."""
    limits: Limits
    """Limits of positions, velocities, accelerations, jerks and torques."""
    friction: Array
    """Friction of 7 joints, rows a [N m], b [s/rad], c [rad/s]: a/(1 + exp(-b (dq + c))) - a/(1 + exp(-b c))."""
    motor_inertia: tuple[float, ...]
    """Inertia of the motors reflected at the joints [kg m^2]. The torque loop of each joint leaves a fraction of it
    (`pliant.franka.robots.build.ArmMount.motor_inertia`)."""
    joint_stiffness: tuple[float, ...] = (14250.0,) * 7  # assumed
    """Stiffness of each joint between motor and link [N m/rad]: theta - q is the torque over it. Assumed: the largest
    stiffness that the interface accepts for the joint impedance, which cannot exceed the joint's own."""
    protocols: tuple[int, int]
    """Lowest and highest protocol version that the firmware of this type answers; the vendor's compatibility table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """A rigid body fixed to the flange: an end effector, a load, or both together."""

    mass: float
    """[kg], not negative."""
    center_of_mass: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """In the flange frame [m]."""
    inertia: tuple[float, ...] = (0.0,) * 9
    """About the centre of mass, axes of the flange, 9 numbers of the symmetric matrix [kg m^2]."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mass) and self.mass >= 0.0):
            raise ModelError(f"the mass of a payload is {self.mass} kg; must be finite and >= 0", field="mass")
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
        I = -steiner(mass, center)
        for p in bodies:
            I = I + np.reshape(p.inertia, (3, 3)) + steiner(p.mass, np.array(p.center_of_mass))
        return Payload(
            mass=mass,
            center_of_mass=tuple(center.tolist()),
            inertia=tuple((0.5 * (I + I.T)).reshape(-1).tolist()),
        )


def steiner(mass: float, c: Array) -> Array:
    """Return m (c.c 1 - c c'), the inertia of a point mass about the origin."""
    return mass * (float(c @ c) * np.eye(3) - np.outer(c, c))


NO_PAYLOAD = Payload(mass=0.0)
"""A bare flange."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """The two-finger hand."""

    max_width: float
    """Largest opening [m]."""
    max_speed: float
    """Largest rate of the opening [m/s]."""
    max_force: float
    """Largest continuous grasping force [N]."""
    finger_mass: float
    """Mass of one finger [kg]."""
    temperature: int
    """Temperature that the state reports [degC]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cup:
    """The vacuum gripper: a pump with one suction cup."""

    radius: float
    """Of the lip, which is that of the effective area [m]."""
    max_vacuum: float
    """Vacuum that the pump reaches on a closed cup [mbar]."""
    max_setpoint: float
    """Largest setpoint; a larger one counts as this [mbar]."""
    setpoint_hysteresis: float
    """How far the vacuum falls below the setpoint before the pump starts again [mbar]."""
    present: float
    """Vacuum above which an object is held [mbar]."""
    present_hysteresis: float
    """How far it falls below that before the object counts as lost [mbar]."""
    detached: float
    """Vacuum below which an object is given off [mbar]."""
    open_vacuum: float
    """Vacuum while the pump sucks air through an open cup [mbar]."""
    evacuation_time: float
    """Time constant of a closed cup with the pump on [s]."""
    leak_time: float
    """The same with the pump off [s]."""
    open_time: float
    """The same of a cup that is open to the air [s]."""
    vent_time: float
    """The same while the cup is blown off [s]."""

    @property
    def area(self) -> float:
        """Effective area [m^2]."""
        return math.pi * self.radius**2


def is_transform(T: Array, *, row_tolerance: float = 1e-5) -> bool:
    """Return whether a matrix, shape (4, 4), is a homogeneous transform.

    Args:
        T: the matrix.
        row_tolerance: largest difference of its last row from (0, 0, 0, 1).
    """
    return bool(
        np.isfinite(T).all()
        and np.allclose(T[3], (0, 0, 0, 1), rtol=0, atol=row_tolerance)
        and is_rotation(T[:3, :3], tolerance=1e-5)
    )
