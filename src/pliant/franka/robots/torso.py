"""The dual-arm manipulator of FrankaSim: two FER at the sides of a torso, before a work table with a post.

The publication (Oliva et al. 2022, section IV-B and figure 6) prints no dimensions. Every one of them here is ours and
marked as assumed. World: x forward, y to the left, z up; the torso stands at the origin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pliant.base.numerics import Array
from pliant.base.spatial import pose, rotation_from_rpy
from pliant.franka.robots.arm_model import MOTOR_INERTIA
from pliant.franka.robots.build import ArmMount, Block, HeldTag, Surroundings, WristCamera, build_arms
from pliant.franka.robots.parameters import FER

if TYPE_CHECKING:
    from pliant.model import Robot

SHOULDER = (0.0, 0.15, 1.2)
"""Place of the left base [m]; the right one is its mirror image."""  # assumed
LEAN = 0.5 * math.pi
"""Angle between the axis of a base and the vertical [rad]: the axes are level and point to the sides."""  # assumed
CAMERA = WristCamera(position=(0.0495, -0.0495, 0.02))
"""Of the right arm: beside the hand, across the direction in which the fingers open."""  # assumed
TAG = HeldTag()
"""In the left hand."""
TABLE = Block(name="table", position=(0.65, 0.0, 0.725), size=(0.7, 1.4, 0.05), rgba=(0.76, 0.65, 0.5, 1.0))
"""The work table."""  # assumed
POST_FACE = 0.395
"""Where the face of the post is that looks forward, along x [m]."""  # assumed
POST_STIFFNESS = 2000.0
"""Of its padding [N/m]: foam rubber."""  # assumed
POST_DAMPING = 60.0
"""[N s/m]."""  # assumed
POST_FRICTION = 0.1
"""Polished."""  # assumed
Q_LEFT = (-0.1249, 0.8504, 0.5515, -1.7867, -0.3588, 2.4658, 1.4581)
"""Left joints at start [rad]."""  # assumed
Q_RIGHT = (-0.5217, 0.9288, -0.02, -1.9647, 0.9918, 2.933, -0.9383)
"""Right joints at start [rad]."""  # assumed


def base(side: str) -> Array:
    """Return the pose of an arm's base in the world, "left" or "right", shape (4, 4)."""
    x, y, z = SHOULDER
    sign = 1.0 if side == "left" else -1.0
    return pose((x, sign * y, z), rotation_from_rpy((-sign * LEAN, 0.0, 0.0)))


def torso(
    *,
    camera: bool = False,
    tag: bool = False,
    obstacle: bool = True,
    friction: bool = True,
    motor_inertia: float = MOTOR_INERTIA,
    meshes: str = "",
    q_left: Sequence[float] = Q_LEFT,
    q_right: Sequence[float] = Q_RIGHT,
    camera_description: WristCamera = CAMERA,
) -> Robot:
    """Return the robot: arms ``left`` and ``right``, sensor ``right_wrench``, and ``right_camera`` if asked for.

    Args:
        camera: whether the right arm has a camera.
        tag: whether the left hand holds a tag; it needs the extra ``vision``.
        obstacle: whether the post stands on the table.
        friction: whether the identified joint friction acts, and is compensated.
        motor_inertia: fraction of the motors' inertia that the torque loops leave.
        meshes: as in `build_arms`.
        q_left: left joints at start, 7 numbers [rad].
        q_right: right joints at start, 7 numbers [rad].
        camera_description: place and lens of the camera.
    """
    x, y, z = SHOULDER
    mounts = [
        ArmMount(
            name=name,
            arm=FER,
            position=(x, sign * y, z),
            rpy=(-sign * LEAN, 0.0, 0.0),
            q=tuple(float(angle) for angle in q),
            motor_inertia=motor_inertia,
            camera=camera_description if camera and name == "right" else None,
            wrench_sensor=name == "right",
            tag=TAG if tag and name == "left" else None,
        )
        for name, sign, q in (("left", 1.0, q_left), ("right", -1.0, q_right))
    ]
    white = (0.9, 0.9, 0.92, 1.0)
    blocks = [
        Block(name="torso", position=(x, 0.0, 0.5 * z), size=(0.2, 0.2, z), rgba=white, collides=False),
        Block(name="shoulders", position=(x, 0.0, z), size=(0.204, 2.0 * y, 0.24), rgba=white, collides=False),
        Block(name="head", position=(x, 0.0, z + 0.22), size=(0.12, 0.14, 0.16), rgba=white, collides=False),
        TABLE,
    ]
    top = TABLE.position[2] + 0.5 * TABLE.size[2]
    if obstacle:
        blocks.append(
            Block(
                name="obstacle",
                position=(POST_FACE - 0.03, -0.015, top + 0.205),  # on its padding, clear of the table
                size=(0.06, 0.07, 0.4),
                rgba=(0.8, 0.35, 0.2, 1.0),
                stiffness=POST_STIFFNESS,
                damping=POST_DAMPING,
                friction=POST_FRICTION,
            )
        )
    around = Surroundings(blocks=tuple(blocks), pedestals=False)
    return build_arms(mounts, name="franka-torso", friction=friction, meshes=meshes, around=around)
