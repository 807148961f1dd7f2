"""Fit of what is unknown of the SoftFoot's bench to measured trials, with standard errors.

Least squares over forces and rotations of all trials: residual (simulated - measured) / sigma, with soft-L1 loss, as in
a few trials a small change of the set-up leads to another equilibrium. Of the rotations the mean difference of each
module is taken out first, because the mounting of the IMUs is unknown (Crotti et al. 2024, section III-B). Standard
errors are those of `pliant.identification`: cov = s^2 (J^T J)^-1 with s^2 = r^T r / (m - n), where m does not count the
six mean differences.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import PliantError, nearest
from pliant.base.options import describe
from pliant.feet.softfoot import smallest_compliance
from pliant.feet.softfoot.parameters import CHAINS
from pliant.feet.softfoot_bench import SoftFootBenchOptions, module_position
from pliant.feet.softfoot_bench.build import build
from pliant.feet.trials import POSITIONS, Trials, simulate_trials

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pliant.base.numerics import Array
    from pliant.identification.results import Estimate

FREE = ("heel_block", "metatarsus_block", "pitch", "closure_compliance", "band_stiffness")
"""Parameters that can be fitted: options of ``softfoot-bench``."""
FORCE_SIGMA = 1.0
"""Standard deviation of a measured force [N].  # assumed"""
PITCH_SIGMA = math.radians(1.0)
"""Standard deviation of a measured rotation [rad].  # assumed"""

PITCHES = (-0.05, 0.12)
"""Where the initial pitch is searched [rad]."""
RAMP = 0.5
"""Time in which the load grows [s]: shorter than in a trial, because the search needs many of them."""

