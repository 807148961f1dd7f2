"""Description of a continuum parallel robot: rods, base joints, distal joints, limbs, a plate.

All values are SI and radians. Poses are 4x4 matrices. A cross-section's frame is (d1, d2, d3) with d3 along the
undeformed rod, from the base to the tip.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import Array
from pliant.rods.checks import check_above, check_least, given, numbers, pose_fault, quantity, vector

BASE_JOINT_KINDS = ("prismatic", "revolute", "extension")
DISTAL_JOINT_KINDS = ("fixed", "revolute", "universal", "spherical", "prismatic")
SPATIAL_FREEDOMS = ("x", "y", "z", "rx", "ry", "rz")
PLANAR_FREEDOMS = ("x", "y", "angle")


def planar_turn() -> Array:
    """Return the 4x4 turn from a planar frame (rod along y) to a rod frame (rod along d3)."""
    return np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionValues:
    """Stiffness and mass of a cross-section."""

    shear: tuple[float, float] = quantity("force", size=2)
    """G A along d1 and d2 [N], > 0."""
    axial: float = quantity("force")
    """E A [N], > 0."""
    bending: tuple[float, float] = quantity("bending stiffness", size=2)
    """E I about d1 and d2 [N m^2], > 0."""
    torsion: float = quantity("bending stiffness")
    """G J about d3 [N m^2], > 0."""
    mass: float = quantity("mass per length")
    """Mass per rest length [kg/m], >= 0."""


class Section(Protocol):
    """A cross-section that may vary along the rod."""

    def values(self, s: float, E: float, G: float, density: float) -> SectionValues:
        """Return the values at s in [0, 1] (base to tip)."""
        ...

    def cut(self, begin: float, end: float) -> Section:
        """Return the section of the part of the rod from ``begin`` to ``end``, both in [0, 1]."""
        ...


def tapered(base: float, tip: float | None, s: Any) -> Any:
    """Return a size of a section at s in [0, 1], linear from base to tip; a tip of None: as at the base."""
    return base if tip is None else base + s * (tip - base)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A full round section, tapered linearly if the radii differ: A = pi r^2, I = pi r^4 / 4, J = 2 I."""

    radius: float = quantity("length")
    """Radius at the base [m], > 0."""
    tip_radius: float | None = quantity("length", None)
    """Radius at the tip [m], > 0; None: the same as at the base."""

    def __post_init__(self) -> None:
        check_above("round section", 0.0, radius=self.radius, **given(tip_radius=self.tip_radius))

    def values(self, s: float, E: float, G: float, density: float) -> SectionValues:
        """Return the values at s in [0, 1]."""
        r = tapered(self.radius, self.tip_radius, s)
        A, I = np.pi * r**2, 0.25 * np.pi * r**4
        return SectionValues(
            shear=(G * A, G * A), axial=E * A, bending=(E * I, E * I), torsion=2.0 * G * I, mass=density * A
        )

    def cut(self, begin: float, end: float) -> Round:
        """Return the section of the part of the rod from ``begin`` to ``end``, both in [0, 1]."""
        first, last = (tapered(self.radius, self.tip_radius, s) for s in (begin, end))
        return Round(radius=first, tip_radius=last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangular:
    """A full rectangular section: width along d1, height along d2.

    I about d1 = width height^3 / 12; torsion by J = a b^3 (1/3 - 0.21 b/a (1 - b^4 / (12 a^4))), a >= b (Roark's
    Formulas for Stress and Strain, error below 1 %); shear with the full area, as in the round section.
    """

    width: float = quantity("length")
    """Width along d1 at the base [m], > 0."""
    height: float = quantity("length")
    """Height along d2 at the base [m], > 0."""
    tip_width: float | None = quantity("length", None)
    """Width at the tip [m]; None: as at the base."""
    tip_height: float | None = quantity("length", None)
    """Height at the tip [m]; None: as at the base."""

    def __post_init__(self) -> None:
        tips = given(tip_width=self.tip_width, tip_height=self.tip_height)
        check_above("rectangular section", 0.0, width=self.width, height=self.height, **tips)

    def values(self, s: float, E: float, G: float, density: float) -> SectionValues:
        """Return the values at s in [0, 1]."""
        w, h = tapered(self.width, self.tip_width, s), tapered(self.height, self.tip_height, s)
        a, b = max(w, h), min(w, h)
        J = a * b**3 * (1.0 / 3.0 - 0.21 * b / a * (1.0 - (b / a) ** 4 / 12.0))
        A = w * h
        return SectionValues(
            shear=(G * A, G * A),
            axial=E * A,
            bending=(E * w * h**3 / 12.0, E * h * w**3 / 12.0),
            torsion=G * J,
            mass=density * A,
        )

    def cut(self, begin: float, end: float) -> Rectangular:
        """Return the section of the part of the rod from ``begin`` to ``end``, both in [0, 1]."""
        (w0, w1), (h0, h1) = (
            [tapered(base, tip, s) for s in (begin, end)]
            for base, tip in ((self.width, self.tip_width), (self.height, self.tip_height))
        )
        return Rectangular(width=w0, height=h0, tip_width=w1, tip_height=h1)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenStiffness(SectionValues):
    """A section whose stiffness was measured or computed elsewhere; E, G and density of the rod are not used."""

    mass: float = quantity("mass per length", 0.0)
    """Mass per rest length [kg/m], >= 0."""

    def __post_init__(self) -> None:
        check_above("given stiffness", 0.0, bending_1=self.bending[0], bending_2=self.bending[1], torsion=self.torsion)
        check_above("given stiffness", 0.0, axial=self.axial, shear_1=self.shear[0], shear_2=self.shear[1])
        check_least("given stiffness", 0.0, mass=self.mass)

    def values(self, s: float, E: float, G: float, density: float) -> SectionValues:
        """Return the values, the same at every s."""
        return self

    def cut(self, begin: float, end: float) -> GivenStiffness:
        """Return the section of a part of the rod: the same."""
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Rod:
    """An elastic rod (Cosserat rod with linear elastic strains)."""

    length: float = quantity("length")
    """Rest length [m], > 0; of an extensible limb the nominal one (the joint value replaces it)."""
    section: Section
    """Cross-section."""
    young_modulus: float = quantity("pressure", 200e9)
    """E [Pa], > 0; steel as in the example robots of Gotelli et al. 2022."""
    shear_modulus: float = quantity("pressure", 80e9)
    """G [Pa], > 0."""
    density: float = quantity("density", 8000.0)
    """Mass per volume [kg/m^3], >= 0; the value of the example robots."""
    precurvature: tuple[tuple[float, ...], ...] = ()
    """Curvature of the unloaded rod: rows (s, u1, u2, u3), s in [0, 1] rising, [1/m], linear between rows;
    one row alone is a constant curvature; empty: straight."""
    distributed_force: tuple[float, float, float] = quantity("force per length", (0.0, 0.0, 0.0), size=3)
    """Dead load per rest length beside the self weight, world axes [N/m]."""
    distributed_moment: tuple[float, float, float] = quantity("force", (0.0, 0.0, 0.0), size=3)
    """Dead moment per rest length, world axes [N]."""

    def __post_init__(self) -> None:
        check_above("rod", 0.0, length=self.length, young_modulus=self.young_modulus, shear_modulus=self.shear_modulus)
        check_least("rod", 0.0, density=self.density)
        if self.length > 100.0:
            raise ModelError(
                f"rod: length is {self.length:g} m. Lengths are in metres: write 0.5 for half a metre, not 500",
                field="length",
            )
        for name in ("young_modulus", "shear_modulus"):
            value = getattr(self, name)
            if not isinstance(self.section, GivenStiffness) and value < 1e3:
                raise ModelError(
                    f"rod: {name} is {value:g} Pa, softer than any solid. It is in pascal: 200 GPa is 200e9",
                    field=name,
                )
            if value > 2e13:
                raise ModelError(
                    f"rod: {name} is {value:g} Pa, stiffer than any solid. It is in pascal: 200 GPa is 200e9",
                    field=name,
                )
        try:
            values = self.section.values(0.5, self.young_modulus, self.shear_modulus, self.density)
        except OverflowError:
            raise ModelError("rod: the section is too large; lengths are in metres", field="section") from None
        slender = np.sqrt(values.bending[0] / values.axial) * 2.0 / self.length
        if slender > 0.3:
            raise ModelError(
                f"rod: {self.length:g} m long and about {np.sqrt(values.bending[0] / values.axial) * 4e3:g} mm thick:"
                " too stout for a rod. Are radius and length both in metres?",
                field="section",
            )
        rows = numbers(self.precurvature)
        if rows is None or (rows.size and (rows.ndim != 2 or rows.shape[1] != 4 or not np.all(np.isfinite(rows)))):
            raise ModelError("rod: precurvature needs rows (s, u1, u2, u3) of numbers", field="precurvature")
        if rows.size and (np.any(np.diff(rows[:, 0]) <= 0.0) or rows[0, 0] < 0.0 or rows[-1, 0] > 1.0):
            raise ModelError("rod: the s of precurvature must rise within [0, 1]", field="precurvature")
        for name in ("distributed_force", "distributed_moment"):
            vector("rod", name, getattr(self, name))

    def values(self, s: float) -> SectionValues:
        """Return stiffness and mass per length at s in [0, 1]."""
        return self.section.values(s, self.young_modulus, self.shear_modulus, self.density)

    @property
    def is_uniform(self) -> bool:
        """Whether section and pre-curvature are the same all along the rod."""
        return not self.is_tapered and len({tuple(row[1:]) for row in self.precurvature}) <= 1

    @property
    def is_tapered(self) -> bool:
        """Whether the section has a size of its own at the tip."""
        return any(getattr(self.section, name, None) is not None for name in ("tip_radius", "tip_width", "tip_height"))

    def curvature(self, s: float) -> Array:
        """Return the curvature of the unloaded rod at s in [0, 1], local axes, shape (3,) [1/m]."""
        rows = np.asarray(self.precurvature, dtype=float)
        if not rows.size:
            return np.zeros(3)
        return np.array([np.interp(s, rows[:, 0], rows[:, c]) for c in (1, 2, 3)])


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseJoint:
    """One freedom between the ground and the base of a rod."""

    kind: Literal["prismatic", "revolute", "extension"]
    """``extension`` pushes the rod out of its base: the joint value is the rest length."""
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Axis in the joint frame, normalised on use; not used by ``extension``."""
    actuated: bool = True
    """False: a passive joint, along which the rod exerts no force or moment."""
    pose: Array = field(default_factory=lambda: np.eye(4))
    """Joint frame in the frame that the joint before it moves, shape (4, 4)."""
    limits: tuple[float, float] | None = None
    """Lowest and highest value [m or rad]."""

    def __post_init__(self) -> None:
        if self.kind not in BASE_JOINT_KINDS:
            raise ModelError(
                f"base joint {self.kind!r} is not known; {nearest(self.kind, BASE_JOINT_KINDS)}", field="kind"
            )
        _axis("base joint", self.axis)
        if self.kind == "extension" and not self.actuated:
            raise ModelError(
                "an extension must be actuated: a rod that slides freely has no rest length", field="actuated"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DistalJoint:
    """The joint between the tip of a rod and the plate."""

    kind: Literal["fixed", "revolute", "universal", "spherical", "prismatic"]
    """Which motions are free."""
    pose: Array = field(default_factory=lambda: np.eye(4))
    """Joint frame in the plate frame, shape (4, 4)."""
    attach: Array = field(default_factory=lambda: np.eye(4))
    """Frame of the rod's tip in the joint frame, shape (4, 4)."""
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Free axis in the joint frame; of a universal joint the one that stays with the plate."""
    axis_2: tuple[float, float, float] = (0.0, 1.0, 0.0)
    """Second axis of a universal joint, the one that stays with the rod; must be perpendicular to axis."""

    def __post_init__(self) -> None:
        if self.kind not in DISTAL_JOINT_KINDS:
            raise ModelError(
                f"plate joint {self.kind!r} is not known; {nearest(self.kind, DISTAL_JOINT_KINDS)}", field="kind"
            )
        a = _axis("plate joint", self.axis)
        if self.kind == "universal" and abs(a @ _axis("plate joint", self.axis_2)) > 1e-6:
            raise ModelError("the two axes of a universal joint must be perpendicular", field="axis_2")


def _axis(owner: str, axis) -> Array:
    a = vector(owner, "axis", axis)
    if np.linalg.norm(a) < 1e-9:
        raise ModelError(f"{owner}: axis must be three numbers, not all zero, found {axis!r}", field="axis")
    return a / np.linalg.norm(a)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limb:
    """A chain ground - base joints - rod - distal joint - plate."""

    rod: Rod
    """The rod."""
    distal: DistalJoint
    """Joint at the tip."""
    joints: tuple[BaseJoint, ...] = ()
    """Base joints from the ground outward; none: the rod is clamped to the ground."""
    base: Array = field(default_factory=lambda: np.eye(4))
    """Frame of the limb's base in the world, shape (4, 4)."""
    attach: Array = field(default_factory=lambda: np.eye(4))
    """Frame of the rod's base in the frame that the last joint moves, shape (4, 4)."""
    name: str = ""
    """Name in messages, different from those of the other limbs; empty: limb and number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plate:
    """The rigid distal plate with everything rigidly on it."""

    mass: float = quantity("mass", 0.0)
    """[kg], >= 0."""
    com: tuple[float, float, float] = quantity("length", (0.0, 0.0, 0.0), size=3)
    """Centre of mass in the plate frame [m]."""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mass) and self.mass >= 0.0):
            raise ModelError(f"plate: mass must not be negative, found {self.mass!r}", field="mass")


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotDescription:
    """A continuum parallel robot."""

    name: str
    """Name of the robot."""
    limbs: tuple[Limb, ...]
    """One limb or more."""
    plate: Plate = field(default_factory=Plate)
    """The distal plate."""
    planar: bool = False
    """True: everything stays in the x-y plane and every rotation is about z."""
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    """Acceleration of gravity in the world [m/s^2]; in the plane for a planar robot."""
    home: Array = field(default_factory=lambda: np.eye(4))
    """Plate pose to start from, shape (4, 4)."""
    home_joints: tuple[float, ...] | None = None
    """Actuated joint values near the home pose [m or rad], a guess."""
    controlled: tuple[str, ...] | None = None
    """Plate freedoms that the actuators control, if there are fewer actuators than freedoms: of x y z rx ry rz
    (planar: x y angle). Positions are along world axes. Where some but not all rotations are named, they are about the
    plate's axes: rx and ry hold the plate's normal, and the plate is free to turn about it."""
    configurations: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)
    """Saved configurations: name -> {q, pose (x, y, z, roll, pitch, yaw; of a planar robot also x, y, angle)}."""
    file: str | None = None
    """Where the description was read from."""

    def __post_init__(self) -> None:
        problems = self.check()
        if problems:
            raise ModelError(f"robot {self.name!r}: " + "; ".join(problems), file=self.file)

    @property
    def actuators(self) -> tuple[tuple[int, int], ...]:
        """(limb, joint) of every actuator, in the order of q."""
        return tuple(
            (i, j) for i, limb in enumerate(self.limbs) for j, joint in enumerate(limb.joints) if joint.actuated
        )

    @property
    def freedoms(self) -> tuple[str, ...]:
        """Names of the plate's freedoms."""
        return PLANAR_FREEDOMS if self.planar else SPATIAL_FREEDOMS

    @property
    def mean_rod_length(self) -> float:
        """Mean length of the rods [m]."""
        return float(np.mean([limb.rod.length for limb in self.limbs]))

    def limb_name(self, i: int) -> str:
        """Return the name of limb i for messages, counted from 1."""
        return self.limbs[i].name or f"limb {i + 1}"

    def check(self) -> list[str]:
        """Return every problem of the description, in words."""
        out: list[str] = []
        if not self.limbs:
            return ["it has no limbs; at least one is needed"]
        for i, limb in enumerate(self.limbs):
            who = self.limb_name(i)
            frames = {"base": limb.base, "attach": limb.attach, "plate joint pose": limb.distal.pose}
            frames["plate joint attach"] = limb.distal.attach
            frames.update({f"pose of joint {j + 1}": joint.pose for j, joint in enumerate(limb.joints)})
            for what, X in frames.items():
                fault = pose_fault(X)
                if fault:
                    out.append(f"{who}: {what} {fault}")
            if len(limb.joints) > 9:
                out.append(f"{who}: at most nine base joints, found {len(limb.joints)}")
            if sum(joint.kind == "extension" for joint in limb.joints) > 1:
                out.append(f"{who}: a rod can be extended by one joint only")
        names = [self.limb_name(i) for i in range(len(self.limbs))]
        for name in dict.fromkeys(n for n in names if names.count(n) > 1):
            which = ", ".join(str(i + 1) for i, n in enumerate(names) if n == name)
            out.append(f"limbs {which} are all named {name!r}; every limb must have a name of its own")
        for i, one in enumerate(self.limbs):
            for k in range(i):
                two = self.limbs[k]
                if len(one.joints) == len(two.joints) and all(
                    a is b or float(np.abs(np.subtract(a, b)).max()) < 1e-9  # ten times as fast as allclose
                    for a, b in (
                        (one.base, two.base),
                        (one.distal.pose, two.distal.pose),
                        (one.attach, two.attach),
                        (one.distal.attach, two.distal.attach),
                    )
                ) and all(
                    a.kind == b.kind and np.allclose(a.pose, b.pose) and np.allclose(a.axis, b.axis)
                    for a, b in zip(one.joints, two.joints)
                ):  # fmt: skip
                    out.append(
                        f"{self.limb_name(i)} repeats {self.limb_name(k)}: same base, joints and place on the plate"
                    )
        fault = pose_fault(self.home)
        if fault:
            out.append(f"home {fault}")
        na = len(self.actuators)
        if self.home_joints is not None and len(self.home_joints) != na:
            out.append(f"home_joints has {len(self.home_joints)} values for {na} actuators")
        for name, one in self.configurations.items():
            for key, counts in (("q", (na,)), ("pose", (3, 6) if self.planar else (6,))):
                if key in one and len(one[key]) not in counts:
                    out.append(f"configuration {name!r}: {key} has {len(one[key])} values; must be {counts[-1]}")
        if self.planar:
            out += self._planar_faults()
        if not np.all(np.isfinite(self.gravity)) or len(self.gravity) != 3:
            out.append("gravity needs three numbers")
        if self.controlled is not None:
            for freedom in self.controlled:
                if freedom not in self.freedoms:
                    out.append(
                        f"controlled: {freedom!r} is not a degree of freedom of the plate; "
                        f"{nearest(freedom, self.freedoms)}"
                    )
            if len(set(self.controlled)) != len(self.controlled):
                out.append("controlled names a freedom twice")
            if len(self.controlled) != min(na, len(self.freedoms)):
                out.append(f"controlled names {len(self.controlled)} freedoms for {na} actuators")
        return out

    def _planar_faults(self) -> list[str]:
        out = []
        z = np.array([0.0, 0.0, 1.0])
        if abs(self.gravity[2]) > 1e-12:
            out.append("gravity of a planar robot must lie in the plane, with z = 0")
        for i, limb in enumerate(self.limbs):
            who = self.limb_name(i)
            for j, joint in enumerate(limb.joints):
                a = _axis("joint", joint.axis)
                if joint.kind == "prismatic" and abs(a @ z) > 1e-9:
                    out.append(f"{who}: joint {j + 1} slides out of the plane")
                if joint.kind == "revolute" and abs(abs(a @ z) - 1.0) > 1e-9:
                    out.append(f"{who}: joint {j + 1} turns out of the plane; its axis must be z")
            kind, a = limb.distal.kind, _axis("joint", limb.distal.axis)
            if kind not in ("fixed", "revolute", "prismatic"):
                out.append(f"{who}: a planar robot has no {kind} plate joint; must be fixed, revolute or prismatic")
            elif kind == "revolute" and abs(abs(a @ z) - 1.0) > 1e-9:
                out.append(f"{who}: the plate joint turns out of the plane; its axis must be z")
            elif kind == "prismatic" and abs(a @ z) > 1e-9:
                out.append(f"{who}: the plate joint slides out of the plane")
            chain = limb.base
            for joint in limb.joints:
                chain = chain @ joint.pose
            if abs((chain @ limb.attach)[2, 2]) > 1e-9 or abs((chain @ limb.attach)[2, 3]) > 1e-9:
                out.append(f"{who}: the rod leaves the plane at its base")
            bent = np.reshape(limb.rod.precurvature, (-1, 4))[:, 1:] @ (chain @ limb.attach)[:2, :3].T
            if np.abs(bent).max(initial=0.0) > 1e-9:
                out.append(f"{who}: the rod's precurvature leaves the plane; must be about z, u2 of a rod along y")
            if limb.rod.distributed_force[2] or any(limb.rod.distributed_moment[:2]):
                out.append(f"{who}: distributed_force must be in the plane and distributed_moment about z")
        return out
