"""The noise of one field of a device, with the bias of the present run."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.base.numerics import Array
from pliant.model.noise import Noise


@dataclass(slots=True)
class Perturbation:
    """The noise of one field with the bias of the present run."""

    name: str
    noise: Noise
    shape: tuple[int, ...]
    bias: float | Array = field(default=0.0)
    draws_bias: bool = field(init=False)
    shifts: bool = field(init=False)
    white: bool = field(init=False)
    std: float | Array = field(init=False)
    steps: float | Array | None = field(init=False)
    """Width of the quantisation, None where no element has one."""
    mean: float | Array = field(init=False)

    def __post_init__(self) -> None:
        noise = self.noise
        self.draws_bias = bool(np.any(np.asarray(noise.bias)))
        self.shifts = self.draws_bias or bool(np.any(np.asarray(noise.mean)))
        self.std = np.asarray(noise.std, dtype=float) if isinstance(noise.std, tuple) else noise.std
        self.white = bool(np.any(np.asarray(noise.std)))
        steps = np.asarray(noise.resolution, dtype=float)
        self.steps = None if not steps.any() else (steps if steps.ndim else float(steps))
        self.mean = np.asarray(noise.mean, dtype=float) if isinstance(noise.mean, tuple) else noise.mean

    def rounded(self, value: Array) -> Array:
        """Return the nearest whole multiple of the resolution, where there is one."""
        steps = self.steps
        if steps is None:
            return value
        if isinstance(steps, np.ndarray):
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(steps > 0.0, np.round(value / steps) * steps, value)
        return np.round(value / steps) * steps
