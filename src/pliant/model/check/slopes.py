"""Largest slopes of a law over deflection, and the presets in reach."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.base.numerics import Array
from pliant.laws import CompliantActuator, Law


@dataclass(frozen=True, slots=True)
class Slopes:
    """Largest slopes of a law over deflection, for each of some presets."""

    presets: Array
    link: Array
    motor_1: Array
    motor_2: Array
    torque: Array


def preset_reach(actuator: CompliantActuator) -> tuple[float, float]:
    """Return the range (low, high) of presets that can be commanded [rad, or m on a lever].

    With one motor it is (0, 0). A lever is limited by its stop, other laws by their maximum deflection and their motor
    stops.
    """
    law = actuator.law
    if law.motors == 1:
        return 0.0, 0.0
    motor_2 = actuator.motor_2
    if law.second_input == "lever":
        return 0.0, motor_2.max_position if motor_2 is not None else 0.0
    if law.second_input == "pressure":
        return 0.0, actuator.motor_1.max_position
    top = float(getattr(law, "max_deflection", 1.0))
    if actuator.mode.has_motors and motor_2 is not None:
        top = min(top, max(0.0, 0.5 * (actuator.motor_1.max_position - motor_2.min_position)))
    return 0.0, top


def slopes_of(law: Law, presets: Sequence[float] | Array) -> Slopes:
    """Return the largest slopes of a law for each preset."""
    rows = [_slopes_at(law, float(preset)) for preset in presets]
    return Slopes(np.asarray(presets, dtype=float), *np.maximum(np.array(rows), 0.0).T)


@functools.lru_cache(maxsize=4096)
def _slopes_at(law: Law, preset: float) -> tuple[float, float, float, float]:
    """Return the largest slope of link, motor 1 and motor 2, and the largest torque, over the deflection.

    The law's kernels run as the Python functions that they are: some hundred points are not worth a compiler.
    """
    limit = float(getattr(law, "max_deflection", 1.0))
    par = [float(x) for x in law.parameters()]
    torques, stiffness = type(law).torques, type(law).stiffness
    ref_1, ref_2 = law.map_references(0.0, preset)
    edges = [limit]
    if law.second_input == "angle":
        # Where one of two springs that stand apart reaches its clip.
        edges += [abs(limit - abs(preset)), limit + abs(preset)]
    near = [sign * e * (1.0 + tiny) for e in edges for sign in (-1.0, 1.0) for tiny in (-1e-5, 1e-9)]
    points = [float(x) for x in np.linspace(-2.0 * limit, 2.0 * limit, 65)] + near
    inside = max(edges) * (1.0 + 1e-6)
    lever = law.second_input == "lever"
    step_1, step_2 = 1e-6, 1e-7 if lever else 1e-6
    best = [0.0, 0.0, 0.0, 0.0]
    for q in points:
        best[0] = max(best[0], stiffness(q, ref_1, ref_2, par))
        slope = torques(q, ref_1 + step_1, ref_2, par)[1] - torques(q, ref_1 - step_1, ref_2, par)[1]
        best[1] = max(best[1], slope / (2.0 * step_1))
        if law.motors == 2:
            slope = torques(q, ref_1, ref_2 + step_2, par)[2] - torques(q, ref_1, ref_2 - step_2, par)[2]
            best[2] = max(best[2], slope / (2.0 * step_2))
        if abs(q) <= inside:
            best[3] = max(best[3], abs(torques(q, ref_1, ref_2, par)[0]))
    return best[0], best[1], best[2], best[3]
