"""Forces of contacts in world axes."""

from __future__ import annotations

import mujoco
import numpy as np

from pliant.base.numerics import Array


def contact_wrench(model: mujoco.MjModel, data: mujoco.MjData, index: int) -> tuple[Array, Array]:
    """Return the force [N] and torque [N m] of a contact on its second geom, at the contact point, in world axes.

    On the first geom they are opposite.

    Args:
        model: the model.
        data: its state.
        index: which of the ``data.ncon`` contacts.
    """
    wrench = np.zeros(6)
    mujoco.mj_contactForce(model, data, index, wrench)
    axes = data.contact[index].frame.reshape(3, 3).T  # the first column is the normal from the first geom to the second
    return axes @ wrench[:3], axes @ wrench[3:]


MAX_CONTACTS = 200
"""Most contact forces that are drawn or recorded."""


def contact_forces(model: mujoco.MjModel, data: mujoco.MjData) -> Array:
    """Return where bodies touch and the force there on the second geom, in world axes, for arrows.

    Args:
        model: the model.
        data: its state.

    Returns:
        point [m] and force [N] of the first `MAX_CONTACTS` contacts, shape (n, 6).
    """
    count = min(int(data.ncon), MAX_CONTACTS)
    found = np.zeros((count, 6))
    if count:
        found[:, :3] = data.contact.pos[:count]
        for k in range(count):
            found[k, 3:] = contact_wrench(model, data, k)[0]
    return found
