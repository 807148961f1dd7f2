"""Rods as rigid links with hinges at the nodes of Gauss and Legendre's quadrature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from pliant.base.numerics import Array
from pliant.base.spatial import exp_so3, inverse, log_so3, pose, quaternion_from_rotation
from pliant.model.inertia import set_inertia
from pliant.rods.model.shapes import CONTACT_SOLIMP, CONTACT_SOLREF, RodShape, polar_inertia, section_radius
from pliant.rods.spline import CubicSpline

if TYPE_CHECKING:
    from mujoco import MjsBody, MjsGeom, MjsJoint

    from pliant.rods.description import Rod
    from pliant.rods.solution import Centreline

SAMPLES = 401  # of a centreline, from which links are taken
GAUSS = np.polynomial.legendre.leggauss(4)
"""Places in [-1, 1] and weights of the integrals over a part of a rod."""
SOFT = 1e-3
"""A rod whose `strains` are larger stretches and shears in the model, if no option says otherwise."""
REACH = (0.6, 1.6)
"""Shortest and longest rod that changes its length, as a part of its length at the start."""


class Nodes(Protocol):
    """Elements that make a chain follow the length of its rod, while the chain is put together."""

    def add_node(self, link: MjsBody, name: str, origin: Array, chord: Array, *, pull: Array, axial: float) -> MjsBody:
        """Add the body that slides along a link with the length, to the link; return it."""
        ...

    def add_spring(self, hinge: MjsJoint, stiffness: float, straight: float, rest: float) -> None:
        """Give a hinge its elasticity [N m/rad] about where the rod is straight, and the rest position [rad]."""
        ...

    def add_mass(self, body: MjsBody, mass: float, inertia: float, about: float, at: Array, world: Array) -> None:
        """Give a body its part of the rod's mass [kg, kg m^2, m]."""
        ...


def _part(rod: Rod, curve: _Curve, begin: float, end: float) -> tuple[float, Array]:
    """Return the mass of a part of the rod [kg] and its centre of mass in the world [m]."""
    if found := curve.parts.get((begin, end)):
        return found
    x4, w4 = GAUSS
    span = 0.5 * (begin + end) + 0.5 * (end - begin) * x4
    lineal = 0.5 * w4 * np.array([rod.values(float(t)).mass for t in span])
    density = float(lineal.sum())
    points = curve.position(span)
    com = lineal @ points / density if density > 0.0 else 0.5 * w4 @ points
    curve.parts[begin, end] = max(density * curve.length * (end - begin), 1e-9), com
    return curve.parts[begin, end]


@dataclass(slots=True, kw_only=True)
class Chain:
    """Links of a rod in a spec."""

    tip: MjsBody
    """The body that carries the tip."""
    X_tip: Array
    """Frame of the rod's tip in the world at the start, shape (4, 4)."""
    X_body_tip: Array
    """The same in the body that carries the tip."""
    shape: RodShape
    """Its collision shape."""
    joints: dict[str, float]
    """Stiffness of the joints that are its elasticity, by name [N m/rad or N/m]."""
    frames: list[Array]
    """Frames of the carrying body and of the links in the world at the start, each (4, 4)."""


def strains(rod: Rod, line: Centreline) -> float:
    """Return how much a rod stretches and shears: the larger of two numbers.

    Its largest strain in an equilibrium, and what shear adds to the bending of a cantilever, 3 E I / (G A L^2).
    """
    v = [rod.values(float(s)) for s in (line.s if rod.is_tapered else line.s[:1])]
    forces = np.einsum("sij,si->sj", line.rotation, line.force)  # along the axes of the rod
    strain = np.linalg.norm(forces / np.array([[*one.shear, one.axial] for one in v]), axis=1).max()
    return float(max(strain, *(3.0 * max(one.bending) / (min(one.shear) * line.length**2) for one in v)))


