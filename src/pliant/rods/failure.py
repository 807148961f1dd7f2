"""Reasons why a parallel robot has no equilibrium: rods that are too short, loads that no rod resists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.numerics import Array
from pliant.rods.description import Limb, RobotDescription, Rod
from pliant.rods.geometry import root_pose

STIFF_MATERIAL = 1e9
"""Young's modulus above which a material is no rubber [Pa]; rubbers have 1e6 to 1e8 Pa, polymers from 1e9 Pa."""
STIFF_STRAIN = 0.05
"""Stretch that no rod of a stiff material reaches elastically. Steel yields below 0.01, and linear elasticity ends
there; nickel-titanium, which reaches 0.08, is not linear beyond 0.01."""
SOFT_STRAIN = 1.0
"""Stretch that no soft rod is taken to reach: twice its length."""


def largest_stretch(rod: Rod) -> float:
    """Return the elastic stretch beyond which a rod counts as too short.

    Young's modulus is that of a round section with the rod's stiffness, E = (E A)^2 / (4 pi E I), because a given
    stiffness names none.
    """
    v = rod.values(0.5)
    modulus = v.axial**2 / (4.0 * np.pi * min(v.bending))
    return STIFF_STRAIN if modulus > STIFF_MATERIAL else SOFT_STRAIN


def is_soft(rod: Rod) -> bool:
    """Whether a rod is of a material that stretches visibly, such as silicone."""
    return largest_stretch(rod) > STIFF_STRAIN


@dataclass(frozen=True, slots=True)
class _Chain:
    """Where a limb can have the base of its rod."""

    name: str
    joint: Array
    """Centre about which the distal joint lets the rod's tip move, in the plate frame, shape (3,)."""
    arm: float
    """Largest distance of the rod's tip from there [m]."""
    origin: Array
    """Base of the rod with all joint values 0, or the axis of a revolute joint, shape (3,)."""
    slide: Array | None
    """Axis of a prismatic joint."""
    limits: tuple[float, float]
    """Its limits [m]."""
    length: float
    """How far the rod's tip can be from its base [m]."""

    def chord(self, X: Array) -> Array:
        """Return the way from the rod's base with joint values 0 to the distal joint at a plate pose, shape (3,)."""
        return X[:3, :3] @ self.joint + X[:3, 3] - self.origin


class Reach:
    """Says by how much rods are too short for a plate pose, without solving anything.

    Args:
        description: the robot.
        strain: stretch of the rods that is allowed; None: what their material can bear elastically (`largest_stretch`).
    """

    def __init__(self, description: RobotDescription, strain: float | None = None) -> None:
        self._chains: list[_Chain] = []
        for i, limb in enumerate(description.limbs):
            found = _chain(limb, description.limb_name(i), largest_stretch(limb.rod) if strain is None else strain)
            if found is not None:
                self._chains.append(found)

    def missing(self, X: Array) -> tuple[str, float] | None:
        """Return the limb whose rod lacks most and how much [m] at a plate pose, shape (4, 4); None if all reach."""
        worst: tuple[str, float] | None = None
        for chain in self._chains:
            chord = chain.chord(X)
            if chain.slide is not None:
                chord = chord - min(max(chord @ chain.slide, chain.limits[0]), chain.limits[1]) * chain.slide
            gap = float(np.sqrt(chord @ chord)) - chain.arm - chain.length
            if gap > 0.0 and (worst is None or gap > worst[1]):
                worst = (chain.name, gap)
        return worst

    def reason(self, X: Array) -> str | None:
        """Return why a plate pose is out of reach, as one clause about the limb of `missing`; None if all reach.

        Where the rod is long enough for a slider without limits, these are the reason.
        """
        short = self.missing(X)
        if short is None:
            return None
        name, gap = short
        chain = next(c for c in self._chains if c.name == name)
        if chain.slide is not None:
            chord = chain.chord(X)
            along = float(chord @ chain.slide)
            aside = float(np.linalg.norm(chord - along * chain.slide))
            if aside <= chain.arm + chain.length:
                half = float(np.sqrt((chain.arm + chain.length) ** 2 - aside**2))
                low, high = chain.limits
                limit, beyond = (high, along - half - high) if along > high else (low, low - along - half)
                return f"{name} would need its slider {1e3 * beyond:.4g} mm beyond its limit {limit:g} m"
        return f"the rod of {name} is too short by {1e3 * gap:.4g} mm"


