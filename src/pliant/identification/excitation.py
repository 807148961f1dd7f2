"""Design a motion that makes chosen parameters of a joint identifiable, within the limits of the joint.

The command is a Fourier series of the equilibrium (Swevers et al. 1997, IEEE Transactions on Robotics and Automation
13(5)), which begins and ends at rest. Its coefficients maximise det(J^T J) of the predicted samples (D-optimal). Every
candidate is simulated with the robot; one that passes a limit is made smaller until it does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import Array
from pliant.command_tables.table import CommandTable
from pliant.engine.mujoco_engine import MujocoEngine
from pliant.identification.dynamic import expected_errors
from pliant.laws.actuator import CompliantActuator
from pliant.laws.fields import COMMAND_NAMES
from pliant.laws.modes import Mode
from pliant.laws.motor import DCMotor
from pliant.model.robot import Robot

NOISE = {"motor_1_position": 2e-4, "motor_2_position": 2e-4, "torque": 0.01}
"""Output -> standard deviation of its sensor [rad, N m]: an encoder of the qbMove and a torque sensor; assumed."""

ENGINE_STEP = 2.0e-4
"""Step of the simulation of a candidate [s]."""

SHRINKS = 40
"""How often a motion is made smaller; a motor that is at its largest torque does not tell by how much it must be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcitationOptions:
    """Size of a motion and of the search for it."""

    duration: float = 4.0
    """Length of the motion [s]."""
    period: float = 0.005
    """Time between two rows of the command table, and between two samples of the log [s]."""
    harmonics: int = 6
    """Harmonics of the Fourier series, of the base frequency 1 / duration, spread up to ``max_frequency``."""
    max_frequency: float = 5.0
    """Highest frequency [Hz]."""
    reach: float = 0.5
    """Largest distance of the equilibrium position from that of the initial pose, beside the limits of the joint
    [rad]."""
    preset: float | None = None
    """Preset of joints with two motors, reached after the begin of the motion [rad, or m of a lever]; None: the initial
    one."""
    margin: float = 0.9
    """Part of every limit that is used."""
    candidates: int = 40
    """Motions that are tried."""
    seed: int = 0
    """Seed of the search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excitation:
    """A designed motion with its expected standard errors."""

    table: CommandTable
    """Commands of the joint."""
    errors: Mapping[str, float]
    """Parameter -> expected standard error, in its unit."""
    naive: Mapping[str, float]
    """Parameter -> expected standard error after a chirp of the same length within the same limits, in its unit."""
    peaks: Mapping[str, tuple[float, float]]
    """Limited quantity -> its largest magnitude (of a position, from the middle of its range) and the limit."""


def chirp(options: ExcitationOptions) -> Array:
    """Return a linear chirp from 0 to ``max_frequency``, of magnitude 1 within the window, shape (n,)."""
    t = _times(options)
    return _window(t, options.duration) * np.sin(math.pi * options.max_frequency / options.duration * t**2)


def design_excitation(
    robot: Robot,
    joint: str,
    free: Sequence[str],
    options: ExcitationOptions | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> Excitation:
    """Return the motion of a joint after which the parameters are known best.

    Args:
        robot: robot whose joint moves; its other joints hold their position.
        joint: compliant joint in mode 5 or 6.
        free: paths of the parameters, as `pliant.identification.fit_actuator` takes them.
        options: length, limits and search.
        progress: called with the number of candidates that were tried, and their total number.

    Raises:
        ModelError: the joint is not compliant, has muscles, or is not in mode 5 or 6; or no motion keeps the limits.
        LawError: a parameter does not exist.
    """
    options = options or ExcitationOptions()
    actuator, motor = _joint_of(robot, joint)
    t = _times(options)
    rng = np.random.default_rng(options.seed)
    highest = max(1, round(options.max_frequency * options.duration))
    orders = np.unique(np.round(np.linspace(1, highest, options.harmonics)).astype(int))
    phases = 2.0 * np.pi / options.duration * np.outer(orders, t)
    basis = _window(t, options.duration) * np.concatenate([np.sin(phases), np.cos(phases)])

    def score(shape: Array) -> tuple[float, Array, Mapping[str, float], Mapping[str, tuple[float, float]]]:
        command, log, peaks = _within_limits(robot, joint, motor, shape, options)
        errors, value = expected_errors(actuator, log, free, NOISE, dt=1.0e-3)
        return value, command, errors, peaks

    naive = score(chirp(options))
    x = rng.standard_normal(len(basis))
    best = score(x @ basis)
    size = 0.6
    for k in range(options.candidates):
        y = x / np.linalg.norm(x) + size * rng.standard_normal(x.size) / math.sqrt(x.size)
        found = score(y @ basis)
        if found[0] > best[0]:
            x, best, size = y, found, min(1.5, 1.4 * size)
        else:
            size = max(0.05, 0.93 * size)
        if progress is not None:
            progress(k + 1, options.candidates)
    _, command, errors, peaks = best
    columns = {
        f"{joint}/{name}": reference
        for name, reference in zip(
            COMMAND_NAMES[actuator.mode], _references(robot, joint, command, options), strict=False
        )
    }
    return Excitation(table=CommandTable(time=t, columns=columns), errors=errors, naive=naive[2], peaks=peaks)


def log_of_command(
    robot: Robot, joint: str, references: Sequence[Array], period: float, step: float = ENGINE_STEP
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Simulate a robot and return the log of a joint, as `fit_actuator` reads it, and the peaks of all its steps.

    Args:
        robot: robot in its initial pose.
        joint: joint that gets the references, one or two, each of shape (n,).
        references: references of the mode of the joint, held for a period.
        period: time between two references and two samples [s].
        step: step of the simulation [s].

    Returns:
        Columns of the log, shape (n,); and position, velocity and effort of each step of the simulation.
    """
    actuator = robot.actuators[joint]
    step = period / math.ceil(period / step - 1e-9)
    before = float(robot.spec.option.timestep)
    robot.spec.option.timestep = step
    try:
        engine = MujocoEngine(robot)
    finally:
        robot.spec.option.timestep = before
    ports = {n: engine.port(f"{joint}/{n}") for n in ("position", "velocity", "motor_1_effort", *_recorded(actuator))}
    inputs = [engine.port(f"{joint}/reference_{i + 1}") for i in range(len(references))]
    log: dict[str, list[float]] = {n: [] for n in ports}
    every: dict[str, list[float]] = {n: [] for n in ("position", "velocity", "motor_1_effort")}
    for row in zip(*references, strict=True):
        for name, port in ports.items():
            log[name].append(float(port.item()))
        for port, value in zip(inputs, row, strict=True):
            port[...] = value
        for _ in range(round(period / step)):
            engine.step()
            for name, values in every.items():
                values.append(float(ports[name].item()))
    columns = {n: np.array(log[n]) for n in _recorded(actuator)}
    columns["link_position"], columns["link_velocity"] = np.array(log["position"]), np.array(log["velocity"])
    columns["time"] = period * np.arange(len(references[0]))
    names = ("equilibrium", "preset") if actuator.mode == Mode.PID_EQ_PRESET else ("reference_1", "reference_2")
    columns.update(zip(names, references, strict=False))
    return columns, {n: np.array(v) for n, v in every.items()}


