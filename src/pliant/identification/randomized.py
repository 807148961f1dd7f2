"""Randomisation of worlds around parameters that were identified on hardware."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pliant.base.documents.json_text import read_json
from pliant.base.errors import ModelError
from pliant.batch.distributions import Distribution, Uniform
from pliant.identification.parameter_paths import SENSOR_PARAMETERS, target_paths


@runtime_checkable
class FitResult(Protocol):
    """Result of a fit."""

    def as_dict(self) -> dict[str, object]:
        """Return names, values and covariance as the file of ``pliant identify --json`` has them."""
        ...


@dataclass(frozen=True, slots=True)
class Correlated:
    """Parameter that is correlated with others; created by `randomize_around`."""

    center: float
    """Median."""
    factors: tuple[float, ...]
    """Factors of the standard normal numbers that the parameters of the group share; the sum of the products is the
    deviation."""
    group: str
    """Name of the group; its parameters use the same standard normal numbers."""
    relative: bool = False
    """Whether the deviation applies to the logarithm, so that the sign of the parameter never changes."""

    def sample(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Return draws, shape (count,)."""
        deviation = rng.standard_normal((count, len(self.factors))) @ np.asarray(self.factors)
        return self.center * np.exp(deviation) if self.relative else self.center + deviation


def randomize_around(
    results: FitResult | Mapping[str, object] | str | Path,
    joint: str = "actuator",
    *,
    spread: float | None = None,
    errors: float = 1.0,
) -> dict[str, Distribution]:
    """Return distributions around identified parameters, for `RobotBatch.randomize` and `Task.randomize`.

    Without ``spread`` the parameters vary with the standard errors and correlations of the fit, so that combinations of
    parameters that are known accurately vary little. Positive parameters vary by factors and stay positive.

    Args:
        results: the result of a fit, or the file written by ``pliant identify --json``, or its content.
        joint: joint whose actuator was measured, or "actuator" for all joints.
        spread: relative half width that replaces the standard errors: 0.2 is plus or minus 20 %.
        errors: factor on the standard errors.

    Returns:
        Path of a parameter -> distribution. Measurement offsets are omitted.

    Raises:
        ModelError: the file is not a result of a fit, the measurement does not determine a parameter, or the spread is
            not valid.

    Example:
        >>> batch.randomize(randomize_around("springs.json", "joint_1"), seed=1)
    """
    for name, value, low in (("spread", spread, 0.0), ("errors", errors, 0.0)):
        if value is not None and (isinstance(value, bool) or not math.isfinite(value) or value < low):
            raise ModelError(f"{name} is {value!r}; must be a finite number >= 0", field=name)
    if spread is not None and spread >= 1.0:
        raise ModelError(f"spread is {spread:g}; must be below 1, a part of the value", field="spread")
    names, values, covariance = _read(results)
    found: dict[str, Distribution] = {}
    if spread is not None:
        for name, value in zip(names, values, strict=True):
            reach = spread * abs(value)
            for path in _paths(joint, name):
                found[path] = Uniform(value - reach, value + reach)
        return found
    positive = np.array(
        [name.rsplit(".", 1)[-1] not in SENSOR_PARAMETERS and value > 0.0 for name, value in zip(names, values)]
    )
    for k, name in enumerate(names):
        if name not in SENSOR_PARAMETERS and not np.isfinite(covariance[k, k]):
            raise ModelError(
                f"the measurement does not determine {name}; give a relative spread, such as spread=0.2", field=name
            )
        if name not in SENSOR_PARAMETERS and not positive[k]:
            raise ModelError(
                f"{name} is {values[k]:g}, at its limit, where a standard error has no meaning; fit without it, or "
                "give a relative spread, such as spread=0.2",
                field=name,
            )
    scale = np.where(positive, values, 1.0)
    finite = np.where(np.isfinite(covariance), covariance, 0.0) / np.outer(scale, scale)
    parts, vectors = np.linalg.eigh(0.5 * (finite + finite.T))
    factors = errors * vectors * np.sqrt(np.maximum(parts, 0.0))
    for name, value, row in zip(names, values, factors, strict=True):
        for path in _paths(joint, name):
            found[path] = Correlated(
                float(value), tuple(map(float, row)), f"{joint}: {', '.join(names)}", relative=True
            )
    return found


def _paths(joint: str, name: str) -> list[str]:
    """Return where a batch has an identified parameter; "motor.x" is one number for both motors."""
    if name in SENSOR_PARAMETERS:
        return []
    return [f"{joint}.{path.removeprefix('law.')}" for path in target_paths(name)]


def _read(results: FitResult | Mapping[str, object] | str | Path) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return names, values and covariance of a result."""
    file = None
    content: Any = results
    if isinstance(results, str | Path):
        file = str(results)
        content = read_json(results)
    if isinstance(results, FitResult):
        content = results.as_dict()
    try:
        estimates = [(str(e["name"]), float(e["value"])) for e in content["estimates"]]
        rows = [[math.inf if c is None else float(c) for c in row] for row in content["covariance"]]
        covariance = np.array(rows).reshape(len(estimates), len(estimates))
    except (KeyError, TypeError, ValueError):
        raise ModelError(
            "this is not the result of an identification; must have estimates with name and value, and their "
            "covariance, as `pliant identify --json` prints them",
            file=file,
        ) from None
    values = np.array([value for _, value in estimates])
    if not len(values) or not np.isfinite(values).all():
        raise ModelError("the estimates must be one finite number or more", file=file, field="estimates")
    return [name for name, _ in estimates], values, covariance
