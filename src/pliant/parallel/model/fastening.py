"""How the tip of a rod is joined to the plate: a distal joint as connections of points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from pliant.base.numerics import Array
from pliant.base.spatial import inverse, quaternion_from_rotation
from pliant.parallel.model.assembly import PLATE, Assembly, add_offset
from pliant.rods.model.shapes import STIFF_SOLIMP, add_inertia, section_radius

if TYPE_CHECKING:
    from mujoco import MjsBody

    from pliant.rods.description import Limb


def connect(out: Assembly, one: str, *points: ArrayLike) -> None:
    """Hold points of a body (its frame) where they are on the plate: one for a ball, two for an axis, three for all.

    A weld would be soft here: MuJoCo scales its rotations by the inertia of the last link, which is next to nothing.
    """
    for k, point in enumerate(points):
        e = out.spec.add_equality(
            name=f"{one}/{k}", type=mujoco.mjtEq.mjEQ_CONNECT, name1=one, name2=PLATE, objtype=mujoco.mjtObj.mjOBJ_BODY
        )
        data = np.zeros(len(e.data))
        data[:3] = point
        e.data = data
        e.solimp = STIFF_SOLIMP
        out.constraints.append(e.name)


def _across(a: Array) -> Array:
    """Return a unit vector perpendicular to a unit vector."""
    other = np.eye(3)[int(np.argmin(np.abs(a)))]
    b = np.cross(a, other)
    return b / np.linalg.norm(b)


def fasten_tip(out: Assembly, limb: Limb, tip: MjsBody, name: str, X_tip: Array, X_body_tip: Array) -> None:
    """Join a body that carries the rod's tip to the plate, as the distal joint says.

    Args:
        tip: the body.
        X_tip: the tip's frame in the world.
        X_body_tip: the tip's frame in the body.
    """
    d = limb.distal
    reach = 0.05 * limb.rod.length
    X_BJ = X_body_tip @ inverse(np.asarray(d.attach, dtype=float))
    axis = np.asarray(d.axis, dtype=float) / np.linalg.norm(d.axis)
    a, at = X_BJ[:3, :3] @ axis, X_BJ[:3, 3]
    add_offset(tip, X_body_tip[:3, 3], at, max(0.003 * limb.rod.length, section_radius(limb.rod, 1.0)))
    planar = out.description.planar
    X_z = (X_tip @ inverse(X_body_tip))[:3, :3].T @ [0.0, 0.0, 1.0]
    small = 0.05 * max(limb.rod.values(1.0).mass * limb.rod.length, 1e-3)
    if d.kind in ("fixed", "prismatic"):
        holder, origin = tip.name, at
        if d.kind == "prismatic":
            # The tip's frame stands in the joint's: the slider begins where it is now.
            slider = tip.add_body(name=f"{name}/slider", pos=at, quat=quaternion_from_rotation(X_BJ[:3, :3]))
            add_inertia(slider, small, reach, gravcomp=1.0)
            slider.add_joint(name=f"{name}/slider", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
            holder, origin, a = slider.name, np.zeros(3), axis
        if planar:
            b = np.cross(X_z, a) if abs(a @ X_z) < 0.9 else _across(X_z)
            connect(out, holder, origin + reach * b, origin - reach * b)
        else:
            b = _across(a)
            connect(out, holder, origin + reach * a, origin - reach * a, origin + reach * b)
    elif d.kind == "spherical" or (d.kind == "revolute" and planar):
        connect(out, tip.name, at)
    elif d.kind == "revolute":
        connect(out, tip.name, at - reach * a, at + reach * a)
    else:
        second = np.asarray(d.axis_2, dtype=float) / np.linalg.norm(d.axis_2)
        cross = tip.add_body(name=f"{name}/cross", pos=at, quat=quaternion_from_rotation(X_BJ[:3, :3]))
        add_inertia(cross, small, reach, gravcomp=1.0)
        cross.add_joint(name=f"{name}/cross", type=mujoco.mjtJoint.mjJNT_HINGE, axis=second)
        # The axis on the plate: the rod's joint frame carries the second axis only.
        J = out.solution.plate_pose @ np.asarray(d.pose)
        first = (X_tip @ inverse(X_body_tip) @ X_BJ)[:3, :3].T @ J[:3, :3] @ axis
        connect(out, cross.name, -reach * first, reach * first)
