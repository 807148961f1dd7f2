"""The noise of one field of a device, with the bias of the present run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.model.noise import Noise


@dataclass(slots=True)
class Perturbation:
    """The noise of one field with the bias of the present run."""

    name: str
    noise: Noise
    shape: tuple[int, ...]
    bias: Any = field(default=0.0)
    draws_bias: bool = field(init=False)
    shifts: bool = field(init=False)
    white: bool = field(init=False)
    std: Any = field(init=False)
    steps: Any = field(init=False)
    """Width of the quantisation, None where no element has one."""
    mean: Any = field(init=False)

    def __post_init__(self) -> None:
        noise = self.noise
        self.draws_bias = bool(np.any(np.asarray(noise.bias)))
        self.shifts = self.draws_bias or bool(np.any(np.asarray(noise.mean)))
        self.std = np.asarray(noise.std, dtype=float) if isinstance(noise.std, tuple) else noise.std
        self.white = bool(np.any(np.asarray(noise.std)))
        steps = np.asarray(noise.resolution, dtype=float)
        self.steps = None if not steps.any() else (steps if steps.ndim else noise.resolution)
        self.mean = np.asarray(noise.mean, dtype=float) if isinstance(noise.mean, tuple) else noise.mean

    def rounded(self, value: object) -> object:
        """Return the nearest whole multiple of the resolution, where there is one."""
        if isinstance(self.steps, np.ndarray):
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(self.steps > 0.0, np.round(value / self.steps) * self.steps, value)
        return np.round(value / self.steps) * self.steps
