"""Contacts of the engine's present state, for the arrows on the page."""

from __future__ import annotations

import numpy as np

from pliant.engine.base import MujocoState
from pliant.model.contacts import contact_wrench
from pliant.page.scene import Contacts

MAX_CONTACTS = 200
"""Most contact forces that are drawn."""


def find_contacts(engine: MujocoState) -> Contacts:
    """Return where bodies touch and the forces there; the loop's thread calls this."""
    model, data = engine.model, engine.data
    count = min(int(data.ncon), MAX_CONTACTS)
    points, forces = np.zeros((count, 3)), np.zeros((count, 3))
    if count:
        points[:] = data.contact.pos[:count]
        for k in range(count):
            forces[k] = contact_wrench(model, data, k)[0]
    return Contacts(points, forces)
