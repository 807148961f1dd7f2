"""Fit the dynamic parameters of an actuator: friction of the link, motors and servo."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from pliant.base.errors import LawError, nearest
from pliant.base.numerics import Array
from pliant.identification.clock import clock_of
from pliant.identification.faults import exchanged
from pliant.identification.measurements import Measurement, Trials, as_measurements
from pliant.identification.parameters import (
    STARTS,
    Load,
    ScaledParameters,
    load_with,
    scale_parameters,
    with_blocks,
    with_values,
)
from pliant.identification.results import Fit, Identification
from pliant.identification.saturation import (
    CORRELATED,
    EXPLAINED,
    limited_notes,
    limits_note,
    torque_limit,
    with_limits,
)
from pliant.identification.simulated import OUTPUTS, Run, commands_of, prepare, simulate_run
from pliant.identification.solver import (
    Residuals,
    ScaledResiduals,
    Search,
    SearchOptions,
    identification_of,
    orthogonal,
    searches,
    solution_of,
)
from pliant.laws.actuator import CompliantActuator
from pliant.laws.base import Law, get_law
from pliant.laws.friction import PreslidingFriction
from pliant.laws.modes import Mode

EXCHANGED = ("link_position", "motor_1_position")
"""Outputs of a free link whose columns are exchanged where that may explain a poor fit."""
POOR = 5e-3
"""Share of an output's variance beyond which a fit is poor; assumed."""
EXCHANGE_GAIN = 0.2
"""Largest rms of the residuals with exchanged columns over that without, at which they are named; assumed."""
REWEIGHTINGS = 5
"""Most searches with weights from the residuals of the one before."""


class FitOptions(SearchOptions, total=False):
    """Arguments of `fit_actuator` that the other fits pass on."""

    outputs: Sequence[str]
    weights: Mapping[str, float] | None
    ties: Mapping[str, str] | None
    dt: float | None
    skip: float
    load: Load | None


def fit_actuator(
    actuator: CompliantActuator,
    data: Trials,
    free: Sequence[str] | Mapping[str, float],
    *,
    outputs: Sequence[str] = ("torque",),
    weights: Mapping[str, float] | None = None,
    ties: Mapping[str, str] | None = None,
    dt: float | None = None,
    skip: float = 0.0,
    load: Load | None = None,
    **search: Unpack[SearchOptions],
) -> Identification:
    """Fit parameters of an actuator to recorded motion, by simulating the actuator along the motion of the link.

    The inputs depend on the mode of the actuator. In modes 2 and 3 they are the motor positions, or "equilibrium" and
    "preset". In modes 5 and 6 they are "reference_1" and "reference_2", or the commanded "equilibrium" and "preset".
    References are held between their samples, as on a bus; a step in which one changes has their mean, so that the
    motion is continuous in the delay. Measured columns are gain true(t - delay) + offset of their sensor.

    Args:
        actuator: actuator whose mode defines the references and whose values are the start values and the fixed
            parameters.
        data: one or several measurements with time and link position. In modes 2 and 3 without damping the time may be
            omitted; the samples are then processed in their order.
        free: paths of the free parameters: "law.k1", "link_friction.torque", "motor.inertia" (both motors), "pid.kp"
            (both controllers), "command_delay", and for each sensor its "_offset", "_gain" and "_delay":
            "torque_offset", "motor_1_position_delay", "position_gain" (the link); and those of the load. A mapping
            gives start values.
        outputs: measured columns that are compared with the simulation: "torque", "motor_1_position",
            "motor_2_position", "link_position".
        weights: standard deviation of the noise of each output, in its unit; None for the rms of the output, and, with
            several outputs, further searches with the rms of their residuals.
        ties: path of a tied parameter -> path of the free parameter that it follows.
        dt: time step of a simulation whose actuator is looked for [s]. None for the continuous motor: steps of 0.2 and
            0.1 ms are extrapolated to 0 (Richardson), and `Fit.integration_error` states the difference.
        skip: initial duration that is simulated but not compared [s].
        load: what the link carries, with start values of "load.inertia", "load.gravity", "load.angle" and
            "load.damping". With the output "link_position" the link is simulated too, from rest, under the spring, its
            load and a measured "external_torque"; without, it moves as measured.
        **search: fields of `Search`: ``starts``, ``spread``, ``seed``, ``loss``, ``max_evaluations`` and ``progress``.

    Raises:
        LawError: a parameter or output is unknown, or the mode has no motion.
        RecordingError: columns are missing.
    """
    if actuator.mode in (Mode.LINK_TORQUE, Mode.LINK_PID, Mode.MOTOR_TORQUES):
        raise LawError(f"fit_actuator: mode {actuator.mode.value} cannot be fitted; must be 2, 3, 5 or 6", field="mode")
    options, trials, load = Search(**search), as_measurements(data), _load_of(outputs, load)
    actuator = with_blocks(actuator, free)
    scaled = scale_parameters(actuator, free, ties or {}, load)
    _check_outputs(outputs)
    task = _Task(actuator, scaled, outputs, weights, dt, skip, load)
    found, trials = _with_better_times(task, trials, options)
    found = _with_saturation(task, trials, options, found)
    if set(EXCHANGED) <= set(outputs) and any(f.explained < 1.0 - POOR for f in found.fits if f.quantity in EXCHANGED):
        swap = exchanged(*EXCHANGED)
        swapped = [dataclasses.replace(trial, columns=swap(trial.columns)) for trial in trials]
        note = _exchange_note(found, task.fit(swapped, dataclasses.replace(options, starts=1, profile=False)))
        found = dataclasses.replace(found, warnings=(*note, *found.warnings))
    return found


