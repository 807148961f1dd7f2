"""Point at an angle under an unknown load, or rest the hand gently on a surface that moves.

One arm of one qbMove does both, as its target says: a target in front of the surface is an angle to hold, one beyond it
means to touch. The reward counts the error of the angle in the first case and that of the force in the second. Pointing
asks for a stiff joint, because nobody knows the load; touching asks for a soft one, because nobody knows where the
surface will be. A fixed stiffness is a compromise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import mujoco
import numpy as np
from numpy.typing import NDArray

from pliant.batch.distributions import Distribution, Uniform
from pliant.learn.envs.task import Action, Task, World, preset_actions
from pliant.model import Robot

JOINT = "joint"
NAMES = (f"{JOINT}/position", f"{JOINT}/velocity", "input/target", "input/touch")
"""Names of the observation's elements, for a policy that runs on the robot."""
LENGTH = 0.1
"""Distance of the hand from the axis [m]; assumed."""
OPTIONS: Mapping[str, object] = {
    "mounting": "hanging",
    "springs": "maker-pro",
    "load_mass": 0.3,
    "load_distance": LENGTH,
    "timestep": 0.002,
}
"""Options of the catalogue robot ``qbmove-1dof``: the arm without the surface."""
LOAD = Uniform(0.1, 0.5)
"""Mass that the hand carries [kg]; assumed."""
PRESETS = (0.0, 0.6)
"""Softest and stiffest preset [rad]; 0.2 and 0.6 are those of Mengacci et al. 2021, section 4.2."""
POINT = (-1.0, -0.3)
"""Range of the angles to point at [rad]."""
TOUCH = 0.5
"""Target that means to touch the surface [rad]."""
FORCE = 2.0
"""Force with which the hand shall rest on the surface [N]; assumed."""
ANGLE_SCALE = 0.1
"""Error of the angle that costs as much as no contact at all [rad]."""
SURFACE_ANGLE = 0.0
"""Angle at which the hand meets the resting surface [rad]: it hangs, so that the load does not press."""
SURFACE_MASS = 20.0
"""Mass of the surface [kg]; it moves freely on a spring, and the hand hardly disturbs it; assumed."""
SURFACE_FREQUENCY = 1.0
"""Frequency of its motion [Hz]; assumed."""
SURFACE_AMPLITUDE = (0.01, 0.02)
"""Range of its amplitudes [m]; assumed."""
RADIUS = 0.012
"""Radius of the hand [m]; assumed."""
START = -0.3
"""Angle from which the arm starts [rad]."""
ARRIVAL = 0.5
"""Time to arrive, in which no error counts [s]."""


def robot() -> Robot:
    """Return the hanging arm with a round hand, the surface, and the target on a hinge that nothing touches."""
    from pliant.robots import build_robot

    arm = build_robot("qbmove-1dof", dict(OPTIONS))
    spec = arm.spec
    hand = spec.body("link")
    hand.add_geom(
        name="hand",
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        size=[RADIUS, 0.0, 0.0],
        pos=[0.0, 0.0, -LENGTH],
        contype=2,
        conaffinity=0,
        condim=1,
        mass=0.0,
        material="orange",
    )
    axis = np.array(spec.body("stand").pos, dtype=float)
    x = LENGTH * math.sin(SURFACE_ANGLE) + RADIUS
    size = [0.005, 0.03, 0.06]
    surface = spec.worldbody.add_body(name="surface", pos=[x + size[0], 0.0, axis[2] - 0.07])
    surface.gravcomp = 1.0
    surface.add_joint(
        name="surface",
        type=mujoco.mjtJoint.mjJNT_SLIDE,
        axis=[1.0, 0.0, 0.0],
        stiffness=[SURFACE_MASS * (2.0 * math.pi * SURFACE_FREQUENCY) ** 2, 0.0, 0.0],
    )
    surface.add_geom(
        name="surface",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=size,
        mass=SURFACE_MASS,
        contype=0,
        conaffinity=2,
        condim=1,
        rgba=[0.35, 0.55, 0.75, 1.0],
    )
    surface.add_site(name="surface", type=mujoco.mjtGeom.mjGEOM_BOX, size=[4.0 * size[0], 0.04, 0.08], rgba=[0.0] * 4)
    spec.add_sensor(
        name="surface", type=mujoco.mjtSensor.mjSENS_TOUCH, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="surface"
    )
    target = spec.worldbody.add_body(name="target", pos=[axis[0], 0.02, axis[2]])
    target.gravcomp = 1.0
    target.add_joint(name="target", axis=[0.0, -1.0, 0.0], damping=[100.0, 0.0, 0.0])
    target.add_geom(
        name="target",
        type=mujoco.mjtGeom.mjGEOM_CAPSULE,
        fromto=[0.0, 0.0, -0.06, 0.0, 0.0, -LENGTH - 0.03],
        size=[0.002, 0.0, 0.0],
        mass=1.0,
        contype=0,
        conaffinity=0,
        rgba=[0.2, 0.7, 0.3, 1.0],
    )
    return arm


