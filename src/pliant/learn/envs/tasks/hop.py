"""Hop with a leg of two series-elastic joints on a vertical rail.

The springs return what a landing gives them, so a hop in their rhythm costs little. The reward is the height of the
body over its standing height, less the torque of the motors.
"""

from __future__ import annotations

import math

import mujoco
import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import ModelError
from pliant.batch.distributions import Distribution
from pliant.learn.envs.task import Action, Task, World
from pliant.model import Robot

JOINTS = ("hip", "knee")
LENGTH = 0.2
"""Length of thigh and shank [m]; assumed."""
BENT = 0.6
"""Angle of the thigh to the vertical at the start [rad]; the knee bends by twice as much; assumed."""
STANDING = 2.0 * LENGTH * math.cos(BENT)
"""Height of the hip over the foot at the start [m]."""
BODY_MASS = 1.5
"""Mass of what the leg carries [kg]; assumed."""
LINK_MASS = 0.15
"""Mass of thigh and shank, each [kg]; assumed."""
FOOT = 0.02
"""Radius of the foot [m]; assumed."""

MODEL = f"""
<mujoco model="hopper">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.001" integrator="implicitfast" gravity="0 0 -9.81"/>
  <statistic center="0 0 0.25" extent="0.6"/>
  <visual><headlight ambient="0.5 0.5 0.5" diffuse="0.5 0.5 0.5"/></visual>
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1="0.93 0.95 0.97" rgb2="0.72 0.78 0.85"
             width="64" height="384"/>
    <texture name="floor" type="2d" builtin="checker" rgb1="0.86 0.88 0.9" rgb2="0.8 0.83 0.86"
             width="128" height="128"/>
    <material name="floor" texture="floor" texrepeat="10 10" texuniform="true"/>
  </asset>
  <default>
    <default class="link">
      <geom type="capsule" mass="{LINK_MASS}" contype="0" conaffinity="0"/>
    </default>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 0.05" material="floor" friction="1 0.005 0.0001"/>
    <light pos="1 -1.5 2" dir="-1 1.5 -2" diffuse="0.35 0.35 0.35"/>
    <geom class="link" type="cylinder" fromto="0 0.058 0 0 0.058 1.2" size="0.008" mass="0" rgba="0.5 0.55 0.6 1"/>
    <body name="body" pos="0 0 {STANDING + FOOT}">
      <joint name="rail" type="slide" axis="0 0 1" damping="0.5"/>
      <geom type="box" size="0.05 0.05 0.03" mass="{BODY_MASS}" contype="0" conaffinity="0" rgba="0.17 0.19 0.22 1"/>
      <body name="thigh">
        <joint name="hip" axis="0 1 0" range="-2 2" damping="0.02"/>
        <geom class="link" fromto="0 0 0 0 0 -{LENGTH}" size="0.015" rgba="0.9 0.45 0.08 1"/>
        <body name="shank" pos="0 0 -{LENGTH}">
          <joint name="knee" axis="0 1 0" range="-2.6 2.6" damping="0.02"/>
          <geom class="link" fromto="0 0 0 0 0 -{LENGTH}" size="0.012" rgba="0.1 0.42 0.68 1"/>
          <geom name="foot" type="sphere" pos="0 0 -{LENGTH}" size="{FOOT}" mass="0.02" friction="1 0.005 0.0001"/>
          <site name="foot" pos="0 0 -{LENGTH}" size="{FOOT + 0.005}" rgba="0 0 0 0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <sensor><touch name="foot" site="foot"/></sensor>
  <keyframe><key name="rest" qpos="0 {BENT} {-2.0 * BENT}"/></keyframe>
</mujoco>
"""


def robot(stiffness: float = 60.0) -> Robot:
    """Return the leg.

    Args:
        stiffness: of both springs [N m/rad].
    """
    from pliant.laws import SEA, CompliantActuator, DCMotor

    motor = DCMotor(inertia=0.02, max_torque=12.0, max_velocity=12.0, limit_velocity=True)
    leg = Robot(mujoco.MjSpec.from_string(MODEL))
    for joint in JOINTS:
        leg.add_actuator(joint, CompliantActuator(SEA(k=stiffness), mode=6, motor_1=motor))
    return leg


def height(world: World) -> NDArray[np.float64]:
    """Return the height of the body over its height at the start [m]."""
    return world.port("rail/position")[:, 0]


def fallen(world: World) -> NDArray[np.bool_]:
    """Return whether the leg folded."""
    return height(world) < -0.6 * STANDING


def effort(world: World) -> NDArray[np.float64]:
    """Return the mean square torque of the motors [N^2 m^2]."""
    return np.mean([world.port(f"{joint}/motor_1_effort")[:, 0] ** 2 for joint in JOINTS], axis=0)


def joints(world: World) -> NDArray[np.float64]:
    """Return positions [rad, m] and velocities of joints and rail."""
    names = ("rail", *JOINTS)
    return world.ports([f"{j}/{q}" for q in ("position", "velocity") for j in names])


def touch(world: World) -> NDArray[np.float64]:
    """Return whether the foot touches the floor, 0 or 1."""
    return (world.port("sensor/foot") > 0.0).astype(float)


def task(*, stiffness: float = 60.0, randomize: dict[str, Distribution] | None = None) -> Task:
    """Return the task.

    Args:
        stiffness: of both springs [N m/rad].
        randomize: path of a parameter -> distribution.

    Raises:
        ModelError: a stiffness that is not positive.
    """
    if not 0.0 < stiffness < math.inf:
        raise ModelError(f"stiffness is {stiffness!r}; must be above 0 N m/rad", field="stiffness")
    period = 0.02
    return Task(
        robot=lambda: robot(stiffness),
        actions=[
            Action("hip/reference_1", BENT - 0.5, BENT + 0.5),
            Action("knee/reference_1", -2.0 * BENT - 0.9, -2.0 * BENT + 0.9),
        ],
        observation={"joints": joints, "touch": touch},
        reward={
            "height": lambda world: period * np.maximum(height(world), 0.0) / STANDING,
            "effort": lambda world: -1e-4 * period * effort(world),
        },
        terminated={"fallen": fallen},
        period=period,
        duration=5.0,
        randomize=randomize or {},
    )
