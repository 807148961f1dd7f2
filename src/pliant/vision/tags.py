"""Printed AprilTags in a world: a plate with the tag's picture, for cameras to look at."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from pliant.base.errors import ModelError, nearest
from pliant.model.defaults import neutral_defaults
from pliant.vision.apriltag import tag_image

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
) -> object:
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
        quat: orientation of the tag's frame in the body, (w, x, y, z), of any length but zero.
        name: of the site, and the first part of the other elements' names; "" for ``tag<tag_id>``.
        thickness: of the plate [m].
        mass: of the plate [kg]; 0 leaves the body's inertia as it is.

    Returns:
        The site in the tag's frame.

    Raises:
        MissingDependency: the package pyapriltags is not installed.
        VisionError: an unknown family, a number that it does not have.
        ModelError: there is no such body, a size or thickness of zero or less, a place or orientation that is none, a
            name that is taken.

    Example:
        >>> site = add_tag(robot.spec, 0, 0.08, pos=(0.5, 0.0, 0.3))
    """
    for field, value, low in (("size", size, 0.0), ("thickness", thickness, 0.0), ("mass", mass, -1e-300)):
        real = isinstance(value, int | float | np.integer | np.floating)
        if not real or not np.isfinite(value) or value <= low:
            raise ModelError(f"{field} is {value!r}; must be a number {'> 0' if low == 0.0 else '>= 0'}", field=field)
    place, turn = _numbers("pos", pos, 3), _numbers("quat", quat, 4)
    if not np.linalg.norm(turn) > 0.0:
        raise ModelError(f"quat is {quat!r}; must be a quaternion of a length > 0", field="quat")
    turn /= np.linalg.norm(turn)
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
    with neutral_defaults(spec):
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
            pos=place,
            quat=turn,
            mass=0.0,
            contype=0,
            conaffinity=0,
            group=2,
        )
        back = np.zeros(3)
        mujoco.mju_rotVecQuat(back, np.array([0.0, 0.0, -0.5 * thickness - 1e-5 * size]), turn)
        carrier.add_geom(
            name=f"{name}/plate",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=(half, half, 0.5 * thickness),
            rgba=(0.85, 0.85, 0.85, 1.0),
            pos=place + back,
            quat=turn,
            mass=mass,
            contype=0,
            conaffinity=0,
            group=2,
        )
        return carrier.add_site(name=name, pos=place, quat=turn, size=[0.2 * size] * 3, group=4)


def _numbers(field: str, value: Sequence[float], count: int) -> np.ndarray:
    try:
        found = np.array(value, dtype=float)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (count,) or not np.isfinite(found).all():
        raise ModelError(f"{field} is {value!r}; must be {count} finite numbers", field=field)
    return found
