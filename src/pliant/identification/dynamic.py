"""Fit the dynamic parameters of an actuator: friction of the link, motors and servo."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import LawError, nearest
from pliant.base.numerics import Array
from pliant.identification.measurements import Measurement, Trials, as_measurements
from pliant.identification.parameters import scale_parameters, with_values
from pliant.identification.results import Fit, Identification
from pliant.identification.solver import Search, SearchOptions, identification_of, solve
from pliant.laws import layout
from pliant.laws.actuator import ActuatorTraces, CompliantActuator
from pliant.laws.base import Law, get_law
from pliant.laws.friction import PreslidingFriction
from pliant.laws.modes import Mode

__all__ = ["OUTPUTS", "fit_actuator", "fit_friction", "fit_servo"]


MAX_STEPS = 5_000_000
"""Maximum number of time steps in the simulation of one measurement."""

MANY_STEPS = 200_000
"""Number of time steps of all measurements up to which the default step becomes shorter."""

OUTPUTS: dict[str, str] = {
    "torque": "torque",
    "external_torque": "torque",
    "motor_1_position": "motor_1_position",
    "motor_2_position": "motor_2_position",
    "equilibrium": "equilibrium",
    "preset": "preset",
}
"""Measured column -> simulated trace that it is compared with."""


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


class FitOptions(SearchOptions, total=False):
    """Arguments of `fit_actuator` that the other fits pass on."""

    outputs: Sequence[str]
    weights: Mapping[str, float] | None
    ties: Mapping[str, str] | None
    dt: float | None
    skip: float


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
    **search: Unpack[SearchOptions],
) -> Identification:
    """Fit parameters of an actuator to recorded motion, by simulating the actuator along the motion of the link.

    The inputs depend on the mode of the actuator. In modes 2 and 3 they are the motor positions, or "equilibrium" and
    "preset". In modes 5 and 6 they are "reference_1" and "reference_2", or the commanded "equilibrium" and "preset".
    References are held between their samples, as on a bus; if the delay is free, they are interpolated linearly.

    Args:
        actuator: actuator whose mode defines the references and whose values are the start values and the fixed
            parameters.
        data: one or several measurements with time and link position. In modes 2 and 3 without damping the time may be
            omitted; the samples are then processed in their order.
        free: paths of the free parameters: "law.k1", "link_friction.torque", "motor.inertia" (both motors), "pid.kp"
            (both controllers), "command_delay", "position_offset", "torque_offset". A mapping gives start values.
        outputs: measured columns that are compared with the simulation: "torque", "motor_1_position",
            "motor_2_position".
        weights: standard deviation of the noise of each output, in its unit; None for the rms of the output, which
            gives all outputs equal weight.
        ties: path of a tied parameter -> path of the free parameter that it follows.
        dt: largest time step of the simulation [s]; the fitted values are those of the continuous motor only if it is
            short against the time constants of the servo. None: with motors (modes 5 and 6) 0.02 ms up to 4 s of
            measurements, in proportion to 0.1 ms above; otherwise 1 ms.
        skip: initial duration that is simulated but not compared [s].
        **search: fields of `Search`: ``starts``, ``spread``, ``seed``, ``loss``, ``max_evaluations`` and ``progress``.

    Raises:
        LawError: a parameter or output is unknown, or the mode has no motion.
        RecordingError: columns are missing.
    """
    if actuator.mode in (Mode.LINK_TORQUE, Mode.LINK_PID, Mode.MOTOR_TORQUES):
        raise LawError(f"fit_actuator: mode {actuator.mode.value} cannot be fitted; must be 2, 3, 5 or 6", field="mode")
    options = Search(**search)
    trials = as_measurements(data)
    dt = _usual_step(actuator, trials) if dt is None else dt
    scaled = scale_parameters(actuator, free, ties or {})
    _check_outputs(outputs)
    runs = [_prepare(actuator, trial, tuple(outputs), dt, skip) for trial in trials]
    if not any(run.keep.any() for run in runs):
        raise LawError(f"fit_actuator: skip = {skip:g} s leaves no sample", field="skip")
    compared = _Compared.of(actuator, runs, outputs, weights or {})
    solution = solve(scaled, compared.residuals, options, step=1e-4)
    fits = compared.fits(compared.predict(scaled.values(solution.x)))
    return identification_of(actuator, scaled, solution, fits, ())


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
    runs: Sequence[_Run]
    measured: Mapping[tuple[int, str], Array]
    """Run and output -> samples."""
    sigma: Mapping[str, float]
    """Output -> standard deviation of its noise, or its rms."""

    @classmethod
    def of(
        cls, actuator: CompliantActuator, runs: Sequence[_Run], outputs: Sequence[str], weights: Mapping[str, float]
    ) -> _Compared:
        measured = {
            (i, name): (run.trial.link_torque() if OUTPUTS[name] == "torque" else run.trial[name])[run.keep]
            for i, run in enumerate(runs)
            for name in outputs
        }
        sigma = {}
        for name in outputs:
            values = np.concatenate([measured[i, name] for i in range(len(runs))])
            sigma[name] = weights.get(name, float(np.std(values)) or 1.0)
        return cls(actuator, runs, measured, sigma)

    def predict(self, values: Mapping[str, float]) -> dict[tuple[int, str], Array]:
        """Return the simulated outputs for values of the parameters."""
        changed = with_values(self.actuator, {k: v for k, v in values.items() if k != "command_delay"})
        delay = values.get("command_delay")
        if delay is not None:
            changed = changed.replace(command_delay=0.0)
        out = {}
        for i, run in enumerate(self.runs):
            traces = _simulate(changed, run, delay, values.get("position_offset", 0.0))
            # In modes 5 and 6 a trace shows the motors after the step that begins at its sample, and their torque.
            shown = run.time + run.dt if self.actuator.mode.has_motors else run.time
            for name in self.sigma:
                series = traces.torque if OUTPUTS[name] == "torque" else traces.values[OUTPUTS[name]]
                series = np.interp(run.trial["time"][run.keep], shown, series)
                if OUTPUTS[name] == "torque":
                    series = series + values.get("torque_offset", 0.0)
                out[i, name] = series
        return out

    def residuals(self, values: Mapping[str, float]) -> Array:
        """Return the differences in standard deviations; infinity for values that are not valid."""
        try:
            predicted = self.predict(values)
        except LawError:
            return np.full(sum(a.size for a in self.measured.values()), np.inf)
        return np.concatenate([(predicted[key] - self.measured[key]) / self.sigma[key[1]] for key in self.measured])

    def fits(self, predicted: Mapping[tuple[int, str], Array]) -> list[Fit]:
        """Return measured and predicted outputs of each run: over the deflection without motors, else over time."""
        law, fits = self.actuator.law, []
        two = law.second_input == "angle"
        for (i, name), series in self.measured.items():
            run, torque = self.runs[i], OUTPUTS[name] == "torque"
            x, group = run.trial["time"][run.keep], np.zeros(series.size)
            if torque and self.actuator.mode in (Mode.SPRING_REFS, Mode.SPRING_EQ_PRESET):
                q, a, b = (v[run.keep] for v in run.trial.spring_angles(law.second_input))
                x, group = q - (0.5 * (a + b) if two else a), 0.5 * (a - b) if two else b
            fits.append(
                Fit(
                    source=run.trial.source,
                    quantity="torque" if torque else name,
                    unit="N m" if torque else "rad",
                    abscissa=x,
                    group=group,
                    measured=series,
                    predicted=predicted[i, name],
                )
            )
        return fits


def _prepare(actuator: CompliantActuator, trial: Measurement, outputs: tuple[str, ...], dt: float, skip: float) -> _Run:
    if "time" not in trial and _timeless(actuator):
        # Springs and presliding friction know no rate: the order of the samples is enough.
        trial = Measurement.of({**trial.columns, "time": dt * np.arange(trial.samples)}, source=trial.source)
    time = trial["time"]
    if time.size < 4:
        raise LawError(f"{trial.source}: {time.size} samples; must be 4 or more", field="time")
    if not (math.isfinite(dt) and dt > 0.0):
        raise LawError(f"fit_actuator: dt is {dt}; must be > 0 s", field="dt")
    for name in outputs:
        if OUTPUTS[name] == "torque":
            trial.link_torque()
        else:
            trial[name]
    period = float(np.median(np.diff(time)))
    step = period / math.ceil(period / dt - 1e-9) if period > dt else period
    steps = (time[-1] - time[0]) / step
    if steps > MAX_STEPS:
        raise LawError(
            f"{trial.source}: {time[-1] - time[0]:g} s in steps of {step:g} s are {steps:.3g} steps; must be at most "
            f"{MAX_STEPS:g}. Remove rest and pauses (--max-rest, `Measurement.without_rest`), or split the file",
            field="time",
        )
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


def _usual_step(actuator: CompliantActuator, trials: Sequence[Measurement]) -> float:
    """Return the step of the simulation if none is given [s]: as short as memory and time allow, for motors."""
    if not actuator.mode.has_motors:
        return 1.0e-3
    seconds = sum(float(trial["time"][-1] - trial["time"][0]) for trial in trials)
    return min(max(seconds / MANY_STEPS, 2.0e-5), 1.0e-4)


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


def _simulate(actuator: CompliantActuator, run: _Run, delay: float | None, offset: float) -> ActuatorTraces:
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
            positions.
        free: paths of the free parameters; "command_delay" fits the delay of the bus.
        options: options of `fit_actuator`; ``outputs`` defaults to the measured motor positions.
    """
    actuator = _as_actuator(actuator, Mode.PID_EQ_PRESET)
    if actuator.mode not in (Mode.PID_REFS, Mode.PID_EQ_PRESET):
        raise LawError(f"fit_servo: mode is {actuator.mode.value}; must be 5 or 6", field="mode")
    trials = as_measurements(data)
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
