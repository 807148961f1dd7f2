"""Friction with Stribeck effect, cogging, winding temperature, limits of the drive: each against its analytic truth."""

import dataclasses
import itertools
import math
import random

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from pliant.base.errors import LawError
from pliant.laws import (
    BAVS,
    SEA,
    AwAS2,
    CompliantActuator,
    DCMotor,
    Electrical,
    Mode,
    PreslidingFriction,
    QbMove,
)
from pliant.laws.motor import Cogging, Thermal
from pliant.muscles import McKibben

DT = 1e-3
FREE = SEA(k=0.0)
NO_FRICTION = PreslidingFriction(torque=0.0)
LUGRE = PreslidingFriction(torque=0.3, stiffness=200.0, stribeck_velocity=0.2, breakaway=0.15, bristle_damping=0.5)
COIL = Electrical(resistance=2.0, torque_constant=0.5, back_emf_constant=0.5, supply_voltage=24.0)


def motor_alone(motor, u, n, dt=DT, **more):
    """A motor whose spring has no stiffness, under torque commands."""
    q = np.zeros(n)
    return CompliantActuator(FREE, mode=4, motor_1=motor, **more).simulate(q, q, u, 0.0, dt)


# -- friction ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [0.02, 0.1, 0.5, -0.3])
def test_steady_sliding_has_the_stribeck_curve(speed):
    x = w = 0.0
    for _ in range(20_000):
        w, friction = LUGRE.step(x, w, velocity=speed, dt=DT)
        x += speed * DT
    level = 0.3 + 0.15 * math.exp(-((speed / 0.2) ** 2))
    assert friction == pytest.approx(math.copysign(level, speed), rel=0.02)


def rate_of_lugre(t, y, motor, torque):
    _, v, z = y
    f = motor.friction
    level = f.torque + f.breakaway * math.exp(-((v / f.stribeck_velocity) ** 2))
    dz = v - f.stiffness * abs(v) * z / level
    friction = f.stiffness * z + f.bristle_damping * dz
    return [v, (torque(t) - friction - motor.damping * v) / motor.inertia, dz]


def test_lugre_friction_converges_to_an_independent_integration_with_the_first_order_of_the_step():
    motor = DCMotor(friction=LUGRE)
    torque = lambda t: 0.9 * math.sin(6.0 * t)  # noqa: E731
    truth = solve_ivp(rate_of_lugre, (0.0, 1.5), [0.0] * 3, "DOP853", args=(motor, torque), rtol=1e-10, atol=1e-12)
    errors = []
    for dt in (1e-3, 5e-4, 2.5e-4):
        n = round(1.5 / dt) + 1
        traces = motor_alone(motor, 0.9 * np.sin(6.0 * dt * np.arange(n)), n, dt)
        errors.append(abs(traces.motor_1_position[-1] - truth.y[0, -1]))
    assert errors[0] < 2e-3
    assert errors[0] / errors[1] > 1.7
    assert errors[1] / errors[2] > 1.7


def test_a_motor_breaks_away_at_the_sum_of_both_levels_and_then_accelerates():
    held = motor_alone(DCMotor(friction=LUGRE), 0.40 * np.minimum(np.arange(4000) / 3000.0, 1.0), 4000)
    assert abs(held.motor_1_velocity[-1]) < 1e-3
    assert held.motor_1_position[-1] < 0.02  # the bristle, and its drift
    slides = motor_alone(DCMotor(friction=LUGRE), 0.47, 3000)
    assert slides.motor_1_velocity[-1] == pytest.approx((0.47 - 0.3) / 0.2698, rel=0.15)


def test_friction_of_the_link_can_be_lugre_as_well():
    n = 4000
    speed = 0.5
    actuator = CompliantActuator(FREE, mode=4, link_friction=LUGRE)
    traces = actuator.simulate(speed * DT * np.arange(n), np.full(n, speed), 0.0, 0.0, DT)
    assert traces.torque[-1] == pytest.approx(-(0.3 + 0.15 * math.exp(-((speed / 0.2) ** 2))), rel=0.02)
    assert traces.torque[-1] == pytest.approx(-traces.link_friction_torque[-1], rel=1e-6)


# -- cogging -------------------------------------------------------------------------------------------------


def test_cogging_holds_a_motor_at_its_detent_until_the_amplitude_is_exceeded():
    cogging = Cogging(torque=0.2, periods=10.0)
    motor = DCMotor(friction=NO_FRICTION, damping=1.0, cogging=cogging)
    held = motor_alone(motor, 0.1, 12_000)
    assert held.motor_1_position[-1] == pytest.approx(math.asin(0.5) / 10.0, rel=1e-6)
    assert motor_alone(motor, 0.21, 20_000).motor_1_position[-1] > 2.0 * math.pi / 10.0


