"""Saturation that a log does not tell: torques that a motor does not reach, and references that its drive cuts off."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pliant.base.numerics import Array
from pliant.identification.clock import Command
from pliant.identification.measurements import Measurement, motor_references
from pliant.identification.parameters import ENDS, LIMIT
from pliant.laws.actuator import CompliantActuator
from pliant.laws.modes import Mode
from pliant.laws.motor import DCMotor

CORRELATED = 0.5
"""Correlation of neighbouring residuals from which saturation may explain them; assumed."""
EXPLAINED = 0.8
"""Mean ratio of the residuals with saturation to those without, below which it explains them; assumed."""


def asked_torques(actuator: CompliantActuator, trial: Measurement) -> dict[int, tuple[DCMotor, Array]]:
    """Return number of a motor -> it, and what its controller asks for its measured positions, shape (n,) [N m]."""
    if trial.samples < 3:
        return {}
    asked, time = {}, trial["time"]
    commanded = motor_references(trial, actuator)
    late = np.searchsorted(time, time - actuator.command_delay, side="right").clip(1) - 1
    pairs = ((actuator.motor_1, actuator.pid_1), (actuator.motor_2, actuator.pid_2))
    for i, (motor, pid) in enumerate(pairs, 1):
        column = f"motor_{i}_position"
        if isinstance(motor, DCMotor) and pid is not None and i in commanded and column in trial:
            theta = trial[column]
            asked[i] = motor, np.abs(pid.kp * (commanded[i][late] - theta) - pid.kd * np.gradient(theta, time))
    return asked


def limited_notes(actuator: CompliantActuator, trials: Sequence[Measurement]) -> list[str]:
    """Return for which measured motors the controller asks more torque than the actuator allows in 1 % of a log."""
    if not actuator.mode.has_motors:
        return []
    notes = []
    for trial in trials:
        for i, (motor, asked) in asked_torques(actuator, trial).items():
            share = float(np.mean(asked > motor.stall_torque))
            if share > 0.01:
                notes.append(
                    f"motor_{i}: its controller asks up to {asked.max():.3g}, and its torque ends at "
                    f"{motor.stall_torque:g} in {100.0 * share:.0f} % of {trial.source}; set motor_{i}.max_torque, "
                    "to inf for no limit, or free it"
                )
    return notes


def torque_limit(
    actuator: CompliantActuator, trials: Sequence[Measurement], free: Iterable[str]
) -> tuple[str, float] | None:
    """Return the parameter that limits the torque of the motors and a start value [N m]; None where there is none."""
    asked = [torque for trial in trials for _, torque in asked_torques(actuator, trial).values()]
    if not asked or any(name.endswith("max_torque") for name in free):
        return None
    both = actuator.law.motors == 1 or isinstance(actuator.motor_2, DCMotor)
    return "motor.max_torque" if both else "motor_1.max_torque", 0.5 * max(float(torque.max()) for torque in asked)


def with_limits(
    actuator: CompliantActuator, trials: Sequence[Measurement], commanded: Sequence[tuple[Command, ...]]
) -> list[tuple[Command, ...]] | None:
    """Return the commands of the motors of each log, cut off where the motion ends; None if none goes beyond it."""
    if actuator.mode != Mode.PID_REFS and actuator.law.motors != 1:
        return None
    limited, beyond = [list(commands) for commands in commanded], False
    for j in range(actuator.law.motors):
        column = f"motor_{j + 1}_position"
        if any(column not in trial for trial in trials):
            return None
        low = min(float(trial[column].min()) for trial in trials)
        high = max(float(trial[column].max()) for trial in trials)
        for commands in limited:
            beyond = beyond or bool(commands[j].values.min() < low or commands[j].values.max() > high)
            commands[j] = dataclasses.replace(commands[j], limits=(low, high))
    return [tuple(commands) for commands in limited] if beyond else None


def limits_note(commanded: Sequence[tuple[Command, ...]], values: Mapping[str, float]) -> list[str]:
    """Return the limits of references that a fit has found."""
    notes = []
    for j, command in enumerate(commanded[0], 1):
        if command.limits is None:
            continue
        low, high = (end + values[LIMIT.format(j, name)] for name, end in zip(ENDS, command.limits, strict=True))
        least = min(float(commands[j - 1].values.min()) for commands in commanded)
        most = max(float(commands[j - 1].values.max()) for commands in commanded)
        cut = [f"below {low:.4g} rad"] if least < low else []
        cut += [f"above {high:.4g} rad"] if most > high else []
        if cut:
            notes.append(
                f"{command.column} looks cut off {' and '.join(cut)} by its drive; the fit has these limits beside the "
                "free parameters. A log of what the drive takes would tell them"
            )
    return notes
