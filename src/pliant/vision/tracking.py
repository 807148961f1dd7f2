"""Where a target is between two images: an alpha-beta filter of its place (Benedict and Bordner 1962)."""

from __future__ import annotations

import numpy as np

from pliant.base.numerics import Array
from pliant.base.spatial import pose


class TargetTracker:
    """Follows a target that hardly accelerates, in a frame that does not: images come late and seldom, commands often.

    Args:
        alpha: gain of the place, in (0, 1]: 1 takes the measured place as it is.
        beta: gain of the velocity; alpha^2 / (2 - alpha) is critically chosen for noise.

    Example:
        >>> tracker = TargetTracker(alpha=0.7, beta=0.37)
        >>> tracker.see(X_BC @ detection.X_CO, stamp)  # at each image
        >>> X_BO = tracker.pose(now)  # at each command
    """

    def __init__(self, *, alpha: float, beta: float) -> None:
        self.alpha, self.beta = alpha, beta
        self.place: Array | None = None
        """Place at the last image, shape (3,) [m]; None before the first."""
        self.velocity = np.zeros(3)
        """Estimated velocity, shape (3,) [m/s]."""
        self._at, self._rotation = 0.0, np.eye(3)

    def see(self, X_BO: Array, time: float) -> None:
        """Take a measured pose of the target, shape (4, 4), of a time [s]."""
        self._rotation = X_BO[:3, :3]
        if self.place is None or time <= self._at:
            self.place, self._at = X_BO[:3, 3].copy(), time
            return
        dt = time - self._at
        expected = self.place + dt * self.velocity
        miss = X_BO[:3, 3] - expected
        self.place, self.velocity = expected + self.alpha * miss, self.velocity + self.beta / dt * miss
        self._at = time

    def pose(self, time: float) -> Array:
        """Return the pose that is expected at a time, with the orientation of the last image, shape (4, 4)."""
        assert self.place is not None, "the target was not seen yet"
        return pose(self.place + (time - self._at) * self.velocity, self._rotation)