def test_cogging_conserves_energy_and_has_the_period_of_a_small_oscillation():
    cogging = Cogging(torque=0.2, periods=10.0)
    motor = DCMotor(friction=NO_FRICTION, damping=0.0, inertia=0.02, cogging=cogging)
    traces = motor_alone(motor, np.where(np.arange(40_000) < 10, 0.02, 0.0), 40_000, 1e-4)
    x, v = traces.motor_1_position[20:], traces.motor_1_velocity[20:]
    energy = 0.5 * 0.02 * v**2 + 0.2 / 10.0 * (1.0 - np.cos(10.0 * x))
    assert np.ptp(energy) / energy.mean() < 0.01  # symplectic: bounded, of the first order
    crossings = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    period = np.diff(crossings).mean() * 1e-4
    assert period == pytest.approx(2.0 * math.pi * math.sqrt(0.02 / (0.2 * 10.0)), rel=1e-3)


def test_ripple_scales_the_torque_and_cancels_over_a_revolution():
    motor = DCMotor(friction=NO_FRICTION, inertia=50.0, cogging=Cogging(torque=0.0, periods=7.0, ripple=0.2))
    start = CompliantActuator(FREE, mode=4, motor_1=motor)
    angles = np.linspace(0.0, 2.0 * math.pi, 71)[:-1]
    efforts = []
    for angle in angles:
        state = start.hold(angle, DT)[0]
        efforts.append(start.simulate([angle], [0.0], 1.0, 0.0, DT, state=state).motor_1_effort[0])
    np.testing.assert_allclose(efforts, 1.0 + 0.2 * np.sin(7.0 * angles), rtol=1e-12)


# -- the drive -----------------------------------------------------------------------------------------------


