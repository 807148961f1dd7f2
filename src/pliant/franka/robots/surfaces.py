"""Smooth surfaces from solids with rounded edges, blended where they meet: what an arm looks like.

A shape is a list of solids, each a signed distance, negative inside. They join with the smooth minimum of two
distances, min(a, b) - max(k - |a - b|, 0)^2 / (4 k), which rounds the inner edge over a width k. The surface where the
distance vanishes is meshed by surface nets: one vertex in each cell of a grid that the surface passes, and one
quadrilateral for each edge of the grid that it crosses. Newton's steps along the gradient then move the vertices onto
it, and the gradient is their normal.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.base.numerics import Array

CELL = 0.008
"""Edge of the cells of the grid [m]."""
_STEP = 1e-7
"""For differences of the distance [m]."""


@dataclass(frozen=True, slots=True)
class Tube:
    """A round solid between two points, with flat ends and a rounded rim; it may be a cone."""

    start: tuple[float, float, float]
    """Middle of one end [m]."""
    end: tuple[float, float, float]
    """Middle of the other end [m]."""
    radius: float
    """At the start [m]."""
    rim: float = 0.004
    """Radius of the rounded rim at the start [m]."""
    end_rim: float = 0.004
    """Radius of the rounded rim at the end [m]."""
    end_radius: float | None = None
    """At the end [m]; None: as at the start."""

    def distance(self, p: Array) -> Array:
        """Return the signed distance at points, shape (n, 3) [m]; of a cone along the radius, by its slope."""
        a, b = np.asarray(self.start), np.asarray(self.end)
        length = float(np.linalg.norm(b - a))
        axis = (b - a) / length
        d = p - a
        h = d @ axis
        rho = np.sqrt(np.maximum(np.einsum("ij,ij->i", d, d) - h * h, 0.0))
        end = self.radius if self.end_radius is None else self.end_radius
        slope = (end - self.radius) / length
        aside = (rho - self.radius - slope * np.clip(h, 0.0, length)) / np.hypot(1.0, slope)
        rim = np.where(h < 0.5 * length, self.rim, self.end_rim)
        return _rounded(aside, np.abs(h - 0.5 * length) - 0.5 * length, rim)


@dataclass(frozen=True, slots=True)
class Box:
    """A box whose edges along z are rounded by one radius, and the others by another."""

    center: tuple[float, float, float]
    """Its middle [m]."""
    half: tuple[float, float, float]
    """Half edges [m]."""
    rim: float = 0.004
    """Radius of the edges at its top and bottom [m]."""
    corner: float = 0.004
    """Radius of the edges along z [m]; at least the rim."""
    turn: float = 0.0
    """Angle about z [rad]."""

    def distance(self, p: Array) -> Array:
        """Return the signed distance at points, shape (n, 3) [m]."""
        c, s = np.cos(self.turn), np.sin(self.turn)
        d = np.abs((p - np.asarray(self.center)) @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))
        qx, qy = d[:, 0] - self.half[0] + self.corner, d[:, 1] - self.half[1] + self.corner
        aside = np.minimum(np.maximum(qx, qy), 0.0) + np.hypot(np.maximum(qx, 0.0), np.maximum(qy, 0.0)) - self.corner
        return _rounded(aside, d[:, 2] - self.half[2], self.rim)


@dataclass(frozen=True, slots=True)
class Ball:
    """A round cone: the hull of two balls."""

    start: tuple[float, float, float]
    """Middle of the first ball [m]."""
    end: tuple[float, float, float]
    """Middle of the second ball [m]."""
    radius: float
    """Of the first ball [m]."""
    end_radius: float
    """Of the second ball [m]."""

    def distance(self, p: Array) -> Array:
        """Return the signed distance at points, shape (n, 3) [m]; the radius changes evenly along the axis."""
        a, b = np.asarray(self.start), np.asarray(self.end)
        d = p - a
        h = np.clip(d @ (b - a) / float((b - a) @ (b - a)), 0.0, 1.0)
        return np.linalg.norm(d - h[:, None] * (b - a), axis=1) - self.radius - h * (self.end_radius - self.radius)


Solid = Tube | Box | Ball


def _rounded(a: Array, b: Array, r: Array | float) -> Array:
    """Return the distance to what lies inside two surfaces at a right angle, whose common edge has the radius r."""
    a, b = a + r, b + r
    return np.minimum(np.maximum(a, b), 0.0) + np.hypot(np.maximum(a, 0.0), np.maximum(b, 0.0)) - r


@dataclass(frozen=True, slots=True)
class Shape:
    """Solids that blend into one."""

    solids: tuple[Solid, ...]
    """They are joined in this order."""
    blend: float = 0.02
    """Width over which inner edges are rounded [m]."""
    low: tuple[float, float, float] = (-0.2, -0.2, -0.3)
    """Lower corner of a box that holds the shape [m]."""
    high: tuple[float, float, float] = (0.2, 0.2, 0.2)
    """Upper corner of this box [m]."""

    def distance(self, p: Array) -> Array:
        """Return the signed distance at points, shape (n, 3) [m]; exact at the surface, about right near it."""
        found = self.solids[0].distance(p)
        for solid in self.solids[1:]:
            other = solid.distance(p)
            found = np.minimum(found, other) - np.maximum(self.blend - np.abs(found - other), 0.0) ** 2 / (
                4.0 * self.blend
            )
        return found


@functools.lru_cache(maxsize=64)
def surface(shape: Shape, cell: float = CELL) -> tuple[Array, NDArray[np.int32], Array]:
    """Return the surface of a shape as triangles.

    Args:
        shape: the shape; its surface must lie inside its box.
        cell: edge of the cells of the grid [m].

    Returns:
        Vertices, shape (n, 3) [m]; faces, shape (m, 3), counter-clockwise from outside; outer normals, shape (n, 3).
    """
    low, high = np.asarray(shape.low), np.asarray(shape.high)
    counts = np.ceil((high - low) / cell).astype(int) + 1
    field = _sampled(shape.distance, low, counts, cell)
    vertices, number = _net_vertices(field, low, cell)
    faces = _net_faces(field, number)
    for _ in range(2):
        value, normal = _gradient(shape.distance, vertices)
        size = np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 0.3)
        vertices = vertices - np.clip(value[:, None] / size, -0.5 * cell, 0.5 * cell) * normal / size
    _, normal = _gradient(shape.distance, vertices)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)
    for array in (vertices, faces, normal):
        array.flags.writeable = False  # they are shared
    return vertices, faces, normal


def _sampled(distance: Callable[[Array], Array], low: Array, counts: NDArray[np.int_], cell: float) -> Array:
    """Return the distance on a grid: at every fourth point, and at the others where the surface may be near."""
    coarse = 4
    axes = [low[k] + cell * np.arange(counts[k]) for k in range(3)]
    blocks = [np.arange(0, n, coarse) for n in counts]
    middles = np.stack(
        np.meshgrid(*(a[0] + cell * (b + 0.5 * (coarse - 1)) for a, b in zip(axes, blocks)), indexing="ij"), -1
    )
    rough = distance(middles.reshape(-1, 3)).reshape(middles.shape[:3])
    field = np.repeat(np.repeat(np.repeat(rough, coarse, 0), coarse, 1), coarse, 2)[tuple(slice(n) for n in counts)]
    near = np.abs(field) < 1.2 * np.sqrt(3.0) * 0.5 * coarse * cell
    places = np.nonzero(near)
    points = np.stack([axes[k][places[k]] for k in range(3)], -1)
    field[places] = distance(points)
    return field


_CORNERS = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
_EDGES = [
    (a, b)
    for a in _CORNERS
    for b in _CORNERS
    if sum(q - p for p, q in zip(a, b, strict=True)) == 1 and all(q >= p for p, q in zip(a, b, strict=True))
]


def _net_vertices(field: Array, low: Array, cell: float) -> tuple[Array, NDArray[np.int64]]:
    """Return one vertex for each cell that the surface passes, and the number of each cell's vertex, -1 for none."""
    inside = field < 0.0
    shape = tuple(n - 1 for n in field.shape)
    corner = {c: tuple(slice(c[k], c[k] + shape[k]) for k in range(3)) for c in _CORNERS}
    count = sum(inside[corner[c]].astype(np.int8) for c in _CORNERS)
    cells = np.nonzero((count > 0) & (count < 8))
    number = np.full(shape, -1, dtype=np.int64)
    number[cells] = np.arange(len(cells[0]))
    total, crossings = np.zeros((len(cells[0]), 3)), np.zeros(len(cells[0]))
    value = {c: field[corner[c]][cells] for c in _CORNERS}
    for a, b in _EDGES:
        va, vb = value[a], value[b]
        crossed = (va < 0.0) != (vb < 0.0)
        t = np.where(crossed, va / np.where(crossed, va - vb, 1.0), 0.0)
        place = np.asarray(a) + t[:, None] * (np.asarray(b) - np.asarray(a))
        total += crossed[:, None] * place
        crossings += crossed
    return low + cell * (np.stack(cells, -1) + total / crossings[:, None]), number


def _net_faces(field: Array, number: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return two triangles for each edge of the grid that the surface crosses."""
    inside = field < 0.0
    faces = []
    for axis in range(3):
        turned = (axis, (axis + 1) % 3, (axis + 2) % 3)
        within, cells = (np.moveaxis(array, turned, (0, 1, 2)) for array in (inside, number))
        first, second = within[:-1, 1:-1, 1:-1], within[1:, 1:-1, 1:-1]
        i, j, k = np.nonzero(first != second)
        around = [cells[i, j, k], cells[i, j + 1, k], cells[i, j + 1, k + 1], cells[i, j, k + 1]]
        outward = first[i, j, k]
        b, d = np.where(outward, around[1], around[3]), np.where(outward, around[3], around[1])
        faces += [np.stack([around[0], b, around[2]], -1), np.stack([around[0], around[2], d], -1)]
    return np.concatenate(faces).astype(np.int32)


def _gradient(distance: Callable[[Array], Array], p: Array) -> tuple[Array, Array]:
    """Return the distance at points and its gradient, by differences."""
    value = distance(np.concatenate([p, *(p + offset for offset in _STEP * np.eye(3))])).reshape(4, -1)
    return value[0], ((value[1:] - value[0]) / _STEP).T
