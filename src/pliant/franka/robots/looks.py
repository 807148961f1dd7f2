"""Looks of the arm and its hand: white surfaces of our own with dark rings at the joints.

The axes and lengths are those of the published Denavit-Hartenberg table, and the radii those of the cylinders that the
vendor's public description uses for self collision (0.06 m at the joints 1 to 5, 0.05 m at 6, 0.04 m at 7), slightly
less where two links share a joint. Places of the parting planes, roundings and the shape of the base are drawn after
the arm's appearance. Everything here is for looking at: contacts and masses come from other shapes.
"""  # assumed, where no published number is named

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.base.spatial import quaternion_from_rotation
from pliant.franka.robots.parameters import EE_OF_HAND, FINGER_Z
from pliant.franka.robots.surfaces import CELL, Ball, Box, Shape, Tube, surface

if TYPE_CHECKING:
    import mujoco

WHITE, DARK, LIGHT = (0.95, 0.95, 0.96, 1.0), (0.13, 0.13, 0.14, 1.0), (0.78, 0.79, 0.8, 1.0)
_Y, _Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
GROUP = 2
"""Of MuJoCo: shown by default; the shapes that collide are in group 3, hidden by default."""

R = 0.056
"""Radius at the joints 1 to 5 [m]."""
R6 = 0.049
"""At joint 6 [m]."""
R7 = 0.045
"""At joint 7 [m]."""
LAP = 0.008
"""How far each link reaches beyond the parting plane of a joint [m]: both are round about its axis, and a ring covers
the place in every pose."""
RING = (0.0009, 0.0028)
"""How far a ring stands out, and half of its width [m]."""