def add_links(
    line: Centreline, rod: Rod, name: str, root: tuple[MjsBody, Array], *, segments: int | Array,
    planar: bool = False, contact: Mapping[str, int], soft: bool = False, nodes: Nodes | None = None,
    loads: tuple[Array, Array] | None = None,
) -> Chain:  # fmt: skip
    """Add the links of a rod to the body that carries it.

    Args:
        line: the rod in an equilibrium, in which the links begin; finely sampled.
        rod: the rod.
        name: prefix of all names.
        root: the body, and the frame of the rod's base in it, shape (4, 4).
        segments: number of hinges, at Gauss' points with their weights; or the abscissas of hinges, each of which has
            an equal part of the rod.
        planar: whether the hinges turn about z of the world only.
        contact: contact type and affinity of the shapes.
        soft: whether the rod stretches and shears too.
        nodes: what makes the rod follow a spool; None: its rest length is constant.
        loads: internal forces and moments at the hinges, world axes, each (segments, 3) [N, N m]; None: of the line.
    """
    curve = _Curve(line)
    if isinstance(segments, int):
        places, weights = np.polynomial.legendre.leggauss(segments)
        at, share = 0.5 * (places + 1.0), 0.5 * weights  # where the hinges are, what part of the rod bends in each
    else:
        at, share = segments, np.full(len(segments), 1.0 / len(segments))
    if loads is None:
        loads = np.array([curve.force(s) for s in at]), np.array([curve.moment(s) for s in at])
    body, X_body_rod = root
    start = pose(curve.position(0.0), curve.rotation(0.0))
    made = _Links(
        rod=rod, curve=curve, name=name, at=at, share=share, loads=loads, planar=planar, contact=contact, nodes=nodes,
        soft=soft and nodes is None, body=body, X_body=start @ inverse(X_body_rod), origin=X_body_rod[:3, 3],
        before=start[:3, :3],
    )  # fmt: skip
    made.frames.append(made.X_body)
    for k in range(len(at)):
        made.add_link(k)
    X_tip = pose(curve.position(1.0), curve.rotation(1.0))
    if nodes is not None:
        made.add_node(len(at))
    corners = np.array([curve.position(float(s)) for s in (0.0, *at, 1.0)])
    return Chain(
        tip=made.body, X_tip=X_tip, X_body_tip=inverse(made.X_body) @ X_tip, joints=made.joints, frames=made.frames,
        shape=RodShape(points=corners, radius=section_radius(rod), shapes=made.shapes, bodies=made.carriers),
    )  # fmt: skip


