"""Rods as rigid links with hinges at the nodes of Gauss and Legendre's quadrature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from pliant.base.numerics import Array, CubicSpline
from pliant.base.spatial import exp_so3, inverse, log_so3, pose, quaternion_from_rotation
from pliant.model.inertia import set_inertia
from pliant.rods.model.assembly import (
    CONTACT_SOLIMP,
    CONTACT_SOLREF,
    Assembly,
    RodShape,
    polar_inertia,
    section_radius,
)
from pliant.rods.model.fastening import fasten_tip
from pliant.rods.model.stretch import Stretch

if TYPE_CHECKING:
    from mujoco import MjsBody, MjsGeom

    from pliant.rods.description import Limb, Rod
    from pliant.rods.solution import Centreline

__all__ = ["SAMPLES", "Chain", "add_chain", "add_links"]

SAMPLES = 401  # of a centreline, from which links are taken


def _set_part(body: MjsBody, rod: Rod, curve: _Curve, part: tuple[float, float], here: Array, polar: float) -> None:
    """Give a link the mass of a part of the rod.

    Args:
        body: the link.
        rod: the rod.
        curve: its centreline.
        part: begin and end of the part, 0 to 1.
        here: orientation of the link in the world, shape (3, 3).
        polar: moment of inertia about the centreline per length [kg m].
    """
    s, until = part
    x4, w4 = np.polynomial.legendre.leggauss(4)
    span = 0.5 * (s + until) + 0.5 * (until - s) * x4
    lineal = 0.5 * w4 * np.array([rod.values(float(t)).mass for t in span])
    density, size = float(lineal.sum()), curve.length * (until - s)
    mass = max(density * size, 1e-9)
    points = np.array([curve.position(t) for t in span])
    com = lineal @ points / density if density > 0.0 else 0.5 * w4 @ points
    about = max(polar * size, 1e-12)
    slim = mass * size**2 / 12.0 + 0.5 * about
    set_inertia(body, mass, [slim, slim, about], here.T @ (com - curve.position(s)))


@dataclass(slots=True, kw_only=True)
class Chain:
    """Links of a rod in a spec."""

    tip: MjsBody
    """The last link."""
    X_tip: Array
    """Frame of the rod's tip in the world at the start, shape (4, 4)."""
    X_body_tip: Array
    """The same in the last link."""
    shape: RodShape
    """Its collision shape."""
    stretch: dict[str, Any]
    """What changes with the length of the rod: arguments of `Stretch` but for the spool's joint."""
    joints: list[str]
    """Names of the joints that are its elasticity."""
    frames: list[Array]
    """Frames of the carrying body and of the links in the world at the start, each (4, 4)."""


