"""Probability distributions for the parameters of the worlds of a batch."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from pliant.base.errors import ModelError
from pliant.base.numerics import Array, is_finite_number

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@runtime_checkable
class Distribution(Protocol):
    """Probability distribution of a parameter."""

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Return ``count`` draws, shape (count,)."""
        ...


def _finite(distribution: DataclassInstance) -> None:
    for field in fields(distribution):
        value = getattr(distribution, field.name)
        if not is_finite_number(value):
            raise ModelError(
                f"{type(distribution).__name__}: {field.name} is {value!r}; must be a finite number", field=field.name
            )


@dataclass(frozen=True, slots=True)
class Uniform:
    """Uniform distribution between two limits."""

    low: float
    """Lower limit."""
    high: float
    """Upper limit, >= low."""

    def __post_init__(self) -> None:
        _finite(self)
        if self.low > self.high:
            raise ModelError(f"Uniform: low is {self.low:g}; must be <= high {self.high:g}", field="low")

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Return draws, shape (count,)."""
        return rng.uniform(self.low, self.high, count)


@dataclass(frozen=True, slots=True)
class LogUniform:
    """Log-uniform distribution: the logarithm is uniformly distributed between the logarithms of two limits."""

    low: float
    """Lower limit, > 0."""
    high: float
    """Upper limit, >= low."""

    def __post_init__(self) -> None:
        _finite(self)
        if not 0.0 < self.low <= self.high:
            raise ModelError(f"LogUniform: low is {self.low:g}; must be > 0 and <= high {self.high:g}", field="low")

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Return draws, shape (count,)."""
        return np.exp(rng.uniform(math.log(self.low), math.log(self.high), count))


@dataclass(frozen=True, slots=True)
class Normal:
    """Normal distribution."""

    mean: float
    """Mean."""
    std: float
    """Standard deviation, >= 0."""

    def __post_init__(self) -> None:
        _finite(self)
        if self.std < 0.0:
            raise ModelError(f"Normal: std is {self.std:g}; must be >= 0", field="std")

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Return draws, shape (count,)."""
        return rng.normal(self.mean, self.std, count)


@dataclass(frozen=True, slots=True)
class Choice:
    """Discrete distribution: one of several values, with equal probability."""

    values: Sequence[float]
    """The values, at least one."""

    def __post_init__(self) -> None:
        if not len(self.values) or not np.isfinite(np.asarray(self.values, dtype=float)).all():
            raise ModelError(f"Choice: values are {list(self.values)}; must be finite numbers", field="values")

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Return draws, shape (count,)."""
        return rng.choice(np.asarray(self.values, dtype=float), count)


def draw(distributions: Mapping[str, Distribution], seed: int, count: int) -> dict[str, Array]:
    """Return ``count`` draws of every parameter, by path.

    Equal seeds give equal draws of a parameter, independent of the other parameters.

    Raises:
        ModelError: a path is no text, or a value is not a distribution.
    """
    drawn = {}
    for path, distribution in distributions.items():
        if not isinstance(path, str):
            raise ModelError(f"{path!r} is no path of a parameter; must be <name>.<parameter>", field=repr(path))
        if not isinstance(distribution, Distribution):
            raise ModelError(
                f"{path}: {distribution!r} is not a distribution; must be Uniform, LogUniform, Normal or Choice",
                field=path,
            )
        rng = np.random.default_rng((int(seed), zlib.crc32(getattr(distribution, "group", path).encode())))
        drawn[path] = distribution.sample(rng, count)
    return drawn