_SCALE = {"heel_block": 0.005, "metatarsus_block": 0.005, "pitch": 0.02}
"""Unit of the search of each parameter that is not searched on a logarithmic scale [m, rad]."""
_STEPS = (0.4, 0.2, 0.1)
"""Steps of the differences, on the scale of the search: 2 mm, 8 mrad, 40 % at first. The forces jump where a contact
moves to another edge, which wide differences average."""
_GRID = {"heel_block": 4, "metatarsus_block": 6, "pitch": 9}
"""Places of the first survey of each parameter."""
_COARSE: dict[str, object] = {"coupling": "midpoint", "tendon": "fixed"}
"""The reduced foot."""
MOST_SURVEYED, MOST_COARSE = 8, 16
"""Most trials of the survey, and of the descents with the reduced foot."""
_OUTLIER = 2.0
"""Residual, in standard deviations, from which on a residual counts less (soft L1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupFit:
    """Fitted set-up."""

    options: SoftFootBenchOptions
    """The options with the fitted values."""
    estimates: tuple[Estimate, ...]
    """Fitted values with standard errors, in the order asked for."""
    covariance: Array
    """Covariance of the values, shape (n, n), in the units of the estimates."""
    condition: float
    """Condition number of the Jacobian on the scale of the search."""
    rms_force: tuple[float, float]
    """Root mean square difference of the forces before and after the fit [N]."""
    rms_pitch: tuple[float, float]
    """Root mean square difference of the rotations before and after the fit, without mean differences [rad]."""
    evaluations: int
    """Number of times that all trials were simulated."""
    warnings: tuple[str, ...]
    """Remarks on the result, one sentence each."""

    def __getitem__(self, name: str) -> Estimate:
        """Return the estimate of a parameter."""
        for estimate in self.estimates:
            if estimate.name == name:
                return estimate
        raise PliantError(f"{name!r} was not fitted; {nearest(name, [e.name for e in self.estimates])}", field=name)


def fit_setup(
    measured: Trials,
    free: Sequence[str] = FREE,
    options: SoftFootBenchOptions | None = None,
    *,
    force_sigma: float = FORCE_SIGMA,
    pitch_sigma: float = PITCH_SIGMA,
    duration: float = 2.5,
    starts: int = 3,
    max_iterations: int = 12,
    progress: Callable[[float], None] | None = None,
) -> SetupFit:
    """Fit options of the bench to measured trials.

    Args:
        measured: the trials, from `softfoot_measured.read_trials`.
        free: names of the options that are fitted, of `FREE`.
        options: the other options, and where the search begins.
        force_sigma: standard deviation of a measured force [N].
        pitch_sigma: standard deviation of a measured rotation [rad].
        duration: length of a simulated trial [s].
        starts: number of descents, from the best places of a survey.
        max_iterations: bound on the iterations of a descent.
        progress: called with the fraction done.

    Raises:
        PliantError: a parameter that cannot be fitted; too few trials; a standard deviation that is not positive.

    Example:
        >>> fit = fit_setup(read_trials("data.csv"), ["heel_block", "pitch"])
        >>> fit["pitch"].value, fit["pitch"].standard_error
    """
    names = list(dict.fromkeys(free))
    for name in names:
        if name not in FREE:
            raise PliantError(f"{name!r} cannot be fitted; {nearest(name, FREE)}", field="free")
    for what, sigma in (("force_sigma", force_sigma), ("pitch_sigma", pitch_sigma)):
        if not sigma > 0.0:
            raise PliantError(f"{what} is {sigma:g}; must be > 0", field=what)
    count = measured.force.size + measured.pitch.size - measured.pitch.shape[1]
    if not names or count <= len(names):
        raise PliantError(
            f"{len(measured)} trials give {count} numbers for {len(names)} parameters; there must be at least one "
            "parameter, and more numbers than parameters",
            field="free",
        )
    start = SoftFootBenchOptions() if options is None else options
    bounds = _bounds(start)
    low, high = np.array([[_to_search(n, v) for v in bounds[n]] for n in names]).T
    done = 0

    def values(x: Array) -> dict[str, float]:
        return {name: _from_search(name, float(v)) for name, v in zip(names, x, strict=True)}

    def differences(x: Array, rows: NDArray[np.intp] | None = None, **changes: object) -> tuple[Array, Array]:
        nonlocal done
        done += 1
        kept = np.arange(len(measured)) if rows is None else rows
        trials = [measured.trials[i] for i in kept]
        found = simulate_trials(trials, start, duration=duration, ramp=RAMP, **{**values(x), **changes})
        pitch = found.pitch - measured.pitch[kept]
        return found.force - measured.force[kept], pitch - pitch.mean(axis=0)

    def residual(x: Array, rows: NDArray[np.intp] | None = None, **changes: object) -> Array:
        try:
            force, pitch = differences(x, rows, **changes)
        except PliantError:  # a trial diverged
            n = len(measured) if rows is None else rows.size
            return np.full(n * (measured.force.shape[1] + measured.pitch.shape[1]), 1e3)
        return np.concatenate([force.ravel() / force_sigma, pitch.ravel() / pitch_sigma])

    origin = np.clip([_to_search(n, getattr(start, n)) for n in names], low, high)
    before = differences(origin)
    # Where to begin is sought with the reduced foot in some of the trials, what the values are with all.
    report = progress or (lambda fraction: None)
    some = _spread(len(measured), MOST_COARSE)
    places = _survey(
        functools.partial(residual, rows=_spread(len(measured), MOST_SURVEYED), **_COARSE), names, origin, low, high
    )[: max(1, starts)]
    coarse = functools.partial(residual, rows=some, **_COARSE)
    ends = []
    for i, place in enumerate(places):
        part = functools.partial(_part, report, 0.1 + 0.5 * i / len(places), 0.5 / len(places))
        ends.append(_descend(coarse, place, low, high, _STEPS[:2], max_iterations, part))
    best = min(ends, key=lambda end: end.cost)
    out = _descend(residual, best.x, low, high, _STEPS[1:], max_iterations, functools.partial(_part, report, 0.6, 0.4))
    after = differences(out.x)
    slopes = _slopes(residual, out.x, low, high, _STEPS[-1])
    sv = np.linalg.svd(slopes, compute_uv=False)
    condition = float(sv[0] / sv[-1]) if sv[-1] > 0.0 else math.inf
    variance = out.cost / (count - len(names))
    slope = np.array([_slope(n, v) for n, v in values(out.x).items()])
    covariance = np.linalg.pinv(slopes.T @ slopes) * variance * np.outer(slope, slope)
    dead = np.linalg.norm(slopes, axis=0) <= 1e-9 * max(1.0, float(np.linalg.norm(slopes)))
    errors = np.where(dead, math.inf, np.sqrt(np.maximum(np.diag(covariance), 0.0)))
    units = {info.name: info.unit for info in describe(SoftFootBenchOptions)}
    from pliant.identification.results import Estimate

    estimates = tuple(
        Estimate(name=n, value=v, standard_error=float(e), unit=units[n], start=float(getattr(start, n)))
        for (n, v), e in zip(values(out.x).items(), errors, strict=True)
    )
    return SetupFit(
        options=dataclasses.replace(start, **values(out.x)),
        estimates=estimates,
        covariance=covariance,
        condition=condition,
        rms_force=(_rms(before[0]), _rms(after[0])),
        rms_pitch=(_rms(before[1]), _rms(after[1])),
        evaluations=done,
        warnings=tuple(_warnings(estimates, out, bounds, condition)),
    )


@dataclass(frozen=True, slots=True)
class _End:
    """Where a search ended."""

    x: Array
    cost: float
    converged: bool


def _cost(residual: Array) -> float:
    """Return the soft-L1 loss: the sum of squares where residuals are small."""
    return float(np.sum(2.0 * _OUTLIER**2 * (np.sqrt(1.0 + (residual / _OUTLIER) ** 2) - 1.0)))


def _slopes(residual: Callable[[Array], Array], x: Array, low: Array, high: Array, step: float) -> Array:
    """Return derivatives by central differences, shape (m, n)."""
    columns = []
    for i in range(x.size):
        up, down = x.copy(), x.copy()
        up[i], down[i] = min(x[i] + step, high[i]), max(x[i] - step, low[i])
        columns.append((residual(up) - residual(down)) / (up[i] - down[i]))
    return np.stack(columns, axis=1)


def _descend(
    residual: Callable[[Array], Array],
    x: Array,
    low: Array,
    high: Array,
    steps: Sequence[float],
    max_iterations: int,
    progress: Callable[[float], None],
) -> _End:
    """Minimise the loss by Gauss-Newton steps with wide differences, narrower ones where no step helps."""
    r = residual(x)
    cost, level = _cost(r), 0
    for iteration in range(max_iterations):
        progress(iteration / max_iterations)
        slopes = _slopes(residual, x, low, high, steps[level])
        weight = 1.0 / np.sqrt(1.0 + (r / _OUTLIER) ** 2)
        normal = slopes.T @ (weight[:, None] * slopes)
        gained = 0.0
        for damping in (1e-3, 0.1, 1.0, 10.0):
            matrix = normal + damping * np.diag(np.diag(normal)) + 1e-12 * np.eye(x.size)
            trial = np.clip(x - np.linalg.solve(matrix, slopes.T @ (weight * r)), low, high)
            new = residual(trial)
            if _cost(new) < cost:
                gained = (cost - _cost(new)) / cost
                x, r, cost = trial, new, _cost(new)
                break
        if gained < 1e-3:
            level += 1
            if level == len(steps):
                return _End(x, cost, True)
    return _End(x, cost, False)


def _spread(count: int, most: int) -> NDArray[np.intp]:
    """Return at most so many of the first whole numbers, evenly spread."""
    return np.unique(np.linspace(0, count - 1, most).round().astype(int))


def _part(report: Callable[[float], None], begin: float, size: float, fraction: float) -> None:
    report(begin + size * fraction)


def _survey(
    residual: Callable[[Array], Array], names: Sequence[str], origin: Array, low: Array, high: Array
) -> list[Array]:
    """Return the best places of a coarse grid of block positions and pitches, on the scale of the search.

    Positions of the metatarsus block and pitches make a long valley with steps in its sides, where a descent from
    outside gets stuck.
    """
    axes = [
        np.linspace(a, b, _GRID[n] + 2)[1:-1] if n in _GRID else [x]
        for n, x, a, b in zip(names, origin, low, high, strict=True)
    ]
    points = [np.array(point) for point in itertools.product(*axes)]
    costs = [_cost(residual(point)) for point in points]
    return [points[i] for i in np.argsort(costs, kind="stable")]


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _warnings(estimates: Sequence[Estimate], out: _End, bounds: dict[str, tuple[float, float]], condition: float):
    """Yield what a reader must know of the result."""
    for e in estimates:
        if not math.isfinite(e.standard_error):
            yield f"the data do not determine {e.name}"
        low, high = bounds[e.name]
        if min(abs(_to_search(e.name, e.value) - _to_search(e.name, b)) for b in (low, high)) < 1e-3:
            yield f"{e.name} ran to the edge of the search, {low:.3g} to {high:.3g} {e.unit}"
    if condition > 1e3:
        yield f"condition number {condition:.1e}: combinations of parameters are hardly determined"
    if not out.converged:
        yield "the search ended at its limit of iterations"


# -- the scale of the search ------------------------------------------------------------------------------------------


def _to_search(name: str, value: float) -> float:
    return value / _SCALE[name] if name in _SCALE else math.log(value)


def _from_search(name: str, x: float) -> float:
    return x * _SCALE[name] if name in _SCALE else math.exp(x)


def _slope(name: str, value: float) -> float:
    """Return the change of a value with its place on the scale of the search."""
    return _SCALE.get(name, value)


def _bounds(options: SoftFootBenchOptions) -> dict[str, tuple[float, float]]:
    """Return where each parameter is searched: blocks under heel and metatarsus, compliances that the step allows."""
    model = build(options).compile()
    share = options.n_chains if options.lump else CHAINS
    least = smallest_compliance(model, options.timestep, share=share)
    gap = 0.5 * (options.obstacle_length + options.block_length)
    # The obstacle follows the pitch, which must not let the blocks overlap anywhere in the search.
    first = min(module_position(1, options.scale, pitch) for pitch in PITCHES) + options.obstacle_shift
    last = max(module_position(POSITIONS, options.scale, pitch) for pitch in PITCHES) + options.obstacle_shift
    s = options.scale
    return {
        "heel_block": (-0.09 * s, first - gap),
        "metatarsus_block": (last + gap, 0.135 * s),
        "pitch": PITCHES,
        "closure_compliance": (1.001 * least, max(1e-4, 2.0 * least)),
        "band_stiffness": (0.04, 16.0),
    }
