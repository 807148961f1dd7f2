"""Fits of friction, motors and servo."""

import numpy as np
import pytest
from identification_cases import SETS, pull

from pliant.base.errors import LawError
from pliant.identification import fit_friction, fit_law, fit_servo
from pliant.identification.parameters import with_blocks, with_values
from pliant.laws import PID, SEA, AwAS2, Backlash, CompliantActuator, DCMotor, Mode, PreslidingFriction, QbMove


def test_friction_comes_back_from_loops_with_its_load_and_preset_coefficients():
    friction = PreslidingFriction(torque=0.06, stiffness=1000.0, load_coefficient=0.12, preset_coefficient=0.2)
    trials = pull(QbMove(), (0.0, 0.3, 0.6), noise=2e-3, friction=friction)
    found = fit_friction(
        QbMove(),
        trials,
        ["link_friction.torque", "link_friction.load_coefficient", "link_friction.preset_coefficient"],
    )
    assert found["torque"].value == pytest.approx(0.06, rel=0.03)
    assert found["load_coefficient"].value == pytest.approx(0.12, rel=0.03)
    assert found["preset_coefficient"].value == pytest.approx(0.2, rel=0.03)
    assert found["torque"].unit == "N m"
    assert found.rms() == pytest.approx(2e-3, rel=0.1)


def test_law_and_friction_come_back_together():
    friction = PreslidingFriction(torque=0.08)
    law = SETS["maker pro"]
    trials = pull(law, (0.1, 0.4), noise=5e-3, friction=friction)
    start = QbMove(k1=0.02, a1=7.0, k2=0.02, a2=7.0)
    found = fit_friction(start, trials, ["law.k1", "law.a1", "law.k2", "law.a2", "link_friction.torque"], starts=2)
    for name in ("k1", "a1", "k2", "a2"):
        assert found[name].value == pytest.approx(getattr(law, name), rel=0.05)
    assert found["torque"].value == pytest.approx(0.08, rel=0.03)


