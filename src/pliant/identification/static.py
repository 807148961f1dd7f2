"""Fit the static law of a spring to torque and deflection."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from pliant.base.errors import LawError, nearest, require
from pliant.base.numerics import Array
from pliant.identification.measurements import Measurement, Trials, as_measurements
from pliant.identification.parameters import ScaledParameters, scale_parameters, with_values
from pliant.identification.results import Fit, Identification
from pliant.identification.solver import Search, SearchOptions, identification_of, solve
from pliant.laws.actuator import CompliantActuator
from pliant.laws.base import Law, get_law
from pliant.laws.modes import Mode
from pliant.laws.qbmove import QbMove

_OFFSETS = ("position_offset", "torque_offset")
"""Parameters of sensors that a static fit may have."""

_USUAL = SearchOptions(starts=8, spread=0.7, max_evaluations=300)


def fit_law(
    law: Law | str,
    data: Trials,
    free: Sequence[str] | Mapping[str, float] | None = None,
    *,
    symmetric: bool = False,
    offsets: Sequence[str] = (),
    **search: Unpack[SearchOptions],
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
        **search: fields of `Search`: ``starts`` (default 8), ``spread`` (0.7), ``seed``, ``loss``, ``max_evaluations``
            (300) and ``progress``. For a qbMove the start values come from a grid over a1 and a2, with k1 and k2 from a
            linear fit.

    Raises:
        LawError: a parameter is unknown, or there is no parameter to fit.
        RecordingError: columns are missing.

    Example:
        >>> fit_law("qbmove", read_measurement("pull.csv")).report()
    """
    start = get_law(law)() if isinstance(law, str) else law
    options = Search(**(_USUAL | search))
    trials = as_measurements(data)
    actuator = CompliantActuator(start, Mode.SPRING_REFS)
    scaled = _scaled(actuator, free, symmetric, offsets)
    points = _Points.of(start, trials)
    tau = points.torque
    scale = float(np.sqrt(np.mean(tau**2))) or 1.0

    def predict(values: Mapping[str, float]) -> Array:
        with np.errstate(all="ignore"):
            try:
                found = with_values(actuator, values).law
            except LawError:
                return np.full_like(tau, np.inf)
            torque = found.evaluate(points.q - values.get("position_offset", 0.0), points.a, points.b).torque
        return np.asarray(torque) + values.get("torque_offset", 0.0)

    first = _qbmove_starts(start, scaled, points, options.starts) if isinstance(start, QbMove) else []
    residuals = lambda v: (predict(v) - tau) / scale  # noqa: E731
    solution = solve(scaled, residuals, options, step=1e-6, first=first)
    fits = points.fits(start, predict(scaled.values(solution.x)))
    profiled = (scaled, residuals) if options.profile else None
    return identification_of(actuator, scaled, solution, fits, points.notes(start), profiled)


def predict_law(law: Law, data: Trials, values: Mapping[str, float] | None = None) -> list[Fit]:
    """Compare a law with measurements, without a fit.

    Args:
        law: the law.
        data: one or several measurements, as for `fit_law`.
        values: values of "position_offset" and "torque_offset"; other names are ignored.
    """
    points, sensors = _Points.of(law, as_measurements(data)), values or {}
    torque = law.evaluate(points.q - sensors.get("position_offset", 0.0), points.a, points.b).torque
    return points.fits(law, np.asarray(torque) + sensors.get("torque_offset", 0.0))


def _scaled(
    actuator: CompliantActuator,
    free: Sequence[str] | Mapping[str, float] | None,
    symmetric: bool,
    offsets: Sequence[str],
) -> ScaledParameters:
    """Return the free parameters of a law, as `fit_law` takes them."""
    start = actuator.law
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
        if name not in _OFFSETS:
            raise LawError(f"offsets: {name!r}; {nearest(name, _OFFSETS)}", field="offsets")
    paths: dict[str, float] | list[str] = (
        {f"law.{k}": v for k, v in free.items()} | dict.fromkeys(offsets, 0.0)
        if isinstance(free, Mapping)
        else [f"law.{k}" for k in free] + list(offsets)
    )
    return scale_parameters(actuator, paths, ties)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Points:
    """The samples of all measurements, one after the other."""

    trials: Sequence[Measurement]
    sizes: tuple[int, ...]
    """Samples of each measurement."""
    q: Array
    """Positions of the link [rad]."""
    a: Array
    """First input of the springs [rad]."""
    b: Array
    """Second input of the springs."""
    torque: Array
    """Torques on the link [N m]."""

    @classmethod
    def of(cls, law: Law, trials: Sequence[Measurement]) -> _Points:
        parts = []
        for trial in trials:
            keep = trial.compared("torque" if "torque" in trial else "external_torque")
            columns = (*trial.spring_angles(law.second_input), trial.link_torque())
            parts.append(tuple(column[keep] for column in columns))
        q, a, b, torque = (np.concatenate(column) for column in zip(*parts, strict=True))
        return cls(trials=trials, sizes=tuple(p[0].size for p in parts), q=q, a=a, b=b, torque=torque)

    def fits(self, law: Law, predicted: Array) -> list[Fit]:
        """Return measured and predicted torques of each measurement, over the deflection."""
        angles = law.second_input == "angle"
        eq = 0.5 * (self.a + self.b) if law.motors == 2 and angles else self.a
        preset = 0.5 * (self.a - self.b) if angles else self.b
        found, at = [], 0
        for trial, size in zip(self.trials, self.sizes, strict=True):
            here = slice(at, at + size)
            at += size
            if size == 0:
                continue
            found.append(
                Fit(
                    source=trial.source,
                    quantity="torque",
                    unit="N m",
                    abscissa=(self.q - eq)[here],
                    group=preset[here],
                    measured=self.torque[here],
                    predicted=predicted[here],
                )
            )
        return found

    def notes(self, law: Law) -> list[str]:
        """Return a note if deflections lie where the law is flat."""
        limit = getattr(law, "max_deflection", math.inf)
        beyond = np.count_nonzero(np.abs(self.q - self.a) > limit)
        if law.second_input == "angle":
            beyond += np.count_nonzero(np.abs(self.q - self.b) > limit)
        if not beyond:
            return []
        return [f"{beyond} spring deflections lie beyond max_deflection = {limit:g} rad, where the law is flat"]


def _qbmove_starts(law: QbMove, scaled: ScaledParameters, points: _Points, count: int) -> list[Array]:
    """Return starts for a qbMove: the torque is linear in k1, k2, so a grid over a1, a2 and a linear fit suffice."""
    q, t1, t2, tau = points.q, points.a, points.b, points.torque
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
