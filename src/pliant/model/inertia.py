"""Mass and inertia of a body of a spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    import mujoco


def set_inertia(body: mujoco.MjsBody, mass: float, moments: ArrayLike, center: ArrayLike = (0.0, 0.0, 0.0)) -> None:
    """Set mass, centre of mass and principal moments of inertia of a body, which its shapes then do not change.

    The centre is always given: MuJoCo takes the body's place in its parent for one that is not, and leaves the whole
    inertia out of the XML that it writes.

    Args:
        body: the body.
        mass: its mass [kg].
        moments: about the centre of mass, along the body's axes, shape (3,), or one for all axes [kg m^2].
        center: of mass, in the body's frame, shape (3,) [m].
    """
    body.explicitinertial = True
    body.mass = mass
    body.ipos = np.array(center, dtype=float)
    body.inertia = np.broadcast_to(np.asarray(moments, dtype=float), 3).copy()
