"""Circles of space, seen as ellipses: (x_g, y_g, n20, n11, n02).

An ellipse is described by its centre and its centred second moments over its area, as `shape_of_moments` gives them
for any region. For semi-axes a and b along axes at the angle alpha: n20 = (a^2 cos^2 + b^2 sin^2)/4 and so on.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pliant.camera.conditions import Array, Condition, VisionError, finite_array, finite_result, number, positive_depth
from pliant.vision.moments import shape_interaction


def circle_plane(center: ArrayLike, normal: ArrayLike) -> Array:
    """Return (A, B, C) with 1/Z = A x + B y + C for the plane of a circle, shape (3,) [1/m].

    Args:
        center: in the optical frame, shape (3,) [m].
        normal: of any length but zero, shape (3,).

    Raises:
        VisionError: DEGENERATE where the circle is seen edge-on; bad arrays.
    """
    c, n = finite_array("center", center, (3,)), _unit(normal)
    distance = float(n @ c)
    if abs(distance) <= 1e-9 * float(np.linalg.norm(c)):
        raise VisionError(
            Condition.DEGENERATE, "the circle is seen edge-on: its plane contains the camera", field="normal"
        )
    return n / distance


def circle_ellipse(center: ArrayLike, normal: ArrayLike, radius: float) -> Array:
    """Return the ellipse that is the image of a circle.

    A ray along x = (x, y, 1) meets the plane at s = n.c / n.x; it is on the circle where |s x - c| = r, hence the cone

        Q = (n.c)^2 I - (n.c)(n c^T + c n^T) + (|c|^2 - r^2) n n^T,    x^T Q x = 0.

    Args:
        center: in the optical frame, shape (3,) [m].
        normal: of the circle's plane, either side, of any length but zero, shape (3,).
        radius: more than zero [m].

    Returns:
        (x_g, y_g, n20, n11, n02), shape (5,).

    Raises:
        VisionError: BEHIND_CAMERA where any part of the circle is not in front; DEGENERATE seen edge-on; bad arrays.
    """
    c, n = finite_array("center", center, (3,)), _unit(normal)
    r = number("radius", radius, low=0.0, above=True)
    circle_plane(c, n)
    lowest = c[2] - r * math.sqrt(max(1.0 - n[2] * n[2], 0.0))
    positive_depth("least depth of the circle", lowest, condition=Condition.BEHIND_CAMERA)
    h = float(n @ c)
    Q = h * h * np.eye(3) - h * (np.outer(n, c) + np.outer(c, n)) + (float(c @ c) - r * r) * np.outer(n, n)
    S, q = Q[:2, :2], Q[:2, 2]
    try:
        g = -np.linalg.solve(finite_result("cone", S), q)
        N = -0.25 * (Q[2, 2] + float(q @ g)) * np.linalg.inv(S)
    except np.linalg.LinAlgError:
        raise VisionError(Condition.DEGENERATE, "the image of the circle has no area", field="radius") from None
    return finite_result("ellipse", np.array([g[0], g[1], N[0, 0], N[0, 1], N[1, 1]]))


def ellipse_interaction(ellipse: ArrayLike, plane: ArrayLike) -> Array:
    """Return the interaction matrix of an ellipse in a plane (Chaumette 2004, by the moments up to order three).

    Args:
        ellipse: x_g, y_g, n20, n11, n02, shape (5,).
        plane: A, B, C with 1/Z = A x + B y + C, shape (3,) [1/m].

    Returns:
        shape (5, 6). At a circle parallel to the image and in its centre the rank is less than five.

    Raises:
        VisionError: DEGENERATE where the numbers are no ellipse; bad arrays.
    """
    x, y, n20, n11, n02 = e = finite_array("ellipse", ellipse, (5,))
    if not (n20 > 0.0 and n02 > 0.0 and n20 * n02 > n11 * n11):
        raise VisionError(Condition.DEGENERATE, f"n20, n11, n02 are {e[2:]}; they are no ellipse", field="ellipse")
    area = 4.0 * math.pi * math.sqrt(n20 * n02 - n11 * n11)
    m = np.zeros((4, 4))  # the centred third moments of an ellipse are zero
    m[0, 0], m[1, 0], m[0, 1] = 1.0, x, y
    m[2, 0], m[1, 1], m[0, 2] = x * x + n20, x * y + n11, y * y + n02
    m[3, 0], m[0, 3] = x**3 + 3.0 * x * n20, y**3 + 3.0 * y * n02
    m[2, 1] = x * x * y + y * n20 + 2.0 * x * n11
    m[1, 2] = x * y * y + x * n02 + 2.0 * y * n11
    return shape_interaction(area * m, plane)


def _unit(normal: ArrayLike) -> Array:
    n = finite_array("normal", normal, (3,))
    length = float(np.linalg.norm(n))
    if not length > 0.0 or not math.isfinite(length):
        raise VisionError(Condition.DEGENERATE, "normal has no length", field="normal")
    return n / length
