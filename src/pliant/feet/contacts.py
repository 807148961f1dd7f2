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
    import mujoco

    forces, wrench = np.zeros((data.ncon, 3)), np.zeros(6)
    for i in range(data.ncon):
        mujoco.mj_contactForce(model, data, i, wrench)
        # The frame's first axis points from the first geom to the second.
        forces[i] = data.contact.frame[i].reshape(3, 3).T @ wrench[:3]
    return np.array(data.contact.geom, dtype=int).reshape(-1, 2), forces, np.array(data.contact.pos).reshape(-1, 3)
