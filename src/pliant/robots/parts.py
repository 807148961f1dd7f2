"""What the catalogue's robots are put together from: a lit floor, colours, housings, the bench, interfaces.

Visual shapes have no mass and touch nothing; every mass and inertia is written where it belongs, in an inertial
element. Lengths [m], masses [kg], angles [rad].
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pliant.robots.catalogue import Option

if TYPE_CHECKING:
    from pliant.laws import CompliantActuator
    from pliant.model import Interface, Robot

__all__ = [
    "BENCH_OPTIONS",
    "COLORS",
    "bench",
    "box",
    "capsule",
    "cylinder",
    "finished",
    "interface_of",
    "link_friction",
    "look_at",
    "new_spec",
    "sphere",
]

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

MINIMAL_INERTIA = 1.0e-12
"""Stands for no inertia of its own [kg m^2]: MuJoCo wants moving bodies to have some."""


def new_spec(name: str, timestep: float, *, extent: float = 0.5, center: Sequence[float] = (0.0, 0.0, 0.2)) -> Any:
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
    spec.option.gravity = [0.0, 0.0, -9.81]
    spec.stat.extent = extent
    spec.stat.center = list(center)
    spec.visual.headlight.ambient = [0.35, 0.35, 0.37]
    spec.visual.headlight.diffuse = [0.35, 0.35, 0.35]
    spec.visual.headlight.specular = [0.1, 0.1, 0.1]
    spec.visual.quality.shadowsize = 4096
    spec.visual.map.znear = 0.01
    spec.visual.global_.offwidth = 1920
    spec.visual.global_.offheight = 1440
    spec.visual.global_.azimuth = 130.0
    spec.visual.global_.elevation = -18.0
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.93, 0.95, 0.97],
        rgb2=[0.72, 0.78, 0.85],
        width=64,
        height=384,
    )
    spec.add_texture(
        name="floor",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.86, 0.88, 0.90],
        rgb2=[0.80, 0.83, 0.86],
        width=128,
        height=128,
    )
    material = spec.add_material(name="floor", texrepeat=[10.0, 10.0], texuniform=True, reflectance=0.03)
    material.textures[int(mujoco.mjtTextureRole.mjTEXROLE_RGB)] = "floor"
    for shape, rgba in COLORS.items():
        spec.add_material(name=shape, rgba=list(rgba), specular=0.35, shininess=0.4)
    world = spec.worldbody
    world.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[2.0, 2.0, 0.05], material="floor")
    world.add_light(
        name="key",
        type=mujoco.mjtLightType.mjLIGHT_SPOT,
        pos=[1.5 * extent + center[0], -2.5 * extent + center[1], 3.2 * extent + center[2]],
        dir=[-1.5, 2.5, -3.2],
        diffuse=[0.75, 0.74, 0.72],
        specular=[0.3, 0.3, 0.3],
        cutoff=60.0,
    )
    return spec


def finished(robot: Robot) -> Robot:
    """Mark what `new_spec` chose as chosen, so that a check does not report it as assumed; return the robot."""
    robot.chosen_options |= {"timestep", "integrator", "gravity"}
    return robot


def _shape(body: Any, kind: str, material: str, **arguments: Any) -> Any:
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


def box(body: Any, size: Sequence[float], pos: Sequence[float] = (0.0, 0.0, 0.0), material: str = "housing") -> Any:
    """Add a visual box of full edge lengths ``size``."""
    return _shape(body, "BOX", material, size=[0.5 * s for s in size], pos=list(pos))


def cylinder(body: Any, start: Sequence[float], end: Sequence[float], radius: float, material: str = "metal") -> Any:
    """Add a visual cylinder between two points."""
    return _shape(body, "CYLINDER", material, fromto=[*start, *end], size=[radius, 0.0, 0.0])


def capsule(body: Any, start: Sequence[float], end: Sequence[float], radius: float, material: str = "link") -> Any:
    """Add a visual capsule between two points."""
    return _shape(body, "CAPSULE", material, fromto=[*start, *end], size=[radius, 0.0, 0.0])


def sphere(body: Any, pos: Sequence[float], radius: float, material: str = "load") -> Any:
    """Add a visual sphere."""
    return _shape(body, "SPHERE", material, pos=list(pos), size=[radius, 0.0, 0.0])


def link_friction(torque: float, stiffness: float) -> Any:
    """Return the presliding friction of a link, or None for none.

    Args:
        torque: Coulomb level [N m].
        stiffness: presliding stiffness [N m/rad].
    """
    from pliant.laws import PreslidingFriction

    return PreslidingFriction(torque=torque, stiffness=stiffness) if torque > 0.0 else None


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


# -- the one-joint bench ---------------------------------------------------------------------------------

BENCH_OPTIONS: tuple[Option, ...] = (
    Option(
        name="mounting",
        default="horizontal",
        choices=("horizontal", "hanging"),
        description="Pose of the arm at q = 0: horizontal (load m g l cos q) or hanging (m g l sin q).",
        source="assumed: the toolbox's template is horizontal, the paper does not say",
    ),
    Option(
        name="load_mass",
        default=0.2,
        unit="kg",
        low=0.0,
        high=100.0,
        description="Mass of the load, a point.",
        source="Mengacci et al. 2021, section 4.1",
    ),
    Option(
        name="load_distance",
        default=0.04,
        unit="m",
        low=0.0,
        high=2.0,
        description="Distance of the load from the axis.",
        source="Mengacci et al. 2021, section 4.1",
    ),
    Option(
        name="link_inertia",
        default=0.002,
        unit="kg m^2",
        low=0.0,
        high=100.0,
        description="Inertia of the link without the load, about the axis.",
        source="URDF templates of the toolbox",
    ),
    Option(
        name="damping",
        default=0.065,
        unit="N m s/rad",
        low=0.0,
        high=1000.0,
        description="Viscous damping of the link's bearing.",
        source="Mengacci et al. 2021, section 4.2; for 4.1 assumed",
    ),
    Option(
        name="friction",
        default=0.0,
        unit="N m",
        low=0.0,
        high=1000.0,
        description="Coulomb friction of the link's bearing, with presliding.",
        source="URDF templates of the toolbox",
    ),
    Option(
        name="friction_stiffness",
        default=100.0,
        unit="N m/rad",
        low=1e-3,
        high=1e6,
        description="Presliding stiffness of that friction.",
        source="assumed",
    ),
    Option(
        name="mode",
        default=3,
        low=0,
        high=6,
        description="Operation mode of the actuator, 0 to 6.",
        source="Mengacci et al. 2021, section 4.1",
    ),
    Option(
        name="timestep",
        default=0.0005,
        unit="s",
        low=1e-7,
        high=0.1,
        description="Length of a simulation step.",
        source="assumed: the paper prints none",
    ),
)
"""What every one-joint bench offers."""

AXIS_HEIGHT = 0.14
"""Height of the bench's axis over the floor [m]; for the eye only."""


