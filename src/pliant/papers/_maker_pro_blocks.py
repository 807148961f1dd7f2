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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from pliant.base.numerics import Array
from pliant.experiments.base import Figure, Statement, Table, Target
from pliant.experiments.panels import Line, Panel, draw

FloatArray = Array
Loops = Mapping[float, FloatArray]
"""Measured loops: preset [rad] -> deflections with rising and falling torque, shape (2, t) [rad]."""

TURN = 1.47
"""Torque at which the measured loops turn [N m]: the largest of the drawing."""
WITHIN = 0.05
"""Largest RMS misfit of a predicted loop, as a fraction of its largest deflection: ours."""
EDGE = 0.03
"""Torque over which a smoothed sign of dead zone and backlash rises to 0.76 [N m]; assumed."""


@dataclass(frozen=True, slots=True)
class _Parameter:
    starts: tuple[float, float]
    low: float
    high: float
    scale: float


def _parameter(start: float, low: float, high: float, scale: float) -> _Parameter:
    return _Parameter((start, start), low, high, scale)


_PARAMETERS: dict[str, _Parameter] = {
    "k": _Parameter((0.022, 0.0026), 0.001, 0.06, 0.01),  # N m; starts: the draft's and the kit manual's springs
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
"""The law of the draft without losses: the parameters that are not fitted."""

_LAW = ("k", "a", "torque_zero", "deflection_zero")
_LOOP = ("friction", "hysteresis", "presliding")
COMPLETE = "linear spring, bearing, friction of loaded springs, dead zone"
SETS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "law": _LAW,
        "bearing, Maxwell slip, stretching tendons, backlash": (*_LAW, *_LOOP, "stretch", "backlash"),
        "bearing, Maxwell slip, yielding motors": (*_LAW, *_LOOP, "droop"),
        COMPLETE: (*_LAW, "parallel", "friction", "spring_friction", "presliding", "dead_zone", "motor_friction"),
    }
)
"""What acts beside the law -> fitted parameters; the others are off. All sets fit k, a and the two zero errors."""
WITHOUT: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "linear spring": ("parallel",),
        "bearing": ("friction",),
        "friction of loaded springs": ("spring_friction", "presliding"),
        "dead zone": ("dead_zone", "motor_friction"),
    }
)
"""Block of the complete set -> its parameters."""


def predict(torque: FloatArray, preset: float, values: Mapping[str, float]) -> FloatArray:
    """Return the deflections of a steady loop with rising and falling torque, shape (2, t) [rad].

    Args:
        torque: external torques, ascending, shape (t,) [N m].
        preset: commanded preset [rad].
        values: parameters that are not off.
    """
    return _predict(torque, preset, {name: np.array([value]) for name, value in {**OFF, **values}.items()})[0]


def fit_blocks(torque: FloatArray, loops: Loops, free: Sequence[str]) -> dict[str, float]:
    """Return the parameters with the least squares of the misfits, each loop by its largest deflection.

    Nothing but the given loops enters: starts are published or round numbers.

    Args:
        torque: external torques of the loops, ascending, shape (t,) [N m].
        loops: measured loops that are used.
        free: parameters that are fitted.
    """
    from scipy.optimize import least_squares

    blocks = [_PARAMETERS[name] for name in free]
    low, high, scale = (np.array([getattr(b, key) for b in blocks]) for key in ("low", "high", "scale"))
    largest = {preset: float(np.abs(loop).max()) for preset, loop in loops.items()}

    def residuals(points: FloatArray) -> FloatArray:
        """Return the residuals of several sets of parameters at once, shape (n, m)."""
        values = {name: np.full(len(points), value) for name, value in OFF.items()}
        values |= {name: points[:, i] for i, name in enumerate(free)}
        parts = [(_predict(torque, p, values) - loop) / largest[p] for p, loop in loops.items()]
        return np.concatenate([part.reshape(len(points), -1) for part in parts], axis=1)

    def jacobian(x: FloatArray) -> FloatArray:
        step = np.where(x + 1e-4 * scale > high, -1e-4, 1e-4) * scale
        found = residuals(np.vstack([x, x + np.diag(step)]))
        return ((found[1:] - found[0]) / step[:, None]).T

    def solve(start: FloatArray) -> tuple[float, FloatArray]:
        found = least_squares(
            lambda x: residuals(x[None, :])[0],
            start,
            jac=jacobian,  # type: ignore[arg-type]
            bounds=(low, high),
            x_scale=scale,
            max_nfev=60,
        )
        return float(found.cost), found.x

    _, best = min((solve(np.array([b.starts[i] for b in blocks])) for i in (0, 1)), key=lambda found: found[0])
    return {name: float(value) for name, value in zip(free, best)}


