"""Motions: poses of models over time, as films show them side by side and pages play them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import PliantError
from pliant.base.figures import INK
from pliant.base.numerics import Array

if TYPE_CHECKING:
    import mujoco


Acting: TypeAlias = "tuple[Mapping[str, tuple[float, Array]], Array, Array]"
"""Payloads, body -> mass [kg] and place in its frame, shape (3,) [m]; the force and torque from outside on each body,
shape (nbody, 6) [N, N m, world]; and point and force of each contact, shape (n, 6) [m, N, world]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """The poses of one model over time."""

    model: mujoco.MjModel
    """The compiled model."""
    time: Array
    """Increasing times of the poses, shape (t,) [s]."""
    poses: Array
    """qpos at these times, shape (t, nq)."""
    title: str = ""
    """Text above it in a film; empty for none."""
    color: str = INK
    """Colour of the title."""
    acting: Callable[[float], Acting] | None = None
    """Returns what acts on the model at a time on the axis of ``time`` [s]; None where nothing is known to act."""

    def __post_init__(self) -> None:
        """Refuse what cannot be shown.

        Raises:
            PliantError: times or poses that do not fit each other or the model, or that are not valid.
        """
        time, poses = np.asarray(self.time), np.asarray(self.poses)
        if time.ndim != 1 or not len(time) or not np.isfinite(time).all() or (np.diff(time) < 0.0).any():
            raise PliantError("the times of a motion must be at least one, finite, and not decrease", field="time")
        if poses.shape != (len(time), self.model.nq) or not np.isfinite(poses).all():
            raise PliantError(
                f"the poses of a motion have shape {poses.shape}; must be finite, of shape (times, qpos) = "
                f"{(len(time), self.model.nq)}",
                field="poses",
            )

    @property
    def duration(self) -> float:
        """Length [s]."""
        return float(self.time[-1] - self.time[0])


def rows_at(time: Array, period: float, duration: float) -> NDArray[np.intp]:
    """Return the rows of poses that equal frames show: the last one at or before each frame's time.

    Args:
        time: increasing times of the poses, shape (t,) [s].
        period: time between two frames [s].
        duration: length of the frames [s]; beyond the last pose it stays.
    """
    frames = float(time[0]) + period * np.arange(int(duration / period + 1e-9) + 1)
    return np.clip(np.searchsorted(time, frames + 1e-9, side="right") - 1, 0, len(time) - 1)
