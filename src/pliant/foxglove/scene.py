"""The robot as Foxglove's 3D panel draws it: one entity per body, in the body's frame, and the poses of the frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType

import mujoco
import numpy as np

from pliant.devices.base import Mount
from pliant.model.scene import geom_colors

Numbers = Sequence[float] | np.ndarray

VISIBLE_GROUPS = 3
"""Geometries of the groups below this one are drawn, as in MuJoCo's viewer; those above are for collisions."""
FLOOR_SIZE = 10.0
"""Length of the sides of a plane without end [m]."""
FLOOR_THICKNESS = 1e-3
"""Thickness with which planes are drawn [m]."""
BARE_COLOR = (0.55, 0.6, 0.66, 1.0)
"""Colour of the box of a body without geometry."""
Geom = mujoco.mjtGeom


def frame_names(model: mujoco.MjModel) -> list[str]:
    """Return the frame of every body; the first is ``world``."""
    return [model.body(b).name or f"body_{b}" for b in range(model.nbody)]


class BodyPoses:
    """Poses of all bodies at the positions of a time; those that MuJoCo keeps are of the step before."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model, self._data = model, mujoco.MjData(model)

    def at(self, data: mujoco.MjData) -> tuple[np.ndarray, np.ndarray]:
        """Return positions [m] and quaternions (w, x, y, z) in the world, shapes (bodies, 3) and (bodies, 4)."""
        own = self._data
        own.qpos[:], own.mocap_pos[:], own.mocap_quat[:] = data.qpos, data.mocap_pos, data.mocap_quat
        mujoco.mj_kinematics(self._model, own)
        return own.xpos.copy(), own.xquat.copy()


def transforms(
    messages: ModuleType, names: Sequence[str], positions: np.ndarray, orientations: np.ndarray, stamp_ns: int
) -> list[object]:
    """Return the pose of every body in the world.

    Args:
        messages: the module ``foxglove.messages``.
        names: frame of each body.
        positions: shape (bodies, 3) [m].
        orientations: quaternions (w, x, y, z), shape (bodies, 4).
        stamp_ns: simulation time [ns].
    """
    stamp = messages.Timestamp(*divmod(stamp_ns, 1_000_000_000))
    rows = zip(names[1:], positions[1:].tolist(), orientations[1:].tolist(), strict=True)
    return [_transform(messages, stamp, names[0], name, position, wxyz) for name, position, wxyz in rows]


def mounted(messages: ModuleType, mounts: Mapping[str, Mount], stamp_ns: int) -> list[object]:
    """Return the poses of frames of sensors on their bodies.

    Args:
        messages: the module ``foxglove.messages``.
        mounts: frame -> where it is fixed.
        stamp_ns: simulation time [ns].
    """
    stamp = messages.Timestamp(*divmod(stamp_ns, 1_000_000_000))
    return [
        _transform(messages, stamp, mount.body, frame, mount.position, mount.orientation)
        for frame, mount in mounts.items()
    ]


def scene_entities(messages: ModuleType, model: mujoco.MjModel) -> list[object]:
    """Return what the bodies look like.

    A robot without visible geometry is drawn by its collision geometry, a body without any by the box that has its
    inertia. Height fields and soft bodies (flexes) are not drawn.

    Args:
        messages: the module ``foxglove.messages``.
        model: the compiled robot.
    """
    names = frame_names(model)
    shown = np.flatnonzero(model.geom_group < VISIBLE_GROUPS)
    if not np.any(model.geom_bodyid[shown] > 0):
        shown = np.arange(model.ngeom)
    colors = geom_colors(model)
    shapes: dict[int, dict[str, list[object]]] = {}
    for g in shown:
        body = int(model.geom_bodyid[g])
        for kind, shape in _shapes(messages, model, int(g), _color(messages, colors[g].tolist())):
            shapes.setdefault(body, {}).setdefault(kind, []).append(shape)
    if not any(body > 0 for body in shapes):
        for body in np.flatnonzero(model.body_mass > 0.0).tolist():
            shapes[body] = {"cubes": [_inertia_box(messages, model, body)]}
    return [
        messages.SceneEntity(frame_id=names[body], id=names[body], frame_locked=True, **lists)
        for body, lists in sorted(shapes.items())
    ]


def _shapes(m: ModuleType, model: mujoco.MjModel, g: int, color: object) -> list[tuple[str, object]]:
    """Return the primitives of one geometry, each with the field of an entity that takes it."""
    kind, size = Geom(int(model.geom_type[g])), model.geom_size[g].tolist()
    place, turn = model.geom_pos[g], model.geom_quat[g]
    pose = _pose(m, place, turn)
    x, y, z = size
    if kind == Geom.mjGEOM_BOX:
        return [("cubes", m.CubePrimitive(pose=pose, size=_vector(m, (2 * x, 2 * y, 2 * z)), color=color))]
    if kind in (Geom.mjGEOM_SPHERE, Geom.mjGEOM_ELLIPSOID):
        y, z = (x, x) if kind == Geom.mjGEOM_SPHERE else (y, z)
        return [("spheres", m.SpherePrimitive(pose=pose, size=_vector(m, (2 * x, 2 * y, 2 * z)), color=color))]
    if kind in (Geom.mjGEOM_CYLINDER, Geom.mjGEOM_CAPSULE):
        tube = m.CylinderPrimitive(
            pose=pose, size=m.Vector3(x=2 * x, y=2 * x, z=2 * y), bottom_scale=1.0, top_scale=1.0, color=color
        )
        ball = m.Vector3(x=2 * x, y=2 * x, z=2 * x)
        ends = () if kind == Geom.mjGEOM_CYLINDER else (-y, y)
        caps = [_pose(m, place + _turned(turn, np.array([0.0, 0.0, end])), turn) for end in ends]
        return [("cylinders", tube), *(("spheres", m.SpherePrimitive(pose=p, size=ball, color=color)) for p in caps)]
    if kind == Geom.mjGEOM_PLANE:
        sides = m.Vector3(x=2 * x or FLOOR_SIZE, y=2 * y or FLOOR_SIZE, z=FLOOR_THICKNESS)
        below = place + _turned(turn, np.array([0.0, 0.0, -0.5 * FLOOR_THICKNESS]))
        return [("cubes", m.CubePrimitive(pose=_pose(m, below, turn), size=sides, color=color))]
    if kind == Geom.mjGEOM_MESH:
        mesh = int(model.geom_dataid[g])
        first, number = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        face, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        points = [m.Point3(x=a, y=b, z=c) for a, b, c in model.mesh_vert[first : first + number].tolist()]
        indices = model.mesh_face[face : face + faces].ravel().tolist()
        return [("triangles", m.TriangleListPrimitive(pose=pose, points=points, indices=indices, color=color))]
    return []


def _inertia_box(m: ModuleType, model: mujoco.MjModel, body: int) -> object:
    """Return the homogeneous box with the mass and the principal moments of inertia of a body."""
    moments, mass = model.body_inertia[body], float(model.body_mass[body])
    sides = np.sqrt(np.maximum(6.0 / mass * (moments.sum() - 2.0 * moments), 1e-6))
    pose = _pose(m, model.body_ipos[body], model.body_iquat[body])
    return m.CubePrimitive(pose=pose, size=_vector(m, sides), color=_color(m, BARE_COLOR))


def _turned(wxyz: np.ndarray, vector: np.ndarray) -> np.ndarray:
    out = np.empty(3)
    mujoco.mju_rotVecQuat(out, vector, wxyz)
    return out


def _color(m: ModuleType, rgba: Sequence[float]) -> object:
    r, g, b, a = rgba
    return m.Color(r=r, g=g, b=b, a=a)


def _vector(m: ModuleType, xyz: Numbers) -> object:
    x, y, z = map(float, xyz)
    return m.Vector3(x=x, y=y, z=z)


def _pose(m: ModuleType, position: Numbers, wxyz: Numbers) -> object:
    return m.Pose(position=_vector(m, position), orientation=_quaternion(m, wxyz))


def _quaternion(m: ModuleType, wxyz: Numbers) -> object:
    w, x, y, z = map(float, wxyz)
    return m.Quaternion(x=x, y=y, z=z, w=w)


def _transform(m: ModuleType, stamp: object, parent: str, child: str, position: Numbers, wxyz: Numbers) -> object:
    return m.FrameTransform(
        timestamp=stamp,
        parent_frame_id=parent,
        child_frame_id=child,
        translation=_vector(m, position),
        rotation=_quaternion(m, wxyz),
    )
