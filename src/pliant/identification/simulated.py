"""Simulation of an actuator along the motion of a log: its grids, its inputs, and the traces that are compared."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import LawError
from pliant.base.numerics import Array
from pliant.identification.clock import Command, clock_of, with_missing_rows
from pliant.identification.measurements import Measurement
from pliant.identification.parameters import ENDS, LIMIT, LOST, STARTS, Load
from pliant.laws import layout
from pliant.laws.actuator import CompliantActuator
from pliant.laws.compile import compiled
from pliant.laws.modes import Mode

MAX_STEPS = 5_000_000
"""Maximum number of time steps in the simulation of one measurement."""

MOTOR_STEP = 2.0e-4
"""Longest of the two steps of the default simulation with motors [s]; the other one is half as long."""

OUTPUTS: dict[str, str] = {
    "link_position": "link_position",
    "torque": "torque",
    "external_torque": "torque",
    "motor_1_position": "motor_1_position",
    "motor_2_position": "motor_2_position",
    "equilibrium": "equilibrium",
    "preset": "preset",
}
"""Measured column -> simulated trace that it is compared with. If the link position is compared, the link moves freely
with its `Load`."""


@dataclass(frozen=True, slots=True)
class Run:
    """One measurement, and the grids of its simulation."""

    trial: Measurement
    grids: tuple[tuple[float, Array], ...]
    """Step [s] and times [s] of each simulation; from two of them the limit of a step of 0 is extrapolated."""
    keep: NDArray[np.bool_]
    """Samples that are compared, beside those that the trial leaves out."""
    commanded: tuple[Command, ...] = ()
    """The two references of motors, with those of missing rows; empty in modes without motors."""
    inputs: dict[tuple[str, float], tuple[object, tuple[Array, Array]]] = field(default_factory=dict)
    """Kind of input and step -> what it depends on, and its values of the last simulation."""

    def remembered(
        self, kind: str, step: float, key: object, build: Callable[[], tuple[Array, Array]]
    ) -> tuple[Array, Array]:
        """Return inputs of a simulation, which few parameters change."""
        if self.inputs.get((kind, step), (None,))[0] != key:
            self.inputs[kind, step] = key, build()
        return self.inputs[kind, step][1]

    def beside(self, number: int) -> list[str]:
        """Return the names of references in missing rows and of their limits that are parameters of this run."""
        names = []
        for j, command in enumerate(self.commanded, 1):
            names += [LOST.format(j, number, row) for row in command.uncertain]
            names += [LIMIT.format(j, end) for end in ENDS] if command.limits is not None else []
        return names

    def kept(self, name: str) -> NDArray[np.bool_]:
        """Return the samples in which an output is compared, shape (n,)."""
        torques = [column for column in ("torque", "external_torque") if column in self.trial]
        column = torques[0] if OUTPUTS[name] == "torque" else name
        return self.keep & self.trial.compared(column)


def prepare(
    actuator: CompliantActuator, trial: Measurement, outputs: Sequence[str], dt: float | None, skip: float
) -> Run:
    """Return a measurement with the grids of its simulation; arguments as of `fit_actuator`.

    Raises:
        LawError: too few samples, too many steps, or a wrong dt.
        RecordingError: columns are missing.
    """
    if "time" not in trial and _timeless(actuator):
        # Springs and presliding friction know no rate: the order of the samples is enough.
        time = np.arange(trial.samples, dtype=float) * 1.0e-3
        trial = dataclasses.replace(trial, columns={**trial.columns, "time": time})
    time = trial["time"]
    if time.size < 4:
        raise LawError(f"{trial.source}: {time.size} samples; must be 4 or more", field="time")
    if dt is not None and not (math.isfinite(dt) and dt > 0.0):
        raise LawError(f"fit_actuator: dt is {dt}; must be > 0 s", field="dt")
    for name in outputs:
        if OUTPUTS[name] == "torque":
            trial.link_torque()
        else:
            trial[name]
    motors = actuator.mode.has_motors
    longest = dt or (MOTOR_STEP if motors else 1.0e-3)
    period = float(np.median(np.diff(time)))
    step = period / math.ceil(period / longest - 1e-9) if period > longest else period
    steps = (time[-1] - time[0]) / step
    if steps > MAX_STEPS:
        raise LawError(
            f"{trial.source}: {time[-1] - time[0]:g} s in steps of {step:g} s are {steps:.3g} steps; must be at most "
            f"{MAX_STEPS:g}. Remove rest and pauses (--max-rest, `Measurement.without_rest`), or split the file",
            field="time",
        )
    uniform = np.max(np.abs(np.diff(time) - period)) < 1e-3 * period and step == period
    whole = lambda h: time[0] + h * np.arange(math.floor((time[-1] - time[0]) / h + 1e-6) + 1)  # noqa: E731
    grids = [(step, time if uniform and not motors else whole(step))]
    if motors and dt is None:
        grids.append((0.5 * step, whole(0.5 * step)))
    commanded = commands_of(actuator, trial) if motors else ()
    return Run(trial=trial, grids=tuple(grids), keep=time - time[0] >= skip - 1e-12, commanded=commanded)


def _timeless(actuator: CompliantActuator) -> bool:
    still = actuator.link_damping == 0.0 and actuator.link_preset_damping == 0.0
    return still and actuator.mode in (Mode.SPRING_REFS, Mode.SPRING_EQ_PRESET)


def _held(time: Array, values: Array, grid: Array, step: float, delay: float) -> Array:
    """Return references that are held between their times and arrive late, as the steps of a grid apply them.

    A change at a time within a step acts on three steps with the weights of the quadratic B-spline, which keep its time
    integral and its first moment. The error of the motion is then smooth in the step and the delay, and extrapolates.
    """
    change = np.concatenate([values[:1], np.diff(values)])
    at = (time + delay - grid[0]) / step - 0.5
    at[0] = -3.0  # held from the beginning
    first = np.floor(at)
    f = at - first
    total = np.zeros(grid.size + 1)
    for k, weight in enumerate((0.5 * (1.0 - f) ** 2, 0.5 + f - f**2, 0.5 * f**2)):
        index = np.clip(first + k, 0, grid.size).astype(np.int64)
        total += np.bincount(index, weights=weight * change, minlength=grid.size + 1)
    return np.cumsum(total[:-1])


def _references(
    actuator: CompliantActuator, run: Run, step: float, grid: Array, delay: float, beside: Sequence[float]
) -> tuple[Array, Array]:
    if run.commanded:
        held, rest = [], list(beside)
        for command in run.commanded:
            values, count = command.values.copy(), len(command.uncertain)
            values[list(command.uncertain)] += rest[:count]
            rest = rest[count:]
            if command.limits is not None:
                (low, high), rest = rest[:2], rest[2:]
                values = np.clip(values, command.limits[0] + low, command.limits[1] + high)
            held.append(_held(command.time, values, grid, step, delay))
        return held[0], held[1]
    law, time = actuator.law, run.trial["time"]
    _, a, b = run.trial.spring_angles(law.second_input)
    if actuator.mode == Mode.SPRING_EQ_PRESET and law.motors == 2 and law.second_input == "angle":
        a, b = 0.5 * (a + b), 0.5 * (a - b)
    # Measured motor positions are continuous.
    return np.interp(grid, time, a), np.interp(grid, time, b)


def commands_of(actuator: CompliantActuator, trial: Measurement) -> tuple[Command, Command]:
    """Return the two references of a log, of the motors or equilibrium and preset, also in missing rows."""
    motors = "reference_1" in trial or actuator.mode == Mode.PID_REFS
    first, second = ("reference_1", "reference_2") if motors else ("equilibrium", "preset")
    time, clock = trial["time"], clock_of(trial["time"])
    a, b = trial[first], trial[second] if actuator.law.motors == 2 else np.zeros(trial.samples)
    made = with_missing_rows(clock, time, a), with_missing_rows(clock, time, b)
    return dataclasses.replace(made[0], column=first), dataclasses.replace(made[1], column=second)


def simulate_run(
    actuator: CompliantActuator,
    run: Run,
    number: int,
    step: float,
    grid: Array,
    values: Mapping[str, float],
    load: Load | None,
) -> dict[str, Array]:
    """Return simulated traces, of motors and a free link at the beginning and after each step, (n + 1,), else (n,)."""
    trial, delay = run.trial, values["command_delay"]
    beside = tuple(values.get(name, 0.0) for name in run.beside(number))
    ref_1, ref_2 = run.remembered(
        "references", step, (delay, beside), lambda: _references(actuator, run, step, grid, delay, beside)
    )
    actuator.check_preset(float(ref_2.min()), "ref_2")
    actuator.check_preset(float(ref_2.max()), "ref_2")
    sensor = tuple(values.get(f"position_{kind}", usual) for kind, usual in _PERFECT.items())
    q, dq = run.remembered("link", step, sensor, lambda: _link_motion(actuator, trial, step, grid, sensor))
    par = actuator.pack(step)
    state, begin = actuator.hold_packed(float(q[0]), par)[0], []
    if actuator.mode.has_motors:
        # At rest where the motors are measured at first, or where the first references put them.
        begin = [float(ref_1[0]), float(ref_2[0])]
        if actuator.mode == Mode.PID_EQ_PRESET:
            begin = list(actuator.law.map_references(*begin))
        for j, name in enumerate(("motor_1_position", "motor_2_position")):
            if name in trial:
                true = (trial[name][0] - values.get(f"{name}_offset", 0.0)) / values.get(f"{name}_gain", 1.0)
                begin[j] = float(true) + values.get(STARTS.format(f"motor_{j + 1}", number), 0.0)
        for where, position in zip((layout.A_MOTOR_1, layout.A_MOTOR_2), begin, strict=True):
            i = int(par[where])
            if i >= 0:
                state[i + layout.S_POSITION] = position
                state[i + layout.S_ANCHOR] = position
    torque, body = np.zeros(q.size), np.empty(0)
    if load is not None:
        if "external_torque" in trial:
            torque = np.interp(grid, trial["time"], trial["external_torque"])
        first = float(q[0]) + values.get(STARTS.format("link", number), 0.0)
        speed = float(dq[0]) if "link_velocity" in trial else 0.0
        q, dq = np.full(q.size + 1, first), np.full(q.size + 1, speed)
        body = np.array([load.inertia, load.gravity, load.angle, load.damping])
    shown = np.zeros((ref_1.size, len(layout.SHOWN)))
    act = np.r_[state, np.zeros(state.size + 1)]
    compiled(type(actuator.law)).simulate(par, q, dq, ref_1, ref_2, step, act, body, torque, shown)
    traces = {"torque": torque, **dict(zip(layout.SHOWN, shown.T, strict=True))}
    if actuator.mode.has_motors:
        # A trace shows the motors after the step that begins at its sample.
        known = {f"motor_{j}_position": position for j, position in enumerate(begin, 1)}
        for name, series in traces.items():
            traces[name] = np.r_[known.get(name, 2.0 * series[0] - series[min(1, series.size - 1)]), series]
    return traces if load is None else {**traces, "link_position": q}


_PERFECT = {"delay": 0.0, "gain": 1.0, "offset": 0.0}
"""Parameters of a sensor, and their values if it is perfect."""


def _link_motion(
    actuator: CompliantActuator, trial: Measurement, step: float, grid: Array, sensor: Sequence[float]
) -> tuple[Array, Array]:
    """Return true positions [rad] and velocities [rad/s] of the link, each of shape (n,), from a sensor's (delay, gain,
    offset)."""
    delay, gain, offset = sensor
    at, time = grid + delay, trial["time"]
    measured = trial["link_position"] if "link_position" in trial else trial.spring_angles(actuator.law.second_input)[0]
    q = (np.interp(at, time, measured) - offset) / gain
    if not np.all(np.isfinite(q)):
        raise LawError(f"{trial.source}: the link position is not finite", field="link_position")
    return q, np.interp(at, time, trial["link_velocity"]) if "link_velocity" in trial else np.gradient(q, step)
