"""Errors of a sensor as data: a constant offset, an offset drawn once a run, white noise, steps of quantisation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pliant.base.errors import DeviceError
from pliant.base.numerics import is_finite_number

Number = float | tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Errors of a sensor, applied as value + mean + bias + white noise, then rounded to the resolution.

    Each number is either one for all elements of the field or a tuple with one for each.
    """

    std: Number = 0.0
    """Standard deviation of white Gaussian noise of each sample, unit of the field, >= 0."""
    bias: Number = 0.0
    """Standard deviation of an offset that is drawn at every reset and stays, unit of the field, >= 0."""
    resolution: Number = 0.0
    """Width of a quantisation step, unit of the field; 0 for none."""
    mean: Number = 0.0
    """Constant offset, unit of the field."""

    def __post_init__(self) -> None:
        for name in ("std", "bias", "resolution", "mean"):
            value = getattr(self, name)
            if isinstance(value, list | np.ndarray):
                value = tuple(float(v) for v in value)
                object.__setattr__(self, name, value)
            parts = value if isinstance(value, tuple) else (value,)
            good = bool(parts) and all(map(is_finite_number, parts))
            if not good or (name != "mean" and min(parts) < 0.0):
                least = "" if name == "mean" else " >= 0"
                raise DeviceError(
                    f"noise {name} is {value!r}; must be a finite number{least}, or one for each element", field=name
                )

    @classmethod
    def from_density(cls, density: float, rate: float, *, bias: Number = 0.0, resolution: Number = 0.0) -> Noise:
        """Return the noise of a sensor whose data sheet gives a density.

        Args:
            density: standard deviation for a sample rate of 1 Hz, unit of the field / sqrt(Hz).
            rate: samples a second [Hz]; the standard deviation of each is density sqrt(rate).
            bias: see `Noise`.
            resolution: see `Noise`.

        Raises:
            DeviceError: a number that is negative or not finite.
        """
        if not (math.isfinite(rate) and rate > 0.0):
            raise DeviceError(f"noise: rate is {rate!r}; must be more than 0 Hz", field="rate")
        return cls(std=density * math.sqrt(rate), bias=bias, resolution=resolution)

    @property
    def silent(self) -> bool:
        """Whether it changes nothing."""
        numbers = (self.std, self.bias, self.resolution, self.mean)
        return not any(np.any(np.asarray(value)) for value in numbers)

    def offset(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Return the offset of a run: the mean, and a bias that is drawn.

        Args:
            rng: where the bias is drawn from.
            shape: of the values; a tuple has one number for each along the last axis.
        """
        return np.asarray(self.mean, dtype=float) + np.asarray(self.bias, dtype=float) * rng.standard_normal(shape)

    def disturb(self, value: np.ndarray, offset: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return a reading of values: with the offset of the run, white noise, and rounded to the resolution.

        Args:
            value: the true values.
            offset: what `offset` gave for them.
            rng: where the white noise is drawn from.
        """
        reading = value + offset + np.asarray(self.std, dtype=float) * rng.standard_normal(np.shape(value))
        steps = np.broadcast_to(np.asarray(self.resolution, dtype=float), np.shape(reading))
        coarse = steps > 0.0
        if coarse.any():
            reading[coarse] = np.round(reading[coarse] / steps[coarse]) * steps[coarse]
        return reading

    def check_size(self, count: int, what: str) -> None:
        """Refuse tuples of another length than the field has.

        Args:
            count: elements of the field; 0 for a single number.
            what: how the message names it.

        Raises:
            DeviceError: a tuple has another length.
        """
        for name in ("std", "bias", "resolution", "mean"):
            value = getattr(self, name)
            if isinstance(value, tuple) and len(value) != count:
                valid = f"a number, or {count} of them" if count else "a number"
                raise DeviceError(f"{what}: noise {name} has {len(value)} numbers; must be {valid}", field=name)

    def variances(self, count: int) -> list[float]:
        """Return the variance of each element about the true value and the mean, shape (count,)."""
        step = np.asarray(self.resolution, dtype=float)
        total = np.square(self.std) + np.square(self.bias) + step**2 / 12.0
        return np.broadcast_to(total, (count,)).tolist()
