"""Constants of the spare bodies of a world: those of an object, and those that the compiler wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import mujoco

__all__ = ["SpareConstants", "set_mass"]

_OF_BODIES = ("body_mass", "body_subtreemass", "body_inertia", "body_invweight0")
_OF_DOFS = ("dof_M0", "dof_invweight0")
_OF_GEOMS = (
    "geom_type",
    "geom_size",
    "geom_rbound",
    "geom_aabb",
    "geom_pos",
    "geom_quat",
    "geom_sameframe",
    "geom_rgba",
)


class SpareConstants:
    """Constants of some bodies as the compiler wrote them.

    Args:
        model: the model, as compiled.
        bodies: free bodies with their geoms.
    """

    def __init__(self, model: mujoco.MjModel, bodies: Sequence[int]) -> None:
        which = np.array(bodies, dtype=int)
        geoms = np.flatnonzero(np.isin(model.geom_bodyid, which))
        dofs = np.flatnonzero(np.isin(model.dof_bodyid, which))
        groups = ((_OF_BODIES, np.append(which, 0)), (_OF_DOFS, dofs), (_OF_GEOMS, geoms))
        self._kept = []
        for names, index in groups:
            for name in names:
                array = getattr(model, name)
                self._kept.append((array, index, array[index].copy()))

    def restore(self) -> None:
        """Write the constants into the model again."""
        for array, index, value in self._kept:
            array[index] = value


def set_mass(model: mujoco.MjModel, body: int, v: int, mass: float, inertia: NDArray[np.float64]) -> None:
    """Write the mass of a free body, and all constants that the compiler derives from it.

    Args:
        model: the model.
        body: index of the body.
        v: address of its free joint in ``qvel``.
        mass: mass [kg].
        inertia: principal moments of inertia, shape (3,) [kg m^2].
    """
    model.body_subtreemass[0] += mass - model.body_mass[body]
    model.body_mass[body] = model.body_subtreemass[body] = mass
    model.body_inertia[body] = inertia
    model.dof_M0[v : v + 3], model.dof_M0[v + 3 : v + 6] = mass, inertia
    rotation = float(np.mean(1.0 / inertia))
    model.dof_invweight0[v : v + 3], model.dof_invweight0[v + 3 : v + 6] = 1.0 / mass, rotation
    model.body_invweight0[body] = 1.0 / mass, rotation
