"""Lowest points of shapes, and the directions of a foot on a robot in a pose."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import Array

_G = mujoco.mjtGeom


@dataclass(frozen=True, slots=True, kw_only=True)
class Pose:
    """A compiled model in the pose in which its feet are flat, and the directions there."""

    model: mujoco.MjModel
    """The model."""
    data: mujoco.MjData
    """Its state in the pose."""
    up: Array
    """Against gravity, in the world."""
    forward: Array
    """Horizontal direction of the toes, in the world."""

    @property
    def left(self) -> Array:
        """Horizontal direction to the left, in the world."""
        return np.cross(self.up, self.forward)

    @property
    def rotation(self) -> Array:
        """Orientation of a foot (x forward, y left, z up) in the world."""
        return np.column_stack([self.forward, self.left, self.up])


def pose_of(model: mujoco.MjModel, key: str | None, forward_axis: Sequence[float] | str) -> Pose:
    """Return a robot in a key frame, or in its initial pose.

    Args:
        model: the robot.
        key: name of the key frame; None takes the initial pose.
        forward_axis: direction in which the robot looks, in the world: three numbers or "x", "-x", "y", "-y".

    Raises:
        ModelError: no such key frame, or a direction that is zero or vertical.
    """
    data = mujoco.MjData(model)
    if key is not None:
        names = [model.key(i).name for i in range(model.nkey)]
        if key not in names:
            known = nearest(key, names) if names else "the model has none"
            raise ModelError(f"replace_foot: there is no key frame {key!r}; {known}", field="key")
        mujoco.mj_resetDataKeyframe(model, data, names.index(key))
    mujoco.mj_forward(model, data)
    up = upward(model)
    axis = _axis(forward_axis)
    level = axis - (axis @ up) * up
    if np.linalg.norm(level) < 1e-6 * max(1.0, float(np.linalg.norm(axis))):
        raise ModelError(
            f"replace_foot: forward_axis is {_shown(axis)}; must have a horizontal part (up is {_shown(up)})",
            field="forward_axis",
        )
    return Pose(model=model, data=data, up=up, forward=level / np.linalg.norm(level))


def upward(model: mujoco.MjModel) -> Array:
    """Return the direction against gravity in the world; z where there is no gravity."""
    gravity = np.asarray(model.opt.gravity, dtype=float)
    size = float(np.linalg.norm(gravity))
    return -gravity / size if size > 0.0 else np.array([0.0, 0.0, 1.0])


def _axis(value: Sequence[float] | str) -> Array:
    named = {"x": (1, 0, 0), "+x": (1, 0, 0), "-x": (-1, 0, 0), "y": (0, 1, 0), "+y": (0, 1, 0), "-y": (0, -1, 0)}
    if isinstance(value, str) and value in named:
        return np.array(named[value], dtype=float)
    parts = value.replace(",", " ").split() if isinstance(value, str) else value
    try:
        axis = np.array([float(v) for v in parts])
    except (TypeError, ValueError):
        axis = np.zeros(0)
    if axis.shape != (3,) or not np.all(np.isfinite(axis)):
        raise ModelError(
            f"replace_foot: forward_axis is {value!r}; must be x, -x, y, -y or three numbers", field="forward_axis"
        )
    return axis


def _shown(vector: Array) -> str:
    return "(" + ", ".join(f"{v:.3g}" for v in vector) + ")"


def weld_children(model: mujoco.MjModel, body: int) -> list[int]:
    """Return a body and the bodies that are fixed below it."""
    found = [body]
    for i in range(body + 1, model.nbody):
        if model.body_parentid[i] in found and model.body_jntnum[i] == 0:
            found.append(i)
    return found


def reach(model: mujoco.MjModel, data: mujoco.MjData, geom: int, direction: Array) -> float:
    """Return how far a shape reaches in a direction: the largest p . direction of its points, in the world [m].

    Raises:
        ModelError: the shape is a plane or a height field, which have no end.
    """
    kind, size = int(model.geom_type[geom]), np.asarray(model.geom_size[geom])
    rotation = data.geom_xmat[geom].reshape(3, 3)
    middle = float(data.geom_xpos[geom] @ direction)
    d = rotation.T @ direction
    if kind == _G.mjGEOM_SPHERE:
        return middle + float(size[0])
    if kind == _G.mjGEOM_CAPSULE:
        return middle + float(size[0] + size[1] * abs(d[2]))
    if kind == _G.mjGEOM_CYLINDER:
        return middle + float(size[0] * math.hypot(d[0], d[1]) + size[1] * abs(d[2]))
    if kind == _G.mjGEOM_ELLIPSOID:
        return middle + float(np.linalg.norm(size * d))
    if kind == _G.mjGEOM_BOX:
        return middle + float(size @ np.abs(d))
    if kind == _G.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        return middle + float((model.mesh_vert[start : start + count] @ d).max())
    name = model.geom(geom).name or str(geom)
    raise ModelError(
        f"replace_foot: the shape {name!r} of the foot is a {_G(kind).name.removeprefix('mjGEOM_').lower()}, which has "
        "no underside; give sole_height",
        field="sole_height",
    )


def lowest_point(model: mujoco.MjModel, geoms: Iterable[int]) -> float:
    """Return the height of the lowest corner of the boxes around shapes in the initial pose, in the world [m]."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    found = []
    for g in geoms:
        turn, box = data.geom_xmat[g].reshape(3, 3), model.geom_aabb[g]
        found.append(float((data.geom_xpos[g] + turn @ box[:3])[2] - np.abs(turn[2]) @ box[3:]))
    return min(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How far shapes reach from a point, along the axes of a foot [m]."""

    front: float
    """Forward."""
    rear: float
    """Backward."""
    left: float
    """To the left."""
    right: float
    """To the right."""
    down: float
    """Downward: the height of the point above the sole."""

    @property
    def length(self) -> float:
        """Length of the foot [m]."""
        return self.front + self.rear

    @property
    def width(self) -> float:
        """Width of the foot [m]."""
        return self.left + self.right


def extent_of(pose: Pose, geoms: Iterable[int], origin: Array) -> Extent:
    """Return how far shapes reach from a point of the world.

    Raises:
        ModelError: a shape has no end.
    """
    geoms = list(geoms)

    def far(direction: Array) -> float:
        return max(reach(pose.model, pose.data, g, direction) for g in geoms) - float(origin @ direction)

    return Extent(
        front=far(pose.forward), rear=far(-pose.forward), left=far(pose.left), right=far(-pose.left), down=far(-pose.up)
    )
