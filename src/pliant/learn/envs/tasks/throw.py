"""Throw a ball as far as possible with an arm of two qbMoves that can change its stiffness.

An electromagnet at the hand holds a steel ball. The action moves both joints, sets the stiffness preset of both, and
switches the magnet. The reward comes when the ball lands: how far from the arm [m].
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from pliant.batch.distributions import Distribution
from pliant.learn.envs.task import Action, Task, World, preset_actions
from pliant.model import Robot

JOINTS = ("joint_1", "joint_2")
_STATE = tuple(f"{joint}/{quantity}" for quantity in ("position", "velocity") for joint in JOINTS)
RADIUS = 0.015
"""Radius of the ball [m]; assumed."""
MASS = 0.05
"""Mass of the ball [kg]; assumed."""
FORCE = 15.0
"""Holding force of the magnet [N]; assumed."""
GROUND = RADIUS
"""Height of the ball's centre at which it counts as landed [m]."""
PRESETS = (0.0, 0.6)
"""Softest and stiffest preset [rad]; 0.2 and 0.6 are those of Mengacci et al. 2021, section 4.2."""


def robot(springs: str = "maker-pro") -> Robot:
    """Return the hanging arm with magnet and ball.

    Args:
        springs: set of springs of the arm.
    """
    from pliant.robots import build_robot

    arm = build_robot("qbmove-2dof", {"mounting": "vertical", "springs": springs})
    # A motor that keeps to the speed of its data sheet: what is faster comes out of the springs.
    arm.update({"actuator.motor_1.limit_velocity": True, "actuator.motor_2.limit_velocity": True})
    spec = arm.spec
    model = arm.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    tip = data.site("tip").xpos
    hand = spec.body("link_2")
    plate = hand.add_geom(
        name="magnet",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[0.003, 0.02, 0.02],
        pos=[0.085, 0.0, 0.0],
        contype=0,
        conaffinity=2,
        mass=0.0,
        material="metal",
        friction=[1.0, 0.005, 0.0001],
    )
    plate.margin = plate.gap = 0.001
    ball = spec.worldbody.add_body(name="ball", pos=[tip[0], tip[1], tip[2] - 0.003 - RADIUS])
    # Three slides: the ball does not spin, and its place is three ports.
    for axis, vector in zip("xyz", np.eye(3), strict=True):
        ball.add_joint(name=f"ball_{axis}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=vector.tolist())
    ball.add_geom(
        name="ball",
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        size=[RADIUS, 0.0, 0.0],
        mass=MASS,
        contype=2,
        conaffinity=0,
        condim=3,
        material="orange",
        margin=0.0,
    )
    spec.add_actuator(
        name="magnet",
        trntype=mujoco.mjtTrn.mjTRN_BODY,
        target="link_2",
        gainprm=[FORCE, *[0.0] * 9],
        ctrlrange=[0.0, 1.0],
        ctrllimited=True,
    )
    return arm


def height(world: World) -> NDArray[np.float64]:
    """Return the height of the ball over the floor [m]."""
    return world.port("body/ball/position")[:, 2]


def landed(world: World) -> NDArray[np.bool_]:
    """Return whether the ball is on the floor."""
    return height(world) <= GROUND


def distance(world: World) -> NDArray[np.float64]:
    """Return how far in front of the arm the ball crossed the floor's height, 0 before it lands [m]."""
    down = landed(world)
    if not np.count_nonzero(down):
        return np.zeros(world.worlds)
    late = np.maximum(0.0, GROUND - height(world))
    fall = np.minimum(world.port("ball_z/velocity")[:, 0], -1e-3)
    x = world.port("body/ball/position")[:, 0] + world.port("ball_x/velocity")[:, 0] * late / fall
    return np.where(down, x, 0.0)


def joints(world: World) -> NDArray[np.float64]:
    """Return positions [rad] and velocities [rad/s] of the joints."""
    return world.ports(_STATE)


def ball(world: World) -> NDArray[np.float64]:
    """Return position [m] and velocity [m/s] of the ball in the plane of the arm."""
    return world.ports(("ball_x/position", "ball_z/position", "ball_x/velocity", "ball_z/velocity"))


def task(
    *,
    preset: float | None = None,
    springs: str = "maker-pro",
    randomize: dict[str, Distribution] | None = None,
) -> Task:
    """Return the task.

    Args:
        preset: a stiffness preset for the whole throw [rad]; None lets the action change it.
        springs: set of springs of the arm: toolbox, kit or maker-pro.
        randomize: path of a parameter -> distribution.

    Raises:
        ModelError: a preset beyond the limits.
    """
    actions = [Action(f"{joint}/reference_1", -1.5, 1.5) for joint in JOINTS]
    actions += preset_actions(JOINTS, preset, PRESETS)
    actions.append(Action("magnet/control", 1.0, 0.0))
    options: dict[str, Any] = {"randomize": randomize} if randomize else {}
    return Task(
        robot=lambda: robot(springs),
        actions=actions,
        observation={"joints": joints, "ball": ball, "time": lambda world: world.time},
        reward={"distance": distance},
        terminated={"landed": landed},
        period=0.02,
        duration=3.0,
        camera="front",
        **options,
    )
