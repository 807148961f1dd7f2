"""Curves that films and pages draw beside MuJoCo's shapes, with colours for a quantity along them.

A wing declares a `Drawing` (`pliant.base.wing.Wing.drawings`), for example of the centre lines of elastic rods, with
the bending strain as colour.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import mujoco
import numpy as np

from pliant.base.wing import offers

STOPS = np.array([[49, 104, 142], [53, 183, 121], [253, 231, 37], [213, 62, 79]], dtype=float)
"""Colours from zero to the largest value: blue, green, yellow, red."""


class Curves(Protocol):
    """Curves of a model in the present state of its data."""

    radius: float
    """Radius of what the curves stand for [m]."""
    bodies: Sequence[int]
    """Bodies whose shapes the curves replace."""

    def __call__(self) -> np.ndarray:
        """Return the curves, shape (curves, points, 3) [m, world]."""
        ...

    def values(self, lines: np.ndarray) -> np.ndarray:
        """Return the quantity that the colours show, shape (curves, points), >= 0."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Declaration of curves."""

    applies: Callable[[mujoco.MjModel], bool]
    """Whether a model has such curves."""
    make: Callable[[mujoco.MjModel, mujoco.MjData, int], Curves]
    """Function of the model, its data and the number of points per curve."""


def curves_of(model: mujoco.MjModel, data: mujoco.MjData, points: int) -> Curves | None:
    """Return the curves of a model, None for a model without.

    Args:
        model: the model.
        data: its data; its kinematics are up to date when the curves are called.
        points: points per curve, >= 2.
    """
    for offer in offers("drawings"):
        drawing = offer.load()
        if drawing.applies(model):
            return drawing.make(model, data, points)
    return None


def scale_colours(part: np.ndarray) -> np.ndarray:
    """Return colours for parts of the largest value, 0 to 1: shape (..., 3), uint8."""
    at = np.clip(part, 0.0, 1.0) * (len(STOPS) - 1)
    k = np.minimum(at.astype(int), len(STOPS) - 2)
    return (STOPS[k] + (at - k)[..., None] * (STOPS[k + 1] - STOPS[k])).astype(np.uint8)