# -- leave one loop out ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockFit:
    """A set of blocks, fitted to all loops and to all but one."""

    every: dict[str, float]
    """Parameters fitted to all loops."""
    without: dict[float, dict[str, float]]
    """Preset of a loop -> parameters fitted to the other loops."""
    described: dict[float, float]
    """Preset -> RMS misfit of the fit to all loops over the largest deflection."""
    predicted: dict[float, float]
    """Preset -> RMS misfit of the prediction from the other loops over the largest deflection."""


def validate(torque: FloatArray, loops: Loops, free: Sequence[str]) -> BlockFit:
    """Fit a set of blocks to all loops, and to all but one to predict that one.

    Args:
        torque: external torques of the loops, ascending, shape (t,) [N m].
        loops: measured loops.
        free: parameters that are fitted.
    """
    every = fit_blocks(torque, loops, free)
    without = {p: fit_blocks(torque, {q: loop for q, loop in loops.items() if q != p}, free) for p in loops}
    return BlockFit(
        every=every,
        without=without,
        described=shares(torque, loops, every),
        predicted={p: shares(torque, {p: loops[p]}, values)[p] for p, values in without.items()},
    )


def shares(torque: FloatArray, loops: Loops, values: Mapping[str, float]) -> dict[float, float]:
    """Return preset -> RMS misfit of a loop over its largest deflection.

    Args:
        torque: external torques of the loops, ascending, shape (t,) [N m].
        loops: measured loops.
        values: parameters that are not off.
    """
    misfits = {p: predict(torque, p, values) - loop for p, loop in loops.items()}
    return {p: float(np.sqrt(np.mean(m**2)) / np.abs(loops[p]).max()) for p, m in misfits.items()}


IN_FORCE = "preset in force"
"""Name of the preset among the numbers that `refit_one` changes."""


def refit_one(torque: FloatArray, loops: Loops, fit: BlockFit) -> dict[str, dict[float, float]]:
    """Return which single number, fitted to a loop that was left out, would let the other loops predict it.

    Args:
        torque: external torques of the loops, ascending, shape (t,) [N m].
        loops: measured loops.
        fit: of a set of blocks.

    Returns:
        Number -> preset -> RMS misfit of that loop over its largest deflection; the preset in force is one of them.
    """
    from scipy.optimize import minimize_scalar

    found: dict[str, dict[float, float]] = {}
    for preset, values in fit.without.items():
        ranges = {IN_FORCE: (preset - 0.2, preset + 0.2)}
        ranges |= {name: (_PARAMETERS[name].low, _PARAMETERS[name].high) for name in values}
        for name, (low, high) in ranges.items():

            def misfit(
                x: float, name: str = name, preset: float = preset, values: Mapping[str, float] = values
            ) -> float:
                now = x if name == IN_FORCE else preset
                rest = predict(torque, now, values if name == IN_FORCE else {**values, name: x}) - loops[preset]
                return float(np.sqrt(np.mean(rest**2)) / np.abs(loops[preset]).max())

            grid = np.linspace(low, high, 81)
            best = min(grid.tolist(), key=misfit)
            step = float(grid[1] - grid[0])
            near = minimize_scalar(misfit, bounds=(max(low, best - step), min(high, best + step)), method="bounded")
            found.setdefault(name, {})[preset] = min(float(near.fun), misfit(best), fit.predicted[preset])
    return found


def blocks_statement(complete: BlockFit) -> Statement:
    """Return the draft's claim of completeness, judged by loops that were left out of the fit."""
    return Statement(
        what="Springs, static friction, the dead zone of the bridge and the controller are all relevant parameters.",
        where="section III, table I",
        targets=[
            Target(
                f"Blocks fitted to the other loops: RMS misfit over the largest deflection, preset {preset:g}",
                share,
                high=WITHIN,
                source="table I and figure 3; 5 % is ours",
            )
            for preset, share in complete.predicted.items()
        ],
        found="With these elements, a linear spring and friction that grows with the load of the springs, all fitted, "
        f"the loops are described within {_percent(complete.described)} % of the largest deflection; each one is "
        f"predicted from the other two within {_percent(complete.predicted)} %.",
        rests_on="The angles of the motors were measured and not published, nor the rate of the motion; motors that "
        "slip all the time are assumed.",
    )