def _chain(limb: Limb, name: str, strain: float) -> _Chain | None:
    d = limb.distal
    if d.kind == "prismatic":  # the tip may be anywhere along the axis
        return None
    J, tip = np.asarray(d.pose), np.asarray(d.attach)[:3, 3]
    center = np.zeros(3)  # of the tip's motion, in the joint frame
    if d.kind == "fixed":
        center = tip
    elif d.kind == "revolute":
        axis = np.asarray(d.axis) / np.linalg.norm(d.axis)
        center = axis * (axis @ tip)
    joint, arm = J[:3, :3] @ center + J[:3, 3], float(np.linalg.norm(tip - center))
    A, L = root_pose(limb, np.zeros(max(1, len(limb.joints))), limb.rod.length)
    base, slide, limits = A[:3, 3], None, (-np.inf, np.inf)
    kinds = [j.kind for j in limb.joints]
    if kinds == ["prismatic"]:
        one = limb.joints[0]
        slide = (np.asarray(limb.base) @ one.pose)[:3, :3] @ (np.asarray(one.axis) / np.linalg.norm(one.axis))
        limits = one.limits or limits
    elif kinds == ["revolute"]:
        origin = (np.asarray(limb.base) @ limb.joints[0].pose)[:3, 3]
        arm, base = arm + float(np.linalg.norm(base - origin)), origin
    elif kinds == ["extension"]:
        if limb.joints[0].limits is None:
            return None
        L = limb.joints[0].limits[1]
    elif kinds:
        return None
    return _Chain(name, joint, arm, base, slide, limits, (1.0 + strain) * L)


def _plate_constraint(description: RobotDescription, X: Array) -> Array:
    """Return the matrix whose null space has the twists of the plate that no rod resists, shape (n, 6)."""
    rows = []
    for limb in description.limbs:
        J = X @ np.asarray(limb.distal.pose)
        p, axes = J[:3, 3] - X[:3, 3], J[:3, :3]
        a = axes @ (np.asarray(limb.distal.axis) / np.linalg.norm(limb.distal.axis))
        b = axes @ (np.asarray(limb.distal.axis_2) / np.linalg.norm(limb.distal.axis_2))
        hat = np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])
        move, turn = np.eye(3), np.eye(3)  # which velocities of the joint, which turns the rod resists
        if limb.distal.kind == "prismatic":
            move = np.eye(3) - np.outer(a, a)
        elif limb.distal.kind == "revolute":
            turn = np.eye(3) - np.outer(a, a)
        elif limb.distal.kind == "universal":
            turn = np.outer(np.cross(a, b), np.cross(a, b))
        elif limb.distal.kind == "spherical":
            turn = np.zeros((3, 3))
        rows += [np.hstack([move, -move @ hat]), np.hstack([np.zeros((3, 3)), turn])]
    if description.planar:
        rows.append(np.eye(6)[[2, 3, 4]])
    return np.vstack(rows)


def _unbalanced_slide(free: Array, force: Array, scale: float) -> str | None:
    """Return the force along the free directions, shape (n, 3), as a clause; None where there is none."""
    power = free @ force
    size = float(np.abs(power).max())
    if size <= 1e-9 * scale:
        return None
    along = free[int(np.argmax(np.abs(power)))]
    return f"the plate slides freely along {_axis(along)}, and nothing balances the force of {size:.4g} N along it"


