"""Poses of a simulation at equal times, taken by the loop like a bridge's samples; the run is the same without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.base.numerics import Array
from pliant.simulation.bridge import BridgeBase

if TYPE_CHECKING:
    import mujoco


class PoseTrack(BridgeBase):
    """Keeps the poses of a simulation at equal times: as a bridge of `Simulation`, or by `take` after steps.

    Args:
        period: time between two poses [s].

    Example:
        >>> track = PoseTrack().watch(engine.model, engine.data)
        >>> for _ in range(1000):
        ...     engine.step()
        ...     track.take()
    """

    name = "poses"
    paced = False

    def __init__(self, period: float = 0.02) -> None:
        super().__init__()
        self._period = period
        self._data: mujoco.MjData
        self.model: mujoco.MjModel
        """The compiled model."""
        self.times: list[float] = []
        """Times of the poses [s]."""
        self.poses: list[Array] = []
        """qpos at these times, shape (nq,) each."""

    def watch(self, model: mujoco.MjModel, data: mujoco.MjData) -> PoseTrack:
        """Follow a model and its data from now on, and return this."""
        self.model, self._data = model, data
        self.take()
        return self

    def take(self) -> None:
        """Keep the present pose if one is due."""
        now = float(self._data.time)
        if not self.times or now >= self.times[-1] + self._period - 1e-9:
            self.times.append(now)
            self.poses.append(self._data.qpos.copy())

    def tick(self, stamp_ns: int) -> None:
        """Keep the present pose if one is due."""
        self.take()
