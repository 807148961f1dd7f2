"""Ranges of the gains of a motor's controller within which its loop is stable at the time step."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pliant.laws import CompliantActuator, DCMotor
from pliant.model.check.slopes import preset_reach, slopes_of
from pliant.model.check.step_sizes import REFUSE_ABOVE


def gain_range(
    actuator: CompliantActuator, number: int, gain: str, gains: Mapping[str, float], timestep: float
) -> tuple[float, float]:
    """Return the least and the largest value of a gain with which the loop of a motor is stable.

    One step of semi-implicit Euler of I theta'' + D theta' = u - K theta with u = s - kp theta - kd theta' and
    s' = -ki theta has the characteristic polynomial y^3 + (a + b + c) y^2 + (a + 2 c) y + c in y = z - 1, with
    a = h^2 (kp + K) / I, b = h (kd + D) / I and c = h^3 ki / I. By Jury's criterion all roots are inside the unit
    circle if 2 a + 4 b + c < 8, c < 4 b and c (1 - b) < a b. For c = 0 this is the stability number of `StepSize`,
    sqrt(a + 2 b) < 2; as in `check_steps`, it may be at most `REFUSE_ABOVE`. Of the other bounds the half is used. The
    spring's own stiffness K counts against the largest gain only, because the spring may be slack.

    Args:
        actuator: motors and spring.
        number: of the motor, 1 or 2.
        gain: "kp", "ki" or "kd".
        gains: the present values of all three [N m/rad, N m/(rad s), N m s/rad].
        timestep: h [s].

    Returns:
        The range of the gain, which contains its present value; up to infinity where a drive has no inertia.
    """
    now = float(gains[gain])
    motor = actuator.motor_1 if number == 1 else actuator.motor_2
    if not isinstance(motor, DCMotor):
        return 0.0, math.inf
    slopes = slopes_of(actuator.law, _presets(actuator))
    spring = float((slopes.motor_1 if number == 1 else slopes.motor_2).max())
    per_kp, per_kd = timestep**2 / motor.inertia, timestep / motor.inertia
    per_ki = timestep * per_kp
    a, b = per_kp * gains["kp"], per_kd * (gains["kd"] + motor.damping)
    c, stiff, budget = per_ki * gains["ki"], per_kp * spring, REFUSE_ABOVE**2
    low = 0.0
    if gain == "kp":
        low = 2.0 * c * max(0.0, 1.0 - b) / (b * per_kp) if b > 0.0 else 0.0
        high = (budget - 2.0 * b - 0.5 * c - stiff) / per_kp
    elif gain == "kd":
        needed = max(0.5 * c, 2.0 * c / (a + 2.0 * c)) if c > 0.0 else 0.0
        low, high = needed / per_kd - motor.damping, (0.5 * (budget - a - stiff) - 0.25 * c) / per_kd - motor.damping
    else:
        phase = 0.5 * a * b / (1.0 - b) if b < 1.0 else math.inf
        high = min(2.0 * b, 2.0 * (budget - a - stiff - 2.0 * b), phase) / per_ki
    return min(max(low, 0.0), now), max(high, now)


def _presets(actuator: CompliantActuator) -> tuple[float, ...]:
    low, high = preset_reach(actuator)
    return tuple(low + (high - low) * k / 8.0 for k in range(9)) if high > low else (low,)
