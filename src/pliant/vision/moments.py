"""Image moments of a plane target, and features made of them.

m_ij is the integral of x^i y^j over the image of a region, or its sum over points, in normalised coordinates. The
target's plane is given by (A, B, C) with 1/Z = A x + B y + C.

Source: Chaumette 2004, "Image moments: a general and useful set of features for visual servoing", for
regions; Tahri and Chaumette 2005 for points.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from pliant.camera.conditions import Array, Condition, VisionError, finite_array, finite_result, number, positive_depth
from pliant.vision.checks import pose_matrix

MAX_ORDER = 6
"""Highest order of moments: the quadrature of `polygon_moments` is exact up to it."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(4)
"""Gauss-Legendre of four nodes, exact to degree 7, which is what x^(i+1) y^j along an edge has for i + j = 6."""
ROUND = 1e-12
"""Relative difference of the second moments below which an orientation is not defined."""  # assumed


def plane_of_target(X_CO: ArrayLike) -> Array:
    """Return (A, B, C) with 1/Z = A x + B y + C for the plane z = 0 of a target, shape (3,) [1/m].

    Raises:
        VisionError: DEGENERATE where the plane contains the optical centre; not a pose.
    """
    X = pose_matrix("X_CO", X_CO)
    n, t = X[:3, 2], X[:3, 3]
    distance = float(n @ t)
    if abs(distance) <= 1e-9 * max(float(np.linalg.norm(t)), 1e-3):
        raise VisionError(
            Condition.DEGENERATE, "the target is seen edge-on: its plane contains the camera", field="X_CO"
        )
    return n / distance


def point_moments(xy: ArrayLike, order: int = 3) -> Array:
    """Return m[i, j], the sum of x^i y^j over points, zero where i + j exceeds the order.

    Args:
        xy: normalised coordinates, shape (n, 2).
        order: highest i + j, up to 6.

    Returns:
        shape (order + 1, order + 1).
    """
    s, order = finite_array("xy", xy, (None, 2)), _order(order)
    m = np.zeros((order + 1, order + 1))
    with np.errstate(over="ignore", invalid="ignore"):
        for i, j in _indices(order):
            m[i, j] = np.sum(s[:, 0] ** i * s[:, 1] ** j)
    return finite_result("moments", m)


def polygon_moments(xy: ArrayLike, order: int = 3) -> Array:
    """Return m[i, j], the integral of x^i y^j over a polygon, by Green's theorem along its edges.

    Args:
        xy: corners in order, in either sense of rotation, edges not crossing, shape (n, 2).
        order: highest i + j, up to 6.

    Returns:
        shape (order + 1, order + 1); m[0, 0] is the area.

    Raises:
        VisionError: DEGENERATE where the area is zero; fewer than three corners (SHAPE); bad arrays.
    """
    s, order = finite_array("xy", xy, (None, 2)), _order(order)
    if len(s) < 3:
        raise VisionError(Condition.SHAPE, f"xy has {len(s)} corners; must be at least 3", field="xy")
    step = np.roll(s, -1, axis=0) - s
    m = np.zeros((order + 1, order + 1))
    with np.errstate(over="ignore", invalid="ignore"):
        x, y = (s[:, None, :] + 0.5 * (NODES[:, None] + 1.0) * step[:, None, :]).transpose(2, 0, 1)
        for i, j in _indices(order):
            m[i, j] = np.sum(0.5 * step[:, 1] * (x ** (i + 1) * y**j @ WEIGHTS)) / (i + 1)
    extent = float(np.max(np.ptp(s, axis=0)))
    if not abs(m[0, 0]) > 1e-12 * extent * extent:
        raise VisionError(Condition.DEGENERATE, "the polygon has no area", field="xy")
    return finite_result("moments", m if m[0, 0] > 0.0 else -m)


