"""Straight lines in the image: (rho, theta) with x cos(theta) + y sin(theta) = rho.

A line of space is given by a point and a direction in the camera's optical frame. Its direction orients the line:
the opposite direction gives (-rho, theta + pi), the same line of the image. Features therefore stay continuous where
rho changes its sign. Not defined for lines through the optical centre and lines in the focal plane.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.spatial import cross
from pliant.camera.conditions import Array, Condition, VisionError, finite_array, finite_result, positive_depth

TINY = 1e-12
"""Relative length below which a normal vector counts as zero."""  # assumed


def line_features(point: ArrayLike, direction: ArrayLike) -> tuple[Array, Array]:
    """Return (rho, theta) of a line and a plane that contains it, for `line_interaction`.

    The plane is the one farthest from the optical centre, so the interaction matrix is as well scaled as it can be.

    Args:
        point: a point of the line in the optical frame, in front of the camera, shape (3,) [m].
        direction: along the line, of any length but zero, shape (3,).

    Returns:
        (rho, theta), shape (2,) [-, rad], theta in (-pi, pi], and (A, B, C, D) of the plane
        A X + B Y + C Z + D = 0, shape (4,).

    Raises:
        VisionError: BEHIND_CAMERA; DEGENERATE where the line has no image; bad arrays.
    """
    p, d = finite_array("point", point, (3,)), finite_array("direction", direction, (3,))
    positive_depth("depth of the point", p[2], condition=Condition.BEHIND_CAMERA)
    length = float(np.linalg.norm(d))
    if not length > 0.0 or not np.isfinite(length):
        raise VisionError(Condition.DEGENERATE, "direction has no length", field="direction")
    d = d / length
    m = cross(p, d)
    across = math.hypot(m[0], m[1])
    if across <= TINY * float(np.linalg.norm(p)):
        raise VisionError(
            Condition.DEGENERATE,
            "the line passes through the optical centre, or lies in the focal plane",
            field="point",
        )
    nearest = p - (p @ d) * d
    plane = np.append(nearest, -float(nearest @ nearest))
    return finite_result("line", np.array([-m[2] / across, math.atan2(m[1], m[0])])), finite_result("plane", plane)


def line_interaction(features: ArrayLike, plane: ArrayLike) -> Array:
    """Return the interaction matrix of a line (Espiau, Chaumette and Rives 1992).

        L_rho   = [a c, a s, -a rho, (1 + rho^2) s, -(1 + rho^2) c, 0],  a = (A rho c + B rho s + C)/D
        L_theta = [b c, b s, -b rho, -rho c, -rho s, -1],               b = (A s - B c)/D

    with c = cos(theta), s = sin(theta).

    Args:
        features: rho, theta, shape (2,) [-, rad].
        plane: A, B, C, D of a plane that contains the line but not the optical centre, shape (4,).

    Returns:
        Rows rho, theta, shape (2, 6).

    Raises:
        VisionError: DEGENERATE where the plane contains the optical centre; bad arrays.
    """
    rho, theta = finite_array("features", features, (2,))
    A, B, C, D = plane_ = finite_array("plane", plane, (4,))
    if abs(D) <= TINY * float(np.linalg.norm(plane_[:3])):
        raise VisionError(Condition.DEGENERATE, "the plane contains the optical centre (D = 0)", field="plane")
    c, s = math.cos(theta), math.sin(theta)
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = (A * rho * c + B * rho * s + C) / D, (A * s - B * c) / D
        square = 1.0 + rho * rho
        L = np.array(
            [
                [a * c, a * s, -a * rho, square * s, -square * c, 0.0],
                [b * c, b * s, -b * rho, -rho * c, -rho * s, -1.0],
            ]
        )
    return finite_result("interaction matrix", L)


def line_error(features: ArrayLike, desired: ArrayLike) -> Array:
    """Return features minus desired features, the angle in (-pi, pi], shape (2,)."""
    e = finite_array("features", features, (2,)) - finite_array("desired", desired, (2,))
    e[1] = math.pi - (math.pi - e[1]) % (2.0 * math.pi)
    return e
