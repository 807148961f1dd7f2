"""Nonlinear least squares from several start points, with an analysis of the solution.

The solver is `scipy.optimize.least_squares`. Positive parameters have a logarithmic scale, so that small and large
values, such as k = 0.001 and a = 9, are treated alike. Standard errors are those of independent residuals of equal
variance, cov = s^2 (J^T J)^-1 with s^2 = r^T r / (m - n), enlarged where successive residuals are correlated
(`pliant.identification.correlation`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import LawError, require
from pliant.base.numerics import Array
from pliant.identification.correlation import block_inflation, lag_correlation
from pliant.identification.parameter_paths import SENSOR_PARAMETERS
from pliant.identification.parameters import ScaledParameters, parameter_unit, with_values
from pliant.identification.profile import Profile, profile_of
from pliant.identification.results import Estimate, Fit, Identification
from pliant.laws.actuator import CompliantActuator
from pliant.laws.base import Law

Residuals = Callable[[Mapping[str, float]], Array]
"""Function from the values of the parameters by path to the residuals of a model, scaled to order 1."""
Progress = Callable[[float, float], None]
"""Callback with the number of finished searches and their total number."""


SMALL_STEP = 1e-3
"""Step of a search, in standard errors, at which it ends."""
ROUGH_STEP = 1.0
"""The same of a search with approximate residuals, whose solution is further away than that."""

LEAST_EXPLAINED = 0.9
"""Share of the variance of a quantity below which a fit with correlated residuals is no fit; assumed."""
DIVERGED = 1e100
"""Residual that only a simulation that diverges has; the sum of its squares is finite, which LAPACK needs to end."""
LARGE_INTEGRATION_ERROR = 0.3
"""Error of the integration in rms residuals from which it is named; assumed."""
MAX_STEP = 0.05
"""Largest step of the differences at a solution, in scaled parameters; assumed."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The best of the searches from several starts."""

    x: Array
    """Scaled parameters of the solution, shape (n,)."""
    jacobian: Array
    """Jacobian of the residuals at the solution, shape (m, n)."""
    residual: Array
    """Residuals at the solution, shape (m,)."""
    cost: float
    """Sum of the squared residuals after the loss function."""
    success: bool
    """Whether the search converged."""
    others: tuple[tuple[Array, float], ...]
    """Scaled end point and cost of every search, best first."""
    starts: int
    """Number of searches."""
    begin: Array
    """Scaled start point of the best search, shape (n,)."""

    def of_first(self, count: int) -> Solution:
        """Return the solution for the first parameters, with the others free: the Jacobian is orthogonal to theirs."""
        return dataclasses.replace(
            self,
            x=self.x[:count],
            jacobian=orthogonal(self.jacobian, count),
            others=tuple((x[:count], cost) for x, cost in self.others),
            begin=self.begin[:count],
        )


def orthogonal(jacobian: Array, count: int) -> Array:
    """Return the first columns of a Jacobian, without the part that the other columns can explain."""
    first, others = jacobian[:, :count], jacobian[:, count:]
    if others.shape[1] == 0:
        return first
    U, sv, _ = np.linalg.svd(others, full_matrices=False)
    U = U[:, sv > 1e-12 * max(float(sv[0]), 1e-300)]
    return first - U @ (U.T @ first)


