"""Put a square peg into a hole with a Franka Research 3 under the joint impedance of its own controller.

The action is the velocity of the seven joints, ``dq_c`` of the arm's interface. The hole is not where the arm thinks it
is. A stiff arm presses harder beside the hole than a soft one; which stiffness inserts more often has not been measured
with a trained policy, and nothing here presumes it.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import ModelError
from pliant.batch.distributions import Distribution
from pliant.learn.envs.task import Action, Task, World
from pliant.model import Robot

ARM = "franka"
"""Name of the arm's device."""
STIFFNESS = (600.0, 600.0, 600.0, 600.0, 250.0, 150.0, 50.0)
"""Stiffness of the joints [N m/rad]; that of the vendor's example of joint impedance."""
COLLISION = 100.0
"""Contact and collision thresholds of the arm, as the vendor's examples set them for contact [N, N m]."""
NAMES = tuple(f"{ARM}/{field}[{i}]" for field in ("q", "dq", "tau_ext_hat_filtered") for i in range(7))
"""Names of the observation's elements, for a policy that runs on the arm."""
HALF = 0.010
"""Half the width of the peg [m]; assumed."""
CLEARANCE = 0.001
"""Gap on either side of the peg [m]; assumed."""
LENGTH = 0.06
"""Length of the peg below the hand [m]; assumed."""
DEPTH = 0.03
"""Depth of the hole [m]; assumed."""
GAP = 0.02
"""Height of the peg's end over the plate at the start [m]; assumed."""
SPEED = 0.15
"""Largest velocity of a joint that an action commands [rad/s]; assumed."""
FORCE = 30.0
"""Contact force above which an insertion costs reward [N]; assumed."""
ERROR = 0.004
"""Largest error of the hole's place along x and y [m]; assumed."""


STOPPED = -20.0
"""Reward of the step in which the arm stops itself: less than that of a whole episode beside the hole."""


def robot(stiffness: float = 1.0) -> Robot:
    """Return the arm with a peg, before a plate with a hole that three slides place.

    Args:
        stiffness: factor on the stiffness of all joints; the damping ratio of the controller stays.
    """
    from pliant.robots import build_robot
    from pliant.robots.parts import add_sky, look_at

    built = build_robot("fr3", {"hand": "none", "friction": False})
    spec = built.spec
    hand = spec.body("franka_link7")
    flange = spec.site("franka_ee")
    middle = [float(flange.pos[0]), float(flange.pos[1]), float(flange.pos[2]) + 0.5 * LENGTH]
    hand.add_geom(
        name="peg",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[HALF, HALF, 0.5 * LENGTH],
        pos=middle,
        mass=0.0,
        rgba=[0.9, 0.45, 0.08, 1.0],
        friction=[0.3, 0.005, 0.0001],
    )
    hand.add_site(name="peg", pos=[middle[0], middle[1], middle[2] + 0.5 * LENGTH], size=[0.002] * 3)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    end, turn = data.site("peg").xpos, data.site("peg").xmat.reshape(3, 3)
    yaw = math.atan2(turn[1, 0], turn[0, 0])
    plate = spec.worldbody.add_body(
        name="plate",
        pos=[end[0], end[1], end[2] - GAP],
        quat=[math.cos(0.5 * yaw), 0.0, 0.0, math.sin(0.5 * yaw)],
    )
    for axis, vector in (("x", [1.0, 0.0, 0.0]), ("y", [0.0, 1.0, 0.0])):
        plate.add_joint(
            name=f"hole_{axis}",
            type=mujoco.mjtJoint.mjJNT_SLIDE,
            axis=vector,
            frictionloss=1000.0,
            damping=[1.0e4, 0.0, 0.0],
        )
    inner, outer = HALF + CLEARANCE, 0.06
    width = 0.5 * (outer - inner)
    for n, (x, y) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
        along = [width, outer] if x else [inner, width]
        plate.add_geom(
            name=f"wall_{n}",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=[*along, 0.5 * DEPTH],
            pos=[x * (inner + width), y * (inner + width), -0.5 * DEPTH],
            mass=1.0,
            rgba=[0.6, 0.65, 0.7, 0.7],
            friction=[0.3, 0.005, 0.0001],
        )
    plate.gravcomp = 1.0
    spec.add_sensor(
        name="peg",
        type=mujoco.mjtSensor.mjSENS_FRAMEPOS,
        objtype=mujoco.mjtObj.mjOBJ_SITE,
        objname="peg",
        reftype=mujoco.mjtObj.mjOBJ_XBODY,
        refname="plate",
    )
    eye = (float(end[0]) + 0.45, -0.55, float(end[2]) + 0.25)
    look_at(spec.worldbody.add_camera(name="hole", pos=list(eye), fovy=30.0), eye, (*end[:2], end[2] + 0.04))
    add_sky(spec)
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.45] * 3, [0.4] * 3
    # The key frame of the arm has not the slides of the hole.
    key = spec.key("rest")
    key.qpos = [*(float(q) for q in list(key.qpos)[:7]), 0.0, 0.0]
    built.devices = [_soft(described, stiffness) for described in built.devices]
    return built