_Z1, _Z3, _Z5, _Y6, _Y7 = 0.1415, 0.1245, 0.259, 0.045, 0.038
SEAMS = (
    # joint, point on its axis in the frame of the link before, in that of the link after [m]; axis z of the latter
    ((0.0, 0.0, _Z1), (0.0, 0.0, _Z1 - 0.333)),
    ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ((0.0, _Z3 - 0.316, 0.0), (0.0, 0.0, -_Z3)),
    ((0.0825, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ((-0.0825, 0.384 - _Z5, 0.0), (0.0, 0.0, -_Z5)),
    ((0.0, _Y6, 0.0), (0.0, 0.0, -_Y6)),
    ((0.088, -_Y7, 0.0), (0.0, 0.0, _Y7)),
)
"""Where joint 1 to 7 parts its two links: a point of the axis in both frames [m]."""
RINGS = (R, R, R, R, R, R6, R7)
"""Radius of both links at each joint [m]."""

LINKS = (
    Shape(  # base
        (
            Tube((0, 0, -0.01), (0, 0, _Z1 + LAP), 0.066, 0.002, 0.004, R - 0.0012),
            Box((-0.062, 0, 0.042), (0.074, 0.058, 0.05), 0.022, 0.04),
            Box((-0.032, 0, 0.004), (0.1, 0.082, 0.014), 0.006, 0.055),
        ),
        0.05,
        (-0.17, -0.13, -0.03),
        (0.11, 0.13, 0.16),
    ),
    Shape(  # 1: from the base up to the left half of the shoulder
        (
            Tube((0, 0, _Z1 - 0.333 - LAP), (0, 0, -0.04), R, 0.004, 0.04),
            Tube((0, LAP, 0), (0, -0.122, 0), R, 0.004, 0.028),
        ),
        0.045,
        (-0.09, -0.15, -0.22),
        (0.09, 0.09, 0.09),
    ),
    Shape(  # 2: the right half of the shoulder and the upper arm
        (
            Tube((0, _Z3 - 0.316 - LAP, 0), (0, -0.04, 0), R, 0.004, 0.04),
            Tube((0, 0, -LAP), (0, 0, 0.122), R, 0.004, 0.028),
        ),
        0.045,
        (-0.09, -0.22, -0.09),
        (0.09, 0.09, 0.15),
    ),
    Shape(  # 3: to the elbow, which lies before the axis of the arm
        (
            Tube((0, 0, -_Z3 - LAP), (0, 0, -0.035), R, 0.004, 0.04),
            Ball((0.012, 0.01, -0.04), (0.07, 0.05, 0), 0.046, 0.044),
            Tube((0.0825, -LAP, 0), (0.0825, 0.115, 0), R, 0.004, 0.028),
        ),
        0.04,
        (-0.09, -0.09, -0.15),
        (0.16, 0.15, 0.09),
    ),
    Shape(  # 4: from the elbow back to the axis of the arm
        (
            Tube((-0.0825, 0.384 - _Z5 + LAP, 0), (-0.0825, 0.05, 0), R, 0.004, 0.04),
            Ball((-0.07, 0.05, 0.01), (-0.012, 0, 0.05), 0.046, 0.044),
            Tube((0, 0, -LAP), (0, 0, 0.115), R, 0.004, 0.028),
        ),
        0.04,
        (-0.16, -0.09, -0.09),
        (0.09, 0.16, 0.15),
    ),
    Shape(  # 5: the forearm, which narrows towards one side
        (
            Tube((0, 0, -_Z5 - LAP), (0, 0, -0.205), R, 0.004, 0.025),
            Ball((0, 0.01, -0.2), (0, 0.073, -0.13), 0.048, 0.034),
            Ball((0, 0.073, -0.13), (0, 0.078, -0.03), 0.034, 0.035),
            Tube((0, _Y6 - LAP, 0), (0, 0.112, 0), R6, 0.004, 0.024),
        ),
        0.03,
        (-0.09, -0.09, -0.29),
        (0.09, 0.15, 0.08),
    ),
    Shape(  # 6: the wrist
        (
            Tube((0, 0, -_Y6 - LAP), (0, 0, 0.064), R6, 0.004, 0.028),
            Ball((0.02, 0.005, 0.003), (0.075, 0.015, 0), 0.042, 0.042),
            Tube((0.088, -_Y7 - LAP, 0), (0.088, 0.066, 0), R7, 0.004, 0.014),
        ),
        0.035,
        (-0.08, -0.08, -0.08),
        (0.16, 0.1, 0.1),
    ),
    Shape(  # 7: down to the flange, with the connector at 45 degrees
        (
            Tube((0, 0, _Y7 - LAP), (0, 0, 0.104), R7, 0.004, 0.008),
            Box((0.036, 0.036, 0.081), (0.038, 0.024, 0.016), 0.01, 0.015, 0.25 * np.pi),
        ),
        0.012,
        (-0.07, -0.07, 0.02),
        (0.11, 0.11, 0.13),
    ),
)
"""Links 0 to 7, in the frames of the modified Denavit-Hartenberg convention."""

HAND = Shape(
    (
        Box((0, 0, 0.0395), (0.0315, 0.102, 0.0265), 0.012, 0.028),
        Tube((0, 0, 0.002), (0, 0, 0.03), 0.034, 0.004, 0.004, 0.03),
    ),
    0.02,
    (-0.05, -0.13, -0.02),
    (0.05, 0.13, 0.09),
)
"""The two-finger hand; y is the direction in which its fingers open."""
FINGER = Shape(
    (
        Box((0, 0.0115, 0.014), (0.0105, 0.0115, 0.010), 0.003, 0.003),
        Box((0, 0.010, 0.030), (0.0095, 0.0085, 0.024), 0.003, 0.003),
    ),
    0.008,
    (-0.02, -0.01, -0.01),
    (0.02, 0.035, 0.065),
)
"""The first finger, from the lower side of the hand, z towards its tip; y away from the other finger."""


def hide_colliding(body: mujoco.MjsBody) -> None:
    """Hide the shapes of a body that collide; others, such as a tag that the hand holds, stay in sight."""
    for geom in body.geoms:
        if geom.contype or geom.conaffinity:
            geom.group = 3


def add_looks(spec: mujoco.MjSpec, at: str, *, hand: bool) -> None:
    """Draw the links of one arm, and hide the shapes that collide.

    Args:
        spec: the arm, as `arm_spec` makes it.
        at: prefix of its bodies.
        hand: whether it has the hand with two fingers.
    """
    bodies = [spec.body(f"{at}link{i}") for i in range(8)]
    parts = [*bodies, *(spec.body(f"{at}{name}") for name in (("hand", "finger1", "finger2") if hand else ()))]
    for body in parts:
        hide_colliding(body)
    for i, (body, shape) in enumerate(zip(bodies, LINKS, strict=True)):
        _mesh(spec, body, f"{at}link{i}_surface", shape, WHITE)
    for i, ((place, _), radius) in enumerate(zip(SEAMS, RINGS, strict=True)):
        _ring(bodies[i], place, _Y if i else _Z, radius + RING[0], RING[1])
    _ring(bodies[6], (0.088, 0.0655, 0.0), _Y, 0.03, 0.002)  # the disc of buttons
    _ring(bodies[7], (0.0, 0.0, 0.1045), _Z, 0.0315, 0.0025)  # the flange
    if hand:
        turn = EE_OF_HAND[:3, :3]
        palm, first, second = parts[8:]
        _mesh(spec, palm, f"{at}hand_surface", HAND, WHITE, turn=turn)
        # so short that the camera of `WristCamera`, inside the hand, does not see it
        _slab(palm, turn, (0.0, 0.0, 0.0655), (0.012, 0.03, 0.0015))
        other = turn @ np.diag([-1.0, -1.0, 1.0])
        for n, (body, rotation) in enumerate(((first, turn), (second, other)), start=1):
            _mesh(spec, body, f"{at}finger{n}_surface", FINGER, LIGHT, turn=rotation, height=FINGER_Z, cell=0.003)
            _slab(body, rotation, (0.0, 0.0055, FINGER_Z + 0.044), (0.0088, 0.0055, 0.0095))


def _mesh(
    spec: mujoco.MjSpec,
    body: mujoco.MjsBody,
    name: str,
    shape: Shape,
    rgba: tuple[float, ...],
    *,
    turn: np.ndarray | None = None,
    height: float = 0.0,
    cell: float = CELL,
) -> None:
    import mujoco

    vertices, faces, normals = surface(shape, cell)
    mesh = spec.add_mesh(name=name)
    # MuJoCo takes a list in two thirds of the time of an array
    mesh.uservert, mesh.userface, mesh.usernormal = (a.ravel().tolist() for a in (vertices, faces, normals))
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    geom = body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, rgba=list(rgba), **_SEEN)
    geom.pos = [0.0, 0.0, height]
    if turn is not None:
        geom.quat = quaternion_from_rotation(turn)


_SEEN = {"contype": 0, "conaffinity": 0, "mass": 0.0, "group": GROUP}


def _ring(body: mujoco.MjsBody, place: tuple[float, ...], axis: tuple[float, ...], radius: float, half: float) -> None:
    import mujoco

    p, a = np.asarray(place), np.asarray(axis)
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        fromto=[*(p - half * a), *(p + half * a)],
        size=[radius, 0, 0],
        rgba=list(DARK),
        **_SEEN,
    )


def _slab(body: mujoco.MjsBody, turn: np.ndarray, center: tuple[float, ...], half: tuple[float, ...]) -> None:
    import mujoco

    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=list(half),
        pos=(turn @ np.asarray(center)).tolist(),
        quat=quaternion_from_rotation(turn),
        rgba=list(DARK),
        **_SEEN,
    )
