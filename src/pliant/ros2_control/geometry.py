"""Shapes, colours and meshes of an exported robot."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import mujoco
import numpy as np

from pliant.base.spatial import rotation_from_quaternion
from pliant.formats.tags import numbers
from pliant.model.scene import geom_colors
from pliant.ros2_control.source import Source, rpy_text

MESH_FOLDER = "meshes"
"""Folder of the mesh files, beside the text."""
LARGEST_STL = 200_000
"""Most faces of an STL that MuJoCo reads; larger meshes become OBJ."""
_STL_FACE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])

BOX = int(mujoco.mjtGeom.mjGEOM_BOX)
SPHERE = int(mujoco.mjtGeom.mjGEOM_SPHERE)
CYLINDER = int(mujoco.mjtGeom.mjGEOM_CYLINDER)
CAPSULE = int(mujoco.mjtGeom.mjGEOM_CAPSULE)
MESH = int(mujoco.mjtGeom.mjGEOM_MESH)
URDF_SHAPES = (BOX, SPHERE, CYLINDER, CAPSULE, MESH)
"""Shapes that a link can have; capsules stand there as cylinders, and the extension says what they are."""


class Materials:
    """The colours of an export, each once."""

    def __init__(self) -> None:
        self._names: dict[tuple[float, ...], str] = {}

    def name(self, rgba: np.ndarray) -> str:
        """Return the name of a colour."""
        key = tuple(float(c) for c in rgba)
        return self._names.setdefault(key, f"color_{len(self._names) + 1}")

    def write(self, root: ET.Element, at: int) -> None:
        """Write the definitions, in front of what stands at an index of the robot element."""
        for index, (rgba, name) in enumerate(self._names.items()):
            material = ET.Element("material", name=name)
            ET.SubElement(material, "color", rgba=numbers(rgba))
            root.insert(at + index, material)


class MeshFiles:
    """The mesh files of an export.

    Args:
        source: the robot.
        folder: folder of the meshes, relative to the URDF.
        package: ROS package that the URDF's folder is; None writes relative paths.
    """

    def __init__(self, source: Source, folder: str = "meshes", package: str | None = None) -> None:
        self.source = source
        self.folder = folder
        self.package = package
        self.files: dict[str, bytes] = {}
        self._addresses: dict[int, str] = {}

    def address(self, mesh: int) -> str:
        """Return the address of a mesh, which is written once."""
        if mesh not in self._addresses:
            name = self.source.model.mesh(mesh).name or f"mesh_{mesh}"
            stem = re.sub(r"[^A-Za-z0-9_.-]", "_", name).lstrip(".") or f"mesh_{mesh}"
            data, suffix = _mesh_file(self.source.model, mesh)
            path = f"{self.folder}/{stem}{suffix}"
            while path.lower() in {p.lower() for p in self.files}:
                stem += f"_{mesh}"
                path = f"{self.folder}/{stem}{suffix}"
            self.files[path] = data
            self._addresses[mesh] = path if self.package is None else f"package://{self.package}/{path}"
        return self._addresses[mesh]


def _mesh_file(model: mujoco.MjModel, mesh: int) -> tuple[bytes, str]:
    """Return a mesh in its geom's frame, as a binary STL, or as OBJ where that is too large or has not all vertices."""
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    vertices = model.mesh_vert[first : first + count]
    first, count = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    faces = model.mesh_face[first : first + count]
    if count > LARGEST_STL or np.unique(faces).size < len(vertices):  # the hull has vertices without faces, too
        lines = ["v " + " ".join(repr(float(x)) for x in v) for v in vertices]
        lines += ["f " + " ".join(str(int(i) + 1) for i in f) for f in faces]
        return ("\n".join(lines) + "\n").encode(), ".obj"
    out = np.zeros(count, dtype=_STL_FACE)
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).astype(float)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    out["normal"] = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0.0)
    out["corners"] = corners
    return bytes(80) + int(count).to_bytes(4, "little") + out.tobytes(), ".stl"


def write_shape(link: ET.Element, source: Source, geom: int, meshes: MeshFiles, materials: Materials) -> None:
    """Write a shape as visual and, where it takes part in contacts, as collision; nothing for what URDF lacks."""
    model = source.model
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    if kind not in URDF_SHAPES:
        return
    if kind == BOX:
        tag, attributes = "box", {"size": numbers(2 * size)}
    elif kind == SPHERE:
        tag, attributes = "sphere", {"radius": numbers(size[0])}
    elif kind == MESH:
        tag, attributes = "mesh", {"filename": meshes.address(int(model.geom_dataid[geom]))}
    else:
        length = 2 * size[1] + (2 * size[0] if kind == CAPSULE else 0.0)
        tag, attributes = "cylinder", {"radius": numbers(size[0]), "length": numbers(length)}
    place = model.geom_pos[geom] - source.offsets[model.geom_bodyid[geom]]
    for role in ("visual", "collision") if source.colliding[geom] else ("visual",):
        element = ET.SubElement(link, role, name=source.geoms[geom])
        ET.SubElement(
            element, "origin", xyz=numbers(place), rpy=rpy_text(rotation_from_quaternion(model.geom_quat[geom]))
        )
        ET.SubElement(ET.SubElement(element, "geometry"), tag, attributes)
        if role == "visual":
            ET.SubElement(element, "material", name=materials.name(geom_colors(model, [geom])[0]))