class SearchOptions(TypedDict, total=False):
    """Arguments of a fit that are fields of its `Search`."""

    starts: int
    spread: float
    seed: int
    loss: str
    max_evaluations: int
    profile: bool
    progress: Progress | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How the best parameters are searched for."""

    starts: int = 4
    """Number of searches, from different start values."""
    spread: float = 0.5
    """Standard deviation of the logarithm of the start values."""
    seed: int = 0
    """Seed of the start values."""
    loss: str = "linear"
    """Loss function of `scipy.optimize.least_squares`: "linear", or "soft_l1", "huber" or "cauchy" for data with
    outliers."""
    max_evaluations: int = 60
    """Maximum number of evaluations of each search."""
    profile: bool = False
    """Whether the 95 % interval of each parameter is found by the profile of the likelihood."""
    progress: Progress | None = None
    """Called with the number of finished searches and their total number."""

    def __post_init__(self) -> None:
        if self.profile and self.loss != "linear":
            raise LawError(f"profile needs loss 'linear'; found {self.loss!r}", field="profile")


Found: TypeAlias = list[tuple[Array, float, bool, Array]]
"""Scaled end point of every search, its cost, whether it converged, and its start point, best first."""


def solve(
    scaled: ScaledParameters, residuals: Residuals, search: Search, *, step: float, first: Sequence[Array] = ()
) -> Solution:
    """Minimise the sum of squared residuals from several start points; see `searches` and `solution_of`."""
    return solution_of(searches(scaled, residuals, search, step=step, first=first), scaled, residuals, step=step)


def searches(
    scaled: ScaledParameters,
    residuals: Residuals,
    search: Search,
    *,
    step: float,
    first: Sequence[Array] = (),
    rough: Residuals | None = None,
) -> Found:
    """Minimise the sum of squared residuals from several start points; return where each search ended.

    Args:
        scaled: the free parameters.
        residuals: function that returns the residuals; values that are not finite, or beyond DIVERGED, count as 1e6.
        search: how it is searched for.
        step: step of the differences, in scaled parameters: forward in a search, central at the solution.
        first: scaled start points to begin with, each of shape (n,).
        rough: cheaper approximation of the residuals, with which each search begins.

    Raises:
        LawError: the number of searches is not 1 or more.
    """
    begins = _starting_points(scaled, search, first)
    require("scipy", extra="fit", purpose="identification")
    found = []
    for number, begin in enumerate(begins):

        def tell(part: float, number: int = number) -> None:
            if search.progress is not None:
                search.progress(number + min(1.0, part), len(begins))

        x = begin
        if rough is not None:
            x, cost, _ = _search(ScaledResiduals(scaled, rough, step), search, begin, tell, ROUGH_STEP)
            x = x if math.isfinite(cost) else begin
        found.append((*_search(ScaledResiduals(scaled, residuals, step), search, x, tell), begin))
    found.sort(key=lambda one: one[1])
    return found


def solution_of(found: Found, scaled: ScaledParameters, residuals: Residuals, *, step: float) -> Solution:
    """Return the best of the searches, with residuals and slopes; arguments as of `searches`."""
    x, cost, success, begin = found[0]
    model = ScaledResiduals(scaled, residuals, step)
    residual = model(x)
    return Solution(
        x=x,
        jacobian=_slopes(model, x, residual, step),
        residual=residual,
        cost=cost,
        success=success,
        others=tuple((one[0], one[1]) for one in found),
        starts=len(found),
        begin=begin,
    )


def _slopes(model: ScaledResiduals, x: Array, residual: Array, step: float) -> Array:
    """Return the Jacobian at a solution, by differences over two standard errors where these exceed the step.

    A simulation whose torque or friction switches is rough in its parameters: over a short step, the differences show
    the roughness and no slope, and errors from them are too small.
    """
    jacobian = model.jacobian(x, central=True)
    m, n = jacobian.shape
    if m <= n or not np.all(np.isfinite(jacobian)):
        return jacobian
    variance = np.diag(np.linalg.pinv(jacobian.T @ jacobian)) * float(residual @ residual) / (m - n)
    steps = np.clip(2.0 * np.sqrt(np.maximum(variance, 0.0)), step, MAX_STEP)
    return jacobian if np.all(steps <= step) else model.jacobian(x, central=True, steps=steps)


class ScaledResiduals:
    """Finite residuals over scaled parameters, with the last ones remembered."""

    def __init__(self, scaled: ScaledParameters, residuals: Residuals, step: float) -> None:
        self._scaled = scaled
        self._residuals = residuals
        self._step = step
        self.bounds = scaled.bounds()
        self._last: tuple[Array, Array] = np.full(scaled.start.size, np.nan), np.empty(0)

    def __call__(self, x: Array) -> Array:
        if not np.array_equal(x, self._last[0]):
            r = self._residuals(self._scaled.values(x))
            self._last = x.copy(), np.where(np.abs(r) < DIVERGED, r, 1e6)  # the comparison is false for NaN
        return self._last[1]

    def jacobian(self, x: Array, *, central: bool = False, steps: Array | None = None) -> Array:
        """Return the derivatives of the residuals by differences within the bounds, shape (m, n).

        Args:
            x: where, shape (n,).
            central: whether the differences are central.
            steps: of each parameter, shape (n,); None for the step of all.
        """
        low, high = self.bounds
        steps = np.full(x.size, self._step) if steps is None else steps
        here, columns = self(x), []
        for i in range(x.size):
            up, down = x.copy(), x.copy()
            up[i] = min(x[i] + steps[i], high[i])
            if central or up[i] <= x[i]:
                down[i] = max(x[i] - steps[i], low[i])
            columns.append((self(up) - (self(down) if down[i] < x[i] else here)) / (up[i] - down[i]))
        return np.stack(columns, axis=1)


def _search(
    model: ScaledResiduals, search: Search, begin: Array, tell: Callable[[float], None], small: float = SMALL_STEP
) -> tuple[Array, float, bool]:
    """Return where one search ends, its cost, and whether it converged: the next step has ``small`` standard errors."""
    from scipy.optimize import least_squares

    low, high = model.bounds
    x0 = np.clip(begin, low + 1e-9, high - 1e-9)
    # The first trust region of scipy is as large as the begin, measured by the change of the residuals: with a begin of
    # 1 for each parameter, one unit of each.
    shift = x0 - 1.0
    steps = 0

    def jac(y: Array) -> Array:
        nonlocal steps
        steps += 1
        tell(steps / search.max_evaluations)
        x = y + shift
        r, jacobian = model(x), model.jacobian(x)
        if search.loss == "linear" and _has_converged(jacobian, r, x, (low, high), small):
            raise _ConvergedError(x, r)
        return jacobian

    try:
        with np.errstate(all="ignore"):
            out = least_squares(
                lambda y: model(y + shift),
                x0 - shift,
                jac=jac,  # type: ignore[arg-type]
                bounds=(low - shift, high - shift),
                loss=search.loss,
                xtol=1e-12,
                ftol=1e-12,
                gtol=1e-12,
                x_scale="jac",
                max_nfev=search.max_evaluations,
            )
    except _ConvergedError as end:
        return end.x, float(end.residual @ end.residual), True
    return out.x + shift, 2.0 * float(out.cost), bool(out.success)


class _ConvergedError(Exception):
    """End of a search whose next step would be a small part of the standard errors."""

    def __init__(self, x: Array, residual: Array) -> None:
        super().__init__("converged")
        self.x = x
        self.residual = residual


def _has_converged(jacobian: Array, r: Array, x: Array, bounds: tuple[Array, Array], small: float) -> bool:
    """Return whether the next step of Gauss and Newton is below ``small`` standard errors, within the bounds."""
    m, n = jacobian.shape
    low, high = bounds
    cost = float(r @ r)
    if m <= n or np.any(x <= low + 1e-6) or np.any(x >= high - 1e-6) or not np.all(np.isfinite(jacobian)):
        return False
    step = np.linalg.lstsq(jacobian, -r, rcond=1e-12)[0]
    change = jacobian @ step
    return float(change @ change) < small**2 * cost / (m - n)


@dataclass(frozen=True, slots=True)
class _Judged:
    """The parameters of a solution with their errors."""

    estimates: tuple[Estimate, ...]
    covariance: Array
    """Of the parameters, shape (n, n)."""
    condition: float
    """Condition number of the Jacobian."""
    undetermined: NDArray[np.bool_]
    """Parameters that change nothing that was measured, shape (n,)."""
    weakest: Array
    """Direction of the scaled parameters that changes the residuals least, shape (n,)."""


def _judge(scaled: ScaledParameters, s: Solution, law: Law, inflation: Array) -> _Judged:
    """Return the estimates with their standard errors and covariance, the errors enlarged by ``inflation``."""
    m, n = s.jacobian.shape
    norms = np.linalg.norm(s.jacobian, axis=0)
    dead = norms <= 1e-12 * max(1.0, float(norms.max(initial=0.0)))
    _, sv, Vt = np.linalg.svd(s.jacobian, full_matrices=False)
    condition = float(sv[0] / sv[-1]) if sv[-1] > 0.0 else math.inf
    variance = s.cost / max(1, m - n)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.where(sv > 1e-13 * sv[0], 1.0 / sv, 0.0)
    cov_x = (Vt.T * weights**2) @ Vt * variance
    undetermined = dead | (((Vt.T**2) @ (sv <= 1e-13 * sv[0]).astype(float)) > 1e-3)
    slope = scaled.slope(s.x) * inflation
    covariance = cov_x * np.outer(slope, slope)
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    errors = np.where(undetermined, math.inf, errors)
    values = scaled.values(s.x)
    began = scaled.values(s.begin)
    estimates = tuple(
        Estimate(
            name=name,
            value=values[name],
            standard_error=float(errors[i]),
            unit=parameter_unit(law, name),
            start=began[name],
        )
        for i, name in enumerate(scaled.names)
    )
    return _Judged(estimates, covariance, condition, undetermined, Vt[-1])


def _warnings(scaled: ScaledParameters, s: Solution, law: Law, judged: _Judged) -> list[str]:
    """Return why the parameters may not be what was looked for."""
    m, n = s.jacobian.shape
    values, undetermined, condition = scaled.values(s.x), judged.undetermined, judged.condition
    warnings: list[str] = []
    if m <= n:
        warnings.append(f"{m} samples for {n} parameters: the residual says nothing about the errors")
    for e, lost in zip(judged.estimates, undetermined, strict=True):
        if lost:
            warnings.append(f"the data do not determine {e.name}: changing it changes nothing that was measured")
        elif e.relative_error > 0.1 and abs(e.value) > 0.0 and e.name not in SENSOR_PARAMETERS:
            warnings.append(_vague(e))
    if condition > 1e3 and not undetermined.any():
        worst = np.abs(judged.weakest)
        pair = [scaled.names[i] for i in np.argsort(worst)[::-1][:2]] if n > 1 else [scaled.names[0]]
        warnings.append(
            f"condition number {condition:.1e}: {' and '.join(pair)} trade off against each other; "
            "more presets or larger deflections would part them"
        )
    low, high = scaled.bounds()
    for i, name in enumerate(scaled.names):
        if s.x[i] >= high[i] - 1e-6 or (s.x[i] <= low[i] + 1e-6 and scaled.logarithmic[i]):
            warnings.append(f"{name} ran to the edge of the search, {values[name]:.3g} {parameter_unit(law, name)}")
    for x, cost in s.others:
        apart = np.abs(x - s.x)
        if not _same(x, s) and cost <= 1.01 * s.cost + 1e-30 and np.any(apart[~undetermined] > 0.05):
            other = scaled.values(x)
            text = ", ".join(f"{k.rsplit('.', 1)[-1]} {v:.4g}" for k, v in other.items() if k in scaled.names)
            warnings.append(f"another set fits as well: {text}")
            break
    return warnings


_MOTIONS = {
    "friction.breakaway": "reversals at speeds around the Stribeck velocity",
    "friction.stribeck_velocity": "reversals at speeds around the Stribeck velocity",
    "friction.stiffness": "reversals within the reach of the bristles, torque / stiffness",
    "friction.bristle_damping": "reversals within the reach of the bristles, torque / stiffness",
    "friction.torque": "slow motion in both directions",
    "backlash.width": "reversals of the load through the whole play",
    "backlash.damping": "reversals of the load through the whole play",
    "inertia": "faster motion",
    "damping": "faster motion",
    "command_delay": "faster motion",
    "law": "larger deflections",
}
"""End of the name of a parameter, or its first part -> the motion that tells it."""


def _vague(e: Estimate) -> str:
    """Return the warning of an estimate with a large error."""
    motion = next((m for end, m in _MOTIONS.items() if e.name.endswith(end) or e.name.startswith(f"{end}.")), "")
    better = (
        f"; {motion} would tell it better (pliant excite --identify {e.name} designs such a motion)" if motion else ""
    )
    return f"{e.name} is known to {100 * e.relative_error:.0f} % only (one standard deviation){better}"


def _same(x: Array, s: Solution) -> bool:
    """Return whether a search ended where the best one did."""
    return bool(np.all(np.abs(x - s.x) < 0.01))


def _warnings_of_residuals(s: Solution, correlation: float, inflation: Array) -> list[str]:
    warnings: list[str] = []
    if correlation > 0.5 and s.residual.size > 30:
        warnings.append(
            f"neighbouring residuals are correlated ({correlation:.2f}): the model misses something or the data are "
            f"smoothed; the standard errors are enlarged for it, by up to {inflation.max():.1f}"
        )
    if not s.success:
        warnings.append("the search ended at its limit of evaluations")
    return warnings


def _integration_share(fits: Sequence[Fit]) -> float:
    """Return the largest error of the integration in rms residuals, which it adds to as noise does."""
    return max((f.integration_error / f.rms for f in fits if f.measured.size and f.rms > 0.0), default=0.0)


def _warnings_of_integration(share: float) -> list[str]:
    if share < LARGE_INTEGRATION_ERROR:
        return []
    return [
        f"the error of the simulation is {share:.1f} of the residuals where a torque saturates; the standard errors "
        "are enlarged for it, but are no more than estimates"
    ]


def _warnings_of_poor_fits(fits: Sequence[Fit]) -> list[str]:
    """Name the quantities that the model does not explain, whose parameters are those of another joint."""
    return [
        f"the model explains only {100.0 * max(0.0, f.explained):.0f} % of the variance of {f.quantity} ({f.source}): "
        "a column may be exchanged or have another sign or unit, or a value of --set may be wrong"
        for f in fits
        if f.explained < LEAST_EXPLAINED
    ]


def _starting_points(scaled: ScaledParameters, search: Search, first: Sequence[Array]) -> list[Array]:
    starts = search.starts
    if isinstance(starts, bool) or not isinstance(starts, int) or starts < 1:
        raise LawError(f"starts is {starts!r}; must be a whole number >= 1", field="starts")
    rng = np.random.default_rng(search.seed)
    out = [*first, scaled.x(scaled.start)][: max(starts, 1)]
    low, high = scaled.bounds()
    while len(out) < starts:
        x = scaled.x(scaled.start) + search.spread * rng.standard_normal(scaled.start.size)
        out.append(np.clip(x, low, high))
    return out


def identification_of(
    actuator: CompliantActuator,
    scaled: ScaledParameters,
    solution: Solution,
    fits: Sequence[Fit],
    notes: Sequence[str],
    profiled: tuple[ScaledParameters, Residuals] | None = None,
    *,
    switching: bool = False,
) -> Identification:
    """Return values, standard errors, condition number and warnings for a solution.

    Args:
        actuator: actuator with the start values.
        scaled: the parameters that are reported, the first ones of the solution.
        solution: the solution, of the reported parameters and others that are fitted beside them.
        fits: measured and predicted values.
        notes: warnings to begin with.
        profiled: all parameters of the solution and the residuals, for intervals by the profile of the likelihood.
        switching: whether a torque saturates; the extrapolation to a step of 0 is then no better than its last step.
    """
    whole, solution = solution, solution.of_first(len(scaled.names))
    breaks = np.cumsum([f.measured.size for f in fits])[:-1].tolist()
    found = with_values(actuator, scaled.values(solution.x))
    correlation = lag_correlation(solution.residual, breaks)
    rough = _integration_share(fits) if switching else 0.0
    inflation = np.ones(scaled.start.size)
    if correlation > 2.0 / math.sqrt(max(1, solution.residual.size)):
        inflation = block_inflation(solution.jacobian, solution.residual, breaks)
    inflation *= math.hypot(1.0, rough)
    judged = _judge(scaled, solution, found.law, inflation)
    estimates = judged.estimates
    if profiled is not None:
        estimates = tuple(
            e if lost else dataclasses.replace(e, profile=_profile(*profiled, whole, i, float(inflation[i])))
            for i, (e, lost) in enumerate(zip(estimates, judged.undetermined, strict=True))
        )
    said = [
        *_warnings(scaled, solution, found.law, judged),
        *_warnings_of_residuals(solution, correlation, inflation),
        *(_warnings_of_poor_fits(fits) if correlation > 0.5 else []),
        *(_warnings_of_integration(rough)),
    ]
    return Identification(
        actuator=found,
        estimates=estimates,
        covariance=judged.covariance,
        fits=tuple(fits),
        cost=solution.cost,
        condition=judged.condition,
        correlation=correlation,
        starts=solution.starts,
        agreeing=sum(_same(x, solution) for x, _ in solution.others),
        converged=solution.success,
        warnings=(*notes, *said),
    )


def _profile(scaled: ScaledParameters, residuals: Residuals, s: Solution, index: int, inflation: float) -> Profile:
    def value_of(x: float) -> float:
        at = s.x.copy()
        at[index] = x
        return scaled.values(at)[scaled.names[index]]

    return profile_of(
        lambda x: residuals(scaled.values(x)), s.x, s.jacobian, index, inflation, scaled.bounds(), value_of
    )
