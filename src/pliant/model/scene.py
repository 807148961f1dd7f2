"""How a model is shown to people: what is drawn of robots without visuals, where the camera stands, a floor.

Films, pictures and views use the same rules. Nothing here changes the model or its state.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import mujoco
import numpy as np

DEFAULT_RGBA = (0.5, 0.5, 0.5, 1.0)
"""Colour of a geom that is given none."""

MARGIN = 1.15
"""Room around the robot in a picture, as a factor."""
FLOOR_COLOR = (0.80, 0.82, 0.85, 1.0)
SKY = ((188, 208, 222), (243, 246, 247))
"""Colours of the sky at its top and at the horizon, on the page, in films and in figures."""
DARK_SKY = ((18, 26, 33), (52, 64, 73))
"""The same on a dark page."""
FORCE_COLOR = (0.0, 0.475, 0.55, 1.0)
"""Of the arrows of forces from outside, in films and on the page."""
CONTACT_COLOR = (0.863, 0.235, 0.196, 1.0)
"""Of the arrows of contact forces, in films and on the page."""
ARROW_SHARE = 0.25
"""Length of the arrow of the largest force of a kind over the size of the robot, in films and on the page."""
ARROW_RADIUS = 0.008
"""Radius of the shaft of an arrow over the size of the robot."""
PAYLOAD_COLOR = (0.69, 0.47, 0.157, 1.0)
"""Of the balls of payloads, in films and on the page."""
STEEL = 7800.0
"""Density of these balls [kg/m^3]."""
FLAT = 0.2
"""Height over width below which a scene is shown from above."""
MIN_RADIUS = 0.02
"""Radius of the smallest scene [m]: a model without extent is not shown as a point."""


def payload_radius(mass: float, size: float) -> float:
    """Return the radius of the ball that shows a payload [m]: that of a ball of steel, if it is not too small to see.

    Args:
        mass: of the payload [kg].
        size: of the robot [m].
    """
    return max((3.0 * mass / (4.0 * math.pi * STEEL)) ** (1.0 / 3.0), 0.006 * size)


def place_bodies(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Compute the places of all that is drawn from the positions: bodies, cameras, lights, flexes, tendons."""
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_camlight(model, data)
    mujoco.mj_flex(model, data)
    mujoco.mj_tendon(model, data)


def has_visuals(model: mujoco.MjModel) -> bool:
    """Return whether a viewer's default groups (0 to 2) show anything of the robot, floors aside."""
    moving = model.geom_bodyid > 0
    seen = moving & (model.geom_group <= 2) & _opaque(model)
    return bool(seen.any() or model.nflex or model.nskin)


def visual_options(model: mujoco.MjModel) -> mujoco.MjvOption:
    """Return what is drawn of a model.

    A robot with visuals looks as it is described. One with collision shapes only shows these. One with neither shows
    the box of equal inertia of each body and the axes of the joints. Sites, which mark places for programs, are hidden.
    """
    option = mujoco.MjvOption()
    option.sitegroup[:] = 0
    if has_visuals(model):
        return option
    if ((model.geom_bodyid > 0) & _opaque(model)).any():
        option.geomgroup[:] = 1
    else:
        option.flags[mujoco.mjtVisFlag.mjVIS_INERTIA] = 1
    option.flags[mujoco.mjtVisFlag.mjVIS_JOINT] = 1
    return option