def moment_interaction(m: ArrayLike, plane: ArrayLike, i: int, j: int, *, dense: bool = True) -> Array:
    """Return the interaction matrix of one moment.

        L_vx = -i (A m_ij + B m_i-1,j+1 + C m_i-1,j) - d A m_ij
        L_vy = -j (A m_i+1,j-1 + B m_ij + C m_i,j-1) - d B m_ij
        L_vz = (i + j + 3 d)(A m_i+1,j + B m_i,j+1 + C m_ij) - d C m_ij
        L_wx = (i + j + 3 d) m_i,j+1 + j m_i,j-1
        L_wy = -(i + j + 3 d) m_i+1,j - i m_i-1,j
        L_wz = i m_i-1,j+1 - j m_i+1,j-1

    with d = 1 for regions and 0 for points.

    Args:
        m: moments up to order i + j + 1 at least, shape (k, k).
        plane: A, B, C, shape (3,) [1/m].
        i: power of x.
        j: power of y.
        dense: True for regions, False for points.

    Returns:
        shape (6,).

    Raises:
        VisionError: moments of too low an order (SHAPE); bad arrays.
    """
    M = finite_array("m", m, (None, None))
    A, B, C = finite_array("plane", plane, (3,))
    if min(i, j) < 0 or min(M.shape) < i + j + 2:
        raise VisionError(
            Condition.SHAPE, f"m has shape {M.shape}; the interaction of m[{i}, {j}] needs order {i + j + 1}", field="m"
        )

    def at(k: int, n: int) -> float:
        return float(M[k, n]) if k >= 0 and n >= 0 else 0.0  # its factor i or j is zero there

    d = 1.0 if dense else 0.0
    n = i + j + 3.0 * d
    here = at(i, j)
    L = [
        -i * (A * here + B * at(i - 1, j + 1) + C * at(i - 1, j)) - d * A * here,
        -j * (A * at(i + 1, j - 1) + B * here + C * at(i, j - 1)) - d * B * here,
        n * (A * at(i + 1, j) + B * at(i, j + 1) + C * here) - d * C * here,
        n * at(i, j + 1) + j * at(i, j - 1),
        -n * at(i + 1, j) - i * at(i - 1, j),
        i * at(i - 1, j + 1) - j * at(i + 1, j - 1),
    ]
    return finite_result("interaction matrix", np.array(L))


def shape_of_moments(m: ArrayLike) -> Array:
    """Return (x_g, y_g, n20, n11, n02): the centre, and the centred second moments over m00.

    An ellipse is known by these five numbers and nothing else; so is the ellipse of inertia of any region.

    Args:
        m: moments of order 2 at least, shape (k, k).

    Returns:
        shape (5,).

    Raises:
        VisionError: DEGENERATE where m00 is not positive; bad arrays.
    """
    M = _with_mass(m, 2)
    x, y = M[1, 0] / M[0, 0], M[0, 1] / M[0, 0]
    n = np.array([M[2, 0], M[1, 1], M[0, 2]]) / M[0, 0] - (x * x, x * y, y * y)
    return finite_result("shape", np.array([x, y, *n]))


def shape_interaction(m: ArrayLike, plane: ArrayLike, *, dense: bool = True) -> Array:
    """Return the interaction matrix of `shape_of_moments`, by the chain rule, shape (5, 6).

    Args:
        m: moments of order 3 at least, shape (k, k).
        plane: A, B, C, shape (3,) [1/m].
        dense: True for regions, False for points.

    Raises:
        VisionError: as `moment_interaction` and `shape_of_moments`.
    """
    M = _with_mass(m, 3)
    a = M[0, 0]
    x, y = M[1, 0] / a, M[0, 1] / a

    def over_mass(i: int, j: int) -> Array:
        return (moment_interaction(M, plane, i, j, dense=dense) - M[i, j] / a * L00) / a

    L00 = moment_interaction(M, plane, 0, 0, dense=dense)
    Lx, Ly = over_mass(1, 0), over_mass(0, 1)
    L20 = over_mass(2, 0) - 2.0 * x * Lx
    L11 = over_mass(1, 1) - x * Ly - y * Lx
    L02 = over_mass(0, 2) - 2.0 * y * Ly
    return finite_result("interaction matrix", np.stack([Lx, Ly, L20, L11, L02]))