def test_the_current_limit_bounds_the_torque():
    stalled = DCMotor(max_torque=50.0, inertia=1e6, electrical=dataclasses.replace(COIL, max_current=3.0))
    assert motor_alone(stalled, 50.0, 3).motor_1_effort[-1] == pytest.approx(1.5)
    assert motor_alone(stalled, -50.0, 3).motor_1_effort[-1] == pytest.approx(-1.5)
    assert motor_alone(stalled, 1.0, 3).motor_1_effort[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("inductance", [0.0, 1e-4, 0.01])
@pytest.mark.parametrize("supply", [1.0, 6.0])
def test_the_bus_sags_by_its_resistance_times_the_current(inductance, supply):
    coil = dataclasses.replace(COIL, supply_resistance=supply, inductance=inductance)
    stalled = DCMotor(max_torque=50.0, inertia=1e9, electrical=coil)
    effort = motor_alone(stalled, 50.0, 200).motor_1_effort
    np.testing.assert_allclose(effort[-20:], 0.5 * 24.0 / (2.0 + supply), rtol=1e-6)
    assert motor_alone(stalled, 0.5, 200).motor_1_effort[-1] == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize("inductance", [0.0, 1e-4])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_motor_that_is_driven_beyond_its_bus_feeds_back_and_raises_it(inductance, sign):
    coil = dataclasses.replace(COIL, supply_resistance=1.0, inductance=inductance)
    motor = DCMotor(max_torque=50.0, inertia=1e9, damping=0.0, electrical=coil, friction=NO_FRICTION)
    actuator = CompliantActuator(FREE, mode=4, motor_1=motor)
    start = actuator.hold(0.0, DT)[0]
    start[1] = sign * 60.0  # 30 V of back-EMF against a bus of 24 V
    q = np.zeros(200)
    effort = actuator.simulate(q, q, sign * 50.0, 0.0, DT, state=start).motor_1_effort[-1]
    assert effort == pytest.approx(sign * 0.5 * (24.0 - 30.0) / (2.0 + 1.0), rel=1e-6)


def test_a_slew_limit_is_a_ramp_of_its_rate():
    actuator = CompliantActuator(SEA(k=40.0), mode=Mode.SPRING_EQ_PRESET, reference_slew_1=2.0)
    q = np.zeros(1000)
    traces = actuator.simulate(q, q, 0.5, 0.0, DT)
    np.testing.assert_allclose(traces.torque, 40.0 * np.minimum(2.0 * DT * (1.0 + np.arange(1000)), 0.5), atol=1e-9)


@pytest.mark.parametrize("rate", [4e5, 4e6, math.inf])
@pytest.mark.parametrize("other", [2e5, math.inf])
def test_slew_limits_of_pressures_are_ramps_of_their_rates_and_no_limit_is_none(rate, other):
    actuator = CompliantActuator(
        McKibben(), mode=Mode.SPRING_REFS, initial_preset=0.0, reference_slew_1=rate, reference_slew_2=other
    )
    q = np.zeros(100)
    traces = actuator.simulate(q, q, 3e5, 2e5, DT)
    t = DT * (1.0 + np.arange(100))
    np.testing.assert_allclose(traces.motor_1_position, np.minimum(rate * t, 3e5), rtol=1e-12)
    np.testing.assert_allclose(traces.motor_2_position, np.minimum(other * t, 2e5), rtol=1e-12)


# -- temperature ---------------------------------------------------------------------------------------------


def test_a_stalled_winding_heats_exponentially_to_its_steady_temperature():
    thermal = Thermal(resistance=4.0, capacity=0.5, temperature_coefficient=0.0, ambient=300.0)
    motor = DCMotor(max_torque=50.0, inertia=1e9, electrical=COIL, thermal=thermal)
    heat = motor_alone(motor, 1.0, 20_000).motor_1_temperature  # 2 A in 2 ohm: 8 W
    assert heat[0] == 300.0
    assert heat[-1] == pytest.approx(300.0 + 4.0 * 8.0, abs=0.01)
    tau = 4.0 * 0.5
    assert heat[round(tau / DT)] == pytest.approx(300.0 + 32.0 * (1.0 - math.exp(-1.0)), rel=1e-4)


def test_a_hot_winding_has_more_resistance_and_so_less_torque_at_the_same_voltage():
    thermal = Thermal(resistance=1.0, capacity=0.05, temperature_coefficient=0.004, ambient=300.0)
    motor = DCMotor(max_torque=50.0, inertia=1e9, electrical=COIL, thermal=thermal)
    traces = motor_alone(motor, 1.0, 5000)
    rise = traces.motor_1_temperature[-1] - 300.0
    current = traces.motor_1_effort[-1] / 0.5
    assert current == pytest.approx(4.0 / (2.0 * (1.0 + 0.004 * rise)), rel=1e-4)
    assert rise == pytest.approx(2.0 * (1.0 + 0.004 * rise) * current**2, rel=1e-4)  # balance with 1 K/W


def test_a_drive_derates_to_where_the_losses_balance_the_cooling():
    thermal = Thermal(
        resistance=10.0, capacity=0.05, temperature_coefficient=0.0, ambient=300.0,
        derating_temperature=340.0, max_temperature=380.0,
    )  # fmt: skip
    motor = DCMotor(
        max_torque=50.0, inertia=1e9, electrical=dataclasses.replace(COIL, max_current=8.0), thermal=thermal
    )
    traces = motor_alone(motor, 50.0, 20_000)
    heat, current = traces.motor_1_temperature[-1], traces.motor_1_effort[-1] / 0.5
    assert 340.0 < heat < 380.0
    assert current == pytest.approx(8.0 * (380.0 - heat) / 40.0, rel=1e-3)
    assert heat - 300.0 == pytest.approx(10.0 * 2.0 * current**2, rel=1e-3)


def test_a_motor_is_cut_off_at_its_largest_temperature_and_cools():
    thermal = Thermal(resistance=10.0, capacity=0.05, ambient=300.0, max_temperature=360.0)
    motor = DCMotor(max_torque=50.0, inertia=1e9, electrical=COIL, thermal=thermal)
    traces = motor_alone(motor, 5.0, 3000)
    step = 2.0 * 10.0**2 * (1.0 + 0.00393 * 60.0) / 0.05 * DT  # 10 A in one step
    assert 360.0 <= traces.motor_1_temperature.max() < 360.0 + step
    assert 0.0 in traces.motor_1_effort


def test_without_a_thermal_part_the_temperature_is_not_a_number():
    assert np.isnan(motor_alone(DCMotor(), 1.0, 2).motor_1_temperature).all()


# -- what does not fit ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PreslidingFriction(breakaway=0.1), "set stribeck_velocity > 0"),
        (lambda: PreslidingFriction(bristle_damping=0.1), "set stribeck_velocity > 0"),
        (lambda: PreslidingFriction(torque=0.0, stribeck_velocity=0.1), "torque must be > 0"),
        (lambda: DCMotor(thermal=Thermal()), "set electrical"),
        (lambda: Thermal(ambient=300.0, max_temperature=80.0), "temperatures are absolute"),
        (lambda: Thermal(derating_temperature=400.0), "needs a max_temperature above it"),
        (lambda: Cogging(periods=0.0), "periods"),
        (lambda: Cogging(ripple=2.0), "ripple"),
    ],
)
def test_blocks_that_contradict_each_other_are_refused_with_what_would_be_valid(make, words):
    with pytest.raises(LawError, match=words):
        make()


BLOCKS = {
    "friction": LUGRE,
    "cogging": Cogging(),
    "electrical": dataclasses.replace(COIL, max_current=6.0, supply_resistance=0.3),
    "torque_speed": True,
    "limit_velocity": True,
}


def test_random_combinations_of_blocks_laws_and_modes_stay_finite():
    pick = random.Random(5)
    laws = [SEA(k=40.0), QbMove(), BAVS(), AwAS2()]
    n = 500
    t = DT * np.arange(n)
    for law, mode in itertools.product(laws, Mode):
        names = [name for name in BLOCKS if pick.random() < 0.6]
        motor = DCMotor(**{name: BLOCKS[name] for name in names})
        if "electrical" in names:
            motor = dataclasses.replace(motor, thermal=Thermal(capacity=0.1))
        slew = pick.choice((math.inf, 3.0))
        actuator = CompliantActuator(law, mode=mode, motor_1=motor, link_friction=LUGRE, reference_slew_1=slew)
        lever = law.second_input == "lever"
        traces = actuator.simulate(0.2 * np.sin(9.0 * t), None, np.sin(5.0 * t), 0.01 if lever else 0.1, DT)
        assert np.isfinite(traces.torque).all()