def _recorded(actuator: CompliantActuator) -> tuple[str, ...]:
    two = ("motor_2_position",) if actuator.law.motors == 2 else ()
    return ("motor_1_position", *two, "torque")


def _joint_of(robot: Robot, joint: str) -> tuple[CompliantActuator, DCMotor]:
    if joint not in robot.actuators:
        raise ModelError(f"no compliant joint {joint!r}; {nearest(joint, robot.actuators)}", field="joint")
    actuator = robot.actuators[joint]
    motor = actuator.motor_1
    if not isinstance(motor, DCMotor):
        raise ModelError(f"{joint} has muscles; motions are designed for joints with motors", field="joint")
    if actuator.mode not in (Mode.PID_REFS, Mode.PID_EQ_PRESET):
        raise ModelError(
            f"{joint} is in mode {actuator.mode.value}; must be 5 or 6, in which its motors have controllers: "
            f"--set {joint}.mode=6",
            field="mode",
        )
    return actuator, motor


def _times(options: ExcitationOptions) -> Array:
    return np.arange(round(options.duration / options.period), dtype=float) * float(options.period)


def _window(t: Array, duration: float) -> Array:
    """Return a factor that rises from 0 to 1 and falls to 0 in a tenth of the duration each."""
    return _rise(np.minimum(t, t[-1] - t), duration)


def _rise(t: Array, duration: float) -> Array:
    """Return a factor that rises smoothly from 0 to 1 in a tenth of the duration."""
    edge = np.clip(t / (0.1 * duration), 0.0, 1.0)
    return edge**2 * (3.0 - 2.0 * edge)


def _references(robot: Robot, joint: str, command: Array, options: ExcitationOptions) -> tuple[Array, ...]:
    """Return the references of a motion of the equilibrium about that of the initial pose."""
    actuator = robot.actuators[joint]
    engine = MujocoEngine(robot, check=False)
    rest = [engine.port(f"{joint}/reference_{i + 1}").item() for i in range(actuator.commands)]
    if actuator.law.motors == 1:
        return (rest[0] + command,)
    both = actuator.mode == Mode.PID_REFS and actuator.law.second_input == "angle"
    initial = 0.5 * (rest[0] - rest[1]) if both else rest[1]
    change = 0.0 if options.preset is None else options.preset - initial
    preset = change * _rise(_times(options), options.duration)
    if both:
        return rest[0] + command + preset, rest[1] + command - preset
    return rest[0] + command, rest[1] + preset


def _within_limits(
    robot: Robot, joint: str, motor: DCMotor, shape: Array, options: ExcitationOptions
) -> tuple[Array, dict[str, Array], dict[str, tuple[float, float]]]:
    """Return the largest multiple of a shape that keeps all limits, its log and its peaks."""
    named = robot.spec.joint(joint)
    low, high = (float(v) for v in named.range)
    middle, half = (0.5 * (low + high), 0.5 * (high - low)) if high > low else (0.0, math.inf)
    limits = {
        "position": half,
        "velocity": motor.max_velocity,
        "motor_1_effort": motor.max_torque,
    }
    reach = options.reach / float(np.max(np.abs(shape)))
    command = shape * reach
    peaks: dict[str, tuple[float, float]] = {}
    for _ in range(SHRINKS):
        log, every = log_of_command(robot, joint, _references(robot, joint, command, options), options.period)
        every["position"] = every["position"] - middle
        peaks = {name: (float(np.max(np.abs(every[name]))), limit) for name, limit in limits.items()}
        worst = max(peak / limit for peak, limit in peaks.values())
        if worst <= options.margin:
            return command, log, peaks
        command = command * min(0.9, 0.97 * options.margin / worst)
    raise ModelError(
        f"{joint}: no motion keeps the limits: "
        + ", ".join(f"{name} {peak:.3g} of {limit:.3g}" for name, (peak, limit) in peaks.items()),
        field="joint",
    )
