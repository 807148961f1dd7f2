"""Fits to motion that no code of pliant integrated: servos on springs, from equations that stand here, by DOP853."""

import dataclasses
import functools
import itertools
import math
from dataclasses import dataclass

import mujoco
import numpy as np
import pytest
from pendulum import PENDULUM

from pliant.identification import expected_errors, fit_actuator
from pliant.identification.excitation import ExcitationOptions, design_excitation
from pliant.laws import (
    PID,
    SEA,
    AwAS2,
    Backlash,
    CompliantActuator,
    DCMotor,
    LeverDrive,
    Mode,
    PreslidingFriction,
    QbMove,
)
from pliant.model import Robot

DELAY = 0.0073
FREE = math.inf


@dataclass(frozen=True)
class Servo:
    """A motor with viscous and elasto-plastic friction, or LuGre's, its controller, and a play behind it."""

    inertia: float = 0.031
    damping: float = 0.38
    friction: float = 0.12
    bristle: float = 1000.0
    kp: float = 90.0
    kd: float = 3.2
    stribeck: float = 0.0
    breakaway: float = 0.0
    bristle_damping: float = 0.0
    play: float = 0.0
    grease: float = 1.0

    def bristle_of(self, v, z):
        """Return the friction and the rate of the bristle."""
        if self.stribeck > 0.0:
            level = self.friction + self.breakaway * math.exp(-((v / self.stribeck) ** 2))
            rate = v - self.bristle * abs(v) * z / level
        else:  # it slides where its deflection would pass its reach
            rate = 0.0 if abs(z) >= self.friction / self.bristle and z * v > 0.0 else v
        return self.bristle * z + self.bristle_damping * rate, rate

    def held(self, z, b):
        """Return bristle and play within what they reach."""
        reach = FREE if self.stribeck > 0.0 else self.friction / self.bristle
        return min(max(z, -reach), reach), min(max(b, -0.5 * self.play), 0.5 * self.play)


def integrate(seconds, period, servos, loads, references):
    """Return times, and positions of motors and of what is behind their play, shape (samples, 2, motors).

    References are held for a period and arrive late."""
    from scipy.integrate import DOP853

    times = np.arange(round(seconds / period)) * period
    edges = np.unique(np.round(np.concatenate([times, times + DELAY]), 12))
    edges = edges[edges <= times[-1] + 1e-12]
    y = np.zeros(4 * len(servos))  # of each position, velocity, bristle, play
    positions = {0: np.zeros((2, len(servos)))}
    for begin, end in itertools.pairwise(edges):
        r = references(max(math.floor((begin - DELAY) / period + 1e-6), 0) * period)
        pieces = math.ceil((end - begin) / 2.5e-4 - 1e-9)
        for a, b in itertools.pairwise(np.linspace(begin, end, pieces + 1)):

            def slope(t, y, r=r):
                out = np.empty(y.size)
                for j, (s, load) in enumerate(zip(servos, loads(t, y[0::4] - y[3::4]), strict=True)):
                    x, v, z, gap = y[4 * j : 4 * j + 4]
                    friction, rate = s.bristle_of(v, z)
                    torque = s.kp * (r[j] - x) - s.kd * v - load - friction - s.damping * v
                    closed = abs(gap) >= 0.5 * s.play and load * gap >= 0.0
                    out[4 * j : 4 * j + 4] = v, torque / s.inertia, rate, 0.0 if closed else load / s.grease
                return out

            solver = DOP853(slope, a, y, b, rtol=1e-8, atol=1e-10)
            while solver.status == "running":
                solver.step()
            y = solver.y.copy()
            for j, s in enumerate(servos):
                y[4 * j + 2 : 4 * j + 4] = s.held(*y[4 * j + 2 : 4 * j + 4])
        sample = round(end / period)
        if abs(end - sample * period) < 1e-9:
            positions[sample] = np.array([y[0::4], y[0::4] - y[3::4]])
    return times, np.array([positions[k] for k in range(times.size)])


def chirp(t):
    return math.sin(2.0 * math.pi * (0.6 + 1.1 * t) * t)


def step(t):
    return 1.0 if t > 0.5 else 0.0


def link(t):
    return 0.08 * math.sin(4.0 * t)


