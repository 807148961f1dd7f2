"""PID control of a plate's pose on SE(3): the controller of the Gazebo simulator for continuum parallel robots.

    W = Kp e + Kd de/dt + Ki integral of e,   e = (p_d - p, log(R_d R^T)) in world axes

W is the wrench on the plate about its origin. The gains are those of the original's controller node, which runs at
1 kHz: Kp = 2 diag(2.5, 2.5, 2.5, 0.04, 0.04, 0.4), Kd = 1.8 diag(2.2, 2.2, 2.5, 0.035, 0.035, 0.4),
Ki = 0.01 diag(5, 5, 5, 0.5, 0.5, 0.5).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.argument_checks import ControlError, number
from pliant.base.numerics import Array
from pliant.base.spatial import pose_error


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatePoseGains:
    """Gains for x, y, z and the three components of the rotation vector, world axes."""

    proportional: tuple[float, ...] = (5.0, 5.0, 5.0, 0.08, 0.08, 0.8)
    """[N/m] and [N m/rad], at least 0. Gotelli et al. 2022, controller node."""
    derivative: tuple[float, ...] = (3.96, 3.96, 4.5, 0.063, 0.063, 0.72)
    """[N s/m] and [N m s/rad], at least 0. Same source."""
    integral: tuple[float, ...] = (0.05, 0.05, 0.05, 0.005, 0.005, 0.005)
    """[N/(m s)] and [N m/(rad s)], at least 0. Same source."""

    def __post_init__(self) -> None:
        for name in ("proportional", "derivative", "integral"):
            value = np.asarray(getattr(self, name), dtype=float)
            if value.shape != (6,) or not np.all(np.isfinite(value)) or np.any(value < 0.0):
                raise ControlError(f"{name} gains are {getattr(self, name)!r}; must be six numbers >= 0", field=name)


@dataclass(slots=True)
class PlatePosePID:
    """A controller that pulls a plate towards a pose.

    Example:
        >>> controller = PlatePosePID()
        >>> wrench = controller.update(desired, measured)
    """

    gains: PlatePoseGains = field(default_factory=PlatePoseGains)
    """Gains."""
    period: float = 1e-3
    """Time between two updates [s], more than 0. The original's node runs at 1 kHz."""
    limit: tuple[float, float] = (np.inf, np.inf)
    """Largest force [N] and moment [N m]; the integral stops growing there. The original has none."""
    _sum: Array = field(default_factory=lambda: np.zeros(6), repr=False)
    _before: Array | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        number("PlatePosePID", "period", self.period, "s", low=0.0, above=True)
        if len(self.limit) != 2 or not all(v > 0.0 for v in self.limit):
            raise ControlError(f"limit is {self.limit!r}; must be two numbers above 0", field="limit")

    def reset(self) -> None:
        """Forget the integral and the last error."""
        self._sum = np.zeros(6)
        self._before = None

    def update(self, desired: ArrayLike, measured: ArrayLike) -> Array:
        """Return the wrench for this period.

        Args:
            desired: pose that is wanted, shape (4, 4).
            measured: pose that the plate has, shape (4, 4).

        Returns:
            Force and moment about the plate's origin, world axes, shape (6,) [N, N m].

        Raises:
            ControlError: a pose has another shape or holds numbers that are not finite.
        """
        for name, X in (("desired", desired), ("measured", measured)):
            X = np.asarray(X, dtype=float)
            if X.shape != (4, 4) or not np.isfinite(X).all():
                raise ControlError(f"{name} is not a pose: shape {X.shape}; must be 4x4, finite numbers", field=name)
        error = pose_error(desired, measured)
        rate = np.zeros(6) if self._before is None else (error - self._before) / self.period
        self._before = error
        total = self._sum + error * self.period
        g = self.gains
        wrench = np.asarray(g.proportional) * error + np.asarray(g.derivative) * rate + np.asarray(g.integral) * total
        bound = np.repeat(self.limit, 3)
        inside = np.abs(wrench) <= bound
        self._sum = np.where(inside, total, self._sum)
        return np.clip(wrench, -bound, bound)