@dataclass(frozen=True, slots=True)
class _Task:
    """Model that is fitted to measurements; the fields are arguments of `fit_actuator`."""

    actuator: CompliantActuator
    scaled: ScaledParameters
    outputs: Sequence[str]
    weights: Mapping[str, float] | None
    dt: float | None
    skip: float
    load: Load | None
    cut_off: bool = False
    """Whether drives cut references off."""

    def fit(self, trials: Sequence[Measurement], options: Search) -> Identification:
        """Return the fit to some measurements."""
        runs = [prepare(self.actuator, trial, self.outputs, self.dt, self.skip) for trial in trials]
        if self.cut_off:
            cut = with_limits(self.actuator, trials, [run.commanded for run in runs]) or ()
            runs = [dataclasses.replace(run, commanded=commanded) for run, commanded in zip(runs, cut, strict=True)]
        if not any(run.keep.any() for run in runs):
            raise LawError(f"fit_actuator: skip = {self.skip:g} s leaves no sample", field="skip")
        compared = _Compared.of(self.actuator, runs, self.outputs, self.weights or {}, self.load)
        every = self.scaled.with_starts(compared.starts())
        ends = searches(every, compared.residuals, options, step=1e-4, rough=compared.rough())
        again = dataclasses.replace(options, starts=1)
        for _ in range(REWEIGHTINGS if self.weights is None and len(self.outputs) > 1 else 0):
            before, compared = compared.sigma, compared.reweighted(every.values(ends[0][0]))
            ends = searches(every, compared.residuals, again, step=1e-4, first=[ends[0][0]])
            ratios = np.array([compared.sigma[name] / before[name] for name in self.outputs])
            if ratios.max() < 1.1 * ratios.min():
                break
        solution = solution_of(ends, every, compared.residuals, step=1e-4)
        fits = compared.fits(compared.simulate(every.values(solution.x)))
        profiled = (every, compared.residuals) if options.profile else None
        values = every.values(solution.x)
        limited = limited_notes(with_values(self.actuator, values), trials)
        freed = any(name.endswith("max_torque") for name in self.scaled.names)
        notes = limits_note([run.commanded for run in runs], values) if self.cut_off else [] if freed else limited
        return identification_of(self.actuator, self.scaled, solution, fits, notes, profiled, switching=bool(limited))


