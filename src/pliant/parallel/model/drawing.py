"""Equilibria of a parallel robot as poses of a MuJoCo model that is only drawn, for films of paths.

The dynamic model (`build_parallel`) stands in one equilibrium and moves by its physics. Here every part is free, and an
equilibrium of the statics is written into the positions directly, whatever branch or length of a rod it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from pliant.base.numerics import Array
from pliant.base.spatial import quaternion_from_rotation
from pliant.parallel.model.assembly import PLATE
from pliant.parallel.model.builder import add_scene
from pliant.rods.model.shapes import section_radius
from pliant.rods.spline import CubicSpline

if TYPE_CHECKING:
    from pliant.rods.solution import Solution

LINKS = 20
"""Hinges a drawn rod, at Gauss' points as those of the dynamic model."""
POINTS = 41
"""Points of a centre line that the drawn rod goes through."""
ELEVATION, FIELD_OF_VIEW = np.radians(15.0), np.radians(40.0)
"""Height of the view of a spatial robot, and angle of the camera [rad]."""
ROOM = 1.1
"""Room around the robot in a picture, as a factor."""
ROD = (0.35, 0.38, 0.42, 1.0)
BASE = (0.35, 0.38, 0.42, 1.0)
RAIL = (0.62, 0.65, 0.69, 1.0)
PLATE_COLOUR = (0.20, 0.45, 0.70, 0.55)


def draw_solutions(solutions: Sequence[Solution]) -> tuple[mujoco.MjModel, Array]:
    """Return a model that is only drawn, and its positions in each of several equilibria of one robot.

    Args:
        solutions: the equilibria, one or more.

    Returns:
        (model, qpos of shape (solutions, nq)); a camera "path" of the model sees all of them.
    """
    d = solutions[0].robot.description
    lines = [solution.centrelines(POINTS) for solution in solutions]
    reach = solutions[0].robot.characteristic_length()
    size = 0.012 * max(0.2, max(limb.rod.length for limb in d.limbs))
    spec = mujoco.MjSpec()
    spec.modelname = "".join(c if c.isalnum() or c in "-_" else "_" for c in d.name)
    spec.compiler.degree = False
    add_scene(spec, d, solutions[0])
    everything = np.concatenate([line.position for rods in lines for line in rods])
    plates = np.array([solution.plate_pose[:3, 3] for solution in solutions])
    sides = np.concatenate([plates + reach * axis for axis in np.vstack([np.eye(3)[:2], -np.eye(3)[:2]])])
    _add_camera(spec, np.concatenate([everything, sides]), planar=d.planar)
    columns: list[Array] = []
    for i, limb in enumerate(d.limbs):
        rod = [line[i] for line in lines]
        nodes = np.array([_nodes(line.position) for line in rod])
        columns += _add_rod(spec, f"rod{i}", nodes, section_radius(limb.rod))
        roots = np.array([line.position[0] for line in rod])
        columns.append(_add_free(spec, f"carrier{i}", roots, np.array([line.rotation[0] for line in rod])))
        box = {"type": mujoco.mjtGeom.mjGEOM_BOX, "rgba": BASE, "size": [size] * 3}
        spec.body(f"carrier{i}").add_geom(**box)
        _add_rail(spec, np.vstack([np.asarray(limb.base)[None, :3, 3], roots]), 0.4 * size)
    poses = np.array([solution.plate_pose for solution in solutions])
    columns.append(_add_free(spec, PLATE, poses[:, :3, 3], poses[:, :3, :3]))
    joints = np.array([np.asarray(limb.distal.pose)[:3, 3] for limb in d.limbs])
    spec.body(PLATE).add_geom(
        name=PLATE, type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=[reach, 0.015 * reach, 0], rgba=PLATE_COLOUR,
        pos=joints.mean(axis=0) * [0, 0, 1],
    )  # fmt: skip
    for at in joints:
        if np.linalg.norm(at) > size:
            ends = [0.0, 0.0, 0.0, *at]
            kind = mujoco.mjtGeom.mjGEOM_CAPSULE
            spec.body(PLATE).add_geom(type=kind, fromto=ends, size=[0.4 * size, 0, 0], rgba=BASE)
        spec.body(PLATE).add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.7 * size, 0, 0], rgba=BASE, pos=at)
    return spec.compile(), np.concatenate(columns, axis=1)


