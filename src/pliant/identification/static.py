"""Fit the static law of a spring to torque and deflection."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.base.errors import LawError, nearest, require
from pliant.base.numerics import Array
from pliant.identification.measurements import Trials, as_measurements
from pliant.identification.parameters import SIGNED, ScaledParameters, scale_parameters, with_values
from pliant.identification.results import Fit, Identification
from pliant.identification.solver import Progress, identification_of, solve, starting_points
from pliant.laws.actuator import CompliantActuator
from pliant.laws.base import Law, get_law
from pliant.laws.modes import Mode
from pliant.laws.qbmove import QbMove

__all__ = ["fit_law"]


def fit_law(
    law: Law | str,
    data: Trials,
    free: Sequence[str] | Mapping[str, float] | None = None,
    *,
    symmetric: bool = False,
    offsets: Sequence[str] = (),
    starts: int = 8,
    spread: float = 0.7,
    seed: int = 0,
    loss: str = "linear",
    progress: Progress | None = None,
) -> Identification:
    """Fit a law to measured torques and deflections.

    Minimises sum (torque - law(q, theta_1, theta_2))^2 over all samples of all measurements. Velocities are not used.
    Data with friction must contain both directions of motion equally, so that the branches average out; otherwise use
    `fit_friction` and include the parameters of the law.

    Args:
        law: law with the start values and the fixed parameters, or the name of a law.
        data: one or several measurements (`Measurement`, or mappings of columns) with link position or deflection,
            motor positions or equilibrium and preset, and torque or external torque.
        free: names of the free parameters of the law; a mapping gives start values. None for all parameters of the
            springs, without max_deflection.
        symmetric: set k2 = k1 and a2 = a1 for a qbMove.
        offsets: offsets of the sensors to fit, any of "position_offset" and "torque_offset".
        starts: number of searches, from different start values. For a qbMove they come from a grid over a1 and a2,
            with k1 and k2 from a linear fit.
        spread: standard deviation of the logarithm of the other start values.
        seed: seed of the start values.
        loss: loss function: "linear", or "soft_l1", "huber" or "cauchy" for data with outliers.
        progress: called with the number of finished searches and their total number.

    Raises:
        LawError: a parameter is unknown, or there is no parameter to fit.
        RecordingError: columns are missing.

    Example:
        >>> fit_law("qbmove", read_measurement("pull.csv")).report()
    """
    start = get_law(law)() if isinstance(law, str) else law
    trials = as_measurements(data)
    actuator = CompliantActuator(start, Mode.SPRING_REFS)
    own = start.parameter_fields()
    ties: dict[str, str] = {}
    if free is None:
        free = [name for name in own if name != "max_deflection"]
        if start.name == "bavs":
            # Only the products k a and k b act: k stays where it is.
            free.remove("k")
    if symmetric:
        if not isinstance(start, QbMove):
            raise LawError(f"symmetric=True is for a qbMove; found {start.label}", field="symmetric")
        free = (
            {k: v for k, v in free.items() if k[0:2] not in ("k2", "a2")}
            if isinstance(free, Mapping)
            else [name for name in free if name not in ("k2", "a2")]
        )
        ties = {"law.k2": "law.k1", "law.a2": "law.a1"}
    for name in free:
        if name not in own:
            raise LawError(f"{start.label} has no parameter {name!r}; {nearest(name, own)}", field=name)
    for name in offsets:
        if name not in SIGNED:
            raise LawError(f"offsets: {name!r}; {nearest(name, SIGNED)}", field="offsets")
    paths: Any = (
        {f"law.{k}": v for k, v in free.items()} | dict.fromkeys(offsets, 0.0)
        if isinstance(free, Mapping)
        else [f"law.{k}" for k in free] + list(offsets)
    )
    scaled = scale_parameters(actuator, paths, ties)

    points = [(trial, *trial.spring_angles(start.second_input), trial.link_torque()) for trial in trials]
    q = np.concatenate([p[1] for p in points])
    t1 = np.concatenate([p[2] for p in points])
    t2 = np.concatenate([p[3] for p in points])
    tau = np.concatenate([p[4] for p in points])
    scale = float(np.sqrt(np.mean(tau**2))) or 1.0

    def predict(values: Mapping[str, float]) -> Array:
        with np.errstate(all="ignore"):
            try:
                found = with_values(actuator, values).law
            except LawError:
                return np.full_like(tau, np.inf)
            torque = found.evaluate(q - values.get("position_offset", 0.0), t1, t2).torque
        return np.asarray(torque) + values.get("torque_offset", 0.0)

    first = _qbmove_starts(start, scaled, q, t1, t2, tau, starts) if isinstance(start, QbMove) else []
    begins = starting_points(scaled, starts, spread, seed, first)
    solution = solve(
        scaled, lambda v: (predict(v) - tau) / scale, begins, step=1e-6, loss=loss, max_evaluations=300,
        progress=progress,
    )  # fmt: skip
    values = scaled.values(solution.x)
    predicted = predict(values)
    fits, at = [], 0
    for trial, q_, a, b, torque in points:
        here = slice(at, at + q_.size)
        at += q_.size
        eq = 0.5 * (a + b) if start.motors == 2 and start.second_input == "angle" else a
        preset = 0.5 * (a - b) if start.second_input == "angle" else b
        fits.append(
            Fit(
                source=trial.source,
                quantity="torque",
                unit="N m",
                abscissa=q_ - eq,
                group=preset,
                measured=torque,
                predicted=predicted[here],
            )
        )
    notes = []
    limit = getattr(start, "max_deflection", math.inf)
    beyond = int(
        np.count_nonzero(np.abs(q - t1) > limit)
        + (np.count_nonzero(np.abs(q - t2) > limit) if start.second_input == "angle" else 0)
    )
    if beyond:
        notes.append(f"{beyond} spring deflections lie beyond max_deflection = {limit:g} rad, where the law is flat")
    return identification_of(actuator, scaled, solution, fits, notes)


def _qbmove_starts(
    law: QbMove, scaled: ScaledParameters, q: Array, t1: Array, t2: Array, tau: Array, count: int
) -> list[Array]:
    """Return starts for a qbMove: the torque is linear in k1, k2, so a grid over a1, a2 and a linear fit suffice."""
    require("scipy", extra="fit", purpose="identification")
    from scipy.optimize import nnls

    every = max(1, q.size // 400)
    d1 = np.clip(q[::every] - t1[::every], -law.max_deflection, law.max_deflection)
    d2 = np.clip(q[::every] - t2[::every], -law.max_deflection, law.max_deflection)
    y = tau[::every]
    tied = bool(scaled.ties)
    shapes = np.array([2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.5, 12.0])
    found = []
    for a1 in shapes:
        for a2 in [a1] if tied else shapes:
            columns = np.stack([-np.sinh(a1 * d1), -np.sinh(a2 * d2)], axis=1)
            if tied:
                columns = columns.sum(axis=1, keepdims=True)
            norm = np.linalg.norm(columns, axis=0)
            norm = np.where(norm > 0.0, norm, 1.0)  # a spring that nothing loads
            k, rest = nnls(columns / norm, y)
            k = np.maximum(k / norm, 1e-6)
            found.append((rest, {"law.a1": a1, "law.a2": a2, "law.k1": k[0], "law.k2": k[-1]}))
    found.sort(key=lambda item: item[0])
    begin = dict(zip(scaled.names, scaled.start, strict=True))
    return [
        scaled.x(np.array([values.get(n, begin[n]) for n in scaled.names])) for _, values in found[: max(1, count - 1)]
    ]