def bounds(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the box around everything but planes, world axes [m], shape (3,) each.

    Args:
        model: a compiled model.
        data: its state, with the positions computed (`mujoco.mj_kinematics`).
    """
    lows, highs = [], []
    kept = (model.geom_type != int(mujoco.mjtGeom.mjGEOM_PLANE)) & _opaque(model)
    if kept.any():
        rotation = data.geom_xmat[kept].reshape(-1, 3, 3)
        box = model.geom_aabb[kept]
        center = data.geom_xpos[kept] + np.einsum("nij,nj->ni", rotation, box[:, :3])
        half = np.einsum("nij,nj->ni", np.abs(rotation), box[:, 3:])
        lows.append((center - half).min(axis=0))
        highs.append((center + half).max(axis=0))
    elif model.nbody > 1:
        lows.append(data.xipos[1:].min(axis=0))
        highs.append(data.xipos[1:].max(axis=0))
        lows.append(data.xpos[1:].min(axis=0))
        highs.append(data.xpos[1:].max(axis=0))
    if model.nflex and len(data.flexvert_xpos):
        lows.append(data.flexvert_xpos.min(axis=0))
        highs.append(data.flexvert_xpos.max(axis=0))
    if not lows:
        return np.full(3, -MIN_RADIUS), np.full(3, MIN_RADIUS)
    return np.min(lows, axis=0), np.max(highs, axis=0)


def overview(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    *,
    azimuth: float | None = None,
    elevation: float | None = None,
    distance: float | None = None,
    aspect: float = 4.0 / 3.0,
) -> mujoco.MjvCamera:
    """Return a free camera that sees the whole robot.

    Args:
        model: a compiled model.
        data: its state, with the positions computed.
        azimuth: direction of view in the horizontal plane [degrees]; None takes that of the model.
        elevation: height of the view, negative from above [degrees]; None takes -15, or -50 for what lies flat.
        distance: from the middle of the scene [m]; None takes what shows all.
        aspect: width over height of the picture.
    """
    low, high = bounds(model, data)
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FREE
    camera.lookat[:] = 0.5 * (low + high)
    camera.azimuth = float(model.vis.global_.azimuth) if azimuth is None else azimuth
    flat = high[2] - low[2] < FLAT * float(np.linalg.norm(high[:2] - low[:2]))
    camera.elevation = (-50.0 if flat else -15.0) if elevation is None else elevation
    radius = max(MIN_RADIUS, 0.5 * float(np.linalg.norm(high - low)))
    half_angle = np.radians(float(model.vis.global_.fovy)) / 2.0
    half_angle = min(half_angle, float(np.arctan(np.tan(half_angle) * aspect)))
    camera.distance = MARGIN * radius / float(np.sin(half_angle)) if distance is None else distance
    return camera


def find_root(model: mujoco.MjModel) -> int:
    """Return the body with a free joint that carries the most joints, which a camera follows; -1 if there is none."""
    best, most = -1, 0
    for joint in np.flatnonzero(model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE)):
        body = int(model.jnt_bodyid[joint])
        joints = int(np.count_nonzero(model.body_rootid[model.jnt_bodyid] == model.body_rootid[body])) - 1
        if joints > most:
            best, most = body, joints
    return best


def sky(height: int, width: int, *, dark: bool = False) -> np.ndarray:
    """Return the picture behind a scene, shape (height, width, 3), uint8: lightest at the horizon, in the middle.

    Args:
        height: of the picture [pixels].
        width: of the picture [pixels].
        dark: that of a dark page.
    """
    top, horizon = (np.array(colour, dtype=float) for colour in (DARK_SKY if dark else SKY))
    part = np.clip(2.0 * (np.arange(height) + 0.5) / height, 0.0, 1.0) ** 0.8
    column = np.rint(top + part[:, None] * (horizon - top)).astype(np.uint8)
    return np.repeat(column[:, None], width, axis=1)


def add_floor(model: mujoco.MjModel, scene: mujoco.MjvScene, height: float, radius: float) -> None:
    """Draw a floor into a scene whose model has none; give that of a model the colour of pliant's pictures.

    Args:
        model: the model of the scene.
        scene: updated before (`mujoco.mjv_updateScene`).
        height: of the floor [m].
        radius: of the robot [m].
    """
    planes = model.geom_type == int(mujoco.mjtGeom.mjGEOM_PLANE)
    if planes.any():
        for k in range(scene.ngeom):
            geom = scene.geoms[k]
            if geom.type == int(mujoco.mjtGeom.mjGEOM_PLANE):
                geom.matid, geom.reflectance, geom.emission, geom.rgba[:] = -1, 0.0, 0.05, FLOOR_COLOR
        return
    if scene.ngeom >= scene.maxgeom:
        return
    size, place = np.array([40.0 * radius, 40.0 * radius, 1.0]), np.array([0.0, 0.0, height])
    add_geom(scene, mujoco.mjtGeom.mjGEOM_PLANE, np.array(FLOOR_COLOR), size=size, pos=place)


def add_geom(
    scene: mujoco.MjvScene,
    kind: mujoco.mjtGeom,
    rgba: np.ndarray,
    *,
    size: np.ndarray | None = None,
    pos: np.ndarray | None = None,
) -> mujoco.MjvGeom:
    """Draw a shape into a scene that has room for it, and return it.

    Args:
        scene: updated before (`mujoco.mjv_updateScene`).
        kind: type of the shape.
        rgba: red, green, blue and opacity.
        size: as of a geom of this type; None for zeros.
        pos: its middle [m]; None for the origin.
    """
    geom = scene.geoms[scene.ngeom]
    size, pos = (np.zeros(3) if v is None else v for v in (size, pos))
    mujoco.mjv_initGeom(geom, kind, size, pos, np.eye(3).ravel(), np.asarray(rgba, dtype=np.float32))
    # mjv_initGeom (MuJoCo 4.0) does not set these. A shape whose segid is negative is left out of pictures of depth.
    geom.transparent = bool(rgba[3] < 1.0)
    geom.category = int(mujoco.mjtCatBit.mjCAT_DECOR)
    geom.objtype, geom.objid, geom.segid, geom.camdist = int(mujoco.mjtObj.mjOBJ_UNKNOWN), -1, scene.ngeom, 0.0
    scene.ngeom += 1
    return geom


def geom_colors(model: mujoco.MjModel, geoms: slice | Sequence[int] = slice(None)) -> np.ndarray:
    """Return red, green, blue and opacity of geoms as MuJoCo draws them, 0 to 1, shape (geoms, 4).

    A material gives its colour to a geom that has the default one.

    Args:
        model: the compiled model.
        geoms: indices of the geoms.
    """
    colors, materials = np.array(model.geom_rgba[geoms]), model.geom_matid[geoms]
    taken = (materials >= 0) & (colors == np.array(DEFAULT_RGBA, dtype=np.float32)).all(axis=1)
    colors[taken] = model.mat_rgba[materials[taken]]
    return colors


def _opaque(model: mujoco.MjModel) -> np.ndarray:
    """Return which geoms have a colour that is not fully transparent."""
    return geom_colors(model)[:, 3] > 0.0