def moment_features(m: ArrayLike, desired_size: float, desired_depth: float, *, dense: bool = True) -> Array:
    """Return (x_n, y_n, a_n, alpha): the normalised centre, the depth told by the size, the orientation.

        a_n = Z* sqrt(a* / a),  x_n = a_n x_g,  y_n = a_n y_g,  alpha = atan2(2 mu11, mu20 - mu02) / 2

    The size a is the area of a region, or mu20 + mu02 of points (Tahri and Chaumette 2005). At a target parallel to
    the image these features are decoupled: x_n moves with v_x alone, y_n with v_y, a_n with v_z.

    Args:
        m: moments of order 2 at least, shape (k, k).
        desired_size: a*, the size at the goal.
        desired_depth: Z*, the depth of the target at the goal [m].
        dense: True for regions, False for points.

    Returns:
        shape (4,) [m, m, m, rad]; alpha in (-pi/2, pi/2].

    Raises:
        VisionError: DEGENERATE where the region is round, so that alpha is not defined, or has no size; bad arrays.
    """
    M = _with_mass(m, 2)
    x, y, n20, n11, n02 = shape_of_moments(M)
    _oriented(n20, n11, n02)
    a_n = _size_depth(M, n20 + n02, desired_size, desired_depth, dense)
    return finite_result("features", np.array([a_n * x, a_n * y, a_n, 0.5 * math.atan2(2.0 * n11, n20 - n02)]))


def moment_features_interaction(
    m: ArrayLike, plane: ArrayLike, desired_size: float, desired_depth: float, *, dense: bool = True
) -> Array:
    """Return the interaction matrix of `moment_features`, by the chain rule, shape (4, 6).

    Args:
        m: moments of order 3 at least, shape (k, k).
        plane: A, B, C, shape (3,) [1/m].
        desired_size: a*, the size at the goal.
        desired_depth: Z* [m].
        dense: True for regions, False for points.

    Raises:
        VisionError: as `moment_features` and `moment_interaction`.
    """
    M = _with_mass(m, 3)
    x, y, n20, n11, n02 = shape_of_moments(M)
    _oriented(n20, n11, n02)
    Lx, Ly, L20, L11, L02 = shape_interaction(M, plane, dense=dense)
    a_n = _size_depth(M, n20 + n02, desired_size, desired_depth, dense)
    if dense:
        growth = moment_interaction(M, plane, 0, 0) / M[0, 0]
    else:
        growth = (L20 + L02) / (n20 + n02)
    La = -0.5 * a_n * growth
    d = n20 - n02
    Lalpha = (d * L11 - n11 * (L20 - L02)) / (d * d + 4.0 * n11 * n11)
    return finite_result("interaction matrix", np.stack([a_n * Lx + x * La, a_n * Ly + y * La, La, Lalpha]))


def skew_features(m: ArrayLike, *, dense: bool = True) -> Array:
    """Return (s_x, s_y), which tell the tilt of a target that no half turn maps onto itself (Chaumette 2004).

        s_x = (c2 c3 + s2 s3) / K,  s_y = (s2 c3 - c2 s3) / K,  K = I1 I3^(3/2) / sqrt(m00)
        c1 = mu20 - mu02,  s1 = 2 mu11,  c2 = mu03 - 3 mu21,  s2 = mu30 - 3 mu12
        c3 = c1^2 - s1^2,  s3 = 2 s1 c1,  I1 = c1^2 + s1^2,  I3 = mu20 + mu02

    Of points m00 counts as 1. A change of place or size in the image does not change them; a turn of the image turns
    them as a vector. With `moment_features` they are six features that control all six freedoms of the camera,
    near the goal: of few points, two tilts may look alike.

    Args:
        m: moments of order 3 at least, shape (k, k).
        dense: True for regions, False for points.

    Returns:
        shape (2,).

    Raises:
        VisionError: DEGENERATE where the region is round or empty; bad arrays.
    """
    return _skew(_with_mass(m, 3), None, dense=dense)[0]


def skew_interaction(m: ArrayLike, plane: ArrayLike, *, dense: bool = True) -> Array:
    """Return the interaction matrix of `skew_features`, by the chain rule, shape (2, 6).

    Args:
        m: moments of order 4 at least, shape (k, k).
        plane: A, B, C, shape (3,) [1/m].
        dense: True for regions, False for points.

    Raises:
        VisionError: as `moment_interaction` and `skew_features`.
    """
    return _skew(_with_mass(m, 4), finite_array("plane", plane, (3,)), dense=dense)[1]