def servo_trial(actuator, seconds=1.2, period=0.005, noise=0.0, seed=0):
    step = 2e-5
    n = round(seconds / step)
    t = np.arange(n) * step
    every = round(period / step)
    hold = t[np.arange(n) // every * every]
    eq = 0.4 * np.sin(2.0 * np.pi * (0.5 + 1.5 * hold) * hold) + 0.2 * (hold > 1.0)
    preset = 0.2 + 0.1 * (hold > 0.5)
    traces = actuator.simulate(0.3 * np.sin(3.0 * t), None, eq, preset, step)
    rng = np.random.default_rng(seed)
    # A trace shows the motors after the step that begins at its time.
    one, two = (np.r_[x[0], x[:-1]] for x in (traces.motor_1_position, traces.motor_2_position))
    return {
        "time": t[::every],
        "q": 0.3 * np.sin(3.0 * t[::every]),
        "theta_eq": eq[::every],
        "preset": preset[::every],
        "theta_1": one[::every] + noise * rng.standard_normal(t[::every].size),
        "theta_2": two[::every] + noise * rng.standard_normal(t[::every].size),
    }


def test_motor_and_servo_come_back_from_references_and_motor_positions():
    motor = DCMotor(inertia=0.03, damping=0.4, friction=PreslidingFriction(torque=0.15))
    true = CompliantActuator(QbMove(), Mode.PID_EQ_PRESET, motor, motor, PID(kp=80.0, kd=3.0), PID(kp=80.0, kd=3.0))
    start = CompliantActuator(QbMove(), Mode.PID_EQ_PRESET, pid_1=PID(kp=80.0, kd=3.0), pid_2=PID(kp=80.0, kd=3.0))
    found = fit_servo(start, servo_trial(true, noise=2e-4), starts=2)
    assert found["inertia"].value == pytest.approx(0.03, rel=0.03)
    assert found["damping"].value == pytest.approx(0.4, rel=0.03)
    assert found["motor.friction.torque"].value == pytest.approx(0.15, rel=0.03)
    assert found.actuator.motor_1 == found.actuator.motor_2


def exchange_motor_and_reference(trial):
    trial["theta_eq"], trial["theta_1"] = trial["theta_1"], trial["theta_eq"]


def turn_the_reference_around(trial):
    trial["theta_eq"] = -trial["theta_eq"]


@pytest.mark.parametrize("spoil", [exchange_motor_and_reference, turn_the_reference_around, None])
def test_a_fit_that_does_not_explain_the_motion_says_so(spoil):
    true = CompliantActuator(SEA(k=12.0), Mode.PID_EQ_PRESET, DCMotor(inertia=0.03))
    trial = servo_trial(true, noise=1e-3)
    del trial["preset"], trial["theta_2"]
    if spoil is not None:
        spoil(trial)
    start = CompliantActuator(SEA(k=12.0), Mode.PID_EQ_PRESET)
    found = fit_servo(start, trial, ["motor.inertia", "motor.damping"], starts=1)
    said = [warning for warning in found.warnings if "of the variance of motor_1_position" in warning]
    assert len(said) == (spoil is not None)


def test_the_delay_of_the_bus_comes_back():
    true = CompliantActuator(SEA(k=20.0), Mode.PID_EQ_PRESET, command_delay=0.012)
    step, n = 2e-5, 75_000
    t = np.arange(n) * step
    held = t[np.arange(n) // 50 * 50]
    eq = 0.3 * np.sin(6.0 * held) + 0.1 * np.sin(17.0 * held)
    traces = true.simulate(np.zeros(n), None, eq, 0.0, step)
    data = {"time": t, "q": np.zeros(n), "reference_1": eq, "theta_1": np.r_[0.0, traces.motor_1_position[:-1]]}
    data = {name: column[::50] for name, column in data.items()}
    found = fit_servo(true.replace(command_delay=0.0), data, ["command_delay", "motor.damping"], starts=1)
    assert found["command_delay"].value == pytest.approx(0.012, abs=5e-5)
    assert found["damping"].value == pytest.approx(0.2698, rel=0.02)


def test_a_free_block_that_the_actuator_lacks_begins_at_its_defaults():
    given = CompliantActuator(SEA(), Mode.PID_REFS)
    free = ["motor.backlash.width", "link_backlash.damping", "motor.friction.breakaway", "law.k"]
    found = with_blocks(given, free)
    assert found.motor_1 is not None
    assert found.motor_1.backlash == found.link_backlash == Backlash()
    assert found.motor_1.friction.breakaway > 0.0
    assert found.motor_1.friction.stribeck_velocity > 0.0
    assert with_blocks(found, free) == found
    assert with_blocks(given, ["law.k", "motor.inertia", "command_delay"]) == given
    lever = CompliantActuator(AwAS2(), Mode.PID_REFS)
    assert with_blocks(lever, ["motor_2.backlash.width"]) == lever


def test_backlash_and_breakaway_come_back_from_a_start_without_them():
    pid, friction = PID(kp=90.0, kd=3.2), PreslidingFriction(torque=0.12, stiffness=800.0)
    plain = DCMotor(inertia=0.031, friction=friction, max_torque=np.inf)
    start = CompliantActuator(SEA(k=15.0), Mode.PID_EQ_PRESET, plain, pid_1=pid)
    true = {"motor_1.friction.breakaway": 0.08, "motor_1.backlash.width": 0.06}
    trial = servo_trial(with_values(with_blocks(start, list(true)), true), seconds=0.6, noise=2e-6)
    del trial["theta_2"]  # there is one motor
    found = fit_servo(start, trial, list(true), starts=1, dt=2e-5)
    for name, value in true.items():
        assert found[name].value == pytest.approx(value, rel=0.03)


def test_gains_and_damping_together_are_called_undetermined():
    true = CompliantActuator(SEA(k=5.0), Mode.PID_EQ_PRESET)
    step, n = 2e-5, 40_000
    t = np.arange(n) * step
    eq = 0.3 * np.sin(8.0 * t[np.arange(n) // 50 * 50])
    motor = true.simulate(np.zeros(n), None, eq, 0.0, step).motor_1_position
    data = {"time": t, "q": np.zeros(n), "reference_1": eq, "theta_1": np.r_[0.0, motor[:-1]]}
    data = {name: column[::50] for name, column in data.items()}
    found = fit_servo(true, data, ["motor.damping", "pid.kd"], starts=1)
    assert found.condition > 1e3 or any("do not determine" in w or "trade off" in w for w in found.warnings)
    assert found["damping"].value + found["kd"].value == pytest.approx(0.2698 + 4.5, rel=1e-3)


def test_presliding_stiffness_comes_back_where_the_data_turn_often():
    friction = PreslidingFriction(torque=0.1, stiffness=8.0)
    n = 1200
    q = 0.3 * np.sin(np.linspace(0.0, 6.0, n)) + 0.02 * np.sin(np.linspace(0.0, 150.0, n))
    torque = CompliantActuator(SEA(k=5.0), Mode.SPRING_EQ_PRESET, link_friction=friction).simulate(q, None, 0.0).torque
    noise = 1e-3 * np.random.default_rng(0).standard_normal(n)
    data = {"q": q, "theta_eq": 0.0, "torque": torque + noise}
    start = CompliantActuator(
        SEA(k=6.0), Mode.SPRING_EQ_PRESET, link_friction=PreslidingFriction(torque=0.06, stiffness=15.0)
    )
    found = fit_friction(start, data, ["law.k", "link_friction.torque", "link_friction.stiffness"])
    assert found["k"].value == pytest.approx(5.0, rel=0.01)
    assert found["link_friction.torque"].value == pytest.approx(0.1, rel=0.01)
    assert found["link_friction.stiffness"].value == pytest.approx(8.0, rel=0.02)


def test_a_pause_of_days_is_refused_with_the_number_of_steps():
    trial = {
        "time": [0.0, 0.001, 0.002, 0.003, 1e6], "q": [0.0, 0.1, 0.2, 0.3, 0.5], "tau": [0.0] * 5,
        "theta_1": [0.0] * 5, "theta_2": [0.0] * 5,
    }  # fmt: skip
    with pytest.raises(
        LawError, match=r"1e\+06 s in steps of 0.001 s are 1e\+09 steps; must be at most 5e\+06.*--max-rest"
    ):
        fit_friction("qbmove", trial)


def test_a_fit_tells_how_far_it_is():
    q = np.linspace(-0.3, 0.3, 40)
    told = []
    fit_law("sea", {"q": q, "theta_1": 0.0, "tau": -5.0 * q}, starts=3, progress=lambda *p: told.append(p))
    done = [p[0] for p in told]
    assert done == sorted(done)
    assert {p[1] for p in told} == {3}
    assert 2.0 < done[-1] <= 3.0


@pytest.mark.parametrize(
    ("limit", "free", "said"), [(9.0, (), False), (2.0, (), True), (2.0, ("motor.max_torque",), False)]
)
def test_a_torque_limit_that_the_log_exceeds_is_named(limit, free, said):
    actuator = CompliantActuator(
        QbMove(), Mode.PID_EQ_PRESET, *[DCMotor(max_torque=np.inf)] * 2, *[PID(kp=20.0, kd=1.0)] * 2
    )
    trial = servo_trial(actuator)
    start = actuator.replace(motor_1=DCMotor(max_torque=limit), motor_2=DCMotor(max_torque=limit))
    found = fit_servo(start, trial, ["motor.damping", *free], max_evaluations=3, dt=1e-3)
    notes = [w for w in found.warnings if "max_torque" in w and "asks" in w]
    assert bool(notes) == said
    if said:
        assert notes[0].startswith("motor_1: its controller asks up to")
        assert "ends at 2 in" in notes[0]
