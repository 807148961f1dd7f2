"""The data sheet of a variable stiffness actuator.

It contains the quantities proposed by Grioli et al. 2015 (doi 10.1177/0278364914566515).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.numerics import Array
from pliant.identification.parameters import parameter_unit
from pliant.laws.actuator import CompliantActuator
from pliant.laws.base import Law
from pliant.laws.modes import Mode
from pliant.laws.motor import DCMotor

MAX_PRESSURE = 4.0e5
"""Pressure of which the presets of muscles are shares, as of the length of a lever [Pa]."""


def _curve(law: Law, preset: float, points: int = 4001) -> tuple[Array, Array, Array, Array]:
    """Return deflection (q - theta_eq), torque that the joint resists with, slope, energy, inside the clip."""
    limit = float(getattr(law, "max_deflection", math.pi))
    reach = max(limit - abs(preset), 0.05 * limit) if law.second_input == "angle" else limit
    phi = np.linspace(-reach, reach, points)
    ref_1, ref_2 = law.map_references(0.0, preset)
    values = law.evaluate(phi, ref_1, ref_2)
    return phi, -np.asarray(values.torque), np.asarray(values.stiffness), np.asarray(values.energy)


def loop_width(actuator: CompliantActuator, torque: ArrayLike, preset: float = 0.0) -> Any:
    """Return the width of the quasi-static hysteresis loop that link friction causes in the deflection.

    At the external torque tau the spring carries (tau - F0) / (1 + c) on the loading branch and
    (tau + F0) / (1 - c) on the unloading branch, for |tau| > F0, where F0 = torque + preset_coefficient |preset| and c
    is the load coefficient. The width is the difference of the two deflections. Presliding (F / K) is added on both
    branches.

    Args:
        actuator: actuator with law and link friction.
        torque: external torque tau, any shape [N m].
        preset: stiffness preset [rad; lever: m].

    Returns:
        Width, same shape as ``torque`` [rad]; NaN if a branch is beyond the range of the spring.
    """
    tau = np.asarray(torque, dtype=float)
    f = actuator.link_friction
    if f is None:
        return 0.0 * tau if tau.ndim else 0.0
    phi, resists, _, _ = _curve(actuator.law, preset)
    level = f.torque + f.preset_coefficient * abs(preset)
    c = f.load_coefficient
    sign = np.where(tau < 0.0, -1.0, 1.0)
    size = np.abs(tau)
    loading = sign * (size - level) / (1.0 + np.where(size >= level, c, -c))
    unloading = sign * (size + level) / (1.0 - min(c, 0.999))
    inner = np.interp(loading, resists, phi, left=math.nan, right=math.nan)
    outer = np.interp(unloading, resists, phi, left=math.nan, right=math.nan)
    width = np.abs(outer - inner)
    return float(width) if width.ndim == 0 else width


def datasheet(
    actuator: CompliantActuator | Law,
    presets: Sequence[float] | None = None,
    *,
    nominal_torque: float | None = None,
    points: int = 41,
    dt: float = 1.0e-4,
) -> dict[str, object]:
    """Compute the data sheet of a variable stiffness actuator (Grioli et al. 2015) from its model.

    Args:
        actuator: actuator, or a law alone; the entries of the motors are then None.
        presets: presets of the torque-deflection curves [rad; lever: m]; None for five presets up to three quarters of
            the clip, or of the length of the lever.
        nominal_torque: torque at which deflections and loop widths are given [N m]; None for half of the torque limit.
        points: number of points of each curve.
        dt: time step of the simulated preset change [s].

    Returns:
        Data sheet of plain types, with the keys "stiffness_range", "torque_range", "energy", "curves" (for each
        preset: deflection, torque, stiffness, equilibrium offset, loop width) and "servo" (lag, speed, time of a
        preset change).
    """
    law = actuator if isinstance(actuator, Law) else actuator.law
    whole = None if isinstance(actuator, Law) else actuator
    if presets is None:
        if law.second_input == "none":
            presets = (0.0,)
        else:
            lengths = {"lever": float(getattr(law, "L", 0.05)), "pressure": MAX_PRESSURE}
            top = 0.75 * lengths.get(law.second_input, float(getattr(law, "max_deflection", 0.8)))
            presets = tuple(float(x) for x in np.linspace(0.0 if law.second_input == "angle" else 0.2 * top, top, 5))
    curves = []
    for preset in presets:
        phi, torque, slope, energy = _curve(law, float(preset))
        pick = np.linspace(0, phi.size - 1, max(3, int(points))).round().astype(int)
        rest = float(np.interp(0.0, torque, phi)) if torque[0] < 0.0 < torque[-1] else math.nan
        limit = float(min(-torque[0], torque[-1]))
        at = 0.5 * limit if nominal_torque is None else float(nominal_torque)
        entry = {
            "preset": float(preset),
            "stiffness_at_rest": float(np.interp(rest, phi, slope)) if math.isfinite(rest) else None,
            "stiffness_min": float(slope.min()),
            "stiffness_max": float(slope.max()),
            "equilibrium_offset": rest,
            "max_deflection": float(phi[-1]),
            "torque_at_max_deflection": limit,
            "stored_energy": float(energy.max() - energy.min()),
            "nominal_torque": at,
            "deflection_at_nominal_torque": float(np.interp(at, torque, phi)) if at <= limit else None,
            "loop_width_at_nominal_torque": None,
            "deflection": phi[pick].tolist(),
            "torque": torque[pick].tolist(),
            "stiffness": slope[pick].tolist(),
        }
        if whole is not None and whole.link_friction is not None:
            width = loop_width(whole, at, float(preset))
            entry["loop_width_at_nominal_torque"] = width if math.isfinite(width) else None
        curves.append(entry)
    at_rest = [c["stiffness_at_rest"] for c in curves if c["stiffness_at_rest"] is not None]
    sheet: dict[str, object] = {
        "law": law.name,
        "parameters": {name: float(getattr(law, name)) for name in law.parameter_fields()},
        "units": {name: parameter_unit(law, f"law.{name}") for name in law.parameter_fields()},
        "stiffness_range": [min(at_rest), max(at_rest)] if at_rest else None,
        "torque_range": [
            min(c["torque_at_max_deflection"] for c in curves),
            max(c["torque_at_max_deflection"] for c in curves),
        ],
        "energy": max(c["stored_energy"] for c in curves),
        "curves": curves,
        "servo": None,
        "source": "computed from the model; quantities after Grioli et al. 2015",
    }
    if whole is not None and law.second_input != "pressure" and whole.mode in (Mode.PID_REFS, Mode.PID_EQ_PRESET):
        sheet["servo"] = _servo_sheet(whole, tuple(float(p) for p in presets), dt)
    return sheet


def _servo_sheet(actuator: CompliantActuator, presets: tuple[float, ...], dt: float) -> dict[str, object]:
    motor, pid = actuator.motor_1, actuator.pid_1
    assert pid is not None  # the actuator fills it in
    assert isinstance(motor, DCMotor)
    kp = max(pid.kp, 1e-300)
    out: dict[str, object] = {
        "lag": (pid.kd + motor.damping) / kp,
        "natural_frequency": math.sqrt(kp / motor.inertia) / (2.0 * math.pi),
        "max_torque": motor.max_torque,
        "no_load_speed": (motor.max_torque - motor.friction.torque) / motor.damping if motor.damping > 0.0 else None,
        "droop": 1.0 / kp,
        "preset_change_time": None,
        "units": {
            "lag": "s",
            "natural_frequency": "Hz",
            "max_torque": "N m",
            "no_load_speed": "rad/s",
            "droop": "rad per N m of motor load",
            "preset_change_time": "s, 5 to 95 % of the range of presets, link held, no load",
        },
    }
    if actuator.law.second_input != "none" and len(presets) > 1:
        low, high = min(presets), max(presets)
        n = round(2.0 / dt)
        run = actuator.replace(mode=Mode.PID_EQ_PRESET, initial_preset=low)
        preset = run.simulate(np.zeros(n), np.zeros(n), 0.0, high, dt).values["preset"]
        done = (preset - low) / (high - low)
        reached = np.flatnonzero(done >= 0.95)
        if reached.size:
            out["preset_change_time"] = float((reached[0] - np.flatnonzero(done >= 0.05)[0]) * dt)
    return out
