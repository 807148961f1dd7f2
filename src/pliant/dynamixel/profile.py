"""Motion profiles of a servo: from where it is, and as fast as it is, to a goal.

Source: ROBOTIS e-Manual, "What is the Profile" and Profile Velocity(112): step, rectangular, trapezoidal and triangular
profiles, limited by velocity and acceleration, or by the time that they take.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

STEP, RECTANGULAR, TRIANGULAR, TRAPEZOIDAL = 0x00, 0x10, 0x20, 0x30
"""Types of profiles, as Moving Status has them."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A trajectory of pieces with constant acceleration; units of position p and of time t are the caller's."""

    position: float
    """Position at the start."""
    velocity: float
    """Velocity at the start; a rectangular profile begins with its own."""
    pieces: tuple[tuple[float, float], ...]
    """Duration and acceleration of each piece."""
    goal: float
    """Position at the end, where the velocity is 0."""
    kind: int
    """Type of the profile."""

    @property
    def duration(self) -> float:
        """Time from start to end."""
        return sum(duration for duration, _ in self.pieces)

    def at(self, time: float) -> tuple[float, float, float]:
        """Return position, velocity and acceleration at a time after the start."""
        p, v = self.position, self.velocity
        for duration, acceleration in self.pieces:
            if time < duration:
                return p + (v + 0.5 * acceleration * time) * time, v + acceleration * time, acceleration
            p += (v + 0.5 * acceleration * duration) * duration
            v += acceleration * duration
            time -= duration
        return self.goal, 0.0, 0.0


def plan(position: float, velocity: float, goal: float, speed: float, acceleration: float) -> Profile:
    """Return a profile that is limited by speed and acceleration.

    Args:
        position: position at the start.
        velocity: velocity at the start.
        goal: position at the end.
        speed: largest speed, >= 0; 0 for a step.
        acceleration: largest acceleration, >= 0; 0 for a rectangular profile.

    Example:
        >>> plan(0.0, 0.0, 1.0, 0.5, 1.0).duration
        2.5
    """
    way = goal - position
    if speed <= 0.0:
        return Profile(goal, 0.0, (), goal, STEP)
    if acceleration <= 0.0:
        return Profile(position, math.copysign(speed, way), ((abs(way) / speed, 0.0),), goal, RECTANGULAR)
    a = acceleration
    # What remains when the present velocity is brought to 0 decides the direction.
    sense = math.copysign(1.0, way - velocity * abs(velocity) / (2.0 * a))
    peak = sense * speed
    first = abs(peak - velocity) / a
    cruise = way - 0.5 * (velocity + peak) * first - 0.5 * peak * speed / a
    kind = TRAPEZOIDAL
    if cruise * sense < 0.0:
        kind, cruise = TRIANGULAR, 0.0
        peak = sense * math.sqrt(max(0.0, sense * a * way + 0.5 * velocity * velocity))
        first = abs(peak - velocity) / a
    pieces = (
        (first, math.copysign(a, peak - velocity)),
        (cruise / peak if peak else 0.0, 0.0),
        (abs(peak) / a, -sense * a),
    )
    return Profile(position, velocity, pieces, goal, kind)


def plan_time(position: float, velocity: float, goal: float, duration: float, rise: float) -> Profile:
    """Return a profile that takes a given time.

    Args:
        position: position at the start.
        velocity: velocity at the start.
        goal: position at the end.
        duration: time from start to end, >= 0; 0 for a step.
        rise: time of acceleration and of deceleration; at most half of the duration is used.
    """
    if duration <= 0.0:
        return Profile(goal, 0.0, (), goal, STEP)
    rise = min(rise, 0.5 * duration)
    if rise <= 0.0:
        return Profile(position, (goal - position) / duration, ((duration, 0.0),), goal, RECTANGULAR)
    # The ways of the three pieces, (v + peak)/2 rise, peak (duration - 2 rise) and peak/2 rise, add up to the way.
    peak = (goal - position - 0.5 * velocity * rise) / (duration - rise)
    pieces = ((rise, (peak - velocity) / rise), (duration - 2.0 * rise, 0.0), (rise, -peak / rise))
    return Profile(position, velocity, pieces, goal, TRAPEZOIDAL if duration > 2.0 * rise else TRIANGULAR)