def bench(
    name: str,
    *,
    mounting: str,
    load_mass: float,
    load_distance: float,
    link_inertia: float,
    damping: float,
    timestep: float,
) -> tuple[Any, Any, Any]:
    """Return the spec of a one-joint bench: a stand, a link on the hinge ``joint``, a load.

    The axis is horizontal; a positive angle lifts the load from the horizontal pose. The link's centre of mass is on
    the axis and the load is a point, so the inertia about the axis is link_inertia + load_mass load_distance^2.

    Args:
        name: name of the model.
        mounting: "horizontal" or "hanging", the pose at q = 0.
        load_mass: mass of the load [kg].
        load_distance: its distance from the axis [m].
        link_inertia: inertia of the link about the axis [kg m^2].
        damping: viscous damping of the joint [N m s/rad].
        timestep: length of a step [s].

    Returns:
        (spec, stand, link): the actuator's housing goes onto the stand, at y > 0; the origin is on the axis.
    """
    spec = new_spec(name, timestep, extent=0.2, center=(0.01, 0.0, AXIS_HEIGHT - 0.02))
    stand = spec.worldbody.add_body(name="stand", pos=[0.0, 0.0, AXIS_HEIGHT])
    box(stand, (0.13, 0.11, 0.012), (0.0, 0.065, -AXIS_HEIGHT + 0.006), "stand")
    box(stand, (0.030, 0.030, AXIS_HEIGHT - 0.033), (0.0, 0.065, -0.5 * (AXIS_HEIGHT + 0.033) + 0.006), "stand")
    link = stand.add_body(name="link")
    link.add_joint(name="joint", axis=[0.0, -1.0, 0.0], damping=[damping, 0.0, 0.0])
    out = (1.0, 0.0) if mounting == "horizontal" else (0.0, -1.0)
    tip = (load_distance * out[0], 0.0, load_distance * out[1])
    inertia = max(link_inertia, MINIMAL_INERTIA)
    link.explicitinertial = True
    link.mass = max(load_mass, MINIMAL_INERTIA)
    link.ipos = list(tip)
    # A thin body in the plane of motion would do as well: only the axis' own component matters.
    link.inertia = [inertia, inertia, inertia]
    cylinder(link, (0.0, -0.007, 0.0), (0.0, 0.022, 0.0), 0.014, "metal")
    capsule(link, (0.0, -0.002, 0.0), (tip[0], -0.002, tip[2]), 0.0065, "link")
    if load_mass > 0.0:
        # A brass disc of the load's mass, 16 mm thick.
        radius = min(0.06, math.sqrt(load_mass / (8500.0 * math.pi * 0.016)))
        cylinder(link, (tip[0], -0.010, tip[2]), (tip[0], 0.006, tip[2]), radius, "load")
        cylinder(link, (tip[0], -0.011, tip[2]), (tip[0], 0.007, tip[2]), 0.3 * radius, "trim")
    link.add_site(name="load", pos=list(tip), size=[0.003, 0.003, 0.003], rgba=[0.0, 0.0, 0.0, 0.0])
    camera = spec.worldbody.add_camera(name="front", pos=[0.16, -0.42, AXIS_HEIGHT + 0.10])
    look_at(camera, (0.16, -0.42, AXIS_HEIGHT + 0.10), (0.005, 0.03, AXIS_HEIGHT - 0.025))
    camera.fovy = 34.0
    return spec, stand, link


def look_at(camera: Any, eye: Sequence[float], target: Sequence[float]) -> None:
    """Turn a fixed camera from ``eye`` towards ``target``, the world's z up."""
    import mujoco
    import numpy as np

    back = np.asarray(eye, dtype=float) - np.asarray(target, dtype=float)
    back /= np.linalg.norm(back)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    up = np.cross(back, right)
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.column_stack([right, up, back]).ravel())
    camera.quat = quat
