"""Tasks of visual servoing: error and interaction matrix, stacked, weighted, solved with a gain.

    velocity = -gain(x) pinv(L) e + P z,    x = largest entry of |pinv(L) e|

where z is the velocity of a secondary task and P a projector that leaves the first one alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pliant.camera.conditions import Array, Condition, VisionError, finite_array, finite_result, number
from pliant.vision.checks import per_row

MIN_SINGULAR_RATIO = 1e-6
"""Smallest over largest singular value at which a matrix counts as singular."""  # assumed


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveGain:
    """A gain that is low far from the goal and high near it.

        gain(x) = (at_zero - at_infinity) exp(-slope_at_zero / (at_zero - at_infinity) x) + at_infinity

    Source: ViSP's demonstrations of visual servoing; they use (4, 1.2, 25) for poses and (1.5, 0.4, 30) for points.
    """

    at_zero: float
    """Gain at the goal [1/s], more than 0."""
    at_infinity: float
    """Gain far from the goal [1/s], more than 0."""
    slope_at_zero: float
    """How fast the gain falls at the goal, -d gain/dx, at least 0 [1/s per unit of x]."""

    def __post_init__(self) -> None:
        number("at_zero", self.at_zero, low=0.0, above=True)
        number("at_infinity", self.at_infinity, low=0.0, above=True, high=self.at_zero)
        number("slope_at_zero", self.slope_at_zero, low=0.0)

    def __call__(self, x: float) -> float:
        """Return the gain [1/s] at a size x >= 0 of pinv(L) e."""
        x = number("x", x, low=0.0)
        span = self.at_zero - self.at_infinity
        return self.at_infinity if span <= 0.0 else span * math.exp(-self.slope_at_zero / span * x) + self.at_infinity


Gain = float | AdaptiveGain
"""A number [1/s], or one that depends on the error."""


def gain_at(gain: Gain, step: ArrayLike) -> float:
    """Return the gain at a value of pinv(L) e [1/s].

    Raises:
        VisionError: a gain that is not a finite number above 0.
    """
    if isinstance(gain, AdaptiveGain):
        return gain(float(np.max(np.abs(step), initial=0.0)))
    return number("gain", gain, low=0.0, above=True)


class SmoothStart:
    """Velocities that start from zero: v = v_law - v_law(0) exp(-rate t).

    Source: FrankaSim, equation 2, for torques. The same object serves velocities and torques.

    Args:
        rate: mu [1/s], more than 0; the published demonstrations use 4, or 2 for Cartesian torques.
    """

    def __init__(self, rate: float = 4.0) -> None:
        self.rate = number("rate", rate, low=0.0, above=True)
        self._first: Array | None = None
        self._start = 0.0

    def reset(self) -> None:
        """Begin again with the next call."""
        self._first = None

    def __call__(self, value: ArrayLike, t: float) -> Array:
        """Return the smoothed value.

        Args:
            value: of the law, shape (n,); the first one after a reset is the one that is subtracted.
            t: time [s], not decreasing.

        Raises:
            VisionError: values that are not finite, another length than at the start, or a time before the start.
        """
        v = finite_array("value", value, (None,))
        t = number("t", t)
        if self._first is None:
            self._first, self._start = v.copy(), t
        if self._first.shape != v.shape:
            raise VisionError(Condition.SHAPE, f"value has shape {v.shape}; was {self._first.shape}", field="value")
        number("t", t, low=self._start)
        return v - self._first * math.exp(-self.rate * (t - self._start))


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """An error that shall vanish, and how a velocity changes it: de/dt = L velocity."""

    error: Array
    """e = s - s*, shape (m,)."""
    interaction: Array
    """L, shape (m, n); n is 6 for a camera's velocity, or the number of joints."""

    def __post_init__(self) -> None:
        e = finite_array("error", self.error, (None,))
        L = finite_array("interaction", self.interaction, (None, None))
        if L.shape[0] != e.size or not e.size or not L.shape[1]:
            raise VisionError(
                Condition.SHAPE,
                f"interaction has shape {L.shape}; must be ({e.size}, n), neither 0",
                field="interaction",
            )
        object.__setattr__(self, "error", e)
        object.__setattr__(self, "interaction", L)

    def through(self, jacobian: ArrayLike) -> Task:
        """Return the task in joint velocities: L J.

        Args:
            jacobian: of the camera's velocity, `eye_in_hand_jacobian` or `eye_to_hand_jacobian`, shape (6, joints).
        """
        J = finite_array("jacobian", jacobian, (self.interaction.shape[1], None))
        return Task(error=self.error, interaction=finite_result("interaction matrix", self.interaction @ J))

    def weighted(self, weights: ArrayLike) -> Task:
        """Return the task with its rows scaled by weights, a number or shape (m,); 0 drops a row.

        Raises:
            VisionError: another shape, or numbers that are not finite.
        """
        w = per_row("weights", weights, self.error.size)
        return Task(error=w * self.error, interaction=w[:, None] * self.interaction)

    def rows(self, rows: Sequence[int]) -> Task:
        """Return the task of some rows.

        Raises:
            VisionError: a row that does not exist.
        """
        index = list(rows)
        if any(not isinstance(r, int | np.integer) or not 0 <= r < self.error.size for r in index):
            raise VisionError(
                Condition.OUT_OF_RANGE, f"rows are {index}; must be 0 to {self.error.size - 1}", field="rows"
            )
        return Task(error=self.error[index], interaction=self.interaction[index])


