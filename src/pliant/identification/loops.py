"""Statics of a qbMove with the losses of its springs and motors, fitted to some measured loops to predict another.

Deflections are measured against the motors, delta = q - (theta_1 + theta_2) / 2, while the motors lift and lower a
weight. s = 1 while its torque tau rises, when link and motors move against it, else s = -1. With the preset in force p,
half the difference of the motors, spring i has the deflection d_i = delta -+ p:

    tau = S(d_1) + S(d_2) + parallel delta - friction s + z (spring_friction (|S(d_1)| + |S(d_2)|) + hysteresis)
    d_i = asinh(S(d_i) / k) / a + stretch S(d_i)

z in [-1, 1] is the state of a hysteresis of the springs in Dahl's form (1968), the limit of many Maxwell-slip elements:
z = s (1 - C exp(-|delta - delta_r| / presliding)) after a turn at delta_r, with the C that closes the loop. The motors
slip all the time, because they run through their references. Motor i lags by what its proportional controller and the
dead zone of its bridge need:

    u_i = -S(d_i) - s motor_friction,    e_i = droop u_i + dead_zone sign(u_i),    p = preset - (e_1 - e_2) / 2

Backlash between spring and link adds backlash / 2 in the direction of the torque.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from pliant.base.errors import LawError, nearest
from pliant.base.numerics import Array

EDGE = 0.03
"""Torque over which a smoothed sign of dead zone and backlash rises to 0.76 [N m]; assumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TorqueLoops:
    """Steady loops of deflection over torque, measured at several presets at the same torques."""

    torque: Array
    """External torques, ascending, shape (t,) [N m]."""
    turn: float
    """Torque at which the motion turns [N m]: at least the largest of ``torque``."""
    deflection: Mapping[float, Array]
    """Commanded preset [rad] -> deflections with rising and falling torque, shape (2, t) [rad]."""

    def without(self, preset: float) -> TorqueLoops:
        """Return all loops but one."""
        others = {p: loop for p, loop in self.deflection.items() if p != preset}
        return TorqueLoops(torque=self.torque, turn=self.turn, deflection=others)

    def largest(self, preset: float) -> float:
        """Return the largest deflection of a loop [rad]."""
        return float(np.abs(self.deflection[preset]).max())


@dataclass(frozen=True, slots=True)
class _Parameter:
    starts: tuple[float, float]
    low: float
    high: float
    scale: float


def _parameter(start: float, low: float, high: float, scale: float) -> _Parameter:
    return _Parameter((start, start), low, high, scale)


_PARAMETERS: dict[str, _Parameter] = {
    "k": _Parameter((0.022, 0.0026), 0.001, 0.06, 0.01),  # N m; starts: draft and kit manual's springs
    "a": _Parameter((6.85, 8.9995), 4.0, 15.0, 1.0),  # 1/rad; the same
    "torque_zero": _parameter(0.0, -0.2, 0.2, 0.05),  # N m
    "deflection_zero": _parameter(0.0, -0.05, 0.05, 0.01),  # rad
    "parallel": _parameter(0.5, 0.0, 1.5, 0.3),  # N m/rad; start: m of NMMI/ILC-code
    "friction": _parameter(0.01, -0.3, 0.3, 0.05),  # N m; start: the draft's
    "hysteresis": _parameter(0.05, 0.0, 0.4, 0.05),  # N m
    "spring_friction": _parameter(0.1, 0.0, 0.6, 0.1),  # 1
    "presliding": _parameter(0.05, 0.003, 0.3, 0.05),  # rad
    "stretch": _parameter(0.03, 0.0, 0.5, 0.1),  # rad/(N m)
    "droop": _parameter(0.02, 0.0, 0.3, 0.05),  # rad/(N m)
    "motor_friction": _parameter(0.05, 0.0, 2.0, 0.3),  # N m
    "dead_zone": _parameter(0.05, 0.0, 0.2, 0.05),  # rad
    "backlash": _parameter(0.01, 0.0, 0.1, 0.02),  # rad
}
OFF = MappingProxyType(dict.fromkeys(_PARAMETERS, 0.0) | {"k": 0.022, "a": 6.85, "presliding": 0.05})
"""The law of the Maker Pro's draft without losses: the parameters that are not fitted."""


def predict_loop(torque: Array, preset: float, values: Mapping[str, float], *, turn: float) -> Array:
    """Return the deflections of a steady loop with rising and falling torque, shape (2, t) [rad].

    Args:
        torque: external torques, ascending, shape (t,) [N m].
        preset: commanded preset [rad].
        values: parameters that are not `OFF`.
        turn: torque at which the motion turns [N m].

    Raises:
        LawError: there is no such parameter.
    """
    _check(values)
    return _predict(torque, preset, {name: np.array([value]) for name, value in {**OFF, **values}.items()}, turn)[0]