def blocks_tables(
    fits: Mapping[str, BlockFit],
    ablated: Mapping[str, Mapping[float, float]],
    refitted: Mapping[str, Mapping[float, float]],
) -> list[Table]:
    """Return the misfits of every set of blocks, what each block removes, and the fitted numbers.

    Args:
        fits: set of blocks -> its fits.
        ablated: block -> misfits of the complete set without it, fitted to all loops, by preset.
        refitted: number -> misfits of predictions where it alone is fitted to the predicted loop, by preset.
    """
    presets = list(fits[COMPLETE].described)
    rows = [
        [
            name,
            len(fit.every),
            *(100.0 * fit.described[p] for p in presets),
            *(100.0 * fit.predicted[p] for p in presets),
        ]
        for name, fit in fits.items()
    ]
    columns = [f"{kind}, {p:g} rad" for kind in ("described", "predicted") for p in presets]
    complete = fits[COMPLETE]
    numbers = {"all loops": complete.every, **{f"without preset {p:g}": v for p, v in complete.without.items()}}
    return [
        Table(
            title="Ours: blocks beside the law, RMS misfit over the largest deflection [%]",
            columns=["blocks", "fitted numbers", *columns],
            rows=rows,
            note="Described: fitted to all loops. Predicted: fitted to the other two loops. The sets were chosen with "
            "all loops in sight; the numbers of a prediction were not.",
        ),
        Table(
            title="Ours: what each block of the complete set removes, RMS misfit over the largest deflection [%]",
            columns=["complete set without", *(f"preset {p:g}" for p in presets)],
            rows=[[name, *(100.0 * misfits[p] for p in presets)] for name, misfits in ablated.items()],
            note="Fitted to all loops.",
        ),
        Table(
            title="Ours: predictions where one number is that of the predicted loop, RMS misfit over the largest "
            "deflection [%]",
            columns=["number", *(f"preset {p:g}" for p in presets)],
            rows=[[name, *(100.0 * misfits[p] for p in presets)] for name, misfits in refitted.items()],
            note="Everything else of the complete set is fitted to the other two loops.",
        ),
        Table(
            title="Ours: numbers of the complete set",
            columns=["fit to", *complete.every],
            rows=[[name, *values.values()] for name, values in numbers.items()],
            note="k, torque_zero, friction, motor_friction [N m]; a [1/rad]; parallel [N m/rad]; deflection_zero, "
            "presliding, dead_zone [rad]; spring_friction [N m per N m].",
        ),
    ]


def blocks_figure(torque: FloatArray, loops: Loops, complete: BlockFit) -> Figure:
    """Draw the measured loops, the fit to all of them, and the prediction of each from the other two."""
    panels = []
    for preset, loop in loops.items():
        lines = [
            Line(torque, branch, "o", ms=2.6, color="ink", label=None if i else "measured", zorder=5)
            for i, branch in enumerate(loop)
        ]
        styles = (
            (complete.every, {"color": "stiff", "lw": 1.5}, "fit to all loops"),
            (complete.without[preset], {"color": "muted", "lw": 1.2, "ls": "--"}, "prediction"),
        )
        for values, style, label in styles:
            for i, branch in enumerate(predict(torque, preset, values)):
                lines.append(Line(torque, branch, label=None if i else label, **style))
        panels.append(Panel(lines, "torque [N m]", "" if panels else "deflection [rad]", f"preset {preset:g} rad"))
    panels[-1].legend = "lower right"
    caption = (
        "Deflection over torque with all blocks. Dots: measured; solid: fitted to all three loops; dashed: predicted "
        "from a fit to the other two loops."
    )
    return draw("blocks", caption, panels, height=3.0, sharex=True)


def _percent(shares: Mapping[float, float]) -> str:
    texts = [f"{100.0 * share:.1f}" for share in shares.values()]
    return ", ".join(texts[:-1]) + f" and {texts[-1]}"


# -- the equations, for n sets of parameters at once -----------------------------------------------------------------


def _predict(torque: FloatArray, preset: float, v: Mapping[str, FloatArray]) -> FloatArray:
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
        turns = [np.interp(s * TURN - zero, carried[j][i] + s * level[j][i], delta) for j, s in enumerate((1.0, -1.0))]
        closing = 2.0 / (1.0 + np.exp(-(turns[0] - turns[1]) / length))
        play = 0.5 * v["backlash"][i] * np.tanh((torque - zero) / EDGE)
        for j, s in enumerate((1.0, -1.0)):
            z = s * (1.0 - closing * np.exp(-np.maximum(0.0, s * (delta - turns[1 - j])) / length))
            external = np.maximum.accumulate(carried[j][i] + z * level[j][i])
            out[i, j] = np.interp(torque - zero, external, delta) + play + v["deflection_zero"][i]
    return out


def _spring(d: FloatArray, v: Mapping[str, FloatArray]) -> FloatArray:
    """Return the torque S(d) of a spring, shape (n, m) [N m]; d has the shape (n, m) [rad]."""
    k, a, stretch = (v[name][:, None] for name in ("k", "a", "stretch"))
    if not np.any(stretch):
        return k * np.sinh(a * d)
    loads = 6.0 * np.sinh(np.linspace(-8.0, 8.0, 1601)) / np.sinh(8.0)
    deflections = np.arcsinh(loads / k) / a + stretch * loads
    return np.stack([np.interp(row, at, loads) for row, at in zip(d, deflections)])


def _preset_in_force(delta: FloatArray, preset: float, v: Mapping[str, FloatArray]) -> FloatArray:
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
