"""Logs of joints as a bridge writes them: commands, positions, velocity and torque, with noise or in steps."""

import numpy as np

from pliant.laws import CompliantActuator, Mode, PreslidingFriction, get_law
from pliant.laws.layout import USUAL_PRESETS

STEP = 2e-4


def actuator_of(name, mode=Mode.PID_EQ_PRESET, **changes):
    law = get_law(name)()
    return CompliantActuator(law, mode, **changes)


def servo_log(name, rate=500.0, seconds=2.0, noise=1e-4, seed=0, resolution=0.0, reach=0.25, mode=Mode.PID_EQ_PRESET):
    """Return the actuator, and its log of a motion of link and commands."""
    actuator = actuator_of(name, mode)
    law = actuator.law
    n = round(seconds / STEP)
    t = np.arange(n) * STEP
    every = round(1.0 / rate / STEP)
    held = t[np.arange(n) // every * every]
    begin = np.sin(np.minimum(0.5, 2.0 * t) * np.pi) ** 2
    q = begin * (0.2 * np.sin(5.0 * t) + 0.05 * np.sin(17.0 * t))
    usual = USUAL_PRESETS[law.second_input]
    eq = reach * np.minimum(1.0, 5.0 * held) * (np.sin(3.1 * held) + 0.4 * np.sin(11.0 * held))
    size = {"angle": 0.15, "lever": 0.004, "none": 0.0}[law.second_input]
    preset = usual + size * (1.0 - np.cos(2.0 * np.pi * held / seconds))
    refs = (eq, preset)
    if mode == Mode.PID_REFS and law.second_input == "angle":
        refs = (eq + preset, eq - preset)
    traces = actuator.simulate(q, None, *refs, STEP)
    rng = np.random.default_rng(seed)
    sensed = {
        "link_position": q,
        "link_velocity": np.gradient(q, STEP),
        "motor_1_position": np.r_[traces.motor_1_position[0], traces.motor_1_position[:-1]],
        "torque": np.r_[traces.torque[0], traces.torque[:-1]],
    }
    if law.motors == 2:
        sensed["motor_2_position"] = np.r_[traces.motor_2_position[0], traces.motor_2_position[:-1]]
    log = {"time": t[::every]}
    for column, values in sensed.items():
        scale = {"torque": 20.0, "link_velocity": 20.0}.get(
            column, 0.02 if law.second_input == "lever" and column == "motor_2_position" else 1.0
        )
        shown = values[::every] + noise * scale * rng.standard_normal(t[::every].size)
        log[column] = np.round(shown / (resolution * scale)) * resolution * scale if resolution else shown
    names = ("reference_1", "reference_2") if mode == Mode.PID_REFS else ("equilibrium", "preset")
    for column, values in zip(names[: law.motors], refs, strict=False):
        log[column] = values[::every]
    return actuator, log


def pull_log(name, n=600, noise=2e-3, seed=0, rate=100.0, stiffer=1.0):
    """Return an actuator with ideal motors, and the log of a slow pull to and fro at three presets."""
    actuator = actuator_of(name, Mode.SPRING_EQ_PRESET, link_friction=PreslidingFriction(torque=0.02))
    law = actuator.law
    usual = USUAL_PRESETS[law.second_input]
    t = np.arange(n) / rate
    q = 0.3 * np.sin(2.0 * np.pi * t / t[-1] * 6.0)
    step = {"angle": 0.1, "lever": 0.002, "none": 0.0}[law.second_input]
    preset = usual + step * (np.arange(n) * 3 // n)
    torque = stiffer * actuator.simulate(q, None, 0.0, preset, 1e-3).torque
    rng = np.random.default_rng(seed)
    log = {"time": t, "link_position": q, "equilibrium": np.zeros(n), "torque": torque + noise * rng.standard_normal(n)}
    return actuator, log if law.second_input == "none" else {**log, "preset": preset}
