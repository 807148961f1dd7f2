"""Printed AprilTags in a world: a plate with the tag's picture, for cameras to look at."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from pliant.errors import ModelError, nearest
from pliant.vision.apriltag import tag_image

__all__ = ["add_tag"]

WHITE = 200
"""Value of the white cells: light of up to 255/200 of the usual does not saturate them. A white that saturates grows
into the black cells, and the tag looks nearer than it is."""
BLACK = 8
"""Value of the black cells."""
CELL_PIXELS = 16
"""Edge of a cell in the texture [pixels]."""
CORNERS = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))


def add_tag(
    spec: mujoco.MjSpec,
    tag_id: int,
    size: float,
    *,
    body: str = "world",
    family: str = "tag36h11",
    pos: tuple[float, float, float] = (0.0, 0.0, 0.0),
    quat: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0),
    name: str = "",
    thickness: float = 0.002,
    mass: float = 0.0,
) -> Any:
    """Fix a tag to a body of a model, with a site in its frame.

    The tag's frame is in the middle of the print: x to the right, y up, z out of the print. Behind the print is a plate
    of the given thickness, as wide as the tag with its white margin. Nothing of it collides.

    Args:
        spec: the model, such as ``robot.spec``.
        tag_id: number of the tag in its family.
        size: edge of the tag's black border [m]; the white margin is a cell wider on each side.
        body: name of the body that carries it; "world" for a tag on the wall.
        family: one of `pliant.vision.apriltag.FAMILIES`.
        pos: place of the tag's frame in the body [m].
        quat: orientation of the tag's frame in the body, (w, x, y, z).
        name: of the site, and the first part of the other elements' names; "" for ``tag<tag_id>``.
        thickness: of the plate [m].
        mass: of the plate [kg]; 0 leaves the body's inertia as it is.

    Returns:
        The site in the tag's frame.

    Raises:
        MissingDependency: the package pyapriltags is not installed.
        VisionError: an unknown family, a number that it does not have.
        ModelError: there is no such body, a size or thickness of zero or less, a name that is taken.

    Example:
        >>> site = add_tag(robot.spec, 0, 0.08, pos=(0.5, 0.0, 0.3))
    """
    for field, value, low in (("size", size, 0.0), ("thickness", thickness, 0.0), ("mass", mass, -1e-300)):
        if not np.isfinite(value) or value <= low:
            raise ModelError(f"{field} is {value}; must be a number {'> 0' if low == 0.0 else '>= 0'}", field=field)
    carrier = spec.worldbody if body == "world" else spec.body(body)
    if carrier is None:
        names = [found.name for found in spec.bodies if found.name]
        raise ModelError(f"the model has no body {body!r}; {nearest(body, names)}", field="body")
    name = name or f"tag{tag_id}"
    if any(site.name == name for site in spec.sites):
        raise ModelError(f"the name {name!r} of the tag is taken by a site; must be one that is free", field="name")
    picture = tag_image(tag_id, family, pixels=CELL_PIXELS, white=WHITE, black=BLACK)
    cells = len(picture) // CELL_PIXELS
    half = 0.5 * size * cells / (cells - 2)
    texture = spec.add_texture(name=f"{name}/print", type=mujoco.mjtTexture.mjTEXTURE_2D, nchannel=3)
    texture.width = texture.height = len(picture)
    texture.data = np.repeat(picture[:, :, None], 3, axis=2).tobytes()
    material = spec.add_material(name=f"{name}/print", specular=0.0, shininess=0.0, reflectance=0.0)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = f"{name}/print"
    mesh = spec.add_mesh(name=f"{name}/print", inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
    mesh.uservert = [value for x, y in CORNERS for value in (half * x, half * y, 0.0)]
    mesh.usertexcoord = [value for x, y in CORNERS for value in (0.5 + 0.5 * x, 0.5 - 0.5 * y)]
    mesh.userface = [0, 1, 2, 0, 2, 3]
    mesh.userfacetexcoord = [0, 1, 2, 0, 2, 3]
    carrier.add_geom(
        name=f"{name}/print",
        type=mujoco.mjtGeom.mjGEOM_MESH,
        meshname=f"{name}/print",
        material=f"{name}/print",
        pos=pos,
        quat=quat,
        mass=0.0,
        contype=0,
        conaffinity=0,
        group=2,
    )
    back = np.zeros(3)
    mujoco.mju_rotVecQuat(back, np.array([0.0, 0.0, -0.5 * thickness - 1e-5 * size]), np.array(quat, dtype=float))
    carrier.add_geom(
        name=f"{name}/plate",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=(half, half, 0.5 * thickness),
        rgba=(0.85, 0.85, 0.85, 1.0),
        pos=np.asarray(pos, dtype=float) + back,
        quat=quat,
        mass=mass,
        contype=0,
        conaffinity=0,
        group=2,
    )
    return carrier.add_site(name=name, pos=pos, quat=quat, size=[0.2 * size] * 3, group=4)
