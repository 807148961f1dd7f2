"""Spare bodies of a world: the shape and mass of an object, and the constants that the compiler wrote."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.numerics import Array
from pliant.objects.description import AXES, SPARE_SIZE

if TYPE_CHECKING:
    import mujoco

SHAPES = ("none", "sphere", "box", "cylinder", "frame")
"""Shapes of an object; samples have the index."""
AXIS_COLORS = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
FRAME_RADIUS, FRAME_BALL = 0.05, 0.1
"""Radii of the axes of a frame and of its ball, as parts of its size; assumed."""
X_TO_Z = ((math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0), (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
"""Orientations of cylinders along x, y, z."""

_OF_BODIES = ("body_mass", "body_subtreemass", "body_inertia", "body_invweight0")
_OF_DOFS = ("dof_M0", "dof_invweight0")
_OF_GEOMS = (
    "geom_type",
    "geom_size",
    "geom_rbound",
    "geom_aabb",
    "geom_pos",
    "geom_quat",
    "geom_sameframe",
    "geom_rgba",
)


@dataclass(slots=True)
class SpareBody:
    """One spare body."""

    body: int
    """Index of the body."""
    shape: int
    """Index of the geom that touches."""
    q: int
    """First of its 7 positions."""
    v: int
    """First of its 6 velocities."""
    weld: int
    """Its tie."""
    kind: int = 0
    """Index in `SHAPES`; 0: no object has been made of it."""
    link: int = -1
    """Body that it is attached to, or -1."""


class SpareConstants:
    """Constants of some bodies as the compiler wrote them.

    Args:
        model: the model, as compiled.
        bodies: free bodies with their geoms.
    """

    def __init__(self, model: mujoco.MjModel, bodies: Sequence[int]) -> None:
        which = np.array(bodies, dtype=int)
        geoms = np.flatnonzero(np.isin(model.geom_bodyid, which))
        dofs = np.flatnonzero(np.isin(model.dof_bodyid, which))
        groups = ((_OF_BODIES, np.append(which, 0)), (_OF_DOFS, dofs), (_OF_GEOMS, geoms))
        self._kept = []
        for names, index in groups:
            for name in names:
                array = getattr(model, name)
                self._kept.append((array, index, array[index].copy()))

    def restore(self) -> None:
        """Write the constants into the model again."""
        for array, index, value in self._kept:
            array[index] = value


def set_mass(model: mujoco.MjModel, body: int, v: int, mass: float, inertia: Array) -> None:
    """Write the mass of a free body, and all constants that the compiler derives from it.

    Args:
        model: the model.
        body: index of the body.
        v: address of its free joint in ``qvel``.
        mass: mass [kg].
        inertia: principal moments of inertia, shape (3,) [kg m^2].
    """
    model.body_subtreemass[0] += mass - model.body_mass[body]
    model.body_mass[body] = model.body_subtreemass[body] = mass
    model.body_inertia[body] = inertia
    model.dof_M0[v : v + 3], model.dof_M0[v + 3 : v + 6] = mass, inertia
    rotation = float(np.mean(1.0 / inertia))
    model.dof_invweight0[v : v + 3], model.dof_invweight0[v + 3 : v + 6] = 1.0 / mass, rotation
    model.body_invweight0[body] = 1.0 / mass, rotation


def shape_body(model: mujoco.MjModel, spare: SpareBody, kind: str, values: Sequence[float], mass: float) -> None:
    """Give a spare body the shape, the mass, and the constants that the compiler would give it.

    Args:
        model: the model.
        spare: the body.
        kind: one of `SHAPES`.
        values: sizes of the shape [m], as the requests of `WorldDevice` take them.
        mass: mass [kg].
    """
    import mujoco

    types = mujoco.mjtGeom
    size = np.zeros(3)
    if kind == "box":
        geom, half = types.mjGEOM_BOX, 0.5 * np.array(values)
        size[:] = half
        reach = float(np.linalg.norm(half))
        inertia = mass / 3.0 * np.array([h @ h for h in (half[[1, 2]], half[[0, 2]], half[[0, 1]])])
    elif kind == "cylinder":
        r, h = values[0], 0.5 * values[1]
        geom, half = types.mjGEOM_CYLINDER, np.array([r, r, h])
        size[:2] = r, h
        reach = math.hypot(r, h)
        across = mass * (3.0 * r * r + 4.0 * h * h) / 12.0
        inertia = np.array([across, across, 0.5 * mass * r * r])
    else:
        r = values[0] if kind == "sphere" else values[0] * FRAME_BALL
        geom, half = types.mjGEOM_SPHERE, np.full(3, r)
        size[0] = reach = r
        inertia = np.full(3, 0.4 * mass * r * r)
    body, shape = spare.body, spare.shape
    model.geom_type[shape] = int(geom)
    model.geom_size[shape] = size
    model.geom_rbound[shape] = reach
    model.geom_aabb[shape, :3], model.geom_aabb[shape, 3:] = 0.0, half
    if model.body_bvhnum[body]:
        model.bvh_aabb[model.body_bvhadr[body], 3:] = half
    set_mass(model, body, spare.v, mass, inertia)
    for axis in range(AXES):
        geom = shape + 1 + axis
        length = 0.5 * values[0] if kind == "frame" else SPARE_SIZE
        radius = length * FRAME_RADIUS if kind == "frame" else SPARE_SIZE
        model.geom_size[geom] = radius, length, 0.0
        model.geom_pos[geom] = np.eye(3)[axis] * length if kind == "frame" else 0.0
        model.geom_quat[geom] = X_TO_Z[axis] if kind == "frame" else (1.0, 0.0, 0.0, 0.0)
        model.geom_sameframe[geom] = 0 if kind == "frame" else 1
        model.geom_rgba[geom] = (*AXIS_COLORS[axis], 1.0 if kind == "frame" else 0.0)
        model.geom_rbound[geom] = math.hypot(radius, length)