def _with_better_times(
    task: _Task, trials: Sequence[Measurement], options: Search
) -> tuple[Identification, Sequence[Measurement]]:
    """Return a fit and its measurements: with the stamps, or where these jitter, with the clock that tells more."""
    found = task.fit(trials, options)
    if not task.actuator.mode.has_motors:
        return found, trials
    clocks = [clock_of(trial["time"]) for trial in trials]
    if all(clock is None or clock.exact for clock in clocks):
        return found, trials
    regular = [
        trial if clock is None else dataclasses.replace(trial, columns={**trial.columns, "time": clock.times()})
        for trial, clock in zip(trials, clocks, strict=True)
    ]
    other = task.fit(regular, dataclasses.replace(options, starts=1, profile=False))
    if _ratio(other, found) >= 1.0:
        return found, trials
    if options.profile:
        other = task.fit(regular, options)
    jitter = max(clock.jitter / clock.period for clock in clocks if clock is not None)
    note = (
        f"the stamps jitter by up to {100.0 * jitter:.0f} % of the period about a regular clock (one standard "
        f"deviation), whose times are used: the residuals are {_ratio(other, found):.2g} of those with the stamps"
    )
    return dataclasses.replace(other, warnings=(note, *other.warnings)), regular


def _ratio(other: Identification, found: Identification) -> float:
    """Return the ratio of the rms of the residuals of two fits, the geometric mean over the quantities."""
    names = dict.fromkeys(f.quantity for f in found.fits)
    ratios = [max(other.rms(name), 1e-300) / max(found.rms(name), 1e-300) for name in names]
    return math.exp(float(np.mean(np.log(ratios))))


def _with_saturation(
    task: _Task, trials: Sequence[Measurement], options: Search, found: Identification
) -> Identification:
    """Return a fit with the saturation that explains its residuals, if one does, else the fit."""
    if found.correlation < CORRELATED or not task.actuator.mode.has_motors:
        return found
    scaled, tasks = task.scaled, []
    limit = torque_limit(task.actuator, trials, scaled.names)
    if limit is not None:
        free = {**dict(zip(scaled.names, scaled.start.tolist(), strict=True)), limit[0]: limit[1]}
        tasks.append(dataclasses.replace(task, scaled=scale_parameters(task.actuator, free, scaled.ties, task.load)))
    if with_limits(task.actuator, trials, [commands_of(task.actuator, trial) for trial in trials]) is not None:
        tasks.append(dataclasses.replace(task, cut_off=True))
    fits = [(each.fit(trials, dataclasses.replace(options, starts=1, profile=False)), each) for each in tasks]
    best = min(fits, key=lambda pair: _ratio(pair[0], found), default=None)
    if best is None or _ratio(best[0], found) > EXPLAINED:
        return found
    other = best[0] if not options.profile else best[1].fit(trials, options)
    notes = [f"saturation explains the residuals, which are {_ratio(other, found):.2g} of those without it"]
    if not best[1].cut_off:
        notes[0] += f": {other.estimates[-1].name} was freed"
        notes = [*limited_notes(found.actuator, trials), *notes]
    return dataclasses.replace(other, warnings=(*notes, *other.warnings))


def _exchange_note(found: Identification, other: Identification) -> list[str]:
    """Say that link and motor are exchanged in a log, if the fit is far better then."""
    before, after = (max(each.rms(name) for name in EXCHANGED) for each in (found, other))
    if after > EXCHANGE_GAIN * before:
        return []
    return [
        f"the columns {' and '.join(EXCHANGED)} look exchanged: with each in the place of the other the largest rms of "
        f"the residuals is {after:.3g} rad, here {before:.3g} rad; exchange their names"
    ]


def predict_actuator(
    actuator: CompliantActuator,
    data: Trials,
    values: Mapping[str, float],
    outputs: Sequence[str],
    *,
    dt: float | None = None,
    skip: float = 0.0,
    load: Load | None = None,
) -> list[Fit]:
    """Compare an actuator with measurements, without a fit.

    Args:
        actuator: the actuator.
        data: one or several measurements, as for `fit_actuator`.
        values: values of parameters by path, with those of sensors.
        outputs: measured columns that are compared.
        dt: as for `fit_actuator`.
        skip: as for `fit_actuator` [s].
        load: as for `fit_actuator`.
    """
    _check_outputs(outputs)
    runs = [prepare(actuator, trial, outputs, dt, skip) for trial in as_measurements(data)]
    compared = _Compared.of(actuator, runs, outputs, {}, _load_of(outputs, load))
    return compared.fits(compared.simulate(values))