def free_motion(
    description: RobotDescription, X: Array, wrench: ArrayLike, *, held: bool, follower: bool = False
) -> str | None:
    """Return which load meets a motion of the plate that no rod resists, as the reason of a failure.

    The plate moves freely where the axes of all plate joints coincide (or all joints have one centre, or all slide in
    one direction). A moment about such an axis is balanced only by a force at a lever arm; where no force and no arm is
    long enough, there is no equilibrium at any pose.

    Args:
        X: plate pose, shape (4, 4).
        wrench: on the plate about its origin, world axes, or plate axes for a follower, shape (6,) [N, N m].
        held: True if the plate cannot turn to balance the load, because its whole pose is given.
        follower: the wrench turns with the plate.

    Returns:
        One clause, such as "the plate turns freely about z through (0, 0.8, 0), and nothing balances a moment of
        0.5 N m about it"; None where there is no such load.
    """
    R, origin = X[:3, :3], X[:3, 3]
    values, vectors = np.linalg.svd(_plate_constraint(description, X))[1:]
    free = vectors[np.sum(values > 1e-9) :]
    if not len(free):
        return None
    load = np.asarray(wrench, dtype=float).copy()
    if follower:
        load = np.concatenate([R @ load[:3], R @ load[3:]])
    weight = description.plate.mass * np.asarray(description.gravity, dtype=float)
    com = R @ np.asarray(description.plate.com, dtype=float)
    total = load + np.concatenate([weight, np.cross(com, weight)])
    scale = max(1e-9, float(np.abs(total).max()))
    turning = free[np.linalg.norm(free[:, 3:], axis=1) > 1e-9]
    if not len(turning):
        return _unbalanced_slide(free[:, :3], total[:3], scale)
    if len(turning) != len(free):
        return None
    if len(turning) == 1:
        omega, v = turning[0, 3:], turning[0, :3]
        size = float(np.linalg.norm(omega))
        center = np.cross(omega, v) / size**2  # from the plate's origin to the axis
        axes = (omega / size)[None]
        where = f"about {_axis(axes[0])} through {_point(origin + center)}"
    else:  # all joints in one point
        center = (X @ np.asarray(description.limbs[0].distal.pose))[:3, 3] - origin
        axes = turning[:, 3:] / np.linalg.norm(turning[:, 3:], axis=1)[:, None]
        where = f"about the common centre of the joints at {_point(origin + center)}"

    def about(force: Array, at: Array, moment: Array) -> float:
        return float(np.linalg.norm(axes @ (moment + np.cross(at - center, force))))

    weight_arm = float(np.linalg.norm(weight)) * _arm(axes, com - center)
    if held:
        left = about(total[:3], np.zeros(3), total[3:])
    elif follower:  # it keeps its arm; the weight does not
        left = about(load[:3], np.zeros(3), load[3:]) - weight_arm
    else:  # whatever the plate turns to, forces balance at most their size times their arm
        left = (
            float(np.linalg.norm(axes @ load[3:])) - float(np.linalg.norm(load[:3])) * _arm(axes, -center) - weight_arm
        )
    if left <= 1e-9 * scale:
        return None
    return f"the plate turns freely {where}, and nothing balances a moment of {left:.4g} N m about it"


def _arm(axes: Array, at: Array) -> float:
    """Return the largest arm that a force at a point has about an axis, or about a centre where there are several."""
    return float(np.linalg.norm(at - axes[0] * (axes[0] @ at))) if len(axes) == 1 else float(np.linalg.norm(at))


def _point(p: Array) -> str:
    return f"({', '.join(f'{c:.4g}' for c in np.round(p, 9) + 0.0)})"


def _axis(a: Array) -> str:
    for name, unit in zip("xyz", np.eye(3)):
        if abs(abs(a @ unit) - 1.0) < 1e-6:
            return name
    return f"({', '.join(f'{c:.3g}' for c in a)})"