def fit_loops(loops: TorqueLoops, free: Sequence[str]) -> dict[str, float]:
    """Return the parameters with the least squares of the misfits, each loop by its largest deflection.

    Nothing but the given loops enters: starts are published or round numbers.

    Args:
        loops: measured loops.
        free: parameters that are fitted, keys of `OFF`; the others are off.

    Raises:
        LawError: there is no such parameter.

    Example:
        >>> loops = TorqueLoops(torque=torque, turn=1.5, deflection={0.0: soft, 0.6: stiff})
        >>> fit_loops(loops, ["k", "a", "torque_zero", "deflection_zero", "friction", "hysteresis", "presliding"])
    """
    from scipy.optimize import least_squares

    _check(free)
    parameters = [_PARAMETERS[name] for name in free]
    low, high, scale = (np.array([getattr(b, key) for b in parameters]) for key in ("low", "high", "scale"))

    def residuals(points: Array) -> Array:
        """Return the residuals of several sets of parameters at once, shape (n, m)."""
        values = {name: np.full(len(points), value) for name, value in OFF.items()}
        values |= {name: points[:, i] for i, name in enumerate(free)}
        parts = [
            (_predict(loops.torque, p, values, loops.turn) - loop) / loops.largest(p)
            for p, loop in loops.deflection.items()
        ]
        return np.concatenate([part.reshape(len(points), -1) for part in parts], axis=1)

    def jacobian(x: Array) -> Array:
        step = np.where(x + 1e-4 * scale > high, -1e-4, 1e-4) * scale
        found = residuals(np.vstack([x, x + np.diag(step)]))
        return ((found[1:] - found[0]) / step[:, None]).T

    def solve(start: Array) -> tuple[float, Array]:
        found = least_squares(
            lambda x: residuals(x[None, :])[0],
            start,
            jac=jacobian,  # type: ignore[arg-type]
            bounds=(low, high),
            x_scale=scale,
            max_nfev=60,
        )
        return float(found.cost), found.x

    _, best = min((solve(np.array([b.starts[i] for b in parameters])) for i in (0, 1)), key=lambda found: found[0])
    return {name: float(value) for name, value in zip(free, best)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopFit:
    """A set of parameters, fitted to all loops and to all but one."""

    every: dict[str, float]
    """Parameters fitted to all loops."""
    without: dict[float, dict[str, float]]
    """Preset of a loop -> parameters fitted to the other loops."""
    described: dict[float, float]
    """Preset -> RMS misfit of the fit to all loops over the largest deflection."""
    predicted: dict[float, float]
    """Preset -> RMS misfit of the prediction from the other loops over the largest deflection."""


def validate_loops(loops: TorqueLoops, free: Sequence[str]) -> LoopFit:
    """Fit parameters to all loops, and to all but one to predict that one; ``free`` as for `fit_loops`."""
    every = fit_loops(loops, free)
    without = {p: fit_loops(loops.without(p), free) for p in loops.deflection}
    predicted = {p: _misfit(loops, p, p, values) for p, values in without.items()}
    return LoopFit(every=every, without=without, described=loop_misfits(loops, every), predicted=predicted)


def loop_misfits(loops: TorqueLoops, values: Mapping[str, float]) -> dict[float, float]:
    """Return preset -> RMS misfit of a loop over its largest deflection; ``values`` as for `predict_loop`."""
    return {p: _misfit(loops, p, p, values) for p in loops.deflection}


def _misfit(loops: TorqueLoops, preset: float, in_force: float, values: Mapping[str, float]) -> float:
    """Return the misfit of a loop if another preset than the commanded one is in force."""
    rest = predict_loop(loops.torque, in_force, values, turn=loops.turn) - loops.deflection[preset]
    return float(np.sqrt(np.mean(rest**2)) / loops.largest(preset))


IN_FORCE = "preset in force"
"""Name of the preset among the numbers that `refit_one` changes."""


def refit_one(loops: TorqueLoops, fit: LoopFit) -> dict[str, dict[float, float]]:
    """Return which single number, fitted to a loop that was left out, would let the other loops predict it.

    Args:
        loops: measured loops.
        fit: what `validate_loops` returned for them.

    Returns:
        Number -> preset -> RMS misfit of that loop over its largest deflection; the preset in force is one of them.
    """
    from scipy.optimize import minimize_scalar

    found: dict[str, dict[float, float]] = {}
    for preset, values in fit.without.items():
        ranges = {IN_FORCE: (preset - 0.2, preset + 0.2)}
        ranges |= {name: (_PARAMETERS[name].low, _PARAMETERS[name].high) for name in values}
        for name, (low, high) in ranges.items():

            def misfit(x: float, name: str = name, preset: float = preset, values: dict[str, float] = values) -> float:
                if name == IN_FORCE:
                    return _misfit(loops, preset, x, values)
                return _misfit(loops, preset, preset, {**values, name: x})

            grid = np.linspace(low, high, 81)
            best = min(grid.tolist(), key=misfit)
            step = float(grid[1] - grid[0])
            near = minimize_scalar(misfit, bounds=(max(low, best - step), min(high, best + step)), method="bounded")
            found.setdefault(name, {})[preset] = min(float(near.fun), misfit(best), fit.predicted[preset])
    return found


def _check(names: Iterable[str]) -> None:
    """Refuse parameters that do not exist."""
    for name in names:
        if name not in _PARAMETERS:
            raise LawError(f"a loop has no parameter {name!r}; {nearest(name, _PARAMETERS)}", field=name)


def _predict(torque: Array, preset: float, v: Mapping[str, Array], turn: float) -> Array:
    """Return the loops of n sets of parameters, shape (n, 2, t) [rad]."""
    delta = np.linspace(-0.75, 0.75, 301)
    rising = _preset_in_force(delta, preset, v)
    carried, level = [], []
    for direction, in_force in ((1.0, rising), (-1.0, rising[:, ::-1])):  # p is the same at -delta with -s
        loads = [_spring(delta - in_force, v), _spring(delta + in_force, v)]
        linear = v["parallel"][:, None] * delta - direction * v["friction"][:, None]
        carried.append(loads[0] + loads[1] + linear)
        rubbing = np.abs(loads[0]) + np.abs(loads[1])
        level.append(v["spring_friction"][:, None] * rubbing + v["hysteresis"][:, None])
    out = np.empty((len(v["k"]), 2, len(torque)))
    for i, (zero, length) in enumerate(zip(v["torque_zero"], v["presliding"])):
        turns = [np.interp(s * turn - zero, carried[j][i] + s * level[j][i], delta) for j, s in enumerate((1.0, -1.0))]
        closing = 2.0 / (1.0 + np.exp(-(turns[0] - turns[1]) / length))
        play = 0.5 * v["backlash"][i] * np.tanh((torque - zero) / EDGE)
        for j, s in enumerate((1.0, -1.0)):
            z = s * (1.0 - closing * np.exp(-np.maximum(0.0, s * (delta - turns[1 - j])) / length))
            external = np.maximum.accumulate(carried[j][i] + z * level[j][i])
            out[i, j] = np.interp(torque - zero, external, delta) + play + v["deflection_zero"][i]
    return out


def _spring(d: Array, v: Mapping[str, Array]) -> Array:
    """Return the torque S(d) of a spring, shape (n, m) [N m]; d has the shape (n, m) [rad]."""
    k, a, stretch = (v[name][:, None] for name in ("k", "a", "stretch"))
    if not np.any(stretch):
        return k * np.sinh(a * d)
    loads = 6.0 * np.sinh(np.linspace(-8.0, 8.0, 1601)) / np.sinh(8.0)
    deflections = np.arcsinh(loads / k) / a + stretch * loads
    return np.stack([np.interp(row, at, loads) for row, at in zip(d, deflections)])


def _preset_in_force(delta: Array, preset: float, v: Mapping[str, Array]) -> Array:
    """Return half the difference of the motors while the torque rises, shape (n, m) [rad]: the only root.

    Newton steps that keep between the bounds that are known and halve the excess, else bisection.
    """
    p = np.full((len(v["k"]), len(delta)), preset)
    if not np.any(v["droop"]) and not np.any(v["dead_zone"]):
        return p
    low, high, before, left = p - 0.7, p + 0.7, np.full(p.shape, np.inf), np.ones(p.shape, dtype=bool)
    for _ in range(60):
        row, column = np.nonzero(left)
        if not len(row):
            break
        now, at, values = p[left], delta[column], {name: value[row] for name, value in v.items()}
        excess, slope = now - preset, np.ones_like(now)
        for sign in (-1.0, 1.0):
            load = _spring((at + sign * now)[:, None], values)[:, 0]
            needed = -load - values["motor_friction"]
            smooth = np.tanh(needed / EDGE)
            excess -= 0.5 * sign * (values["droop"] * needed + values["dead_zone"] * smooth)
            compliance = 1.0 / (values["a"] * np.hypot(values["k"], load)) + values["stretch"]
            slope += 0.5 * (values["droop"] + values["dead_zone"] * (1.0 - smooth * smooth) / EDGE) / compliance
        bounds = np.where(excess < 0.0, now, low[left]), np.where(excess < 0.0, high[left], now)
        low[left], high[left] = bounds
        newton = now - excess / slope
        good = (newton > bounds[0]) & (newton < bounds[1]) & (np.abs(excess) < 0.5 * before[left])
        before[left] = np.abs(excess)
        p[left] = np.where(np.abs(excess) < 1e-12, now, np.where(good, newton, 0.5 * (bounds[0] + bounds[1])))
        left[left] = np.abs(excess) >= 1e-12
    return p
