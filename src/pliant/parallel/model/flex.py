"""Rods as MuJoCo's one-dimensional flex (discrete elastic rods)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant.base.errors import ModelError
from pliant.base.numerics import Array
from pliant.base.spatial import exp_so3, inverse, pose
from pliant.model.inertia import set_inertia
from pliant.parallel.model.assembly import Assembly
from pliant.parallel.model.fastening import connect
from pliant.rods.model.shapes import (
    CONTACT_SOLIMP,
    CONTACT_SOLREF,
    STIFF_SOLIMP,
    RodShape,
    add_inertia,
    polar_inertia,
    section_radius,
)

if TYPE_CHECKING:
    from mujoco import MjsBody, MjsFlex

    from pliant.rods.description import Limb


def _refuse(out: Assembly, limb: Limb, i: int) -> None:
    """Refuse a rod or a joint that a flex cannot be.

    Raises:
        ModelError: which of them it has.
    """
    rod = limb.rod
    v, middle, tip_v = (rod.values(s) for s in (0.0, 0.5, 1.0))
    refused = None
    if out.description.planar:
        refused = "planar robot"
    elif any(joint.kind == "extension" for joint in limb.joints):
        refused = "extensible limb"
    elif rod.precurvature and np.any(np.asarray(rod.precurvature)[:, 1:]):
        refused = "precurved rod"
    elif not (np.allclose(v.bending, tip_v.bending) and np.allclose(v.bending, middle.bending)):
        refused = "tapered rod"
    elif not np.isclose(*v.bending, rtol=1e-6):
        refused = "rod that bends differently about its two axes"
    elif limb.distal.kind != "revolute":
        refused = f"{limb.distal.kind} plate joint"
    elif limb.distal.kind == "revolute" and not _along_rod(limb):
        refused = "plate joint whose axis is not the rod's own"
    if refused:
        raise ModelError(
            f"{out.description.limb_name(i)}: the flex variant has no {refused}; use variant='chain'", field="variant"
        )


def _add_elastic(out: Assembly, label: str, limb: Limb) -> MjsFlex:
    """Add a flex with the elasticity of a rod and its contact, and the equality that holds its edges."""
    v, radius = limb.rod.values(0.0), section_radius(limb.rod)
    flex = out.spec.add_flex(name=label, dim=1, radius=radius, rgba=[0.93, 0.55, 0.14, 1])
    area = 0.25 * np.pi * radius**4
    flex.young, flex.shear = v.bending[0] / area, v.torsion / (2.0 * area)
    out.elastic[label] = 1.0
    flex.selfcollide = mujoco.mjtFlexSelf.mjFLEXSELF_NONE
    flex.contype, flex.conaffinity = out.contact_bits["contype"], out.contact_bits["conaffinity"]
    flex.solref, flex.solimp, flex.priority = CONTACT_SOLREF, CONTACT_SOLIMP, 1
    edges = out.spec.add_equality(name=label, type=mujoco.mjtEq.mjEQ_FLEX, name1=label)
    edges.solimp = STIFF_SOLIMP
    out.constraints.append(label)
    return flex


def _twist_angles(tangents: Array, R: Array, edges: Iterable[int]) -> list[float]:
    """Return the twist of each edge against parallel transport [rad].

    Args:
        tangents: directions of the edges, shape (m, 3).
        R: orientations of the rod at every quarter of an edge, shape (4 n + 1, 3, 3).
        edges: those with a twist.
    """
    angles = []
    u, angle = R[0][:, 0], 0.0
    for e in edges:
        u = _transport(tangents[e - 1], tangents[e]) @ u
        d1 = R[4 * e][:, 0]
        d1 = d1 - tangents[e] * (tangents[e] @ d1)
        found = np.arctan2(tangents[e] @ np.cross(u, d1), u @ d1)
        angle += (found - angle + np.pi) % (2.0 * np.pi) - np.pi
        angles.append(angle)
    return angles


def add_flex(out: Assembly, limb: Limb, i: int, root: tuple[MjsBody, Array]) -> Callable[[Limb], None]:
    """Add one rod as a flex: n + 2 points at s = (k - 1/2) h, the first two on the base, the last two on a tip body.

    The model is compiled straight, since MuJoCo takes what is bent then for precurved; `bend` bends it afterwards.
    """
    _refuse(out, limb, i)
    spec, n, name = out.spec, out.options.segments, out.limb_name(i)
    line = out.solution.centreline(i, 4 * n + 1)
    p, R, length = line.position, line.rotation, line.length
    h = length / n
    body, X_body_rod = root
    X_root = pose(p[0], R[0])
    at = [pose(p[0] + (k - 0.5) * h * R[0][:, 2], R[0]) for k in range(n + 2)]  # straight
    element = max(limb.rod.values(0.0).mass, 1e-6) * h
    names = [body.name, body.name]
    points = [(X_body_rod @ inverse(X_root) @ at[k])[:3, 3] for k in (0, 1)]
    for k in range(2, n + 2):
        vertex = spec.worldbody.add_body(name=f"{name}/point{k}", pos=at[k][:3, 3])
        # The last element stands between the last two points: most of it on the one at its middle.
        add_inertia(vertex, element * (0.9 if k == n else 0.1 if k == n + 1 else 1.0), 0.5 * h)
        for axis, unit in zip("xyz", np.eye(3)):
            vertex.add_joint(name=f"{name}/point{k}/{axis}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=unit)
        names.append(vertex.name)
        points.append(np.zeros(3))
    ends = [pose(p[-1] + side * 0.5 * h * R[-1][:, 2], R[-1]) for side in (-1.0, 1.0)]
    label = f"{name}/rod"
    twists = {e: f"{label}_twist_{e}" for e in range(1, n)} | {n: f"{label}_twist"}
    for twist_name in twists.values():
        twist = spec.worldbody.add_body(name=twist_name)
        set_inertia(twist, element, max(polar_inertia(limb.rod, 0.5) * h, 1e-12))
        twist.gravcomp = 1.0
        twist.add_joint(name=twist_name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
    flex = _add_elastic(out, label, limb)
    flex.vertbody, flex.vert = names, np.concatenate(points)
    flex.elem = [e + c for e in range(n + 1) for c in (0, 1)]
    # Where the start has them: points, the tip's pose, the twist of each edge against parallel transport.
    clamped = at[1][:3, 3]
    nodes = [at[0][:3, 3], clamped, *(p[4 * k - 2] for k in range(2, n)), *(X[:3, 3] for X in ends)]
    bent: dict[str, Array | float] = {f"{name}/point{k}": nodes[k] for k in range(2, n + 2)}
    out.rods.append(RodShape(points=np.array(nodes), radius=section_radius(limb.rod), shapes=[flex]))
    tangents = np.diff(nodes, axis=0)
    lengths = np.linalg.norm(tangents, axis=1)
    tangents /= lengths[:, None]
    bent.update(zip(twists.values(), _twist_angles(tangents, R, twists)))
    out.bent.update({key: np.atleast_1d(value) for key, value in bent.items()})
    out.edges[label] = lengths

    def fasten(_: Limb) -> None:
        for k in (n, n + 1):
            connect(out, f"{name}/point{k}", np.zeros(3))

    return fasten


def _along_rod(limb: Limb) -> bool:
    """Say whether the axis of the plate joint is the line of the rod at its tip."""
    axis = np.asarray(limb.distal.axis, dtype=float) / np.linalg.norm(limb.distal.axis)
    attach = np.asarray(limb.distal.attach, dtype=float)
    aside = attach[:3, 3] - axis * (axis @ attach[:3, 3])
    return bool(abs(attach[:3, 2] @ axis) > 1.0 - 1e-9 and np.linalg.norm(aside) < 1e-9)


def _transport(a: Array, b: Array) -> Array:
    """Return the smallest rotation that turns one unit vector into another."""
    axis = np.cross(a, b)
    sine = float(np.linalg.norm(axis))
    return np.eye(3) if sine < 1e-12 else exp_so3(axis / sine * np.arctan2(sine, float(a @ b)))


def bend(model: mujoco.MjModel, bent: Mapping[str, Array], edges: Mapping[str, Array]) -> None:
    """Make the equilibrium the model's initial state.

    MuJoCo derives the second anchor of a connection from the initial state of the compiled (straight) model, so these
    are written again.
    """
    for name, value in bent.items():
        if value.size == 3:  # the three sliders of a point: they measure from where the body stands
            model.body_pos[model.body(name).id] = value
            continue
        at = model.jnt_qposadr[model.joint(name).id]
        model.qpos0[at : at + len(value)] = value
    for name, lengths in edges.items():
        at = model.flex_edgeadr[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_FLEX, name)]
        model.flexedge_length0[at : at + len(lengths)] = lengths
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    for e in range(model.neq):
        if model.eq_type[e] == mujoco.mjtEq.mjEQ_CONNECT:
            one, two = model.eq_obj1id[e], model.eq_obj2id[e]
            point = data.xpos[one] + data.xmat[one].reshape(3, 3) @ model.eq_data[e, :3]
            model.eq_data[e, 3:6] = data.xmat[two].reshape(3, 3).T @ (point - data.xpos[two])