def target(world: World) -> NDArray[np.float64]:
    """Return the target [rad], shape (worlds, 1)."""
    return world.port("target/position")


def touching(world: World) -> NDArray[np.bool_]:
    """Return whether the hand shall touch."""
    return target(world)[:, 0] > SURFACE_ANGLE


def force(world: World) -> NDArray[np.float64]:
    """Return the force on the surface [N]."""
    return world.port("sensor/surface")[:, 0]


def judged(world: World) -> NDArray[np.bool_]:
    """Return whether the time to arrive is over."""
    return world.time > ARRIVAL + 1e-6


def angle_error(world: World) -> NDArray[np.float64]:
    """Return how far the arm is from the target, 0 while it shall touch [rad]."""
    error = np.abs(world.port(f"{JOINT}/position") - target(world))[:, 0]
    return np.where(touching(world), 0.0, error)


def force_error(world: World) -> NDArray[np.float64]:
    """Return how far the force is from `FORCE`, 0 while the arm shall point [N]."""
    return np.where(touching(world), np.abs(force(world) - FORCE), 0.0)


def start(rng: np.random.Generator, count: int) -> dict[str, NDArray[np.float64]]:
    """Draw targets, one half of them to touch, and how the surface moves."""
    point = rng.uniform(*POINT, count)
    first = rng.integers(2)
    amplitude = rng.uniform(*SURFACE_AMPLITUDE, count) * rng.choice([-1.0, 1.0], count)
    return {
        "target": np.where((np.arange(count) + first) % 2 == 0, point, TOUCH),
        "surface": amplitude,
        JOINT: np.full(count, START),
    }


def task(*, preset: float | None = None, randomize: dict[str, Distribution] | None = None) -> Task:
    """Return the task.

    Args:
        preset: a stiffness preset for the whole episode [rad]; None lets the action change it.
        randomize: path of a parameter -> distribution; None draws the load, ``{"link.mass": LOAD}``.

    Raises:
        ModelError: a preset beyond the limits.
    """
    period = 0.1
    return Task(
        robot=robot,
        actions=[Action(f"{JOINT}/reference_1", -1.6, 1.6), *preset_actions([JOINT], preset, PRESETS)],
        observation={
            "position": lambda w: w.port(f"{JOINT}/position"),
            "velocity": lambda w: w.port(f"{JOINT}/velocity"),
            "target": target,
            "touch": touching,
        },
        reward={
            "angle": lambda w: -period * judged(w) * angle_error(w) / ANGLE_SCALE,
            "force": lambda w: -period * judged(w) * force_error(w) / FORCE,
        },
        period=period,
        duration=1.5,
        start=start,
        randomize={"link.mass": LOAD} if randomize is None else randomize,
        camera="front",
    )