def add_links(
    line: Centreline, rod: Rod, name: str, root: tuple[MjsBody, Array], *, segments: int,
    planar: bool = False, contact: Mapping[str, int], moments: Array | None = None, at: Array | None = None,
) -> Chain:  # fmt: skip
    """Add the links of a rod to the body that carries it.

    Args:
        line: the rod in an equilibrium, in which the links begin; finely sampled.
        rod: the rod.
        name: prefix of all names.
        root: the body, and the frame of the rod's base in it, shape (4, 4).
        segments: number of hinges.
        planar: whether the hinges turn about z of the world only.
        contact: contact type and affinity of the shapes.
        moments: internal moments at the hinges, world axes, shape (segments, 3) [N m]; None: those of the line.
        at: abscissas of the hinges, each of which stands for an equal part of the rod; None: Gauss' points and weights.
    """
    n, curve = segments, _Curve(line)
    length = curve.length
    share = np.full(n, 1.0 / n)  # what part of the rod bends in each hinge
    if at is None:
        nodes, weights = np.polynomial.legendre.leggauss(n)
        at, share = 0.5 * (nodes + 1.0), 0.5 * weights
    ends = np.cumsum(share)  # the link after hinge k has the frame of the rod there
    body, X_body_rod = root
    X_parent = pose(curve.position(0.0), curve.rotation(0.0)) @ inverse(X_body_rod)  # frame of the body in the world
    links: list[str] = []
    capsules: list[str] = []
    shapes: list[MjsGeom] = []
    carriers = [body.name]
    turns: list[float] = []
    joints: list[str] = []
    frames = [X_parent]
    radius = section_radius(rod)

    def capsule(carrier: MjsBody, label: str, a: Array, b: Array) -> None:
        geom = carrier.add_geom(
            name=label, type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[*a, *b], size=[radius, 0, 0],
            rgba=[0.93, 0.55, 0.14, 1], solref=CONTACT_SOLREF, solimp=CONTACT_SOLIMP, priority=1, mass=0.0, **contact,
        )  # fmt: skip
        capsules.append(label)
        shapes.append(geom)

    first = inverse(X_parent) @ np.append(curve.position(at[0]), 1.0)
    capsule(body, f"{name}/link0", X_body_rod[:3, 3], first[:3])
    before = curve.rotation(0.0)
    for k in range(n):
        s, here, last = at[k], curve.rotation(ends[k]), k == n - 1
        X_link = pose(curve.position(s), here)
        X = inverse(X_parent) @ X_link
        body = body.add_body(name=f"{name}/link{k + 1}", pos=X[:3, 3], quat=quaternion_from_rotation(X[:3, :3]))
        links.append(body.name)
        carriers.append(body.name)
        until = 1.0 if last else at[k + 1]
        _set_part(body, rod, curve, (s, until), here, polar_inertia(rod, float(ends[k])))
        # The hinges turn about the axes of the link before (bending d1, d2; torsion d3); at the start they are at 0.
        v, axes = rod.values(float(s)), [before[:, 0], before[:, 1], before[:, 2]]
        h = share[k] * length
        stiffness = [v.bending[0] / h, v.bending[1] / h, v.torsion / h]
        labels = [f"{name}/bend{k + 1}", f"{name}/bend{k + 1}b", f"{name}/twist{k + 1}"]
        if planar:
            pick = int(np.argmax([abs(a[2]) for a in axes]))
            axes, stiffness = [axes[pick]], [stiffness[pick]]
        turn, moment = log_so3(here @ before.T), curve.moment(s) if moments is None else moments[k]
        for label, axis, stiff in zip(labels, axes, stiffness):
            rest = -float(moment @ axis) / stiff
            body.add_joint(
                name=label, type=mujoco.mjtJoint.mjJNT_HINGE, axis=here.T @ axis, stiffness=[stiff, 0, 0],
                springref=float(np.degrees(rest)) if body.compiler.degree else rest,
            )  # fmt: skip
            joints.append(label)
            turns.append(float(turn @ axis))
        end = curve.position(until)
        capsule(body, f"{name}/link{k + 1}", np.zeros(3), here.T @ (end - curve.position(s)))
        X_parent, before = X_link, here
        frames.append(X_link)
    X_tip = pose(curve.position(1.0), curve.rotation(1.0))
    stretch = {
        "length": length, "bodies": links, "geoms": capsules, "root": X_body_rod[:3, 3].copy(),
        "end": before.T @ (curve.position(1.0) - curve.position(at[-1])), "turns": turns,
    }  # fmt: skip
    corners = np.array([curve.position(float(s)) for s in (0.0, *at, 1.0)])
    return Chain(
        tip=body, X_tip=X_tip, X_body_tip=inverse(X_parent) @ X_tip, stretch=stretch, joints=joints, frames=frames,
        shape=RodShape(points=corners, radius=radius, shapes=shapes, bodies=carriers),
    )  # fmt: skip


def add_chain(out: Assembly, limb: Limb, i: int, root: tuple[MjsBody, Array]) -> Callable[[Limb], None]:
    """Add one rod as links with hinges; return what joins its tip to the plate."""
    name = out.limb_name(i)
    chain = add_links(
        out.solution.centreline(i, SAMPLES), limb.rod, name, root, segments=out.options.segments,
        planar=out.description.planar, contact=out.contact_bits,
    )  # fmt: skip
    out.elastic += chain.joints
    out.rods.append(chain.shape)
    spools = [label for label in out.actuators if label.startswith(f"{name}/extension")]
    if spools:
        out.stretches.append(Stretch(joint=spools[-1], **chain.stretch))
    return lambda one: fasten_tip(out, one, chain.tip, name, chain.X_tip, chain.X_body_tip)


class _Curve:
    """A rod's centreline between its samples."""

    def __init__(self, line: Centreline) -> None:
        self.length = float(line.length)
        self._s, self._R = line.s, line.rotation
        self._position, self._moment = CubicSpline(line.s, line.position), CubicSpline(line.s, line.moment)

    def position(self, s: float) -> Array:
        return self._position(s)

    def moment(self, s: float) -> Array:
        return self._moment(s)

    def rotation(self, s: float) -> Array:
        k = min(int(s * (len(self._s) - 1)), len(self._s) - 2)
        part = (s - self._s[k]) / (self._s[k + 1] - self._s[k])
        return exp_so3(part * log_so3(self._R[k + 1] @ self._R[k].T)) @ self._R[k]
