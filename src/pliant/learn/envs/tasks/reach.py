"""Reach points behind a wall with the five-joint arm, touching it gently.

A soft arm may lean on the wall and slide along it; a stiff one pushes hard. The reward is how near the tip is, less the
force on the wall.
"""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import ModelError
from pliant.batch.distributions import Distribution
from pliant.learn.envs.task import Action, Task, World
from pliant.model import Robot

JOINTS = ("joint_1", "joint_2", "joint_3", "joint_4", "joint_5")
_STATE = tuple(f"{joint}/{quantity}" for quantity in ("position", "velocity") for joint in JOINTS)
WALL = 0.14
"""Distance of the wall from the shoulder [m]; assumed."""
NEAR = 0.02
"""Distance of tip and goal at which it counts as reached [m]."""
FORCE_SCALE = 20.0
"""Force on the wall that costs one unit of reward a second [N]."""


def robot() -> Robot:
    """Return the arm before a wall, with a goal that moves on three slides."""
    from pliant.robots import build_robot

    arm = build_robot("qbmove-5dof", {"box_distance": 2.0, "springs": "maker-pro"})
    spec = arm.spec
    world = spec.worldbody
    shoulder = spec.body("base")
    wall = world.add_body(name="wall", pos=[float(shoulder.pos[0]) + WALL + 0.01, 0.0, 0.25])
    wall.add_geom(name="wall", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.01, 0.3, 0.25], rgba=[0.6, 0.7, 0.8, 0.4])
    wall.add_site(name="wall", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.02, 0.31, 0.26], rgba=[0.0] * 4)
    spec.add_sensor(name="wall", type=mujoco.mjtSensor.mjSENS_TOUCH, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="wall")
    spec.add_sensor(name="tip", type=mujoco.mjtSensor.mjSENS_FRAMEPOS, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="tip")
    goal = world.add_body(name="goal")
    goal.gravcomp = 1.0
    for axis, vector in zip("xyz", np.eye(3), strict=True):
        goal.add_joint(
            name=f"goal_{axis}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=vector.tolist(), damping=[100.0, 0.0, 0.0]
        )
    goal.add_geom(
        name="goal",
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        size=[NEAR, 0.0, 0.0],
        mass=1.0,
        contype=0,
        conaffinity=0,
        rgba=[0.2, 0.7, 0.3, 0.6],
    )
    return arm


def _goal(world: World) -> NDArray[np.float64]:
    return world.ports([f"goal_{axis}/position" for axis in "xyz"])


def distance(world: World) -> NDArray[np.float64]:
    """Return the distance of tip and goal [m]."""
    return np.linalg.norm(world.port("sensor/tip") - _goal(world), axis=1)


def force(world: World) -> NDArray[np.float64]:
    """Return the force on the wall [N]."""
    return world.port("sensor/wall")[:, 0]


def reached(world: World) -> NDArray[np.bool_]:
    """Return whether the tip is at the goal."""
    return distance(world) <= NEAR


def joints(world: World) -> NDArray[np.float64]:
    """Return positions [rad] and velocities [rad/s] of the joints."""
    return world.ports(_STATE)


def start(rng: np.random.Generator, count: int) -> dict[str, NDArray[np.float64]]:
    """Draw goals just before the wall."""
    return {
        "goal_x": rng.uniform(WALL - 0.035, WALL - 0.02, count),
        "goal_y": rng.uniform(-0.08, 0.08, count),
        "goal_z": rng.uniform(0.22, 0.32, count),
    }


def task(*, presets: tuple[float, float] = (0.0, 0.6), randomize: dict[str, Distribution] | None = None) -> Task:
    """Return the task.

    Args:
        presets: softest and stiffest preset that an action may set [rad].
        randomize: path of a parameter -> distribution.

    Raises:
        ModelError: presets that are not two numbers in order.
    """
    if len(presets) != 2 or not 0.0 <= presets[0] <= presets[1] <= 1.0:
        raise ModelError(f"presets are {presets!r}; must be two in order, 0 to 1 rad", field="presets")
    actions = [Action(f"{joint}/reference_1", -1.2, 1.2) for joint in JOINTS]
    actions += [Action(f"{joint}/reference_2", *map(float, presets)) for joint in JOINTS]
    period = 0.02
    return Task(
        robot=robot,
        actions=actions,
        observation={"joints": joints, "goal": _goal, "tip": lambda w: w.port("sensor/tip")},
        reward={
            "distance": lambda w: -period * distance(w),
            "force": lambda w: -period * force(w) / FORCE_SCALE,
            "reached": lambda w: reached(w).astype(float),
        },
        terminated={"reached": reached},
        period=period,
        duration=4.0,
        start=start,
        randomize=randomize or {},
    )