def _soft(arm: Any, stiffness: float) -> Any:
    """Return the description of the arm with the stiffness and the thresholds of this task."""
    settings = arm.settings
    thresholds = {f.name: (COLLISION,) * len(getattr(settings.collision, f.name)) for f in fields(settings.collision)}
    return replace(
        arm,
        settings=replace(
            settings,
            K_theta=tuple(stiffness * k for k in STIFFNESS),
            collision=replace(settings.collision, **thresholds),
        ),
    )


def depth(world: World) -> NDArray[np.float64]:
    """Return how deep the peg is in the plate; negative above it [m]."""
    return -world.port("sensor/peg")[:, 2]


def offset(world: World) -> NDArray[np.float64]:
    """Return the distance of the peg from the axis of the hole [m]."""
    return np.linalg.norm(world.port("sensor/peg")[:, :2], axis=1)


def inserted(world: World) -> NDArray[np.bool_]:
    """Return whether the peg is in the hole, by two thirds of its depth."""
    return (depth(world) > DEPTH / 1.5) & (offset(world) < 2.0 * CLEARANCE)


def measured(world: World) -> NDArray[np.float64]:
    """Return what the arm measures: positions [rad], velocities [rad/s] and external torques [N m] of the joints."""
    return world.ports([f"{ARM}/{field}" for field in ("q", "dq", "tau_ext_hat_filtered")])


def force(world: World) -> NDArray[np.float64]:
    """Return the force that the arm estimates at its end [N]."""
    return np.linalg.norm(world.port(f"{ARM}/O_F_ext_hat_K")[:, :3], axis=1)


def start(rng: np.random.Generator, count: int) -> dict[str, NDArray[np.float64]]:
    """Draw where the hole is."""
    return {name: rng.uniform(-ERROR, ERROR, count) for name in ("hole_x", "hole_y")}


def task(*, stiffness: float = 1.0, randomize: dict[str, Distribution] | None = None) -> Task:
    """Return the task.

    Args:
        stiffness: factor on the stiffness of all joints, 0.01 to 10.
        randomize: path of a parameter -> distribution.

    Raises:
        ModelError: a stiffness beyond the limits.
    """
    if not 0.01 <= stiffness <= 10.0:
        raise ModelError(f"stiffness is {stiffness!r}; must be 0.01 to 10", field="stiffness")
    period = 0.02
    return Task(
        robot=lambda: robot(stiffness),
        actions=[Action(f"{ARM}/dq_c[{i}]", -SPEED, SPEED) for i in range(7)],
        observation={"measured": measured},
        # Every term but the last is at most 0, so that an episode is worth more the sooner the peg is in.
        reward={
            "depth": lambda world: period * (np.clip(depth(world), -GAP, DEPTH) - DEPTH) / DEPTH,
            "offset": lambda world: -period * offset(world) / HALF,
            "force": lambda world: -period * np.maximum(force(world) - FORCE, 0.0) / FORCE,
            "inserted": lambda world: inserted(world).astype(float),
        },
        terminated={"inserted": inserted},
        period=period,
        duration=4.0,
        start=start,
        diverged_reward=STOPPED,
        camera="hole",
        randomize=randomize or {},
    )