def stack(*tasks: Task) -> Task:
    """Return one task of the rows of several, of equal rank; scale them by `Task.weighted` before.

    Raises:
        VisionError: no task, or matrices with unequal numbers of columns.
    """
    widths = {t.interaction.shape[1] for t in tasks}
    if len(widths) != 1:
        raise VisionError(Condition.SHAPE, f"tasks have {sorted(widths)} columns; must be alike", field="tasks")
    return Task(
        error=np.concatenate([t.error for t in tasks]), interaction=np.concatenate([t.interaction for t in tasks])
    )


def pseudo_inverse(L: Array, rank: int, damping: float) -> tuple[Array, Array]:
    """Return pinv(L) and an orthonormal basis of the rows of L, shape (n, m) and (r, n)."""
    try:
        U, sigma, Vt = np.linalg.svd(finite_result("interaction matrix", L), full_matrices=False)
    except np.linalg.LinAlgError:
        raise VisionError(Condition.SINGULAR, "the interaction matrix has no singular values", field="L") from None
    keep = sigma > MIN_SINGULAR_RATIO * sigma[0] if sigma[0] > 0.0 else np.zeros(sigma.size, dtype=bool)
    if damping > 0.0:
        return (Vt.T * (sigma / (sigma * sigma + damping * damping))) @ U.T, Vt[keep]
    if int(keep.sum()) < rank:
        raise VisionError(
            Condition.SINGULAR,
            f"the interaction matrix has rank {int(keep.sum())}; must be {rank} "
            f"(singular values {', '.join(f'{x:.3g}' for x in sigma)})",
            field="L",
        )
    return (Vt[keep].T / sigma[keep]) @ U[:, keep].T, Vt[keep]


def solve(
    task: Task,
    gain: Gain,
    *,
    secondary: ArrayLike | None = None,
    projection: Literal["classical", "norm"] = "classical",
    rank: int | None = None,
    damping: float = 0.0,
) -> Array:
    """Return the velocity that makes the error of a task vanish: -gain pinv(L) e + P z.

    The classical projector I - pinv(L) L leaves all rows of the task alone; it is zero where the task uses every
    freedom. The norm projector leaves only the norm of the error alone, so it takes one freedom (see
    `norm_projector`).

    Args:
        task: error and interaction matrix.
        gain: number or `AdaptiveGain` [1/s].
        secondary: velocity z of a task of lower rank, shape (n,).
        projection: how z is projected.
        rank: rank that L must have; None takes the smallest of its rows, its columns and 6.
        damping: with a number above 0 the damped least-squares inverse is taken and a singular matrix is allowed [the
            unit of L]; the velocity is then bounded by gain |e| / (2 damping).

    Returns:
        shape (n,) [m/s, rad/s].

    Raises:
        VisionError: SINGULAR where the rank is lost; bad arrays.
    """
    L, e = task.interaction, task.error
    damping = number("damping", damping, low=0.0)
    inverse, rows = pseudo_inverse(L, min(*L.shape, 6) if rank is None else rank, damping)
    with np.errstate(over="ignore", invalid="ignore"):
        step = finite_result("pinv(L) e", inverse @ e)
        velocity = -gain_at(gain, step) * step
        if secondary is not None:
            z = finite_array("secondary", secondary, (L.shape[1],))
            if projection == "classical":
                velocity = velocity + z - rows.T @ (rows @ z)
            elif projection == "norm":
                velocity = velocity + norm_projector(task) @ z
            else:
                raise VisionError(
                    Condition.OUT_OF_RANGE,
                    f"projection is {projection!r}; must be classical or norm",
                    field="projection",
                )
    return finite_result("velocity", velocity)


def norm_projector(task: Task) -> Array:
    """Return the projector that leaves the rate of the norm of the error alone (Marey and Chaumette 2010).

        P = I - L^T e e^T L / (e^T L L^T e)

    Near the goal, where this has no limit, the secondary task must fade; the caller scales it.

    Returns:
        shape (n, n); the identity where L^T e is zero, as then no velocity changes the norm.
    """
    g = task.interaction.T @ task.error
    n = float(np.linalg.norm(g))
    if n <= 1e-300:
        return np.eye(g.size)
    u = g / n
    return np.eye(g.size) - np.outer(u, u)
