"""Parts of the catalogue's robots: a lit floor, colours, housings, interfaces.

Visual shapes have no mass and touch nothing; every mass and inertia is written where it belongs, in an inertial
element. Lengths [m], masses [kg], angles [rad].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pliant.base.numerics import GRAVITY

if TYPE_CHECKING:
    import mujoco

    from pliant.laws import CompliantActuator
    from pliant.model import Interface, Robot

COLORS: dict[str, tuple[float, float, float, float]] = {
    "housing": (0.17, 0.19, 0.22, 1.0),
    "trim": (0.36, 0.39, 0.43, 1.0),
    "metal": (0.74, 0.76, 0.79, 1.0),
    "link": (0.90, 0.91, 0.93, 1.0),
    "orange": (0.90, 0.45, 0.08, 1.0),
    "blue": (0.10, 0.42, 0.68, 1.0),
    "load": (0.83, 0.66, 0.26, 1.0),
    "wood": (0.72, 0.54, 0.36, 1.0),
    "stand": (0.52, 0.55, 0.59, 1.0),
}
"""Colours of the shapes, by what they stand for (red, green, blue, opacity)."""


def new_spec(
    name: str, timestep: float, *, extent: float = 0.5, center: Sequence[float] = (0.0, 0.0, 0.2)
) -> mujoco.MjSpec:
    """Return an `mujoco.MjSpec` with floor, sky, light, and the integrator of pliant.

    Args:
        name: name of the model.
        timestep: length of a step [s].
        extent: size of the robot, for cameras and shadows [m].
        center: middle of the robot [m].
    """
    import mujoco

    spec = mujoco.MjSpec()
    spec.modelname = name
    spec.compiler.degree = False
    spec.compiler.autolimits = True
    spec.option.timestep = timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.gravity = [0.0, 0.0, -GRAVITY]
    for shape, rgba in COLORS.items():
        spec.add_material(name=shape, rgba=list(rgba), specular=0.35, shininess=0.4)
    add_scene(spec, extent=extent, center=center)
    return spec


def add_sky(
    spec: mujoco.MjSpec, up: Sequence[float] = (0.93, 0.95, 0.97), horizon: Sequence[float] = (0.72, 0.78, 0.85)
) -> None:
    """Give a spec a sky, in place of the one that it has.

    Args:
        spec: an `mujoco.MjSpec`.
        up: its colour straight up: red, green, blue.
        horizon: its colour at the horizon and below.
    """
    import mujoco

    texture = spec.texture("sky") or spec.add_texture(name="sky")
    texture.type, texture.builtin = mujoco.mjtTexture.mjTEXTURE_SKYBOX, mujoco.mjtBuiltin.mjBUILTIN_GRADIENT
    texture.rgb1, texture.rgb2 = list(up), list(horizon)
    texture.width, texture.height = 64, 384


def add_light(spec: mujoco.MjSpec, *, extent: float, center: Sequence[float]) -> None:
    """Add the light of pliant's scenes to a spec: a lamp that casts shadows, and light from everywhere.

    Args:
        spec: an `mujoco.MjSpec`.
        extent: size of the robot, for shadows [m].
        center: middle of the robot [m].
    """
    import mujoco

    way = (-1.5, 2.5, -3.2)
    light = spec.worldbody.add_light(name="key", type=mujoco.mjtLightType.mjLIGHT_SPOT, dir=way)
    light.pos = [c - extent * w for c, w in zip(center, way, strict=True)]
    light.cutoff, light.exponent = 60.0, 0.0
    light.diffuse, light.specular = [0.6, 0.6, 0.6], [0.15, 0.15, 0.15]
    spec.visual.headlight.ambient = [0.45, 0.45, 0.45]
    spec.visual.headlight.diffuse = [0.2, 0.2, 0.2]
    spec.visual.headlight.specular = [0.1, 0.1, 0.1]


def add_floor(spec: mujoco.MjSpec, size: Sequence[float], *, reflectance: float = 0.0) -> None:
    """Add a floor of light tiles to a spec, the plane z = 0 of the name "floor".

    Args:
        spec: an `mujoco.MjSpec`.
        size: half lengths along x and y, spacing of its grid, as of a plane of MuJoCo [m].
        reflectance: how much it mirrors; above 0 a picture takes longer to draw.
    """
    import mujoco

    spec.add_texture(
        name="floor",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.86, 0.88, 0.90],
        rgb2=[0.80, 0.83, 0.86],
        width=128,
        height=128,
    )
    material = spec.add_material(name="floor", texrepeat=[10.0, 10.0], texuniform=True, reflectance=reflectance)
    material.textures[int(mujoco.mjtTextureRole.mjTEXROLE_RGB)] = "floor"
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=list(size), material="floor")


def add_scene(spec: mujoco.MjSpec, *, extent: float, center: Sequence[float]) -> None:
    """Add floor, sky and light to a spec.

    Args:
        spec: an `mujoco.MjSpec`.
        extent: size of the robot, for cameras and shadows [m].
        center: middle of the robot [m].
    """
    spec.stat.extent = extent
    spec.stat.center = list(center)
    add_light(spec, extent=extent, center=center)
    spec.visual.quality.shadowsize = 4096
    spec.visual.map.znear = 0.01
    spec.visual.global_.offwidth = 1920
    spec.visual.global_.offheight = 1440
    spec.visual.global_.azimuth = 130.0
    spec.visual.global_.elevation = -18.0
    add_sky(spec)
    add_floor(spec, (2.0, 2.0, 0.05), reflectance=0.03)


def finished(robot: Robot, *, namespace: str = "") -> Robot:
    """Mark what `new_spec` chose as chosen, so that a check does not report it as assumed; return the robot.

    Args:
        robot: the robot.
        namespace: prefix of its topics of ROS; "" keeps that of its interface.
    """
    robot.chosen_options |= {"timestep", "integrator", "gravity"}
    if namespace:
        robot.interface = robot.interface.replace(namespace=namespace)
    return robot


def _shape(body: mujoco.MjsBody, kind: str, material: str, **arguments: Any) -> mujoco.MjsGeom:
    import mujoco

    return body.add_geom(
        type=getattr(mujoco.mjtGeom, f"mjGEOM_{kind}"),
        material=material,
        contype=0,
        conaffinity=0,
        mass=0.0,
        group=2,
        **arguments,
    )


def box(
    body: mujoco.MjsBody, size: Sequence[float], pos: Sequence[float] = (0.0, 0.0, 0.0), material: str = "housing"
) -> mujoco.MjsGeom:
    """Add a visual box of full edge lengths ``size``."""
    return _shape(body, "BOX", material, size=[0.5 * s for s in size], pos=list(pos))


def cylinder(
    body: mujoco.MjsBody, start: Sequence[float], end: Sequence[float], radius: float, material: str = "metal"
) -> mujoco.MjsGeom:
    """Add a visual cylinder between two points."""
    return _shape(body, "CYLINDER", material, fromto=[*start, *end], size=[radius, 0.0, 0.0])


def capsule(
    body: mujoco.MjsBody, start: Sequence[float], end: Sequence[float], radius: float, material: str = "link"
) -> mujoco.MjsGeom:
    """Add a visual capsule between two points."""
    return _shape(body, "CAPSULE", material, fromto=[*start, *end], size=[radius, 0.0, 0.0])


def sphere(body: mujoco.MjsBody, pos: Sequence[float], radius: float, material: str = "load") -> mujoco.MjsGeom:
    """Add a visual sphere."""
    return _shape(body, "SPHERE", material, pos=list(pos), size=[radius, 0.0, 0.0])


def interface_of(namespace: str, actuators: Mapping[str, CompliantActuator]) -> Interface:
    """Return the interface that the toolbox's plugin manager gives such a robot.

    Args:
        namespace: prefix of the topics.
        actuators: compliant actuators by joint, in the order of the reference arrays.
    """
    from pliant.laws import COMMAND_NAMES
    from pliant.model import Interface, JointInterface, PluginManager

    names = {joint: COMMAND_NAMES[a.mode] for joint, a in actuators.items()}
    return Interface(
        namespace=namespace,
        joints={joint: JointInterface(joint=joint) for joint in actuators},
        manager=PluginManager(
            namespace=namespace,
            sample_time=0.01,  # T_sample of the toolbox's sample configuration
            joints=tuple(actuators),
            ref_1=tuple(n[0] for n in names.values()),
            ref_2=tuple(n[1] if actuators[j].commands == 2 else "disabled" for j, n in names.items()),
        ),
    )


def look_at(camera: mujoco.MjsCamera, eye: Sequence[float], target: Sequence[float]) -> None:
    """Turn a fixed camera from ``eye`` towards ``target``, the world's z up."""
    import numpy as np

    from pliant.base.spatial import quaternion_from_rotation

    back = np.asarray(eye, dtype=float) - np.asarray(target, dtype=float)
    back /= np.linalg.norm(back)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    up = np.cross(back, right)
    camera.quat = quaternion_from_rotation(np.column_stack([right, up, back]))
