"""Real meshes on the arm, where the user has them; the package has only surfaces of its own."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import MissingDependency, ModelError
from pliant.base.spatial import quaternion_from_rotation
from pliant.formats.mesh_file import read_mesh
from pliant.franka.robots.looks import hide_colliding
from pliant.franka.robots.parameters import EE_OF_HAND, FINGER_Z

if TYPE_CHECKING:
    import mujoco

FORMATS = (".obj", ".stl", ".dae")
_BODIES = (*(f"link{i}" for i in range(8)), "hand", "finger")


def find_meshes(where: str) -> Path:
    """Return the folder that holds link0 to link7, and hand and finger, as .obj, .stl or .dae.

    Args:
        where: that folder, or "example-robot-data" for the installed package of that name.

    Raises:
        ModelError: there is no such folder, or a link's file is missing.
        MissingDependency: the package is not installed.
    """
    if where == "example-robot-data":
        folder = _example_robot_data()
    else:
        folder = Path(where).expanduser()
    if not folder.is_dir():
        raise ModelError(f"there is no folder {str(folder)!r}", field="meshes")
    missing = [f"link{i}" for i in range(8) if _file(folder, f"link{i}") is None]
    if missing:
        raise ModelError(
            f"{folder} has no mesh of {', '.join(missing)}; it must hold link0 to link7 with one of the endings "
            f"{', '.join(FORMATS)}",
            field="meshes",
        )
    return folder


def _example_robot_data() -> Path:
    inside = Path("share/example-robot-data/robots/panda_description/meshes/visual")
    found = importlib.util.find_spec("cmeel")
    roots = [Path(p).parent / "cmeel.prefix" for p in (found.submodule_search_locations or ())] if found else []
    for root in roots:
        if (root / inside).is_dir():
            return root / inside
    raise MissingDependency(
        "example-robot-data", command="pip install example-robot-data", purpose="the arm's real meshes"
    )


def _file(folder: Path, name: str) -> Path | None:
    return next((p for suffix in FORMATS if (p := folder / f"{name}{suffix}").is_file()), None)


def add_meshes(spec: mujoco.MjSpec, prefix: str, where: str) -> None:
    """Put meshes on one arm of a scene; they are looked at only, the primitive shapes still collide.

    Args:
        spec: scene with the arm.
        prefix: of the arm's bodies, such as "franka_".
        where: see `find_meshes`.

    Raises:
        ModelError: a file cannot be read.
        MissingDependency: trimesh is not installed.
    """
    import mujoco

    folder = find_meshes(where)
    by_name: dict[str, mujoco.MjsBody] = {body.name: body for body in spec.bodies}
    for name, body in by_name.items():
        part = name.removeprefix(prefix)
        if not name.startswith(prefix) or not {part, part.rstrip("12")} & set(_BODIES):
            continue
        file = _file(folder, part) or _file(folder, part.rstrip("12"))
        if file is None:
            continue
        mesh = read_mesh(file)
        if len(mesh.vertices) < 4:
            raise ModelError("the mesh has no surface", file=file)
        hide_colliding(body)
        shape = spec.add_mesh(name=f"{name}_visual")
        shape.uservert = np.asarray(mesh.vertices, dtype=float).ravel().tolist()
        shape.userface = np.asarray(mesh.faces, dtype=np.int32).ravel().tolist()
        shape.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL  # open surfaces have no volume
        geom = body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_MESH,
            meshname=f"{name}_visual",
            contype=0,
            conaffinity=0,
            mass=0.0,
            group=2,
            rgba=[0.95, 0.95, 0.95, 1.0],
        )
        if part == "hand" or part.startswith("finger"):
            # The hand's axes are turned by -45 degrees about the flange's, and the second finger by 180 more.
            turn = EE_OF_HAND[:3, :3] @ (np.diag([-1.0, -1.0, 1.0]) if part == "finger2" else np.eye(3))
            geom.quat = quaternion_from_rotation(turn)
            geom.pos = [0.0, 0.0, FINGER_Z if part.startswith("finger") else 0.0]
