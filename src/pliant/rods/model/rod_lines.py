"""Simulated rods as they are drawn: centre lines through their nodes, coloured by strain."""

from __future__ import annotations

import mujoco
import numpy as np

from pliant.base.numerics import Array
from pliant.recording.drawing import Drawing
from pliant.rods.spline import CubicSpline


def has_rods(model: mujoco.MjModel) -> bool:
    """Return whether a model has rods that `RodLines` can follow."""
    names = {model.geom(g).name for g in range(model.ngeom)}
    return any(name.endswith("/link0") for name in names) or bool(model.nflex and "plate" in names)


def rod_radius(model: mujoco.MjModel) -> float:
    """Return the radius of the rods of a model [m]."""
    for g in range(model.ngeom):
        if model.geom(g).name.endswith("/link0"):
            return float(model.geom_size[g][0])
    return float(model.flex_radius[0]) if model.nflex else 1e-3


def bending_strain(lines: Array, radius: float) -> Array:
    """Return the bending strain at the surface of rods.

    Args:
        lines: centre lines, shape (rods, points, 3) [m].
        radius: of the rods [m].

    Returns:
        Strain at each point, shape (rods, points).
    """
    edges = np.diff(lines, axis=1)
    lengths = np.maximum(np.linalg.norm(edges, axis=2), 1e-9)
    turns = np.linalg.norm(np.diff(edges / lengths[..., None], axis=1), axis=2)
    strain = radius * turns / (0.5 * (lengths[:, 1:] + lengths[:, :-1]))
    return np.concatenate([strain[:, :1], strain, strain[:, -1:]], axis=1)


class RodLines:
    """The centre lines of all rods of a dynamic model, as cubic splines through its nodes.

    A chain has nodes at the rod's ends and at its hinges, which stand at Gauss' points; a flex at its vertices. The
    spline's weights are made once: a call is a product of matrices.

    Args:
        model: a model with rods.
        data: its data.
        points: points per rod, 2 or more.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, points: int = 101) -> None:
        self._data = data
        self._points = points
        self.radius = rod_radius(model)
        """Radius of the rods [m]."""
        self.bodies = [b for b in range(1, model.nbody) if "/link" in model.body(b).name]
        """Bodies of the rods' links."""
        self._vertices: list[slice] = []
        names = [model.geom(g).name for g in range(model.ngeom)]
        rods = [name.removesuffix("/link0") for name in names if name.endswith("/link0")]
        if rods:
            count = sum(name.startswith(f"{rods[0]}/link") for name in names) - 1
            gauss = 0.5 * (np.polynomial.legendre.leggauss(count)[0] + 1.0)
            self._s = np.concatenate([[0.0], gauss, [1.0]])
            links = [[f"{rod}/link{k}" for k in range(1, count + 1)] for rod in rods]
            self._bodies = np.array([[model.body(name).id for name in row] for row in links])
            # The last of these geoms ends at the tip, also where a link slides on the one before.
            last = [f"{rod}/half{count}" if f"{rod}/half{count}" in names else f"{rod}/link{count}" for rod in rods]
            self._geoms = np.array(
                [[model.geom(f"{rod}/link0").id, model.geom(end).id] for rod, end in zip(rods, last)]
            )
            self._half = model.geom_size[self._geoms, 1]
        else:
            for f in range(model.nflex):
                first, number = int(model.flex_vertadr[f]), int(model.flex_vertnum[f])
                self._vertices.append(slice(first, first + number))
                self._s = (np.arange(number) - 0.5) / (number - 2)
        self._weights = self._spline()

    def _spline(self) -> Array:
        return CubicSpline(self._s, np.eye(len(self._s)))(np.linspace(0.0, 1.0, self._points))

    def nodes(self) -> Array:
        """Return the model's nodes, shape (rods, nodes, 3) [m, world]."""
        if self._vertices:
            return np.array([self._data.flexvert_xpos[part] for part in self._vertices])
        hinges = self._data.xpos[self._bodies]
        # A capsule ends where the rod does, on the side that is farther from the hinge.
        middle = self._data.geom_xpos[self._geoms]
        axis = self._half[..., None] * self._data.geom_xmat[self._geoms].reshape(*self._geoms.shape, 3, 3)[..., 2]
        away = np.sign(np.einsum("rek,rek->re", axis, middle - hinges[:, [0, -1]]))[..., None]
        root, tip = np.moveaxis(middle + away * axis, 1, 0)
        return np.concatenate([root[:, None], hinges, tip[:, None]], axis=1)

    def __call__(self) -> Array:
        """Return the centre lines, shape (rods, points, 3) [m, world], from base to tip."""
        return self._weights @ self.nodes()

    def values(self, lines: Array) -> Array:
        """Return the bending strain at the surface, shape (rods, points)."""
        return bending_strain(lines, self.radius)


RODS = Drawing(applies=has_rods, make=RodLines)
"""Centre lines of rods, coloured by bending strain."""