def noisy(time, columns, noise, seed=0):
    """Return a log with noise; without a seed, without noise."""
    noise = {} if seed is None else noise
    rng = np.random.default_rng(seed)
    data = {"time": time, "q": np.array([link(t) for t in time])}
    for name, values in columns.items():
        data[name] = np.asarray(values) + noise.get(name, 0.0) * rng.standard_normal(time.size)
    return data


def servo(rate):
    return DCMotor(max_torque=FREE), PID(kp=90.0, kd=3.2), {"theta_1": 2e-5, "theta_2": 2e-5, "tau": 2e-3}


MOTOR = {"motor.inertia": 0.031, "motor.damping": 0.38, "motor.friction.torque": 0.12, "command_delay": DELAY}


def chirp_and_step(t):
    return 0.35 * chirp(t) + 0.15 * step(t)


def sea(rate, seed=0, servo_of=Servo(), moved=None):
    """A motor on a spring, moved by a command of time and its length, of 1 s unless given."""
    command, seconds = moved or (chirp_and_step, 1.0)
    time, x = integrate(
        seconds, 1.0 / rate, [servo_of], lambda t, x: [-15.0 * (link(t) - x[0])], lambda t: [command(t)]
    )
    motor, pid, noise = servo(rate)
    q = np.array([link(t) for t in time])
    columns = {
        "reference_1": [command(t) for t in time],
        "theta_1": x[:, 0, 0],
        "tau": -15.0 * (q - x[:, 1, 0]),
    }
    start = CompliantActuator(SEA(k=12.0), Mode.PID_REFS, motor, pid_1=pid, command_delay=0.004)
    return start, noisy(time, columns, noise, seed), ("motor_1_position", "torque"), {**MOTOR, "law.k": 15.0}


def worn(rate, seed=0, moved=None):
    """A motor with LuGre's friction and a play to its spring."""
    made = Servo(bristle=800.0, stribeck=0.15, breakaway=0.08, bristle_damping=0.3, play=0.06, grease=0.05)
    start, data, outputs, true = sea(rate, seed, made, moved)
    friction = PreslidingFriction(
        torque=0.1, stiffness=800.0, stribeck_velocity=0.15, breakaway=0.05, bristle_damping=0.3
    )
    motor = DCMotor(max_torque=FREE, friction=friction, backlash=Backlash(width=0.045, damping=0.07))
    true |= {"motor.friction.breakaway": 0.08, "motor.backlash.width": 0.06, "motor.backlash.damping": 0.05}
    return start.replace(motor_1=motor), data, outputs, true


def qbmove(rate, seed=0):
    k, a = 0.02, 7.0

    def loads(t, x):
        return [-k * math.sinh(a * (link(t) - p)) for p in x]

    def inputs(t):
        return 0.12 * chirp(t), 0.2 + 0.1 * step(t)

    time, x = integrate(
        1.0, 1.0 / rate, [Servo(), Servo()], loads, lambda t: [inputs(t)[0] + inputs(t)[1], inputs(t)[0] - inputs(t)[1]]
    )
    motor, pid, noise = servo(rate)
    columns = {
        "equilibrium": [inputs(t)[0] for t in time],
        "preset": [inputs(t)[1] for t in time],
        "theta_1": x[:, 0, 0],
        "theta_2": x[:, 0, 1],
        "tau": [sum(loads(t, row)) for t, row in zip(time, x[:, 1], strict=True)],
    }
    start = CompliantActuator(
        QbMove(k1=0.024, a1=6.6, k2=0.024, a2=6.6), Mode.PID_EQ_PRESET, motor, motor, pid, pid, command_delay=0.004
    )
    true = {**MOTOR, "law.k1": k, "law.a1": a, "law.k2": k, "law.a2": a}
    return start, noisy(time, columns, noise, seed), ("motor_1_position", "motor_2_position", "torque"), true


