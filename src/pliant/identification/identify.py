"""Identification: parameters of springs, friction and servo from measured traces, with honest error bars.

Three questions, three functions, one fitting engine (`scipy.optimize.least_squares`, several starts, parameters on a
logarithmic scale so that k = 0.001 and a = 9 weigh alike):

* `fit_law`: the static law, from torque and deflection. Friction makes two branches; their mean is what is fitted.
* `fit_friction`: the law may stay fixed; the loop between the branches gives the friction of the link.
* `fit_servo`: inertia, damping, friction, delay of the motors, from references and motor positions.

All three return an `Identification`: values with standard errors, residuals, the condition of the problem, and
warnings in words where the data do not say what they are asked. `fit_actuator` is the engine itself, for any set of
parameters, and `datasheet` writes what Grioli et al. 2015 (doi 10.1177/0278364914566515) ask of a variable stiffness
actuator's data sheet.

Standard errors assume independent residuals of equal variance: cov = s^2 (J^T J)^-1 with s^2 = r^T r / (m - n). Where
the residuals of neighbouring samples are correlated, a warning says by how much the errors are too small.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import LawError, nearest
from pliant.identification.measurements import Measurement
from pliant.laws import layout
from pliant.laws.actuator import CompliantActuator
from pliant.laws.base import Law, get_law
from pliant.laws.friction import PreslidingFriction
from pliant.laws.modes import Mode
from pliant.laws.qbmove import QbMove

__all__ = [
    "Estimate",
    "Identification",
    "datasheet",
    "fit_actuator",
    "fit_friction",
    "fit_law",
    "fit_servo",
    "loop_width",
    "parameter_unit",
]

Array = NDArray[np.float64]

TYPICAL: dict[str, float] = {
    "load_coefficient": 0.1,
    "preset_coefficient": 0.1,
    "command_delay": 0.01,
    "link_damping": 0.05,
    "link_preset_damping": 0.05,
    "preset_damping": 0.05,
    "ki": 1.0,
    "position_offset": 0.01,
    "torque_offset": 0.01,
    "torque": 0.02,
}
"""Scale of parameters that may be 0 or negative, hence have no logarithm."""

SIGNED = ("position_offset", "torque_offset")
"""Offsets of the measurement: link position read minus true [rad], torque read minus true [N m]."""

_UNITS = {
    ("qbmove", "k1"): "N m",
    ("qbmove", "k2"): "N m",
    ("qbmove", "a1"): "1/rad",
    ("qbmove", "a2"): "1/rad",
    ("sea", "k"): "N m/rad",
    ("bavs", "k"): "N m",
    ("bavs", "k_e"): "1/rad",
    ("awas_ii", "Ks"): "N m/rad",
    ("awas_ii", "L"): "m",
    ("awas_ii", "r_t"): "m",
}
_BLOCK_UNITS = {
    "max_deflection": "rad",
    "inertia": "kg m^2",
    "damping": "N m s/rad",
    "max_torque": "N m",
    "max_velocity": "rad/s",
    "preset_damping": "N m s/rad^2",
    "torque": "N m",
    "stiffness": "N m/rad",
    "load_coefficient": "N m per N m",
    "preset_coefficient": "N m/rad",
    "kp": "N m/rad",
    "ki": "N m/(rad s)",
    "kd": "N m s/rad",
    "command_delay": "s",
    "link_damping": "N m s/rad",
    "link_preset_damping": "N m s/rad^2",
    "position_offset": "rad",
    "torque_offset": "N m",
    "resistance": "ohm",
    "inductance": "H",
    "torque_constant": "N m/A",
    "back_emf_constant": "V s/rad",
}


def parameter_unit(law: Law, path: str) -> str:
    """Return the unit of a parameter such as "law.k1" or "motor_1.friction.torque"; "" where it has none."""
    last = path.rsplit(".", 1)[-1]
    if path.startswith("law."):
        return _UNITS.get((law.name, last), _BLOCK_UNITS.get(last, ""))
    return _BLOCK_UNITS.get(last, "")


# -- results ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One identified parameter."""

    name: str
    """Dotted path: "law.k1", "link_friction.torque", "motor.inertia" (both motors)."""
    value: float
    """Value in SI units."""
    standard_error: float
    """One standard deviation; infinite where the data do not determine it."""
    unit: str
    """Unit of both."""
    start: float
    """Value at which the best search began."""

    @property
    def relative_error(self) -> float:
        """Standard error as a part of the value."""
        return self.standard_error / abs(self.value) if self.value else math.inf

    def as_dict(self) -> dict[str, Any]:
        """Return plain types."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """One compared quantity of one measurement."""

    source: str
    """Where the measurement comes from."""
    quantity: str
    """What was compared, such as "torque" or "motor_1_position"."""
    unit: str
    """Its unit."""
    abscissa: Array
    """Time [s], or deflection [rad] for static fits, shape (n,)."""
    group: Array
    """Preset of each sample [rad], or 0, shape (n,)."""
    measured: Array
    """Measured values, shape (n,)."""
    predicted: Array
    """Values of the fitted model, shape (n,)."""

    @property
    def residual(self) -> Array:
        """Measured minus predicted, shape (n,)."""
        return self.measured - self.predicted

    @property
    def rms(self) -> float:
        """Root mean square of the residual."""
        return float(np.sqrt(np.mean(self.residual**2)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Identification:
    """Identified parameters and how far they can be trusted."""

    actuator: CompliantActuator
    """The actuator with the identified values put in."""
    estimates: tuple[Estimate, ...]
    """The free parameters, in the order asked for."""
    covariance: Array
    """Covariance of the values, shape (n, n), in the units of the estimates."""
    fits: tuple[Fit, ...]
    """Measured against predicted."""
    cost: float
    """Sum of squared weighted residuals."""
    condition: float
    """Condition number of the scaled Jacobian: how much worse the worst combination of parameters is known than the
    best. Above 1e3 a combination of them is hardly determined."""
    correlation: float
    """Correlation of neighbouring residuals, -1 to 1; near 0 for noise, near 1 where the model misses something."""
    starts: int
    """Searches made."""
    agreeing: int
    """Searches that ended at the same values as the best one (within 1 %)."""
    converged: bool
    """Whether the best search ended by its own criterion."""
    warnings: tuple[str, ...]
    """What a reader must know, one sentence each."""

    @property
    def law(self) -> Law:
        """The law with the identified values."""
        return self.actuator.law

    @property
    def values(self) -> dict[str, float]:
        """Values by name."""
        return {e.name: e.value for e in self.estimates}

    def __getitem__(self, name: str) -> Estimate:
        """Return an estimate by its path, or by the last part of it where that is unique."""
        found = [e for e in self.estimates if e.name == name] or [
            e for e in self.estimates if e.name.rsplit(".", 1)[-1] == name
        ]
        if len(found) != 1:
            raise LawError(f"no estimate {name!r}; {nearest(name, [e.name for e in self.estimates])}", field=name)
        return found[0]

    def rms(self, quantity: str | None = None) -> float:
        """Return the root mean square residual of one quantity, over all measurements, in its unit."""
        chosen = [f for f in self.fits if quantity in (None, f.quantity)]
        if not chosen:
            raise LawError(f"no fit of {quantity!r}; {nearest(str(quantity), {f.quantity for f in self.fits})}")
        return float(np.sqrt(np.mean(np.concatenate([f.residual for f in chosen]) ** 2)))

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the traces as plain types, for JSON."""
        return {
            "law": self.law.name,
            "estimates": [e.as_dict() for e in self.estimates],
            "residuals": [
                {
                    "source": f.source,
                    "quantity": f.quantity,
                    "unit": f.unit,
                    "samples": int(f.measured.size),
                    "rms": f.rms,
                    "max": float(np.max(np.abs(f.residual))),
                    "explained": _explained(f),
                }
                for f in self.fits
            ],
            "condition": self.condition,
            "residual_correlation": self.correlation,
            "starts": self.starts,
            "agreeing_starts": self.agreeing,
            "converged": self.converged,
            "covariance": self.covariance.tolist(),
            "warnings": list(self.warnings),
        }

    def report(self) -> str:
        """Return a table of the values and the residuals as text."""
        width = max(len(e.name) for e in self.estimates)
        lines = [
            f"{e.name:<{width}}  {e.value: .6g} +- {e.standard_error:.2g} {e.unit}".rstrip() for e in self.estimates
        ]
        for f in self.fits:
            lines.append(
                f"residual of {f.quantity} ({f.source}): rms {f.rms:.3g} {f.unit}, "
                f"largest {np.max(np.abs(f.residual)):.3g} {f.unit}, {f.measured.size} samples"
            )
        lines.append(f"condition {self.condition:.3g}; {self.agreeing} of {self.starts} searches agree")
        lines.extend(f"warning: {w}" for w in self.warnings)
        return "\n".join(lines)

    def figure(self) -> Any:
        """Return a `matplotlib.figure.Figure`: measured and predicted, and the residuals below.

        One column a quantity; against time, or against the deflection for a static fit.
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        quantities = list(dict.fromkeys(f.quantity for f in self.fits))
        figure = Figure(figsize=(max(5.0, 4.2 * len(quantities)), 4.6), layout="constrained")
        FigureCanvasAgg(figure)
        axes = np.atleast_2d(
            figure.subplots(2, len(quantities), squeeze=False, sharex="col", gridspec_kw={"height_ratios": [3, 1]})
        )
        colors = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
        for column, quantity in enumerate(quantities):
            top, bottom = axes[:, column]
            count = 0
            static = False
            for f in (f for f in self.fits if f.quantity == quantity):
                static = static or not np.all(np.diff(f.abscissa) > 0.0)
                for preset in np.unique(np.round(f.group, 6)):
                    at = np.round(f.group, 6) == preset
                    color = colors[count % len(colors)]
                    count += 1
                    x, order = f.abscissa[at], np.argsort(f.abscissa[at], kind="stable")
                    several = np.unique(np.round(f.group, 6)).size > 1
                    name = f"preset {preset:.4g}" if several or preset else f.source
                    top.plot(x, f.measured[at], ".", ms=2.5, alpha=0.45, color=color)
                    line = (
                        (x[order], f.predicted[at][order])
                        if _single_valued(x, f.predicted[at])
                        else (x, f.predicted[at])
                    )
                    top.plot(*line, "-", lw=1.2, color=color, label=name)
                    bottom.plot(x, f.residual[at], ".", ms=2.0, color=color)
            unit = next(f.unit for f in self.fits if f.quantity == quantity)
            top.set_ylabel(f"{quantity.replace('_', ' ')} [{unit}]")
            bottom.set_ylabel(f"residual [{unit}]")
            bottom.set_xlabel("deflection [rad]" if static else "time [s]")
            bottom.axhline(0.0, color="#6e7781", lw=0.6)
            if count <= 8:
                top.legend(fontsize=7, frameon=False)
            for axis in (top, bottom):
                axis.grid(True, color="#d8dee4", lw=0.6)
                axis.spines[["top", "right"]].set_visible(False)
        axes[0, 0].set_title("points: measured, lines: identified", loc="left", fontsize=9)
        return figure


def _single_valued(x: Array, y: Array) -> bool:
    """Say whether y is one smooth curve over x, or a loop that must be drawn in the order of time."""
    order = np.argsort(x, kind="stable")
    span = np.ptp(y) or 1.0
    return bool(np.max(np.abs(np.diff(y[order])), initial=0.0) < 0.05 * span)


def _explained(f: Fit) -> float:
    total = float(np.sum((f.measured - f.measured.mean()) ** 2))
    return 1.0 - float(np.sum(f.residual**2)) / total if total > 0.0 else math.nan


# -- parameters by path -----------------------------------------------------------------------------------


def _targets(path: str) -> list[str]:
    """Return the paths that a path means: "motor.x" is both motors, "pid.x" both controllers."""
    head, _, rest = path.partition(".")
    if head in ("motor", "pid") and rest:
        return [f"{head}_1.{rest}", f"{head}_2.{rest}"]
    return [path]


def _get(actuator: CompliantActuator, path: str) -> float:
    """Return the value at a path.

    Raises:
        LawError: there is no such parameter, or it is no number.
    """
    value: Any = actuator
    parts = _targets(path)[0].split(".")
    for i, part in enumerate(parts):
        names = [f.name for f in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
        if part not in names:
            where = ".".join(parts[:i]) or "the actuator"
            if value is None:
                raise LawError(f"{path}: {where} is None; give it a block to start from", field=path)
            known = [*names, "motor", "pid"] if i == 0 else names
            raise LawError(f"{path}: {where} has no parameter {part!r}; {nearest(part, known)}", field=path)
        value = getattr(value, part)
    if isinstance(value, bool | Mode) or not isinstance(value, int | float):
        raise LawError(f"{path} is {value!r}; valid: the path of a number, such as 'law.k1'", field=path)
    return float(value)


def _put(block: Any, tree: Mapping[str, Any]) -> Any:
    """Return a copy of nested dataclasses with values changed."""
    changes = {k: _put(getattr(block, k), v) if isinstance(v, dict) else v for k, v in tree.items()}
    return dataclasses.replace(block, **changes)


def _with(actuator: CompliantActuator, values: Mapping[str, float]) -> CompliantActuator:
    tree: dict[str, Any] = {}
    for path, value in values.items():
        if path in SIGNED:
            continue
        for target in _targets(path):
            *parts, last = target.split(".")
            if parts and parts[0] in ("motor_2", "pid_2") and getattr(actuator, parts[0]) is None:
                continue
            node = tree
            for part in parts:
                node = node.setdefault(part, {})
            node[last] = float(value)
    return _put(actuator, tree) if tree else actuator


@dataclass(frozen=True, slots=True)
class _Scaled:
    """Free parameters on the scale of the search: log(p / start) where p > 0 always, (p - 0) / typical else."""

    names: tuple[str, ...]
    start: Array
    typical: Array
    logarithmic: NDArray[np.bool_]
    ties: Mapping[str, str]

    def values(self, x: Array) -> dict[str, float]:
        with np.errstate(over="ignore"):
            p = np.where(self.logarithmic, self.typical * np.exp(np.clip(x, -60.0, 60.0)), self.typical * x)
        out = {name: float(v) for name, v in zip(self.names, p, strict=True)}
        for name, master in self.ties.items():
            out[name] = out[master]
        return out

    def x(self, p: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.logarithmic, np.log(p / self.typical), p / self.typical)

    def slope(self, x: Array) -> Array:
        """Return dp/dx."""
        return np.where(self.logarithmic, self.typical * np.exp(x), self.typical)

    def bounds(self) -> tuple[Array, Array]:
        signed = np.array([name in SIGNED for name in self.names])
        low = np.where(self.logarithmic, -14.0, np.where(signed, -1e6, 0.0))
        return low, np.where(self.logarithmic, 14.0, 1e6)


def _scaled(actuator: CompliantActuator, free: Sequence[str] | Mapping[str, float], ties: Mapping[str, str]) -> _Scaled:
    if not free:
        raise LawError("no parameter is free; valid: paths such as 'law.k1', 'link_friction.torque'", field="free")
    names = tuple(free)
    starts, typical, logarithmic = [], [], []
    for name in names:
        last = name.rsplit(".", 1)[-1]
        given = free[name] if isinstance(free, Mapping) else None
        value = 0.0 if name in SIGNED and given is None else float(_get(actuator, name) if given is None else given)
        if name not in SIGNED:
            _get(actuator, name)
        if not math.isfinite(value):
            raise LawError(f"{name} starts at {value}; valid: a finite number", field=name)
        log = value > 0.0 and name not in SIGNED and last != "command_delay"
        starts.append(value)
        logarithmic.append(log)
        typical.append(value if log else TYPICAL.get(last, abs(value) or 1.0))
    for name, master in ties.items():
        _get(actuator, name)
        if master not in names:
            raise LawError(f"ties: {name} follows {master!r}, which is not free; {nearest(master, names)}", field=name)
    return _Scaled(names, np.array(starts), np.array(typical), np.array(logarithmic), ties)


# -- the engine -------------------------------------------------------------------------------------------

Residuals = Callable[[Mapping[str, float]], Array]


@dataclass(frozen=True, slots=True)
class _Solution:
    x: Array
    jacobian: Array
    residual: Array
    cost: float
    success: bool
    others: tuple[tuple[Array, float], ...]
    starts: int
    begin: Array


def _solve(
    scaled: _Scaled, residuals: Residuals, begins: Sequence[Array], *, step: float, loss: str, max_evaluations: int
) -> _Solution:
    from scipy.optimize import least_squares

    low, high = scaled.bounds()

    def fun(x: Array) -> Array:
        r = residuals(scaled.values(x))
        return np.where(np.isfinite(r), r, 1e6)

    def jac(x: Array) -> Array:
        columns = []
        for i in range(x.size):
            up, down = x.copy(), x.copy()
            up[i] = min(x[i] + step, high[i])
            down[i] = max(x[i] - step, low[i])
            columns.append((fun(up) - fun(down)) / (up[i] - down[i]))
        return np.stack(columns, axis=1)

    found = []
    for begin in begins:
        x0 = np.clip(begin, low + 1e-9, high - 1e-9)
        with np.errstate(all="ignore"):
            out = least_squares(
                fun,
                x0,
                jac=jac,  # type: ignore[arg-type]
                bounds=(low, high),
                loss=loss,
                xtol=1e-12,
                ftol=1e-12,
                gtol=1e-12,
                x_scale="jac",
                max_nfev=max_evaluations,
            )
        found.append((out, x0))
    found.sort(key=lambda pair: pair[0].cost)
    best, begin = found[0]
    return _Solution(
        x=best.x,
        jacobian=jac(best.x),
        residual=fun(best.x),
        cost=2.0 * float(best.cost),
        success=bool(best.success),
        others=tuple((o.x, 2.0 * float(o.cost)) for o, _ in found),
        starts=len(begins),
        begin=begin,
    )


def _judge(scaled: _Scaled, s: _Solution, law: Law, breaks: Iterable[int]) -> tuple[tuple[Estimate, ...], Array, dict]:
    """Return estimates, covariance and what is to be said about them."""
    m, n = s.jacobian.shape
    warnings: list[str] = []
    norms = np.linalg.norm(s.jacobian, axis=0)
    dead = norms <= 1e-12 * max(1.0, float(norms.max(initial=0.0)))
    _, sv, Vt = np.linalg.svd(s.jacobian, full_matrices=False)
    condition = float(sv[0] / sv[-1]) if sv[-1] > 0.0 else math.inf
    variance = s.cost / max(1, m - n)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.where(sv > 1e-13 * sv[0], 1.0 / sv, 0.0)
    cov_x = (Vt.T * weights**2) @ Vt * variance
    undetermined = dead | (((Vt.T**2) @ (sv <= 1e-13 * sv[0]).astype(float)) > 1e-3)
    slope = scaled.slope(s.x)
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
    if m <= n:
        warnings.append(f"{m} samples for {n} parameters: the residual says nothing about the errors")
    for e, lost in zip(estimates, undetermined, strict=True):
        if lost:
            warnings.append(f"the data do not determine {e.name}: changing it changes nothing that was measured")
        elif e.relative_error > 0.2 and abs(e.value) > 0.0 and e.name not in SIGNED:
            warnings.append(f"{e.name} is known to {100 * e.relative_error:.0f} % only (one standard deviation)")
    if condition > 1e3 and not undetermined.any():
        worst = np.abs(Vt[-1])
        pair = [scaled.names[i] for i in np.argsort(worst)[::-1][:2]] if n > 1 else [scaled.names[0]]
        warnings.append(
            f"condition number {condition:.1e}: {' and '.join(pair)} trade off against each other; "
            "more presets or larger deflections would part them"
        )
    low, high = scaled.bounds()
    for i, name in enumerate(scaled.names):
        if s.x[i] >= high[i] - 1e-6 or (s.x[i] <= low[i] + 1e-6 and scaled.logarithmic[i]):
            warnings.append(f"{name} ran to the edge of the search, {values[name]:.3g} {parameter_unit(law, name)}")
    agreeing, other = 0, None
    for x, cost in s.others:
        same = bool(np.all(np.abs(x - s.x) < 0.01))
        agreeing += same
        if (
            not same
            and other is None
            and cost <= 1.01 * s.cost + 1e-30
            and np.any(np.abs(x - s.x)[~undetermined] > 0.05)
        ):
            other = scaled.values(x)
    if other is not None:
        text = ", ".join(f"{k.rsplit('.', 1)[-1]} {v:.4g}" for k, v in other.items() if k in scaled.names)
        warnings.append(f"another set fits as well: {text}")
    correlation = _lag_correlation(s.residual, breaks)
    if correlation > 0.5 and m > 30:
        factor = math.sqrt((1.0 + correlation) / max(1e-6, 1.0 - correlation))
        warnings.append(
            f"neighbouring residuals are correlated ({correlation:.2f}): the model misses something or the data are "
            f"smoothed; standard errors are too small by about {factor:.1f}"
        )
    if not s.success:
        warnings.append("the search ended at its limit of evaluations")
    return (
        estimates,
        covariance,
        {
            "condition": condition,
            "correlation": correlation,
            "agreeing": agreeing,
            "warnings": warnings,
        },
    )


def _lag_correlation(r: Array, breaks: Iterable[int]) -> float:
    """Return the lag-1 correlation of residuals, pieces apart."""
    top, bottom = 0.0, 0.0
    edges = [0, *breaks, r.size]
    for a, b in itertools.pairwise(edges):
        piece = r[a:b]
        if piece.size > 2:
            top += float(piece[1:] @ piece[:-1])
            bottom += float(piece @ piece)
    return top / bottom if bottom > 0.0 else 0.0


def _as_measurements(data: Any) -> list[Measurement]:
    if isinstance(data, Measurement):
        return [data]
    if isinstance(data, Mapping):
        return [Measurement.of(data)]
    out = []
    for i, item in enumerate(data):
        out.append(item if isinstance(item, Measurement) else Measurement.of(item, source=f"trial {i + 1}"))
    if not out:
        raise LawError("there is no measurement to fit to", field="data")
    return out


def _begins(scaled: _Scaled, starts: int, spread: float, seed: int, first: Sequence[Array] = ()) -> list[Array]:
    if isinstance(starts, bool) or not isinstance(starts, int) or starts < 1:
        raise LawError(f"starts is {starts!r}; valid: a whole number of 1 or more", field="starts")
    rng = np.random.default_rng(seed)
    out = [*first, scaled.x(scaled.start)][: max(starts, 1)]
    low, high = scaled.bounds()
    while len(out) < starts:
        x = scaled.x(scaled.start) + spread * rng.standard_normal(scaled.start.size)
        out.append(np.clip(x, low, high))
    return out


def _finish(
    actuator: CompliantActuator, scaled: _Scaled, solution: _Solution, fits: Sequence[Fit], notes: Sequence[str]
) -> Identification:
    breaks = np.cumsum([f.measured.size for f in fits])[:-1].tolist()
    found = _with(actuator, scaled.values(solution.x))
    estimates, covariance, said = _judge(scaled, solution, found.law, breaks)
    return Identification(
        actuator=found,
        estimates=estimates,
        covariance=covariance,
        fits=tuple(fits),
        cost=solution.cost,
        condition=said["condition"],
        correlation=said["correlation"],
        starts=solution.starts,
        agreeing=said["agreeing"],
        converged=solution.success,
        warnings=(*notes, *said["warnings"]),
    )


# -- the static law ---------------------------------------------------------------------------------------


def fit_law(
    law: Law | str,
    data: Any,
    free: Sequence[str] | Mapping[str, float] | None = None,
    *,
    symmetric: bool = False,
    offsets: Sequence[str] = (),
    starts: int = 8,
    spread: float = 0.7,
    seed: int = 0,
    loss: str = "linear",
) -> Identification:
    """Fit a law to measured torques and deflections.

    Minimises sum (torque - law(q, theta_1, theta_2))^2 over all samples of all measurements. Velocities play no role:
    data with friction must hold both directions of motion alike, so that the branches average out (or use
    `fit_friction` together with the law's parameters).

    Args:
        law: a law whose values are the start and the fixed parameters, or a law's name.
        data: one or several measurements (`Measurement`, or mappings of columns) with link position or deflection,
            motor positions or equilibrium and preset, and torque or external torque.
        free: the law's parameters to fit, by name; a mapping gives their starts. None takes the springs' parameters:
            all but max_deflection.
        symmetric: for a qbMove, k2 = k1 and a2 = a1.
        offsets: any of "position_offset", "torque_offset": zero errors of the sensors to be fitted as well.
        starts: searches from different starts. For a qbMove they come from a grid over a1, a2, where the k follow
            from a linear fit.
        spread: standard deviation of the other starts, in e-folds.
        seed: of the starts.
        loss: "linear", or "soft_l1", "huber", "cauchy" for data with outliers.

    Raises:
        LawError: unknown parameters, or nothing to fit.
        RecordingError: columns are missing.

    Example:
        >>> fit_law("qbmove", read_measurement("pull.csv")).report()
    """
    start = get_law(law)() if isinstance(law, str) else law
    trials = _as_measurements(data)
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
    scaled = _scaled(actuator, paths, ties)

    points = [(trial, *trial.spring_angles(start.second_input), trial.link_torque()) for trial in trials]
    q = np.concatenate([p[1] for p in points])
    t1 = np.concatenate([p[2] for p in points])
    t2 = np.concatenate([p[3] for p in points])
    tau = np.concatenate([p[4] for p in points])
    scale = float(np.sqrt(np.mean(tau**2))) or 1.0

    def predict(values: Mapping[str, float]) -> Array:
        with np.errstate(all="ignore"):
            try:
                found = _with(actuator, values).law
            except LawError:
                return np.full_like(tau, np.inf)
            torque = found.evaluate(q - values.get("position_offset", 0.0), t1, t2).torque
        return np.asarray(torque) + values.get("torque_offset", 0.0)

    first = _qbmove_starts(start, scaled, q, t1, t2, tau, starts) if isinstance(start, QbMove) else []
    begins = _begins(scaled, starts, spread, seed, first)
    solution = _solve(scaled, lambda v: (predict(v) - tau) / scale, begins, step=1e-6, loss=loss, max_evaluations=300)
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
    return _finish(actuator, scaled, solution, fits, notes)


def _qbmove_starts(law: QbMove, scaled: _Scaled, q: Array, t1: Array, t2: Array, tau: Array, count: int) -> list[Array]:
    """Return starts for a qbMove: the torque is linear in k1, k2, so a grid over a1, a2 and a linear fit suffice."""
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
            k, rest = nnls(columns / norm, y)
            k = np.maximum(k / norm, 1e-6)
            found.append((rest, {"law.a1": a1, "law.a2": a2, "law.k1": k[0], "law.k2": k[-1]}))
    found.sort(key=lambda item: item[0])
    begin = dict(zip(scaled.names, scaled.start, strict=True))
    return [
        scaled.x(np.array([values.get(n, begin[n]) for n in scaled.names])) for _, values in found[: max(1, count - 1)]
    ]


# -- the moving actuator ----------------------------------------------------------------------------------

OUTPUTS: dict[str, str] = {
    "torque": "torque",
    "external_torque": "torque",
    "motor_1_position": "motor_1_position",
    "motor_2_position": "motor_2_position",
    "equilibrium": "equilibrium",
    "preset": "preset",
}
"""Columns that a simulation can be compared with, and the trace that each is."""


@dataclass(frozen=True, slots=True)
class _Run:
    """One measurement, resampled for the simulation."""

    trial: Measurement
    dt: float
    time: Array
    q: Array
    dq: Array
    at: Array
    keep: NDArray[np.bool_]
    outputs: tuple[str, ...]


def fit_actuator(
    actuator: CompliantActuator,
    data: Any,
    free: Sequence[str] | Mapping[str, float],
    *,
    outputs: Sequence[str] = ("torque",),
    weights: Mapping[str, float] | None = None,
    ties: Mapping[str, str] | None = None,
    dt: float = 1.0e-3,
    skip: float = 0.0,
    starts: int = 4,
    spread: float = 0.5,
    seed: int = 0,
    loss: str = "linear",
    max_evaluations: int = 60,
) -> Identification:
    """Fit parameters of an actuator to recorded motion, by simulating it along the motion of the link.

    The inputs follow the actuator's mode: "motor positions", or "equilibrium" and "preset", in modes 2 and 3;
    "reference_1" and "reference_2" (or "equilibrium" and "preset" as commanded) in modes 5 and 6. References are held
    between their samples, as on a bus, or drawn as straight lines where the delay is free.

    Args:
        actuator: its mode says what the references are; its values are the start and the fixed parameters.
        data: one or several measurements with time and link position; in modes 2 and 3 without damping the time may be
            left out, the samples then follow each other.
        free: paths: "law.k1", "link_friction.torque", "motor.inertia" (both motors), "pid.kp" (both),
            "command_delay", "position_offset", "torque_offset". A mapping gives their starts.
        outputs: measured columns that the simulation must meet: "torque", "motor_1_position", "motor_2_position".
        weights: standard deviation of each output's noise; None takes the output's own rms, so that all weigh alike.
        ties: path -> free path that it follows.
        dt: largest time step of the simulation [s].
        skip: seconds at the beginning that are simulated and not compared.
        starts: searches from different starts.
        spread: standard deviation of the starts, in e-folds.
        seed: of the starts.
        loss: as in `fit_law`.
        max_evaluations: of each search.

    Raises:
        LawError: unknown parameters or outputs, a mode that has no motion.
        RecordingError: columns are missing.
    """
    if actuator.mode in (Mode.LINK_TORQUE, Mode.LINK_PID, Mode.MOTOR_TORQUES):
        raise LawError(f"fit_actuator: mode {actuator.mode.value} cannot be fitted; valid: 2, 3, 5, 6", field="mode")
    trials = _as_measurements(data)
    scaled = _scaled(actuator, free, ties or {})
    if not outputs:
        raise LawError("fit_actuator: no output is compared", field="outputs")
    for name in outputs:
        if name not in OUTPUTS:
            raise LawError(f"fit_actuator: no output {name!r}; {nearest(name, OUTPUTS)}", field="outputs")
    runs = [_prepare(actuator, trial, tuple(outputs), dt, skip) for trial in trials]
    if not any(run.keep.any() for run in runs):
        raise LawError(f"fit_actuator: skip = {skip:g} s leaves no sample", field="skip")
    floating = "command_delay" in scaled.names
    measured = {
        (i, name): (run.trial.link_torque() if OUTPUTS[name] == "torque" else run.trial[name])[run.keep]
        for i, run in enumerate(runs)
        for name in outputs
    }
    sigma = {}
    for name in outputs:
        values = np.concatenate([measured[i, name] for i in range(len(runs))])
        sigma[name] = (weights or {}).get(name, float(np.std(values)) or 1.0)

    def predict(values: Mapping[str, float]) -> dict[tuple[int, str], Array]:
        changed = _with(actuator, {k: v for k, v in values.items() if k != "command_delay"})
        delay = values.get("command_delay") if floating else None
        if floating:
            changed = changed.replace(command_delay=0.0)
        out = {}
        for i, run in enumerate(runs):
            traces = _simulate(changed, run, delay, values.get("position_offset", 0.0))
            for name in outputs:
                series = traces.torque if OUTPUTS[name] == "torque" else traces.values[OUTPUTS[name]]
                series = np.interp(run.trial["time"][run.keep], run.time, series)
                if OUTPUTS[name] == "torque":
                    series = series + values.get("torque_offset", 0.0)
                out[i, name] = series
        return out

    def residuals(values: Mapping[str, float]) -> Array:
        try:
            predicted = predict(values)
        except LawError:
            return np.full(sum(a.size for a in measured.values()), np.inf)
        return np.concatenate([(predicted[key] - measured[key]) / sigma[key[1]] for key in measured])

    begins = _begins(scaled, starts, spread, seed)
    solution = _solve(scaled, residuals, begins, step=1e-4, loss=loss, max_evaluations=max_evaluations)
    values = scaled.values(solution.x)
    predicted = predict(values)
    fits = []
    for (i, name), series in measured.items():
        run = runs[i]
        x, group = run.trial["time"][run.keep], np.zeros(series.size)
        slow = name in ("torque", "external_torque") and actuator.mode in (Mode.SPRING_REFS, Mode.SPRING_EQ_PRESET)
        if slow:
            q, a, b = (v[run.keep] for v in run.trial.spring_angles(actuator.law.second_input))
            two = actuator.law.second_input == "angle"
            x, group = q - (0.5 * (a + b) if two else a), 0.5 * (a - b) if two else b
        fits.append(
            Fit(
                source=run.trial.source,
                quantity="torque" if OUTPUTS[name] == "torque" else name,
                unit="N m" if OUTPUTS[name] == "torque" else "rad",
                abscissa=x,
                group=group,
                measured=series,
                predicted=predicted[i, name],
            )
        )
    return _finish(actuator, scaled, solution, fits, ())


def _prepare(actuator: CompliantActuator, trial: Measurement, outputs: tuple[str, ...], dt: float, skip: float) -> _Run:
    if "time" not in trial and _timeless(actuator):
        # Springs and presliding friction know no rate: the order of the samples is enough.
        trial = Measurement.of({**trial.columns, "time": dt * np.arange(trial.samples)}, source=trial.source)
    time = trial["time"]
    if time.size < 4:
        raise LawError(f"{trial.source}: {time.size} samples; valid: 4 or more", field="time")
    if not (math.isfinite(dt) and dt > 0.0):
        raise LawError(f"fit_actuator: dt is {dt}; valid: more than 0 s", field="dt")
    for name in outputs:
        if OUTPUTS[name] == "torque":
            trial.link_torque()
        else:
            trial[name]
    period = float(np.median(np.diff(time)))
    step = period / math.ceil(period / dt - 1e-9) if period > dt else period
    uniform = np.max(np.abs(np.diff(time) - period)) < 1e-3 * period and step == period
    grid = time if uniform else time[0] + step * np.arange(math.floor((time[-1] - time[0]) / step + 1e-6) + 1)
    if "link_position" in trial:
        q = np.interp(grid, time, trial["link_position"])
    else:
        q = np.interp(grid, time, trial.spring_angles(actuator.law.second_input)[0])
    if "link_velocity" in trial:
        dq = np.interp(grid, time, trial["link_velocity"])
    else:
        dq = np.gradient(q, step) if q.size > 1 else np.zeros_like(q)
    return _Run(
        trial=trial, dt=step, time=grid, q=q, dq=dq, at=grid, keep=time - time[0] >= skip - 1e-12, outputs=outputs
    )


def _timeless(actuator: CompliantActuator) -> bool:
    still = actuator.link_damping == 0.0 and actuator.link_preset_damping == 0.0
    return still and actuator.mode in (Mode.SPRING_REFS, Mode.SPRING_EQ_PRESET)


def _references(actuator: CompliantActuator, run: _Run, delay: float | None) -> tuple[Array, Array]:
    trial, motors = run.trial, actuator.law.motors
    if actuator.mode in (Mode.SPRING_REFS, Mode.SPRING_EQ_PRESET):
        _, a, b = trial.spring_angles(actuator.law.second_input)
        if actuator.mode == Mode.SPRING_EQ_PRESET and motors == 2 and actuator.law.second_input == "angle":
            a, b = 0.5 * (a + b), 0.5 * (a - b)
        # Measured motor positions are continuous.
        return np.interp(run.time, trial["time"], a), np.interp(run.time, trial["time"], b)
    if "reference_1" in trial:
        a, b = trial["reference_1"], trial["reference_2"] if motors == 2 else np.zeros(trial.samples)
    elif actuator.mode == Mode.PID_EQ_PRESET:
        a, b = trial["equilibrium"], trial["preset"] if motors == 2 else np.zeros(trial.samples)
    else:
        a, b = trial["reference_1"], np.zeros(trial.samples)
    time = trial["time"]
    if delay is not None:
        return np.interp(run.time - delay, time, a), np.interp(run.time - delay, time, b)
    index = np.clip(np.searchsorted(time, run.time + 1e-9, side="right") - 1, 0, time.size - 1)
    return a[index], b[index]


def _simulate(actuator: CompliantActuator, run: _Run, delay: float | None, offset: float) -> Any:
    ref_1, ref_2 = _references(actuator, run, delay)
    q = run.q - offset
    state = None
    if actuator.mode.has_motors:
        # At rest where the motors are measured at first, or where the first references put them.
        trial = run.trial
        one, two = float(ref_1[0]), float(ref_2[0])
        if actuator.mode == Mode.PID_EQ_PRESET:
            one, two = actuator.law.map_references(one, two)
        one = float(trial["motor_1_position"][0]) if "motor_1_position" in trial else one
        two = float(trial["motor_2_position"][0]) if "motor_2_position" in trial else two
        par = actuator.pack(run.dt)
        state = actuator.hold(float(q[0]), run.dt)[0]
        for where, position in ((layout.A_MOTOR_1, one), (layout.A_MOTOR_2, two)):
            i = int(par[where])
            if i >= 0:
                state[i + layout.S_POSITION] = position
                state[i + layout.S_ANCHOR] = position
    return actuator.simulate(q, run.dq, ref_1, ref_2, run.dt, state=state)


def fit_friction(
    actuator: CompliantActuator | Law | str,
    data: Any,
    free: Sequence[str] | Mapping[str, float] = ("link_friction.torque",),
    **options: Any,
) -> Identification:
    """Fit the friction of a joint, and the law if wished, to loops of torque over deflection.

    The friction sits between spring and link: F = torque + load_coefficient |load| + preset_coefficient |preset|, with
    presliding of a given stiffness. The width of a loop gives F, its change over load and preset the coefficients.

    Args:
        actuator: actuator or law that the values start from; without link friction it starts with 0.05 N m.
        data: measurements with time, link position (or deflection), motor positions (or equilibrium and preset) and
            torque (or external torque).
        free: paths, for instance ("law.k1", "law.a1", "link_friction.torque", "link_friction.load_coefficient").
        options: of `fit_actuator`.
    """
    actuator = _as_actuator(actuator, Mode.SPRING_REFS)
    if actuator.mode not in (Mode.SPRING_REFS, Mode.SPRING_EQ_PRESET):
        actuator = actuator.replace(mode=Mode.SPRING_REFS)
    if actuator.link_friction is None:
        actuator = actuator.replace(link_friction=PreslidingFriction(torque=0.05))
    return fit_actuator(actuator, data, free, **options)


def fit_servo(
    actuator: CompliantActuator | Law | str,
    data: Any,
    free: Sequence[str] | Mapping[str, float] = ("motor.inertia", "motor.damping", "motor.friction.torque"),
    **options: Any,
) -> Identification:
    """Fit motors and servo to references and measured motor positions.

    Without a measured torque only ratios to kp are seen, and D + kd only as a sum: free kp or kd beside the defaults
    makes the condition number say so. The lag of the servo is (kd + D) / kp.

    Args:
        actuator: actuator in mode 5 or 6, or a law (mode 6 then).
        data: measurements with time, link position, the references (or equilibrium and preset as commanded) and motor
            positions.
        free: paths; "command_delay" fits the delay of the bus.
        options: of `fit_actuator`; ``outputs`` defaults to the motor positions that were measured.
    """
    actuator = _as_actuator(actuator, Mode.PID_EQ_PRESET)
    if actuator.mode not in (Mode.PID_REFS, Mode.PID_EQ_PRESET):
        raise LawError(f"fit_servo: mode is {actuator.mode.value}; valid: 5, 6", field="mode")
    trials = _as_measurements(data)
    if "outputs" not in options:
        names = [n for n in ("motor_1_position", "motor_2_position") if all(n in trial for trial in trials)]
        if not names:
            raise LawError(
                f"fit_servo: no motor position was measured; found: {', '.join(trials[0])}", field="motor_1_position"
            )
        options["outputs"] = names
    return fit_actuator(actuator, trials, free, **options)


def _as_actuator(value: CompliantActuator | Law | str, mode: Mode) -> CompliantActuator:
    if isinstance(value, CompliantActuator):
        return value
    return CompliantActuator(get_law(value)() if isinstance(value, str) else value, mode)


# -- data sheet -------------------------------------------------------------------------------------------


def _curve(law: Law, preset: float, points: int = 4001) -> tuple[Array, Array, Array, Array]:
    """Return deflection (q - theta_eq), torque that the joint resists with, slope, energy, inside the clip."""
    limit = float(getattr(law, "max_deflection", math.pi))
    reach = max(limit - abs(preset), 0.05 * limit) if law.second_input == "angle" else limit
    phi = np.linspace(-reach, reach, points)
    ref_1, ref_2 = law.map_references(0.0, preset)
    values = law.evaluate(phi, ref_1, ref_2)
    return phi, -np.asarray(values.torque), np.asarray(values.stiffness), np.asarray(values.energy)


def loop_width(actuator: CompliantActuator, torque: ArrayLike, preset: float = 0.0) -> Any:
    """Return the width of the quasi-static loop of deflection at an external torque, by the link's friction [rad].

    On the loading branch the spring carries (tau - F0) / (1 + c), on the unloading one (tau + F0) / (1 - c), with
    F0 = torque + preset_coefficient |preset| and c the load coefficient; the width is the difference of the two
    deflections, for |tau| > F0. Presliding (F / K) is added on both branches.

    Args:
        actuator: law and link friction.
        torque: external torque, any shape [N m].
        preset: stiffness preset [rad].

    Returns:
        Width, shape of ``torque`` [rad]; NaN where a branch lies beyond the spring's range.
    """
    tau = np.asarray(torque, dtype=float)
    f = actuator.link_friction
    if f is None:
        return 0.0 * tau if tau.ndim else 0.0
    phi, resists, _, _ = _curve(actuator.law, preset)
    level = f.torque + f.preset_coefficient * abs(preset)
    c = f.load_coefficient
    sign = np.where(tau < 0.0, -1.0, 1.0)
    size = np.abs(tau)
    loading = sign * (size - level) / (1.0 + np.where(size >= level, c, -c))
    unloading = sign * (size + level) / (1.0 - min(c, 0.999))
    inner = np.interp(loading, resists, phi, left=math.nan, right=math.nan)
    outer = np.interp(unloading, resists, phi, left=math.nan, right=math.nan)
    width = np.abs(outer - inner)
    return float(width) if width.ndim == 0 else width


def datasheet(
    actuator: CompliantActuator | Law,
    presets: Sequence[float] | None = None,
    *,
    nominal_torque: float | None = None,
    points: int = 41,
    dt: float = 1.0e-4,
) -> dict[str, Any]:
    """Return what the data sheet of a variable stiffness actuator holds (Grioli et al. 2015), computed from the model.

    Args:
        actuator: actuator, or a law alone (the motors' entries are then None).
        presets: presets of the torque-deflection curves [rad or m]; None takes five up to three quarters of the clip,
            or of the lever's length.
        nominal_torque: torque at which deflections and loops are given [N m]; None takes half of the torque limit.
        points: points of each curve.
        dt: time step of the simulated preset change [s].

    Returns:
        Plain types: "stiffness_range", "torque_range", "energy", "curves" (one a preset: deflection, torque,
        stiffness, equilibrium offset, loop width), "servo" (lag, speed, time of a preset change).
    """
    law = actuator if isinstance(actuator, Law) else actuator.law
    whole = None if isinstance(actuator, Law) else actuator
    if presets is None:
        if law.second_input == "none":
            presets = (0.0,)
        else:
            top = 0.75 * (
                float(getattr(law, "L", 0.05)) if law.second_input == "lever" else getattr(law, "max_deflection", 0.8)
            )
            presets = tuple(float(x) for x in np.linspace(0.2 * top if law.second_input == "lever" else 0.0, top, 5))
    curves = []
    for preset in presets:
        phi, torque, slope, energy = _curve(law, float(preset))
        pick = np.linspace(0, phi.size - 1, max(3, int(points))).round().astype(int)
        rest = float(np.interp(0.0, torque, phi)) if torque[0] < 0.0 < torque[-1] else math.nan
        limit = float(min(-torque[0], torque[-1]))
        at = 0.5 * limit if nominal_torque is None else float(nominal_torque)
        entry = {
            "preset": float(preset),
            "stiffness_at_rest": float(np.interp(rest, phi, slope)) if math.isfinite(rest) else None,
            "stiffness_min": float(slope.min()),
            "stiffness_max": float(slope.max()),
            "equilibrium_offset": rest,
            "max_deflection": float(phi[-1]),
            "torque_at_max_deflection": limit,
            "stored_energy": float(energy.max() - energy.min()),
            "nominal_torque": at,
            "deflection_at_nominal_torque": float(np.interp(at, torque, phi)) if at <= limit else None,
            "loop_width_at_nominal_torque": None,
            "deflection": phi[pick].tolist(),
            "torque": torque[pick].tolist(),
            "stiffness": slope[pick].tolist(),
        }
        if whole is not None and whole.link_friction is not None:
            width = loop_width(whole, at, float(preset))
            entry["loop_width_at_nominal_torque"] = width if math.isfinite(width) else None
        curves.append(entry)
    at_rest = [c["stiffness_at_rest"] for c in curves if c["stiffness_at_rest"] is not None]
    sheet: dict[str, Any] = {
        "law": law.name,
        "parameters": {name: float(getattr(law, name)) for name in law.parameter_fields()},
        "units": {name: parameter_unit(law, f"law.{name}") for name in law.parameter_fields()},
        "stiffness_range": [min(at_rest), max(at_rest)] if at_rest else None,
        "torque_range": [
            min(c["torque_at_max_deflection"] for c in curves),
            max(c["torque_at_max_deflection"] for c in curves),
        ],
        "energy": max(c["stored_energy"] for c in curves),
        "curves": curves,
        "servo": None,
        "source": "computed from the model; quantities after Grioli et al. 2015",
    }
    if whole is not None and whole.mode in (Mode.PID_REFS, Mode.PID_EQ_PRESET):
        sheet["servo"] = _servo_sheet(whole, tuple(float(p) for p in presets), dt)
    return sheet


def _servo_sheet(actuator: CompliantActuator, presets: tuple[float, ...], dt: float) -> dict[str, Any]:
    motor, pid = actuator.motor_1, actuator.pid_1
    assert pid is not None  # the actuator fills it in
    kp = max(pid.kp, 1e-300)
    out: dict[str, Any] = {
        "lag": (pid.kd + motor.damping) / kp,
        "natural_frequency": math.sqrt(kp / motor.inertia) / (2.0 * math.pi),
        "max_torque": motor.max_torque,
        "no_load_speed": (motor.max_torque - motor.friction.torque) / motor.damping if motor.damping > 0.0 else None,
        "droop": 1.0 / kp,
        "preset_change_time": None,
        "units": {
            "lag": "s",
            "natural_frequency": "Hz",
            "max_torque": "N m",
            "no_load_speed": "rad/s",
            "droop": "rad per N m of motor load",
            "preset_change_time": "s, 5 to 95 % of the range of presets, link held, no load",
        },
    }
    if actuator.law.second_input != "none" and len(presets) > 1:
        low, high = min(presets), max(presets)
        n = round(2.0 / dt)
        run = actuator.replace(mode=Mode.PID_EQ_PRESET, initial_preset=low)
        preset = run.simulate(np.zeros(n), np.zeros(n), 0.0, high, dt).values["preset"]
        done = (preset - low) / (high - low)
        reached = np.flatnonzero(done >= 0.95)
        if reached.size:
            out["preset_change_time"] = float((reached[0] - np.flatnonzero(done >= 0.05)[0]) * dt)
    return out