def expected_errors(
    actuator: CompliantActuator,
    data: Trials,
    free: Sequence[str] | Mapping[str, float],
    noise: Mapping[str, float],
    *,
    dt: float | None = None,
    load: Load | None = None,
) -> tuple[dict[str, float], float]:
    """Say before a fit how well measurements can tell parameters apart, from the sensitivity of the prediction.

    Args:
        actuator: actuator with the presumed values.
        data: one or several measurements with the inputs of the mode; the outputs are those of ``noise`` among them.
        free: paths of the parameters, as for `fit_actuator`.
        noise: output -> standard deviation of its noise, in its unit.
        dt: as for `fit_actuator`.
        load: as for `fit_actuator`.

    Returns:
        Parameter -> expected standard error in its unit, infinite where the measurements do not determine it; and the
        logarithm of det(J^T J) with J in standard deviations and scaled parameters, -infinity if it is singular.
    """
    trials = as_measurements(data)
    outputs = [name for name in noise if all(name in trial for trial in trials)]
    _check_outputs(outputs)
    load = _load_of(outputs, load)
    actuator = with_blocks(actuator, free)
    scaled = scale_parameters(actuator, free, {}, load)
    runs = [prepare(actuator, trial, outputs, dt, 0.0) for trial in trials]
    compared = _Compared.of(actuator, runs, outputs, noise, load)
    every = scaled.with_starts(compared.starts())
    x = every.x(every.start)
    slopes = ScaledResiduals(every, compared.residuals, 1e-3).jacobian(x, central=True)
    jacobian = orthogonal(slopes, len(scaled.names))
    _, sv, Vt = np.linalg.svd(jacobian, full_matrices=False)
    lost = sv <= 1e-10 * max(float(sv[0]), 1e-300)
    with np.errstate(divide="ignore"):
        variance = (Vt.T**2) @ np.where(lost, 0.0, 1.0 / sv**2)
        value = float(2.0 * np.sum(np.log(sv)))
    undetermined = (Vt.T**2) @ lost.astype(float) > 1e-3
    errors = np.where(undetermined, math.inf, np.sqrt(variance) * np.abs(scaled.slope(x[: len(scaled.names)])))
    return {name: float(e) for name, e in zip(scaled.names, errors, strict=True)}, value


def _load_of(outputs: Sequence[str], load: Load | None) -> Load | None:
    """Return the load of a link that moves freely, None if it moves as measured."""
    return (load or Load()) if "link_position" in outputs else None


def _check_outputs(outputs: Sequence[str]) -> None:
    if not outputs:
        raise LawError("fit_actuator: no output is selected for comparison", field="outputs")
    for name in outputs:
        if name not in OUTPUTS:
            raise LawError(f"fit_actuator: no output {name!r}; {nearest(name, OUTPUTS)}", field="outputs")


