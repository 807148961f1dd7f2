"""Points in the image: normalised coordinates and their interaction matrix.

The camera's optical frame has x to the right, y down, z forward. A point (X, Y, Z) of that frame has the normalised
coordinates x = X/Z, y = Y/Z.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.camera.conditions import Array, Condition, VisionError, finite_array, finite_result, positive_depth
from pliant.vision.checks import pose_matrix


def project_points(points: ArrayLike, X_CO: ArrayLike) -> tuple[Array, Array]:
    """Return the normalised coordinates and the depths of points of an object.

    Args:
        points: in the object's frame, shape (n, 3) [m].
        X_CO: pose of the object in the camera's optical frame, shape (4, 4).

    Returns:
        (x, y) of each point, shape (n, 2), and its depth Z, shape (n,) [m].

    Raises:
        VisionError: a point is behind the camera (BEHIND_CAMERA); bad arrays.
    """
    X = pose_matrix("X_CO", X_CO)
    p = finite_array("points", points, (None, 3)) @ X[:3, :3].T + X[:3, 3]
    Z = positive_depth("depth of points", p[:, 2], condition=Condition.BEHIND_CAMERA)
    return finite_result("xy", p[:, :2] / Z[:, None]), Z


def point_interaction(xy: ArrayLike, Z: ArrayLike) -> Array:
    """Return the interaction matrix of points (Chaumette and Hutchinson 2006).

        L = [-1/Z, 0, x/Z, x y, -(1 + x^2), y]
            [0, -1/Z, y/Z, 1 + y^2, -x y, -x]

    It maps the camera's velocity (v, omega) in its own axes to the rates of (x, y) of points at rest.

    Args:
        xy: normalised coordinates, shape (n, 2).
        Z: depths, shape (n,), or one number for all [m].

    Returns:
        Rows x_1, y_1, x_2, y_2, ..., shape (2 n, 6).

    Raises:
        VisionError: a depth is zero or negative (DEPTH); bad arrays.
    """
    s = finite_array("xy", xy, (None, 2))
    Z = positive_depth("Z", Z)
    if Z.size == 1:
        Z = np.full(len(s), Z[0])
    if Z.size != len(s):
        raise VisionError(Condition.SHAPE, f"Z has {Z.size} depths for {len(s)} points", field="Z")
    x, y = s.T
    L = np.zeros((len(s), 2, 6))
    with np.errstate(over="ignore", invalid="ignore"):
        L[:, 0, 0] = L[:, 1, 1] = -1.0 / Z
        L[:, 0, 2], L[:, 1, 2] = x / Z, y / Z
        L[:, 0, 3], L[:, 0, 4], L[:, 0, 5] = x * y, -(1.0 + x * x), y
        L[:, 1, 3], L[:, 1, 4], L[:, 1, 5] = 1.0 + y * y, -x * y, -x
    return finite_result("interaction matrix", L.reshape(-1, 6))
