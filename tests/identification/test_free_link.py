"""Fits in which the link moves freely under its load, to motion that scipy integrated from the equations here."""

import math

import numpy as np
import pytest

from pliant.base.errors import LawError
from pliant.identification import Load, fit_actuator, fit_servo, parameter_unit
from pliant.laws import PID, SEA, CompliantActuator, DCMotor, Mode, PreslidingFriction

J, D, KP, KD, K = 0.03, 0.4, 90.0, 3.0, 25.0
INERTIA, GRAVITY, ANGLE, DAMPING = 0.06, 1.4, 0.4, 0.08
TRUE = {"load.inertia": INERTIA, "load.gravity": GRAVITY, "load.angle": ANGLE, "load.damping": DAMPING}


def log_of_a_pendulum(seconds=1.0, rate=200.0, noise=2e-5, seed=0, gravity=GRAVITY, inertia=INERTIA):
    """A servo without friction, a spring and a pendulum, in the state where they rest at first."""
    from scipy.integrate import DOP853
    from scipy.optimize import brentq

    period = 1.0 / rate
    time = np.arange(round(seconds * rate)) * period
    r = 0.5 * np.sin(2.0 * np.pi * (0.4 + 0.6 * time) * time)

    def rest(q):
        return K * KP / (K + KP) * -q - gravity * math.sin(q - ANGLE)

    q0 = brentq(rest, -2.0, 2.0)
    y = np.array([K * q0 / (K + KP), 0.0, q0, 0.0])
    found = [y]
    for k in range(time.size - 1):

        def slope(t, y, ref=r[k]):
            x, v, q, w = y
            torque = K * (x - q)
            return [
                v, (KP * (ref - x) - (KD + D) * v - torque) / J,
                w, (torque - gravity * math.sin(q - ANGLE) - DAMPING * w) / inertia,
            ]  # fmt: skip

        solver = DOP853(slope, time[k], y, time[k + 1], rtol=1e-10, atol=1e-12)
        while solver.status == "running":
            solver.step()
        y = solver.y
        found.append(y)
    states = np.array(found)
    rng = np.random.default_rng(seed)
    return {
        "time": time,
        "reference_1": r,
        "link_position": states[:, 2] + noise * rng.standard_normal(time.size),
        "motor_1_position": states[:, 0] + noise * rng.standard_normal(time.size),
    }


@pytest.fixture(scope="module")
def log():
    return log_of_a_pendulum()


def joint(k=K):
    motor = DCMotor(inertia=J, damping=D, max_torque=math.inf, friction=PreslidingFriction(torque=0.0))
    return CompliantActuator(SEA(k=k), Mode.PID_REFS, motor, pid_1=PID(kp=KP, kd=KD))


@pytest.mark.slow
def test_a_load_under_gravity_comes_back_within_3_percent_and_two_stated_errors(log):
    start = Load(inertia=0.05, gravity=1.0, angle=0.2, damping=0.05)
    found = fit_actuator(
        joint(), log, list(TRUE), outputs=("link_position", "motor_1_position"), load=start, starts=1,
        weights={"link_position": 2e-5, "motor_1_position": 2e-5},
    )  # fmt: skip
    for name, value in TRUE.items():
        assert found[name].value == pytest.approx(value, rel=0.03), found.report()
        assert abs(found[name].value - value) < 2.0 * found[name].standard_error, found.report()
    assert found.rms("link_position") == pytest.approx(2e-5, rel=0.1)


@pytest.mark.slow
def test_commands_and_link_positions_are_enough_for_a_servo_whose_load_is_free(log):
    without = {name: column for name, column in log.items() if name != "motor_1_position"}
    load = Load(inertia=0.05, gravity=GRAVITY, angle=ANGLE, damping=DAMPING)
    found = fit_servo(joint(), without, ["motor.damping", "load.inertia"], load=load, starts=1)
    assert {f.quantity for f in found.fits} == {"link_position"}
    assert found["motor.damping"].value == pytest.approx(D, rel=0.03)
    assert found["load.inertia"].value == pytest.approx(INERTIA, rel=0.03)


def exchanged(log):
    return {**log, "link_position": log["motor_1_position"], "motor_1_position": log["link_position"]}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [True, False])
def test_exchanged_columns_of_a_free_link_are_named_after_a_poor_fit_and_no_others_are(log, wrong):
    load = Load(inertia=0.05, gravity=GRAVITY, angle=ANGLE, damping=DAMPING)
    found = fit_servo(joint(), exchanged(log) if wrong else log, ["load.inertia", "law.k"], load=load, starts=1)
    named = [text for text in found.warnings if "look exchanged" in text]
    assert len(named) == wrong, found.report()
    assert all("link_position and motor_1_position" in text for text in named)


@pytest.mark.slow
def test_a_poor_fit_of_a_log_in_order_names_no_exchange(log):
    stiff = Load(inertia=0.2, gravity=0.0, angle=0.0, damping=0.0)  # fixed at values that the log does not have
    found = fit_servo(joint(), log, ["law.k"], load=stiff, starts=1)
    assert found.rms("link_position") > 100.0 * 2e-5
    assert not [text for text in found.warnings if "look exchanged" in text]


def test_a_servo_without_motor_positions_and_load_is_refused_with_what_is_missing():
    log = {"time": 0.01 * np.arange(10), "reference_1": 0.0, "link_position": np.zeros(10)}
    with pytest.raises(LawError, match=r"no motor position was measured.*--set load.inertia=VALUE\) or free"):
        fit_servo(joint(), log)


def test_parameters_of_a_load_have_units_and_are_checked():
    assert parameter_unit(SEA(), "load.gravity") == "N m"
    assert parameter_unit(SEA(), "load.inertia") == "kg m^2"
    log = {"time": 0.01 * np.arange(10), "reference_1": 0.0, "link_position": np.zeros(10), "theta_1": np.zeros(10)}
    with pytest.raises(LawError, match=r"load\.inertia: the link is not simulated; compare it"):
        fit_actuator(joint(), log, ["load.inertia"], outputs=("motor_1_position",))
    with pytest.raises(LawError, match="a load has no parameter 'mass'"):
        fit_servo(joint(), log, ["load.mass"])
    with pytest.raises(LawError, match="inertia"):
        Load(inertia=0.0)
