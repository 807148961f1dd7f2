"""Logs of robots with one parameter silently changed, as a real robot's logger would write them."""

import math

import numpy as np

import pliant
from pliant.engine import MujocoEngine
from pliant.recording.live import Heard
from pliant.shadow import ShadowLog
from pliant.shadow.log import Signal

RATE = 100.0
"""Samples of the log a second."""
COUNT = 2.0 * math.pi / 16384
"""Resolution of the position sensors [rad]."""
NOISE = 5e-4
"""Standard deviation of the position sensors [rad]."""
FINE = 8e-5
"""Time step of the robot that is logged, shorter than that of the simulation beside it [s]."""


def described(name, **settings):
    """Return a robot whose joints have motors, link friction, and a delay of 20 ms."""
    robot = pliant.load(name)
    robot.update({"actuator.mode": 6, "actuator.command_delay": 0.02} | settings)
    return robot


def log_of(robot, seed, *, duration=20.0, changes=None, at=0.0):
    """Move a robot by random sines for a time, with parameters changed from some time on; return its log."""
    rng = np.random.default_rng(seed)
    time = np.arange(round(duration * RATE)) / RATE
    commands = _commands(robot, time, rng)
    parts = [(0.0, {})] if at else []
    parts.append((at, changes or {}))
    positions = [_simulate(robot, change, time, commands) for _, change in parts]
    measured = {}
    for port, values in positions[0].items():
        whole = np.where(time < at, values, positions[-1][port])
        whole = whole + rng.normal(0.0, NOISE, time.size)
        measured[port] = Signal(time, np.round(whole / COUNT) * COUNT)
    return ShadowLog({port: Signal(time, values) for port, values in commands.items()}, measured)


def messages_of(log, *, begin=0.0, source="/joint/link_state", keep=lambda time: True):
    """Return the messages of a log: one of all quantities for each time, stamped."""
    signals = {**log.commands, **log.measured}
    times = next(iter(signals.values())).time
    return [
        Heard(source, 0, begin + t, True, {port: float(s.values[k]) for port, s in signals.items()})
        for k, t in enumerate(times.tolist())
        if keep(t)
    ]


def _commands(robot, time, rng):
    commands = {}
    for joint, actuator in robot.actuators.items():
        waves = zip(rng.uniform(0.2, 2.0, 4), rng.uniform(0.0, 2.0 * math.pi, 4), strict=True)
        commands[f"{joint}/reference_1"] = sum(0.15 * np.sin(2.0 * math.pi * f * time + phase) for f, phase in waves)
        if actuator.law.motors == 2:
            slow = np.sin(0.6 * time + rng.uniform(0.0, 6.0))
            commands[f"{joint}/reference_2"] = actuator.initial_preset * (1.0 + 0.2 * slow)
    return commands


def _simulate(robot, changes, time, commands):
    real = robot.copy()
    real.update({"option.timestep": FINE} | changes)
    engine = MujocoEngine(real)
    ports = [
        f"{joint}/{name}"
        for joint, actuator in real.actuators.items()
        for name in ("position", "motor_1_position", "motor_2_position")[: 1 + actuator.law.motors]
    ]
    found = {port: np.empty(time.size) for port in ports}
    steps = round(1.0 / (RATE * FINE))
    for k in range(time.size):
        for port in ports:
            found[port][k] = engine.port(port)[0]
        for port, values in commands.items():
            engine.port(port)[0] = values[k]
        engine.step(steps)
    return found
