"""Contact forces of a simulation in world axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.base.numerics import Array

if TYPE_CHECKING:
    import mujoco


def contact_forces(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[NDArray[np.int_], Array, Array]:
    """Return the geoms of each contact, shape (n, 2), the force on the second [N] and its place [m], shape (n, 3)."""
    from pliant.model.contacts import contact_wrench

    forces = np.array([contact_wrench(model, data, i)[0] for i in range(data.ncon)]).reshape(-1, 3)
    return np.array(data.contact.geom, dtype=int).reshape(-1, 2), forces, np.array(data.contact.pos).reshape(-1, 3)