def awas(rate, seed=0):
    ks, length, radius = 10.0, 0.05, 0.015
    lever = Servo(inertia=2.0, damping=100.0, friction=5.0, bristle=1e6, kp=2e4, kd=300.0)

    def torque(t, x):
        ratio = length / radius * x[1] / (length - x[1])
        return -ks * ratio**2 * math.sin(2.0 * (link(t) - x[0]))

    def loads(t, x):
        s, gap = math.sin(link(t) - x[0]), length - x[1]
        return [torque(t, x), 2.0 * ks * (length / radius) ** 2 * x[1] * length / gap**3 * s * s]

    def inputs(t):
        return [0.15 * chirp(t), 0.012 + 0.006 * step(t)]

    time, x = integrate(1.0, 1.0 / rate, [Servo(), lever], loads, inputs)
    motor, pid, noise = servo(rate)
    columns = {
        "equilibrium": [inputs(t)[0] for t in time],
        "preset": [inputs(t)[1] for t in time],
        "theta_1": x[:, 0, 0],
        "theta_2": x[:, 0, 1],
        "tau": [torque(t, row) for t, row in zip(time, x[:, 1], strict=True)],
    }
    drive = LeverDrive(min_position=-0.01, friction=PreslidingFriction(torque=5.0, stiffness=1e6))
    start = CompliantActuator(
        AwAS2(Ks=8.0), Mode.PID_EQ_PRESET, motor, drive, pid, PID(kp=2e4, kd=300.0), command_delay=0.004
    )
    true = {name.replace("motor.", "motor_1."): value for name, value in MOTOR.items()}
    noise["theta_2"] = 2e-6
    return (
        start,
        noisy(time, columns, noise, seed),
        ("motor_1_position", "motor_2_position", "torque"),
        {
            **true,
            "law.Ks": ks,
        },
    )


QUICK = [(sea, 100.0), (qbmove, 250.0), (awas, 500.0)]
DRAWN = (qbmove, 1000.0)
NIGHTLY = [
    pair
    for pair in itertools.product([sea, qbmove, awas], [100.0, 250.0, 500.0, 1000.0])
    if pair not in QUICK and pair != DRAWN
]


@pytest.mark.parametrize(
    ("joint", "rate"), [*QUICK, *(pytest.param(*pair, marks=pytest.mark.nightly) for pair in NIGHTLY)]
)
def test_a_joint_that_was_integrated_elsewhere_is_identified_within_3_percent_and_two_stated_errors(joint, rate):
    start, data, outputs, true = joint(rate)
    # A fit finds the noise of each sensor by itself, with more searches; one case does so.
    noise = {"motor_1_position": 2e-5, "motor_2_position": 2e-6 if joint is awas else 2e-5, "torque": 2e-3}
    found = fit_actuator(
        start, data, list(true), outputs=outputs, starts=1, weights=None if (joint, rate) == QUICK[0] else noise
    )
    assert found.identified
    for name, value in true.items():
        estimate = found[name]
        assert estimate.value == pytest.approx(value, rel=0.03), found.report()
        assert abs(estimate.value - value) < 2.0 * estimate.standard_error, found.report()


NOISE = {"motor_1_position": 2e-5, "motor_2_position": 2e-5, "torque": 2e-3}


def test_the_error_of_the_simulation_is_a_small_part_of_the_stated_errors():
    start, data, outputs, true = sea(1000.0, seed=None)
    found = fit_actuator(start, data, list(true), outputs=outputs, starts=1, weights=NOISE)
    errors, _ = expected_errors(found.actuator, data, list(true), {name: NOISE[name] for name in outputs})
    assert found.rms("motor_1_position") < 3e-7
    for name, value in true.items():
        assert abs(found[name].value - value) < 0.4 * errors[name]


@pytest.mark.nightly
def test_two_stated_errors_hold_the_truth_as_often_as_they_say():
    """Of one draw of the noise, 1 of 22 values lies beyond two errors; many draws tell whether the errors are right."""
    draws, beyond, squares = 8, [], []
    joint, rate = DRAWN
    for seed in range(draws):
        start, data, outputs, true = joint(rate, seed=seed)
        found = fit_actuator(start, data, list(true), outputs=outputs, starts=1, weights=NOISE)
        away = np.array([found[name].value - value for name, value in true.items()])
        assert np.all(np.abs(away) < 0.03 * np.array(list(true.values()))), found.report()
        beyond.append(np.abs(away) > 2.0 * np.array([found[name].standard_error for name in true]))
        squares.append(away @ np.linalg.solve(found.covariance, away))
    # 64 values of which 2.9 are expected beyond; the four of the springs move together.
    assert np.mean(beyond) < 0.1
    # The mean of 8 values of chi^2 with 8 degrees of freedom: 8 +- 1.4.
    assert 5.0 < np.mean(squares) < 11.0


