"""Meshes of a MuJoCo model's geometry, for a page that draws triangles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import trimesh

SMOOTH_ANGLE = math.radians(35.0)
"""Edges sharper than this are drawn sharp [rad]."""
MAX_SPLIT_FACES = 60_000
"""Largest mesh whose sharp edges are looked for."""
_GEOM = mujoco.mjtGeom
Mesh = tuple[NDArray[np.floating], NDArray[np.integer]]
"""Vertices and faces of triangles."""


def geom_mesh(model: mujoco.MjModel, geom: int, *, fine: bool = True) -> Mesh | None:
    """Return the triangles of a geom in the frame of its body.

    Args:
        model: the model.
        geom: its number.
        fine: whether round shapes get many triangles.

    Returns:
        Vertices, shape (n, 3) [m], and faces, shape (m, 3); None for a plane and for what has no triangles.
    """
    import trimesh
    from trimesh import creation

    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    around = 28 if fine else 12
    if kind == _GEOM.mjGEOM_BOX:
        mesh = creation.box(extents=2.0 * size)
    elif kind in (_GEOM.mjGEOM_SPHERE, _GEOM.mjGEOM_ELLIPSOID):
        mesh = creation.uv_sphere(radius=1.0, count=[around // 2, around])
        mesh.apply_scale(size[0] if kind == _GEOM.mjGEOM_SPHERE else size)
    elif kind == _GEOM.mjGEOM_CAPSULE:
        mesh = creation.capsule(height=2.0 * size[1], radius=size[0], count=[around, around // 2])
        mesh.apply_translation([0.0, 0.0, -mesh.bounds.mean(axis=0)[2]])
    elif kind == _GEOM.mjGEOM_CYLINDER:
        mesh = creation.cylinder(radius=size[0], height=2.0 * size[1], sections=around)
    elif kind in (_GEOM.mjGEOM_MESH, _GEOM.mjGEOM_SDF) and int(model.geom_dataid[geom]) >= 0:
        vertices, faces = _stored_mesh(model, int(model.geom_dataid[geom]))
        mesh = trimesh.Trimesh(vertices, faces, process=False)
    elif kind == _GEOM.mjGEOM_HFIELD:
        vertices, faces = _height_field(model, int(model.geom_dataid[geom]))
        mesh = trimesh.Trimesh(vertices, faces, process=False)
    else:
        return None
    if len(mesh.faces) <= MAX_SPLIT_FACES:
        mesh = trimesh.graph.smooth_shade(mesh, angle=SMOOTH_ANGLE)
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.geom_quat[geom])
    vertices = np.asarray(mesh.vertices) @ turn.reshape(3, 3).T + model.geom_pos[geom]
    return vertices.astype(np.float32), np.asarray(mesh.faces, dtype=np.uint32)


def textured(model: mujoco.MjModel, geom: int) -> trimesh.Trimesh | None:
    """Return a mesh geom with its picture, such as a tag, in the frame of its body; None where it has none."""
    import trimesh
    from PIL import Image
    from trimesh.visual import TextureVisuals
    from trimesh.visual.material import PBRMaterial

    mesh, material = int(model.geom_dataid[geom]), int(model.geom_matid[geom])
    if int(model.geom_type[geom]) != _GEOM.mjGEOM_MESH or mesh < 0 or material < 0:
        return None
    number, first = int(model.mesh_texcoordnum[mesh]), int(model.mesh_texcoordadr[mesh])
    texture = int(model.mat_texid[material][mujoco.mjtTextureRole.mjTEXROLE_RGB])
    if number == 0 or first < 0 or texture < 0:
        return None
    height, width, channels = (int(a[texture]) for a in (model.tex_height, model.tex_width, model.tex_nchannel))
    start = int(model.tex_adr[texture])
    pixels = model.tex_data[start : start + height * width * channels].reshape(height, width, channels)
    at = slice(int(model.mesh_faceadr[mesh]), int(model.mesh_faceadr[mesh]) + int(model.mesh_facenum[mesh]))
    vertices, faces = _stored_mesh(model, mesh)
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.geom_quat[geom])
    placed = vertices @ turn.reshape(3, 3).T + model.geom_pos[geom]
    corners = model.mesh_texcoord[first : first + number][model.mesh_facetexcoord[at].ravel()].copy()
    corners[:, 1] = 1.0 - corners[:, 1]
    material_of = PBRMaterial(
        baseColorTexture=Image.fromarray(np.ascontiguousarray(pixels)), roughnessFactor=0.9, metallicFactor=0.0
    )
    return trimesh.Trimesh(
        placed[faces.ravel()],
        np.arange(3 * len(faces)).reshape(-1, 3),
        visual=TextureVisuals(uv=corners, material=material_of),
        process=False,
    )


def inertia_box(model: mujoco.MjModel, body: int) -> Mesh | None:
    """Return the box of even density that has the mass and the inertia of a body, in the body's frame.

    Returns:
        Vertices and faces as in `geom_mesh`; None for a body without mass.
    """
    from trimesh import creation

    mass = float(model.body_mass[body])
    if mass <= 0.0:
        return None
    inertia = np.asarray(model.body_inertia[body], dtype=float)
    # Ix = m (y^2 + z^2) / 12 of a box, solved for its sides.
    squared = 6.0 * (inertia.sum() - 2.0 * inertia) / mass
    sides = np.sqrt(np.maximum(squared, 1e-8))
    box = creation.box(extents=sides)
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.body_iquat[body])
    faces = np.asarray(box.faces)
    vertices = np.asarray(box.vertices)[faces.ravel()] @ turn.reshape(3, 3).T + model.body_ipos[body]
    return vertices.astype(np.float32), np.arange(len(vertices), dtype=np.uint32).reshape(-1, 3)


def _stored_mesh(model: mujoco.MjModel, mesh: int) -> Mesh:
    v, f = int(model.mesh_vertadr[mesh]), int(model.mesh_faceadr[mesh])
    vertices = model.mesh_vert[v : v + int(model.mesh_vertnum[mesh])]
    faces = model.mesh_face[f : f + int(model.mesh_facenum[mesh])]
    return np.array(vertices, dtype=float), np.array(faces)


def _height_field(model: mujoco.MjModel, field: int) -> Mesh:
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    start = int(model.hfield_adr[field])
    heights = model.hfield_data[start : start + rows * columns].reshape(rows, columns)
    x, y, top, _ = model.hfield_size[field]
    grid_x, grid_y = np.meshgrid(np.linspace(-x, x, columns), np.linspace(-y, y, rows))
    vertices = np.stack([grid_x, grid_y, top * heights], axis=-1).reshape(-1, 3)
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    right, up = corner + 1, corner + columns
    faces = np.concatenate([np.stack([corner, right, up + 1], 1), np.stack([corner, up + 1, up], 1)])
    return vertices, faces
