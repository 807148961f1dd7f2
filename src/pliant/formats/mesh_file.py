"""Meshes of files that MuJoCo does not read itself."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.documents.files import MAX_BYTES, check_file, read_file
from pliant.base.errors import MissingDependency, ModelError, importing

if TYPE_CHECKING:
    import trimesh

NATIVE_MESHES = (".stl", ".obj", ".msh")
"""Suffixes of the meshes that MuJoCo reads."""
MESHES = (*NATIVE_MESHES, ".dae", ".ply", ".off", ".glb", ".gltf")
"""Suffixes of meshes. Others are not passed to the converter, which would also unpack archives."""
MAX_MESH_BYTES = 4 * MAX_BYTES
"""Largest file of a mesh [bytes]."""
MAX_FLAT_BYTES = 200_000
"""Largest file that is searched for a flat surface, which has few points [bytes].  # assumed"""
FLAT = 1e-6
"""Extent of a flat surface across its plane, of its extent along it: the rounding of an STL.  # assumed"""
_CORNER = re.compile(rb"(-?[0-9]{1,10})(?:/(-?[0-9]{0,10})(?:/(-?[0-9]{0,10}))?)?")


def is_flat(data: bytes, name: str) -> bool:
    """Say whether all points of a binary STL or an OBJ lie in a plane, of files up to `MAX_FLAT_BYTES`."""
    if len(data) > MAX_FLAT_BYTES:
        return False
    if name.endswith(".stl"):
        count = min(int.from_bytes(data[80:84], "little"), (len(data) - 84) // 50)
        faces = np.frombuffer(data, dtype=np.uint8, offset=84, count=50 * count).reshape(-1, 50)
        points = faces[:, 12:48].copy().view("<f4").reshape(-1, 3).astype(float)
    elif name.endswith(".obj"):
        try:
            rows = [line.split()[1:4] for line in data.splitlines() if line.startswith((b"v ", b"v\t"))]
            points = np.array([row for row in rows if len(row) == 3], dtype=float).reshape(-1, 3)
        except ValueError:
            return False  # which MuJoCo reports
    else:
        return False
    if not len(points) or not np.all(np.isfinite(points)):
        return False
    extents = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return len(extents) < 3 or bool(extents[2] <= FLAT * extents[0])


def check_faces(path: Path) -> None:
    """Refuse a Wavefront file with a face of points that the file does not have; MuJoCo reads them for a flex.

    Raises:
        ModelError: a corner of a face is no index, or one outside the points, texture coordinates or normals before it.
    """
    counts = {b"v": 0, b"vt": 0, b"vn": 0}
    for number, line in enumerate(read_file(path, max_bytes=MAX_MESH_BYTES).splitlines(), start=1):
        words = line.split()
        if words and words[0] in counts:
            counts[words[0]] += 1
        if not words or words[0] != b"f":
            continue
        for corner in words[1:]:
            found = _CORNER.fullmatch(corner)
            indices = [int(word) if word else None for word in found.groups()] if found else [0]
            if any(i is not None and not (0 < i <= n or -n <= i < 0) for i, n in zip(indices, counts.values())):
                raise ModelError(
                    f"a face has the corner {corner[:40].decode(errors='replace')!r}; must be indices of the "
                    f"{counts[b'v']} points, {counts[b'vt']} texture coordinates and {counts[b'vn']} normals before it",
                    file=path,
                    line=number,
                )


def read_mesh(path: Path) -> trimesh.Trimesh:
    """Return the `trimesh.Trimesh` of a file, in metres, with its scene's transforms applied.

    Files that it names, such as buffers and textures, are read as it is: regular files within the same limit.

    Args:
        path: the mesh.

    Raises:
        ModelError: another suffix than those of `MESHES`, no regular file, no mesh, or one without faces.
        MissingDependency: trimesh or pycollada is not installed.
    """
    if path.suffix.lower() not in MESHES:
        raise ModelError(f"a mesh ends in {path.suffix!r}; must be one of {', '.join(MESHES)}", file=path)
    check_file(path, max_bytes=MAX_MESH_BYTES)
    command = 'pip install "pliant[meshes]"'
    with importing("trimesh", command=command, purpose=f"reading {path}"):
        import trimesh
        from trimesh.resolvers import FilePathResolver

    class Beside(FilePathResolver):
        def get(self, name: str) -> bytes:
            return read_file(Path(self.parent) / name.strip(), max_bytes=MAX_MESH_BYTES)

    try:
        scene = trimesh.load_scene(path, resolver=Beside(str(path)))
        mesh = scene.to_mesh() if hasattr(scene, "to_mesh") else scene.dump(concatenate=True)
    except ImportError as error:
        raise MissingDependency(str(error.name or "pycollada"), command=command, purpose=f"reading {path}") from None
    except Exception as error:  # the formats' readers raise whatever they like
        if path.suffix.lower() == ".dae" and importlib.util.find_spec("collada") is None:
            raise MissingDependency("pycollada", command=command, purpose=f"reading {path}") from None
        raise ModelError(f"the mesh cannot be read: {type(error).__name__}: {error}", file=path) from error
    if not isinstance(mesh, trimesh.Trimesh) or not len(mesh.faces):
        raise ModelError("the mesh has no faces", file=path)
    return trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