@functools.cache
def designed(seconds, free):
    """Return the motion that `pliant excite` designs for parameters of the worn joint, slow as its friction asks."""
    start = worn(100.0, seed=None, moved=(chirp_and_step, 0.1))[0]
    robot = Robot(mujoco.MjSpec.from_string(PENDULUM.format(dt=1e-3)))
    robot.add_actuator("joint", start)
    options = ExcitationOptions(duration=seconds, period=0.01, max_frequency=1.0, reach=0.35, candidates=5)
    table = design_excitation(robot, "joint", free, options).table
    (reference,) = table.columns.values()
    return lambda t: float(np.interp(t, table.time, reference)), seconds


LUGRE = ("motor.friction.breakaway", "motor.friction.torque")


@pytest.mark.parametrize(
    ("rate", "draws", "seconds"),
    [
        (100.0, 1, 1.5),
        *(pytest.param(rate, 3, None, marks=pytest.mark.nightly) for rate in (100.0, 250.0, 500.0, 1000.0)),
        *(pytest.param(rate, 3, 3.0, marks=pytest.mark.nightly) for rate in (100.0, 500.0)),
    ],
)
def test_lugres_friction_and_backlash_are_identified_within_3_percent_and_their_stated_errors(rate, draws, seconds):
    beyond, squares = [], []
    moved = None if seconds is None else designed(seconds, LUGRE)
    for seed in range(draws):
        start, data, outputs, true = worn(rate, seed, moved)
        found = fit_actuator(start, data, list(true), outputs=outputs, starts=1, weights=NOISE)
        away = np.array([found[name].value - value for name, value in true.items()])
        errors = np.array([found[name].standard_error for name in true])
        limit = 0.03 * np.array(list(true.values()))
        if moved is None:  # a second of fast motion holds too little of the breakaway torque, as the next test says
            limit[list(true).index("motor.friction.breakaway")] = FREE
        assert np.all(np.abs(away) < limit), found.report()
        beyond.append(np.abs(away) > 2.0 * errors)
        squares.append(away @ np.linalg.solve(found.covariance, away))
    # Of 8 values a draw, 0.36 are expected beyond; a mean of 3 values of chi^2 with 8 degrees of freedom is 8 +- 2.3.
    assert np.sum(beyond) <= (1 if draws == 1 else 3)
    assert np.mean(squares) < (20.0 if draws == 1 else 13.0)


def of_truth(start):
    """Return the worn joint with the values with which it was integrated."""
    motor = dataclasses.replace(
        start.motor_1, inertia=0.031, damping=0.38, backlash=Backlash(width=0.06, damping=0.05),
        friction=dataclasses.replace(start.motor_1.friction, torque=0.12, breakaway=0.08),
    )  # fmt: skip
    return start.replace(motor_1=motor, law=SEA(k=15.0), command_delay=DELAY)


def test_how_well_a_motion_tells_the_breakaway_torque_is_known_before_the_fit():
    """No unbiased estimate has a smaller error than the bound of Cramer and Rao, which `expected_errors` computes."""
    start, data, _, true = worn(100.0, seed=None)
    noise = {"motor_1_position": 2e-5, "torque": 2e-3}
    errors, _ = expected_errors(of_truth(start), data, list(true), noise)
    assert 0.1 < errors["motor.friction.breakaway"] / 0.08 < 0.2
    _, slow, _, _ = worn(100.0, None, designed(1.5, LUGRE))
    errors, _ = expected_errors(of_truth(start), slow, list(true), noise)
    assert errors["motor.friction.breakaway"] / 0.08 < 0.02


def test_a_fit_names_the_motion_that_would_tell_a_parameter_better():
    start, data, outputs, _ = worn(100.0)
    data = {name: values[:12] for name, values in data.items()}
    found = fit_actuator(of_truth(start), data, LUGRE, outputs=outputs, starts=1, weights=NOISE)
    (said,) = [w for w in found.warnings if w.startswith(LUGRE[0])]
    assert "% only" in said
    assert "reversals at speeds around the Stribeck velocity" in said
    assert "pliant excite" in said