@dataclass(frozen=True, slots=True)
class _Compared:
    """The measured outputs of an actuator, and its simulation along the same motion."""

    actuator: CompliantActuator
    runs: Sequence[Run]
    measured: Mapping[tuple[int, str], Array]
    """Run and output -> samples."""
    sigma: Mapping[str, float]
    """Output -> standard deviation of its noise, or its rms."""
    load: Load | None = None
    """What the link carries, if it moves freely."""

    @classmethod
    def of(
        cls,
        actuator: CompliantActuator,
        runs: Sequence[Run],
        outputs: Sequence[str],
        weights: Mapping[str, float],
        load: Load | None,
    ) -> _Compared:
        measured = {
            (i, name): (run.trial.link_torque() if OUTPUTS[name] == "torque" else run.trial[name])[run.kept(name)]
            for i, run in enumerate(runs)
            for name in outputs
        }
        sigma = {}
        for name in outputs:
            values = np.concatenate([measured[i, name] for i in range(len(runs))])
            sigma[name] = weights.get(name, float(np.std(values)) or 1.0)
        return cls(actuator, runs, measured, sigma, load)

    def starts(self) -> list[str]:
        """Return the names of what is fitted beside: the first positions of compared motors and of a free link, and
        references in missing rows, and the limits of references."""
        moving = ["link"] if self.load is not None else []
        if self.actuator.mode.has_motors:
            moving += [f"motor_{j}" for j in (1, 2) if f"motor_{j}_position" in self.sigma]
        starts = [STARTS.format(which, i) for i in range(len(self.runs)) for which in moving]
        return starts + list(dict.fromkeys(name for i, run in enumerate(self.runs) for name in run.beside(i)))

    def reweighted(self, values: Mapping[str, float]) -> _Compared:
        """Return the same comparison in units of the residuals that values of the parameters leave."""
        predicted = self.predict(values)
        sigma = {}
        for name in self.sigma:
            rest = np.concatenate([predicted[key] - self.measured[key] for key in self.measured if key[1] == name])
            # Not below the resolution of double precision, for data without noise.
            sigma[name] = max(float(np.sqrt(np.mean(rest**2))), 1e-9 * self.sigma[name])
        return dataclasses.replace(self, sigma=sigma)

    def predict(self, values: Mapping[str, float]) -> dict[tuple[int, str], Array]:
        """Return the simulated outputs for values of the parameters."""
        return {key: both[0] for key, both in self.simulate(values).items()}

    def simulate(self, values: Mapping[str, float]) -> dict[tuple[int, str], tuple[Array, float]]:
        """Return the simulated outputs, each with the rms of the error of its integration."""
        # The references are delayed here.
        changed = with_values(self.actuator, {**values, "command_delay": 0.0})
        values = {"command_delay": self.actuator.command_delay, **values}
        out = {}
        for i, run in enumerate(self.runs):
            load = None if self.load is None else load_with(self.load, values)
            traces = [simulate_run(changed, run, i, step, grid, values, load) for step, grid in run.grids]
            for name in self.sigma:
                sensor = {"torque": "torque", "link_position": "position"}.get(OUTPUTS[name], name)
                at = run.trial["time"][run.kept(name)] - values.get(f"{sensor}_delay", 0.0)
                shown = []
                for (step, grid), trace in zip(run.grids, traces, strict=True):
                    series = trace[OUTPUTS[name]]
                    shown.append(
                        np.interp(at, grid if series.size == grid.size else np.r_[grid, grid[-1] + step], series)
                    )
                best = 2.0 * shown[1] - shown[0] if len(shown) > 1 else shown[0]
                with np.errstate(over="ignore"):  # of a simulation that diverges
                    error = float(np.sqrt(np.mean((best - shown[-1]) ** 2))) if best.size else 0.0
                gain, offset = values.get(f"{sensor}_gain", 1.0), values.get(f"{sensor}_offset", 0.0)
                out[i, name] = gain * best + offset, error
        return out

    def rough(self) -> Residuals | None:
        """Return the residuals of the longer step alone, if there are two."""
        if all(len(run.grids) == 1 for run in self.runs):
            return None
        runs = [dataclasses.replace(run, grids=run.grids[:1]) for run in self.runs]
        return dataclasses.replace(self, runs=runs).residuals

    def residuals(self, values: Mapping[str, float]) -> Array:
        """Return the differences in standard deviations; infinity for values that are not valid."""
        try:
            predicted = self.predict(values)
        except LawError:
            return np.full(sum(a.size for a in self.measured.values()), np.inf)
        return np.concatenate([(predicted[key] - self.measured[key]) / self.sigma[key[1]] for key in self.measured])

    def fits(self, predicted: Mapping[tuple[int, str], tuple[Array, float]]) -> list[Fit]:
        """Return measured and predicted outputs of each run: over the deflection without motors, else over time."""
        law, fits = self.actuator.law, []
        two = law.second_input == "angle"
        for (i, name), series in self.measured.items():
            if series.size == 0:
                continue
            run, torque = self.runs[i], OUTPUTS[name] == "torque"
            keep = run.kept(name)
            x, group = run.trial["time"][keep], np.zeros(series.size)
            if torque and self.actuator.mode in (Mode.SPRING_REFS, Mode.SPRING_EQ_PRESET):
                q, a, b = (v[keep] for v in run.trial.spring_angles(law.second_input))
                x, group = q - (0.5 * (a + b) if two else a), 0.5 * (a - b) if two else b
            fits.append(
                Fit(
                    source=run.trial.source,
                    quantity="torque" if torque else name,
                    unit="N m" if torque else "rad",
                    abscissa=x,
                    group=group,
                    measured=series,
                    predicted=predicted[i, name][0],
                    integration_error=predicted[i, name][1],
                )
            )
        return fits


