"""Joint trajectories, as trajectory_msgs/JointTrajectory describes them."""

from __future__ import annotations

import numpy as np

__all__ = ["Trajectory"]


class Trajectory:
    """A joint trajectory being executed: linear between positions, cubic where velocities are given.

    Args:
        start_ns: simulation time of its time 0 [ns].
        times: times of the points [s], strictly increasing, shape (n,).
        positions: shape (n, joints).
        velocities: shape (n, joints), or None.
        begin: position at time 0, shape (joints,).
    """

    def __init__(
        self,
        start_ns: int,
        times: np.ndarray,
        positions: np.ndarray,
        velocities: np.ndarray | None,
        begin: np.ndarray,
    ) -> None:
        self.start_ns = start_ns
        if times[0] > 0.0:
            times = np.concatenate([[0.0], times])
            positions = np.vstack([begin, positions])
            if velocities is not None:
                velocities = np.vstack([np.zeros_like(begin), velocities])
        self._times, self._positions, self._velocities = times, positions, velocities

    def at(self, now_ns: int) -> tuple[np.ndarray, bool]:
        """Return the positions at a simulation time [ns], and whether the end is reached."""
        t = max(0.0, (now_ns - self.start_ns) * 1e-9)
        times, x = self._times, self._positions
        if t >= times[-1]:
            return x[-1], True
        i = int(np.searchsorted(times, t, side="right")) - 1
        h = times[i + 1] - times[i]
        s = (t - times[i]) / h
        if self._velocities is None:
            return x[i] + s * (x[i + 1] - x[i]), False
        v = self._velocities
        return (
            (1 + 2 * s) * (1 - s) ** 2 * x[i]
            + s * (1 - s) ** 2 * h * v[i]
            + s * s * (3 - 2 * s) * x[i + 1]
            + s * s * (s - 1) * h * v[i + 1]
        ), False
