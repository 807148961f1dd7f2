"""Fits to motion that no code of pliant integrated: a servo at 5 us by the fourth-order Runge-Kutta method."""

import math

import numpy as np
import pytest

from pliant.identification import fit_servo
from pliant.laws import PID, SEA, CompliantActuator, Mode

INERTIA, DAMPING, FRICTION, STIFFNESS = 0.031, 0.38, 0.12, 1000.0
KP, KD, SPRING, LIMIT = 90.0, 3.2, 15.0, 6.0
FINE = 5e-6


def reference(t):
    return 0.35 * math.sin(2.0 * math.pi * (0.6 + 1.1 * t) * t) + (0.15 if t > 0.9 else 0.0)


def link(t):
    return 0.2 * math.sin(4.0 * t)


def moved_elsewhere(seconds, period):
    """Return times and motor positions of a servo on a spring; its reference is held for each period of the bus."""

    def slope(x, v, w, r, t):
        friction = STIFFNESS * (x - w)
        torque = min(max(KP * (r - x) - KD * v, -LIMIT), LIMIT)
        load = -SPRING * (link(t) - x)
        return v, (torque - load - friction - DAMPING * v) / INERTIA

    x, v, w = 0.0, 0.0, 0.0
    times, positions = [], []
    every = round(period / FINE)
    r = 0.0
    reach = FRICTION / STIFFNESS
    for k in range(round(seconds / FINE)):
        t = k * FINE
        if k % every == 0:
            times.append(t)
            positions.append(x)
            r = reference(t)
        h = FINE
        a = slope(x, v, w, r, t)
        b = slope(x + 0.5 * h * a[0], v + 0.5 * h * a[1], w, r, t + 0.5 * h)
        c = slope(x + 0.5 * h * b[0], v + 0.5 * h * b[1], w, r, t + 0.5 * h)
        d = slope(x + h * c[0], v + h * c[1], w, r, t + h)
        x += h / 6.0 * (a[0] + 2.0 * b[0] + 2.0 * c[0] + d[0])
        v += h / 6.0 * (a[1] + 2.0 * b[1] + 2.0 * c[1] + d[1])
        w = min(max(w, x - reach), x + reach)  # the bristle slides where it would carry more
    return np.array(times), np.array(positions)


@pytest.mark.parametrize("rate", [100.0, 250.0, 500.0, 1000.0])
def test_a_servo_that_was_integrated_elsewhere_is_identified(rate):
    time, position = moved_elsewhere(1.4, 1.0 / rate)
    rng = np.random.default_rng(0)
    data = {
        "time": time,
        "q": np.array([link(t) for t in time]),
        "reference_1": np.array([reference(t) for t in time]),
        "theta_1": position + 2e-5 * rng.standard_normal(time.size),
    }
    start = CompliantActuator(SEA(k=SPRING), Mode.PID_REFS, pid_1=PID(kp=KP, kd=KD))
    found = fit_servo(start, data, starts=1)
    for name, true in (("motor.inertia", INERTIA), ("motor.damping", DAMPING), ("motor.friction.torque", FRICTION)):
        assert found[name].value == pytest.approx(true, rel=0.03)