def fit_friction(
    actuator: CompliantActuator | Law | str,
    data: Trials,
    free: Sequence[str] | Mapping[str, float] = ("link_friction.torque",),
    **options: Unpack[FitOptions],
) -> Identification:
    """Fit the friction of a joint, and optionally the law, to hysteresis loops of torque over deflection.

    Friction acts between spring and link: F = torque + load_coefficient |load| + preset_coefficient |preset|, with
    presliding of a given stiffness. The width of a loop determines F, and its change with load and preset determines
    the coefficients.

    Args:
        actuator: actuator or law with the start values; without link friction it starts with 0.05 N m.
        data: measurements with time, link position (or deflection), motor positions (or equilibrium and preset) and
            torque (or external torque).
        free: paths of the free parameters, for instance ("law.k1", "law.a1", "link_friction.torque",
            "link_friction.load_coefficient").
        options: options of `fit_actuator`.
    """
    actuator = _as_actuator(actuator, Mode.SPRING_REFS)
    if actuator.mode not in (Mode.SPRING_REFS, Mode.SPRING_EQ_PRESET):
        actuator = actuator.replace(mode=Mode.SPRING_REFS)
    if actuator.link_friction is None:
        actuator = actuator.replace(link_friction=PreslidingFriction(torque=0.05))
    return fit_actuator(actuator, data, free, **options)


def fit_servo(
    actuator: CompliantActuator | Law | str,
    data: Trials,
    free: Sequence[str] | Mapping[str, float] = ("motor.inertia", "motor.damping", "motor.friction.torque"),
    **options: Unpack[FitOptions],
) -> Identification:
    """Fit motors and servo to references and measured motor positions.

    Without a measured torque, only ratios to kp and the sum D + kd can be determined. If kp or kd is free in addition
    to the default parameters, the condition number shows this. The lag of the servo is (kd + D) / kp [s].

    Args:
        actuator: actuator in mode 5 or 6, or a law, which is fitted in mode 6.
        data: measurements with time, link position, references (or the commanded equilibrium and preset) and motor
            positions; without motor positions, the link position is compared, and its load must be given or free.
        free: paths of the free parameters; "command_delay" fits the delay of the bus.
        options: options of `fit_actuator`; ``outputs`` defaults to the measured motor positions, and the link position
            if a load is given or free.
    """
    actuator = _as_actuator(actuator, Mode.PID_EQ_PRESET)
    if actuator.mode not in (Mode.PID_REFS, Mode.PID_EQ_PRESET):
        raise LawError(f"fit_servo: mode is {actuator.mode.value}; must be 5 or 6", field="mode")
    trials = as_measurements(data)
    if "outputs" not in options:
        in_all = [name for name in OUTPUTS if all(name in trial for trial in trials)]
        names = [n for n in in_all if n.startswith("motor_")]
        loaded = options.get("load") is not None or any(name.startswith("load.") for name in free)
        if loaded and "link_position" in in_all:
            names.append("link_position")
        if not names:
            raise LawError(
                f"fit_servo: no motor position was measured; found: {trials[0].described}. The link position takes "
                "its place if its load is given (load=Load(inertia=...), --set load.inertia=VALUE) or free "
                "(load.inertia)",
                field="motor_1_position",
            )
        options["outputs"] = names
    return fit_actuator(actuator, trials, free, **options)


def _as_actuator(value: CompliantActuator | Law | str, mode: Mode) -> CompliantActuator:
    if isinstance(value, CompliantActuator):
        return value
    return CompliantActuator(get_law(value)() if isinstance(value, str) else value, mode)