def _add_camera(spec: mujoco.MjSpec, points: Array, *, planar: bool) -> None:
    """Add a camera "path" that sees all points [m]: from above, or from the front."""
    low, high = points.min(axis=0), points.max(axis=0)
    away = np.array([0.0, 0.0, 1.0]) if planar else np.array([0.0, -np.cos(ELEVATION), np.sin(ELEVATION)])
    x = np.array([1.0, 0.0, 0.0])
    distance = ROOM * float(np.linalg.norm(high - low)) / 2.0 / np.tan(FIELD_OF_VIEW / 2.0)
    spec.worldbody.add_camera(
        name="path", pos=0.5 * (low + high) + distance * away, fovy=float(np.degrees(FIELD_OF_VIEW)),
        quat=quaternion_from_rotation(np.column_stack([x, np.cross(away, x), away])),
    )  # fmt: skip


def _nodes(points: Array) -> Array:
    """Return root, hinges and tip of a rod, shape (LINKS + 2, 3) [m]."""
    gauss = 0.5 * (np.polynomial.legendre.leggauss(LINKS)[0] + 1.0)
    return CubicSpline(np.linspace(0.0, 1.0, len(points)), points)(np.concatenate([[0.0], gauss, [1.0]]))


def _add_free(spec: mujoco.MjSpec, name: str, places: Array, rotations: Array) -> Array:
    """Add a body that can be anywhere, and return its positions, shape (t, 7).

    Slides and a ball in place of a free joint: a camera does not follow them.
    """
    body = spec.worldbody.add_body(name=name)
    for k, axis in enumerate(np.eye(3)):
        body.add_joint(name=f"{name}/{'xyz'[k]}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
    body.add_joint(name=f"{name}/turn", type=mujoco.mjtJoint.mjJNT_BALL)
    return np.concatenate([places, [quaternion_from_rotation(R) for R in rotations]], axis=1)


def _add_rod(spec: mujoco.MjSpec, name: str, nodes: Array, radius: float) -> list[Array]:
    """Add the links of a rod through nodes of shape (t, n, 3) [m]; return their positions.

    Names of bodies and shapes are those of the dynamic model, so that rods are coloured in the same way.
    """
    columns = []
    lengths = np.linalg.norm(np.diff(nodes, axis=1), axis=2)
    for k in range(nodes.shape[1] - 1):
        chords = nodes[:, k + 1] - nodes[:, k]
        frames = np.array([_frame(chord) for chord in chords])
        columns.append(_add_free(spec, f"{name}/link{k}", nodes[:, k], frames))
        half = max(1e-6, 0.5 * float(lengths[:, k].max()))
        capsule: dict[str, Any] = {"type": mujoco.mjtGeom.mjGEOM_CAPSULE, "rgba": ROD, "size": [radius, half, 0]}
        spec.body(f"{name}/link{k}").add_geom(name=f"{name}/link{k}", pos=[0.0, 0.0, half], **capsule)
    return columns


def _frame(z: Array) -> Array:
    """Return a rotation whose third axis is along a vector."""
    quaternion, frame = np.zeros(4), np.zeros(9)
    mujoco.mju_quatZ2Vec(quaternion, np.ascontiguousarray(z))
    mujoco.mju_quat2Mat(frame, quaternion)
    return frame.reshape(3, 3)


def _add_rail(spec: mujoco.MjSpec, places: Array, radius: float) -> None:
    """Add the line along which the root of a rod moves, if it moves."""
    far = int(np.argmax(np.linalg.norm(places - places[0], axis=1)))
    other = int(np.argmax(np.linalg.norm(places - places[far], axis=1)))
    if np.linalg.norm(places[far] - places[other]) > radius:
        ends = [*places[far], *places[other]]
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=ends, size=[radius, 0, 0], rgba=RAIL)
