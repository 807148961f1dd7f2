"""Walking setup of a humanoid from a file: standing pose, sensors, the walking device with settings of its size."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import ModelError

if TYPE_CHECKING:
    import mujoco

    from pliant.model import Robot
    from pliant.walking.robots.humanoids.options import HumanoidOptions

BEND = 0.08
"""By how much the hips of the standing robot are lower than on straight legs, as a part of the legs' length: as those
of the catalogue's biped.  # assumed"""
MAX_ERROR = 1e-4
"""Largest error of the feet in that pose [m, rad]."""
FIRST_KNEE = 0.4
"""Position of the knee at which the inverse kinematics starts, away from the straight leg [rad]."""
GAIT = ("step_length", "single_support", "double_support", "lift", "dcm_rate", "ankle_stiffness", "swing_frequency")
"""Settings of the walk that can be chosen; the others follow from the robot's size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Legs:
    """Names of the legs in the file, left and right."""

    feet: tuple[str, str]
    """Last links."""
    ankles: tuple[str, str]
    """Last joints."""
    knees: tuple[str, str]
    """Knees, positive when bent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stance:
    """A humanoid that stands on bent knees, its centre of mass over the middle of its soles."""

    joints: tuple[str, ...]
    """All its hinges."""
    rest: tuple[float, ...]
    """Their positions [rad]."""
    drop: float
    """How much lower the base is than on straight legs [m]."""
    ankles: float
    """Where the ankles then are along the way, in the world [m]."""
    mass: float
    """Of the robot [kg]."""
    height: float
    """Of its centre of mass over the ground [m]."""
    depth: float
    """Of the sole under the ankles [m]."""
    spacing: float
    """Lateral distance of the ankles [m]."""
    sole: tuple[float, float, float]
    """Hindmost and foremost point of the sole ahead of the ankle, and half of its width [m]."""


def find_stance(model: mujoco.MjModel, base: str, legs: Legs) -> Stance:
    """Return the pose in which a humanoid stands before it walks.

    Args:
        model: the robot, compiled; in its initial pose the legs are straight and the soles flat on the ground.
        base: body that floats.
        legs: names of its legs.

    Raises:
        ModelError: the legs do not reach the pose.
    """
    import mujoco

    from pliant.feet.model.geometry import reach
    from pliant.walking.model import kinematic_tree

    hinges = [model.joint(j) for j in range(model.njnt) if int(model.jnt_type[j]) == int(mujoco.mjtJoint.mjJNT_HINGE)]
    joints = tuple(joint.name for joint in hinges)
    tree = kinematic_tree(model, base, joints)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    extents, ankles = [], []
    x, y, z = np.eye(3)
    for foot, ankle in zip(legs.feet, legs.ankles, strict=True):
        p = data.xanchor[model.joint(ankle).id]
        shapes = [
            g for g in range(model.ngeom) if model.geom_contype[g] and model.geom_bodyid[g] == model.body(foot).id
        ]
        ends = [max(reach(model, data, g, way) - float(way @ p) for g in shapes) for way in (-x, x, -y, y, -z)]
        extents.append((-ends[0], ends[1], min(ends[2], ends[3]), ends[4]))
        ankles.append(p.copy())
    back, front, side, depth = (float(v) for v in np.mean(extents, axis=0))
    middle = 0.5 * (back + front)
    q = np.zeros(len(joints))
    limbs = [tree.limb(joints.index(ankle) + 1) for ankle in legs.ankles]
    length = float(data.xanchor[model.joint(joints[limbs[0][0] - 1]).id][2] - ankles[0][2])
    drop = BEND * length
    still = np.zeros(3)
    goals = [tree.limb_pose(links, q[links - 1]) for links in limbs]
    goals = [(R.copy(), p + drop * z) for R, p, _ in goals]
    for knee in legs.knees:
        q[joints.index(knee)] = FIRST_KNEE
    errors = [0.0, 0.0]
    for _ in range(5):
        center, _ = tree.observe(np.eye(3), still, q, np.zeros(len(q)))
        for k, (links, (R, p)) in enumerate(zip(limbs, goals, strict=True)):
            p[0] = center[0] - middle
            q[links - 1], errors[k], _ = tree.solve_limb(links, R, p, q[links - 1], iterations=40)
    if max(errors) > MAX_ERROR:
        raise ModelError(
            f"the legs do not reach the pose with hips {1e3 * drop:.0f} mm lower and the centre of mass over the "
            f"soles; the error is {max(errors):.2g}, must be < {MAX_ERROR:g} [m, rad]",
            field="legs",
        )
    center, _ = tree.observe(np.eye(3), still, q, np.zeros(len(q)))
    return Stance(
        joints=joints,
        rest=tuple(float(v) for v in q),
        drop=drop,
        ankles=float(data.body(base).xpos[0] + center[0] - middle),
        mass=tree.total_mass,
        height=float(data.body(base).xpos[2] - drop + center[2] - (ankles[0][2] - depth)),
        depth=depth,
        spacing=float(ankles[0][1] - ankles[1][1]),
        sole=(back, front, side),
    )


def stand(spec: mujoco.MjSpec, base: str, stance: Stance, servos: bool) -> None:
    """Add the key frame "rest": the robot stands, its servos at their references."""
    from pliant.model import REST_KEY

    model = spec.copy().compile()
    qpos, ctrl = model.qpos0.copy(), np.zeros(model.nu)
    qpos[model.body(base).jntadr[0] + 2] -= stance.drop
    for name, angle in zip(stance.joints, stance.rest, strict=True):
        qpos[model.joint(name).qposadr[0]] = angle
        if servos:
            ctrl[model.actuator(name).id] = angle
    spec.add_key(name=REST_KEY, qpos=qpos.tolist(), ctrl=ctrl.tolist())


def add_walking(robot: Robot, base: str, legs: Legs, stance: Stance, options: HumanoidOptions) -> None:
    """Add an inertial unit, force/torque sensors at the ankles, and the walking device."""
    from pliant.model import ForceTorque, Imu
    from pliant.walking.control.settings import scaled_settings
    from pliant.walking.device import WalkingDescription

    sensors = ("l_ankle_ft", "r_ankle_ft")
    robot.devices.append(Imu(name="base_imu", body=base, rate=100.0))
    robot.devices += [
        ForceTorque(name=name, body=foot, rate=100.0) for name, foot in zip(sensors, legs.feet, strict=True)
    ]
    chosen = {name: getattr(options, name) for name in GAIT if getattr(options, name) is not None}
    settings = scaled_settings(mass=stance.mass, height=stance.height, spacing=stance.spacing, sole=stance.sole)
    robot.devices.append(
        WalkingDescription(
            base=base,
            joints=stance.joints,
            rest=stance.rest,
            ankles=legs.ankles,
            sole=stance.depth,
            spacing=stance.spacing,
            imu="base_imu",
            force_torque=sensors,
            start=options.walk_start,
            rate_noise=options.rate_noise,
            load_noise=options.load_noise,
            settings=dataclasses.replace(settings, **chosen),
        )
    )