@dataclass(slots=True, kw_only=True)
class _Links:
    """The links of a rod while they are added, from the base outward."""

    rod: Rod
    curve: _Curve
    name: str
    at: Array
    share: Array
    loads: tuple[Array, Array]
    planar: bool
    contact: Mapping[str, int]
    nodes: Nodes | None
    soft: bool
    body: MjsBody
    """The last body so far."""
    X_body: Array
    """Its frame in the world at the start."""
    origin: Array
    """Where its part of the rod begins, in its frame [m]."""
    before: Array
    """Orientation of the rod before the next hinge."""
    joints: dict[str, float] = field(default_factory=dict)
    shapes: list[MjsGeom] = field(default_factory=list)
    carriers: list[tuple[str, ...]] = field(default_factory=list)
    frames: list[Array] = field(default_factory=list)

    def add_link(self, k: int) -> None:
        """Add the link after hinge k, with its joints, its mass and the shape of the part before it."""
        s, last = float(self.at[k]), k == len(self.at) - 1
        here = self.curve.rotation(float(self.share[: k + 1].sum()))  # the link has the frame of the rod there
        X_link = pose(self.curve.position(s), here)
        if self.nodes is None:
            self._add_shape(k)
        else:
            self.add_node(k)
        X = inverse(self.X_body) @ X_link
        link = f"{self.name}/link{k + 1}"
        self.body = self.body.add_body(name=link, pos=X[:3, 3], quat=quaternion_from_rotation(X[:3, :3]))
        if self.soft:
            self._add_slides(k, here)
        self._add_hinges(k, here)
        self.X_body, self.origin, self.before = X_link, np.zeros(3), here
        self._add_mass(s, 1.0 if last else float(self.at[k + 1]))
        if self.nodes is None and last:
            self._add_shape(k + 1)
        self.frames.append(X_link)

    def _add_hinges(self, k: int, here: Array) -> None:
        """Add the hinges about the axes of the link before (bending d1, d2; torsion d3); at the start they are at 0."""
        s, h = float(self.at[k]), float(self.share[k]) * self.curve.length
        v, axes = self.rod.values(s), list(self.before.T)
        stiffness = [v.bending[0] / h, v.bending[1] / h, v.torsion / h]
        labels = [f"{self.name}/bend{k + 1}", f"{self.name}/bend{k + 1}b", f"{self.name}/twist{k + 1}"]
        if self.planar:
            pick = int(np.argmax([abs(a[2]) for a in axes]))
            axes, stiffness = [axes[pick]], [stiffness[pick]]
        turn, moment = log_so3(here @ self.before.T), self.loads[1][k]
        for label, axis, stiff in zip(labels, axes, stiffness):
            rest = -float(moment @ axis) / stiff
            hinge = self.body.add_joint(name=label, type=mujoco.mjtJoint.mjJNT_HINGE, axis=here.T @ axis)
            self.joints[label] = stiff
            if self.nodes is not None:
                self.nodes.add_spring(hinge, stiff, -float(turn @ axis), rest)
                continue
            hinge.stiffness = [stiff, 0.0, 0.0]
            hinge.springref = float(np.degrees(rest)) if self.body.compiler.degree else rest

    def _add_slides(self, k: int, here: Array) -> None:
        """Add what shears and stretches, along the axes of the link before."""
        s, h = float(self.at[k]), float(self.share[k]) * self.curve.length
        v = self.rod.values(s)
        for axis, whole, mark in zip(self.before.T, (*v.shear, v.axial), ("shear", "shearb", "stretch")):
            if self.planar and abs(axis[2]) > 0.5:
                continue
            label = f"{self.name}/{mark.removesuffix('b')}{k + 1}{'b' if mark.endswith('b') else ''}"
            self.body.add_joint(
                name=label, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=here.T @ axis, stiffness=[whole / h, 0.0, 0.0],
                springref=-float(self.loads[0][k] @ axis) * h / whole,
            )  # fmt: skip
            self.joints[label] = whole / h

    def _add_mass(self, begin: float, end: float) -> None:
        """Give the link its mass, or a link that slides the part of it that is nearer to its begin."""
        mass, com = _part(self.rod, self.curve, begin, end)
        size = self.curve.length * (end - begin)
        about = max(polar_inertia(self.rod, 0.5 * (begin + end)) * size, 1e-12)
        slim = mass * size**2 / 12.0 + 0.5 * about
        at = (inverse(self.X_body) @ np.append(com, 1.0))[:3]
        if self.nodes is None:
            set_inertia(self.body, mass, [slim, slim, about], at)
            return
        own, aside = (1.0 - self._beyond(begin, end)) * mass, at - self._chord(begin, end) * self._beyond(begin, end)
        place = aside * mass / own
        world = (self.X_body @ np.append(place, 1.0))[:3]
        self.nodes.add_mass(self.body, own, 0.51 * about, about, place, world)

    def _chord(self, begin: float, end: float) -> Array:
        """Return the vector between two places of the rod in the frame of the last body [m]."""
        return self.X_body[:3, :3].T @ (self.curve.position(end) - self.curve.position(begin))

    def _beyond(self, begin: float, end: float) -> float:
        """Return how far along its chord a part of the rod has its centre of mass, 0 to 1."""
        chord = self.curve.position(end) - self.curve.position(begin)
        com = _part(self.rod, self.curve, begin, end)[1] - self.curve.position(begin)
        return float(com @ chord) / float(chord @ chord)

    def add_node(self, k: int) -> None:
        """Add the body that slides with the length, at hinge k or at the tip, with its mass and its shapes."""
        assert self.nodes is not None
        ends = (0.0, *self.at, 1.0)
        begin, end = float(ends[k]), float(ends[k + 1])
        chord, origin = self._chord(begin, end), self.origin
        middle, label = 0.5 * (begin + end), f"{self.name}/node{k + 1}" if k < len(self.at) else f"{self.name}/tip"
        pull = self.X_body[:3, :3].T @ self.curve.force(middle)
        half = 0.5 * REACH[1] * chord
        self._capsule(self.body, f"{self.name}/link{k}", origin, origin + half)
        carrier = self.body.name
        node = self.nodes.add_node(self.body, label, origin, chord, pull=pull, axial=self.rod.values(middle).axial)
        self._capsule(node, f"{self.name}/half{k}", -half, np.zeros(3))
        self.carriers.append((carrier, label))
        mass = _part(self.rod, self.curve, begin, end)[0] * self._beyond(begin, end)
        tiny = max(polar_inertia(self.rod, middle) * self.curve.length * (end - begin), 1e-12)
        self.nodes.add_mass(node, mass, tiny, tiny, np.zeros(3), self.curve.position(end))
        self.body = node
        self.X_body = self.X_body @ pose(origin + chord)

    def _add_shape(self, k: int) -> None:
        """Add the shape of the part before hinge k, or before the tip, to the last body."""
        ends = (0.0, *self.at, 1.0)
        chord = self._chord(float(ends[k]), float(ends[k + 1]))
        self._capsule(self.body, f"{self.name}/link{k}", self.origin, self.origin + chord)
        self.carriers.append((self.body.name,))

    def _capsule(self, carrier: MjsBody, label: str, a: Array, b: Array) -> None:
        self.shapes.append(
            carrier.add_geom(
                name=label, type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[*a, *b],
                size=[section_radius(self.rod), 0, 0], rgba=[0.93, 0.55, 0.14, 1], solref=CONTACT_SOLREF,
                solimp=CONTACT_SOLIMP, priority=1, mass=0.0, **self.contact,
            )
        )  # fmt: skip


class _Curve:
    """A rod's centreline between its samples."""

    def __init__(self, line: Centreline) -> None:
        self.length = float(line.length)
        self._s, self._R = line.s, line.rotation
        self._along = CubicSpline(line.s, np.concatenate([line.position, line.force, line.moment], axis=1))
        self.parts: dict[tuple[float, float], tuple[float, Array]] = {}
        """Begin and end of a part -> its mass and centre of mass, which several bodies ask for."""

    def position(self, s: ArrayLike) -> Array:
        return self._along(s)[..., :3]

    def force(self, s: ArrayLike) -> Array:
        return self._along(s)[..., 3:6]

    def moment(self, s: ArrayLike) -> Array:
        return self._along(s)[..., 6:]

    def rotation(self, s: float) -> Array:
        k = min(int(s * (len(self._s) - 1)), len(self._s) - 2)
        part = (s - self._s[k]) / (self._s[k + 1] - self._s[k])
        return exp_so3(part * log_so3(self._R[k + 1] @ self._R[k].T)) @ self._R[k]