def _skew(M: Array, plane: Array | None, *, dense: bool) -> tuple[Array, Array]:
    """Return `skew_features` and, with a plane, their interaction matrix."""
    # Forward differentiation: each quantity is a row (value, its interaction with the six velocities).
    row = {
        (i, j): np.concatenate(
            [[M[i, j]], np.zeros(6) if plane is None else moment_interaction(M, plane, i, j, dense=dense)]
        )
        for i, j in _indices(3)
    }
    area = row[0, 0]
    x, y = (_product(row[k], _power(area, -1.0)) for k in ((1, 0), (0, 1)))

    def mu(p: int, q: int) -> Array:
        total = np.zeros(7)
        for k, n in product(range(p + 1), range(q + 1)):
            term = row[k, n]
            for _ in range(p - k):
                term = _product(term, -x)
            for _ in range(q - n):
                term = _product(term, -y)
            total = total + math.comb(p, k) * math.comb(q, n) * term
        return total

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        mu20, mu11, mu02 = mu(2, 0), mu(1, 1), mu(0, 2)
        if not mu20[0] + mu02[0] > 0.0:
            raise VisionError(Condition.DEGENERATE, "the points coincide: they have no size", field="m")
        _oriented(float(mu20[0]), float(mu11[0]), float(mu02[0]))
        c1, s1 = mu20 - mu02, 2.0 * mu11
        c2, s2 = mu(0, 3) - 3.0 * mu(2, 1), mu(3, 0) - 3.0 * mu(1, 2)
        c3, s3 = _product(c1, c1) - _product(s1, s1), 2.0 * _product(s1, c1)
        over = _product(_power(_product(c1, c1) + _product(s1, s1), -1.0), _power(mu20 + mu02, -1.5))
        if dense:
            over = _product(over, _power(area, 0.5))
        found = [
            _product(_product(c2, c3) + _product(s2, s3), over),
            _product(_product(s2, c3) - _product(c2, s3), over),
        ]
    both = finite_result("skew features", np.stack(found))
    return both[:, 0], both[:, 1:]


def _product(a: Array, b: Array) -> Array:
    """Return the product of two quantities with their derivatives, value first."""
    out = a[0] * b + b[0] * a
    out[0] = a[0] * b[0]
    return out


def _power(a: Array, n: float) -> Array:
    """Return a power of a quantity with its derivatives, value first."""
    out = n * a[0] ** (n - 1.0) * a
    out[0] = a[0] ** n
    return out


def _order(order: int) -> int:
    return int(number("order", order, low=0, high=MAX_ORDER))


def _indices(order: int) -> list[tuple[int, int]]:
    return [(i, j) for i, j in product(range(order + 1), repeat=2) if i + j <= order]


def _with_mass(m: ArrayLike, order: int) -> Array:
    M = finite_array("m", m, (None, None))
    if min(M.shape) < order + 1:
        raise VisionError(Condition.SHAPE, f"m has shape {M.shape}; must have moments up to order {order}", field="m")
    if not M[0, 0] > 0.0:
        raise VisionError(Condition.DEGENERATE, f"m[0, 0] is {M[0, 0]:g}; must be more than 0", field="m")
    return M


def _oriented(n20: float, n11: float, n02: float) -> None:
    if math.hypot(n20 - n02, 2.0 * n11) <= ROUND * (n20 + n02):
        raise VisionError(Condition.DEGENERATE, "the region is round: it has no orientation", field="m")


def _size_depth(M: Array, spread: float, desired_size: float, desired_depth: float, dense: bool) -> float:
    size = float(M[0, 0]) if dense else float(M[0, 0]) * spread
    if not size > 0.0:
        raise VisionError(Condition.DEGENERATE, "the points coincide: they have no size", field="m")
    wanted = number("desired_size", desired_size, low=0.0, above=True)
    depth = float(positive_depth("desired_depth", desired_depth)[0])
    return depth * math.sqrt(wanted / size)
