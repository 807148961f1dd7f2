"""Backlash, tendons, elastic gears, hysteresis, creep, yield and breakage: each against its analytic truth, and along a
motion against an independent integration of its equation."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from pliant.base.errors import LawError
from pliant.laws import (
    PID,
    SEA,
    AwAS2,
    Backlash,
    CompliantActuator,
    Creep,
    DCMotor,
    Electrical,
    Gear,
    Hysteresis,
    LeverDrive,
    Mode,
    PreslidingFriction,
    QbMove,
    Strength,
    Tendon,
    layout,
)
from pliant.laws.spring_kernels import advance_motor_end
from pliant.tendons.cable import Cable

DT = 1e-3
SPRING = SEA(k=40.0)
SMOOTH = {"friction": PreslidingFriction(torque=0.0), "max_torque": math.inf}
J, D = DCMotor().inertia, DCMotor().damping
STEPS = (5e-4, 2.5e-4, 1.25e-4)
END = 0.8


# -- along a motion, against DOP853 -----------------------------------------------------------------------------


def link(t):
    return 0.3 * math.sin(9.0 * t)


def link_rate(t):
    return 2.7 * math.cos(9.0 * t)


def command(t):
    return 4.0 * math.sin(5.0 * t + 0.3)


def order_of(actuator, rate, start, error_below, sample=None):
    """Check that the torque and the motor of mode 4 converge to an independent integration of ``rate`` (the derivative
    of (theta, omega, states of the block)), with the first order of the step or better."""
    truth = solve_ivp(rate, (0.0, END), start, "DOP853", rtol=1e-9, atol=1e-11, max_step=1e-3)
    errors = []
    for dt in STEPS:
        n = round(END / dt) + 1
        t = dt * np.arange(n)
        traces = actuator.simulate(0.3 * np.sin(9.0 * t), 2.7 * np.cos(9.0 * t), 4.0 * np.sin(5.0 * t + 0.3), 0.0, dt)
        found = traces.motor_1_position if sample is None else sample(traces)
        expected = truth.y[0, -1] if sample is None else truth.y[2, -1]
        errors.append(abs(found[-1] - expected))
    assert errors[0] < error_below
    assert errors[-1] < 0.62 * errors[-2] < 0.4 * errors[0] or errors[-1] < 1e-6
    return errors


def motor(t, y, load):
    return [y[1], (command(t) - load - D * y[1]) / J]


def actuator(law=SPRING, *, of_motor=None, **blocks):
    return CompliantActuator(law, mode=Mode.MOTOR_TORQUES, motor_1=DCMotor(**SMOOTH, **(of_motor or {})), **blocks)


def held(value, rate, half):
    """The rate of a state that stays within [-half, half]."""
    if (value >= half and rate > 0.0) or (value <= -half and rate < 0.0):
        return 0.0
    return rate


def test_a_rigid_connection_converges():
    def rate(t, y):
        return motor(t, y, -40.0 * (link(t) - y[0]))

    order_of(actuator(), rate, [0.0, 0.0], 0.02)


def test_backlash_of_a_motor_converges_to_an_independent_integration():
    play = Backlash(width=0.06, damping=0.4)

    def rate(t, y):
        load = -40.0 * (link(t) - (y[0] - y[2]))
        return [*motor(t, y, load), held(y[2], load / 0.4, 0.03)]

    order_of(actuator(of_motor={"backlash": play}), rate, [0.0] * 3, 0.02)
    order_of(actuator(of_motor={"backlash": play}), rate, [0.0] * 3, 0.01, lambda traces: traces.motor_1_offset)


def test_backlash_of_the_link_converges_to_an_independent_integration():
    def rate(t, y):
        load = -40.0 * (link(t) - y[2] - y[0])
        return [*motor(t, y, load), held(y[2], -load / 0.4, 0.03)]

    made = actuator(link_backlash=Backlash(width=0.06, damping=0.4))
    order_of(made, rate, [0.0] * 3, 0.02)
    order_of(made, rate, [0.0] * 3, 0.01, lambda traces: traces.link_offset)


@pytest.mark.parametrize("preload", [0.0, 3.0])
def test_tendons_converge_to_an_independent_integration(preload):
    slack = 0.0 if preload else 0.04

    def rate(t, y):
        load = -40.0 * (link(t) - (y[0] - y[2]))
        if preload:
            force = max(0.0, preload + 90.0 * y[2]) - max(0.0, preload - 90.0 * y[2])
        else:
            force = 90.0 * (y[2] - min(max(y[2], -0.02), 0.02))
        return [*motor(t, y, load), (load - force) / 0.8]

    tendon = Tendon(stiffness=90.0, damping=0.8, pretension=preload, slack=slack)
    order_of(actuator(of_motor={"tendon": tendon}), rate, [0.0] * 3, 0.02)
    order_of(actuator(of_motor={"tendon": tendon}), rate, [0.0] * 3, 0.01, lambda traces: traces.motor_1_offset)


def test_a_motor_with_an_elastic_gear_converges_to_an_independent_integration_of_two_masses():
    def rate(t, y):
        theta, omega, output, speed = y
        torque = 900.0 * (theta - output) + 1.5 * (omega - speed)
        load = -40.0 * (link(t) - output)
        return [*motor(t, y, torque), speed, (torque - load) / 0.01]

    made = actuator(of_motor={"gear": Gear(inertia=0.01, stiffness=900.0, damping=1.5)})
    order_of(made, rate, [0.0] * 4, 0.02)


def test_hysteresis_converges_to_an_independent_integration():
    # Each element is an elastic, ideally plastic spring: dz/dt = rate of the deflection, held at its slip deflection.
    k = 2.0 * 1.2 / (0.1 * 5)
    slips = [0.1 * (i + 1) / 4 for i in range(4)]

    def rate(t, y):
        inner = [min(max(z, -s), s) for z, s in zip(y[2:], slips, strict=True)]
        load = -40.0 * (link(t) - y[0]) - k * sum(inner)
        speed = link_rate(t) - y[1]
        return [*motor(t, y, load), *(held(z, speed, s) for z, s in zip(y[2:], slips, strict=True))]

    order_of(actuator(hysteresis=Hysteresis(torque=1.2, deflection=0.1)), rate, [0.0] * 6, 0.02)


def test_creep_converges_to_an_independent_integration():
    def rate(t, y):
        deflection = link(t) - y[0]
        load = -40.0 * deflection - 12.0 * (deflection - y[2])
        return [*motor(t, y, load), (deflection - y[2]) / 0.1]

    order_of(actuator(creep=Creep(stiffness=12.0, time=0.1)), rate, [0.0] * 3, 0.02)


def test_plastic_flow_converges_to_an_independent_integration():
    def rate(t, y):
        load = -40.0 * (link(t) - y[2] - y[0])
        beyond = load - min(max(load, -2.0), 2.0)
        return [*motor(t, y, load), -beyond / 0.3]

    made = actuator(strength=Strength(yield_torque=2.0, flow_damping=0.3))
    # The motor runs away by more than 1 rad.
    order_of(made, rate, [0.0] * 3, 0.05)
    order_of(made, rate, [0.0] * 3, 0.05, lambda traces: traces.plastic_deflection)


def test_a_limit_of_the_current_rate_converges_to_an_independent_integration():
    coil = Electrical(resistance=2.0, inductance=0.004, torque_constant=0.5, back_emf_constant=0.5, supply_voltage=24.0)

    def rate(t, y):
        load = -40.0 * (link(t) - y[0])
        change = (2.0 * command(t) / 0.5 - 0.5 * y[1] - 2.0 * y[2]) / 0.004
        return [y[1], (0.5 * y[2] - load - D * y[1]) / J, min(max(change, -30.0), 30.0)]

    limited = Electrical(**{f: getattr(coil, f) for f in coil.__slots__} | {"max_current_rate": 30.0})
    order_of(actuator(of_motor={"electrical": limited}), rate, [0.0] * 3, 0.05)


# -- analytic truths ----------------------------------------------------------------------------------------------


def spring_alone(q, dt=DT, law=SPRING, **blocks):
    """The torque of a spring whose motor stands at 0, along a motion of the link."""
    return CompliantActuator(law, mode=Mode.SPRING_REFS, **blocks).simulate(np.asarray(q), None, 0.0, 0.0, dt)


def test_a_link_moves_freely_through_its_backlash_and_then_with_the_spring():
    ramp = np.linspace(0.0, 0.2, 20_000)
    traces = spring_alone(ramp, link_backlash=Backlash(width=0.1, damping=1e-4))
    free = ramp < 0.0499
    assert abs(traces.torque[free]).max() < 5e-4  # the time step: 40 N m/rad times the way of a step
    np.testing.assert_allclose(traces.torque[~free][50:], -40.0 * (ramp[~free][50:] - 0.05), rtol=1e-3, atol=1e-4)


def test_both_backlashes_of_a_chain_open_one_after_the_other_by_the_sum_of_their_widths():
    n = 60_000
    ramp = 0.2 * np.minimum(np.arange(n) / 50_000, 1.0)
    lock = DCMotor(inertia=1e9, backlash=Backlash(width=0.06, damping=1e-4))
    made = CompliantActuator(
        SPRING, mode=Mode.MOTOR_TORQUES, motor_1=lock, link_backlash=Backlash(width=0.1, damping=1e-4)
    )
    traces = made.simulate(ramp, None, 0.0, 0.0, DT)
    assert traces.torque[-1] == pytest.approx(-40.0 * (0.2 - 0.05 - 0.03), rel=1e-3)
    assert traces.link_offset[-1] == pytest.approx(0.05)
    assert traces.motor_1_offset[-1] == pytest.approx(-0.03)


def test_a_loop_of_hysteresis_dissipates_the_sum_of_its_elements():
    t = np.arange(40_000) / 20_000.0
    q = 0.12 * np.sin(2.0 * np.pi * t)
    traces = spring_alone(q, law=SEA(k=0.0), hysteresis=Hysteresis(torque=0.5, deflection=0.08))
    second = slice(20_000, 40_000)
    lost = -np.sum(0.5 * (traces.torque[second][1:] + traces.torque[second][:-1]) * np.diff(q[second]))
    k = 2.0 * 0.5 / (0.08 * 5)
    assert lost == pytest.approx(sum(4.0 * k * z * (0.12 - z) for z in (0.02, 0.04, 0.06, 0.08)), rel=1e-3)
    assert abs(traces.torque).max() == pytest.approx(0.5)


def test_minor_loops_of_hysteresis_close():
    # Down to 0.05 and up to 0.1 again, 20 times: the torque at the reversals stays.
    up, down = np.linspace(0.05, 0.1, 501)[1:], np.linspace(0.1, 0.05, 501)[1:]
    q = np.concatenate([np.linspace(0.0, 0.1, 1001), *(np.concatenate([down, up]) for _ in range(20))])
    traces = spring_alone(q, hysteresis=Hysteresis(torque=0.5, deflection=0.08))
    tops = traces.torque[1000::1000]
    np.testing.assert_allclose(tops, tops[0], atol=1e-12)


def test_a_loaded_spring_creeps_by_the_stiffness_that_relaxes():
    # A constant torque of the motor against a fixed link: K + k_c at once, K in the end, exponential between.
    load, k, soft, time = 3.0, 40.0, 20.0, 0.5
    made = CompliantActuator(
        SPRING, mode=Mode.MOTOR_TORQUES, creep=Creep(stiffness=soft, time=time),
        motor_1=DCMotor(friction=PreslidingFriction(torque=0.0), inertia=1e-4, damping=0.05),
    )  # fmt: skip
    traces = made.simulate(np.zeros(60_000), None, load, 0.0, 1e-4)
    theta = traces.motor_1_position
    retardation = time * (k + soft) / k
    for t in (0.3, 0.75, 2.0):
        expected = load / k - (load / k - load / (k + soft)) * math.exp(-t / retardation)
        assert theta[round(t / 1e-4)] == pytest.approx(expected, rel=2e-3)
    assert theta[-1] == pytest.approx(load / k, rel=1e-3)


def test_a_spring_yields_at_its_torque_and_keeps_the_deflection():
    q = np.concatenate([np.linspace(0.0, 0.2, 20_000), np.linspace(0.2, 0.0, 20_000)])
    traces = spring_alone(q, strength=Strength(yield_torque=4.0, flow_damping=1e-3))
    assert traces.torque.min() == pytest.approx(-4.0, rel=1e-3)
    assert traces.plastic_deflection[-1] == pytest.approx(0.1, rel=1e-3)
    assert traces.torque[-1] == pytest.approx(4.0, rel=1e-3)  # the set of 0.1 rad, back at 0: no flow the other way


def test_a_spring_breaks_at_its_torque_and_transmits_nothing_afterwards():
    q = np.linspace(0.0, 0.2, 2001)
    traces = spring_alone(q, strength=Strength(break_torque=4.0))
    at = int(np.argmax(traces.broken != 0.0))
    assert traces.broken[at] == pytest.approx(-4.0, rel=2e-3)
    assert q[at] == pytest.approx(0.1, rel=0.01)
    assert not traces.torque[at:].any()
    assert not traces.energy[at:].any()
    assert (traces.broken[at:] == traces.broken[at]).all()


def test_a_motor_with_a_stiff_gear_moves_as_one_of_both_inertias():
    stiff = DCMotor(inertia=0.02, gear=Gear(inertia=0.01, stiffness=1e5, damping=5.0), **SMOOTH)
    whole = DCMotor(inertia=0.03, **SMOOTH)
    t = 1e-4 * np.arange(10_000)
    runs = [
        CompliantActuator(SPRING, mode=4, motor_1=m).simulate(np.zeros(10_000), None, np.sin(9.0 * t), 0.0, 1e-4)
        for m in (stiff, whole)
    ]
    np.testing.assert_allclose(runs[0].motor_1_position, runs[1].motor_1_position, atol=2e-4)


def test_the_resonance_of_a_gear_is_that_of_two_masses():
    gear = Gear(inertia=0.01, stiffness=400.0, damping=0.0)
    made = CompliantActuator(SEA(k=0.0), mode=4, motor_1=DCMotor(inertia=0.02, damping=0.0, gear=gear, **SMOOTH))
    n = 40_000
    traces = made.simulate(np.zeros(n), None, np.where(np.arange(n) < 20, 1.0, 0.0), 0.0, 1e-5)
    slip = traces.motor_1_velocity - traces.motor_1_output_velocity
    crossings = np.flatnonzero((slip[:-1] < 0.0) & (slip[1:] >= 0.0))
    frequency = 2.0 * math.pi / (np.diff(crossings).mean() * 1e-5)
    assert frequency == pytest.approx(math.sqrt(400.0 * (1.0 / 0.02 + 1.0 / 0.01)), rel=1e-3)


def test_tendons_under_tension_have_twice_the_stiffness_until_one_is_slack():
    lock = DCMotor(inertia=1e9, tendon=Tendon(stiffness=100.0, damping=0.01, pretension=2.0))
    made = CompliantActuator(SEA(k=1e4, max_deflection=5.0), mode=4, motor_1=lock)
    n = 20_000
    q = np.linspace(0.0, 0.05, n)
    torque = made.simulate(q, None, 0.0, 0.0, DT).torque
    series = lambda k: 1.0 / (1.0 / k + 1e-4)  # noqa: E731
    slope = np.gradient(torque, q)
    assert slope[2000] == pytest.approx(-series(200.0), rel=0.01)
    assert slope[-500] == pytest.approx(-series(100.0), rel=0.01)


def test_a_lever_drive_takes_backlash_tendons_and_a_gear_in_its_units():
    n = 4000
    t = DT * np.arange(n)
    drive = LeverDrive(
        backlash=Backlash(width=1e-3, damping=50.0),
        tendon=Tendon(stiffness=2e5, damping=500.0),
        gear=Gear(inertia=0.5, stiffness=1e6, damping=100.0),
    )
    made = CompliantActuator(AwAS2(), mode=Mode.PID_EQ_PRESET, motor_2=drive, initial_preset=0.01)
    traces = made.simulate(0.1 * np.sin(5.0 * t), None, 0.0, 0.01, DT)
    assert abs(traces.motor_2_position[-1] - 0.01) < 1e-3
    assert abs(traces.motor_2_offset).max() <= 0.5e-3 + 1.2 * abs(traces.load_2).max() / 2e5


# -- at rest, and contradictions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [SPRING, QbMove()])
def test_an_actuator_with_all_blocks_starts_at_rest_where_its_link_is(law):
    of_motor = {"gear": Gear(), "backlash": Backlash(), "tendon": Tendon(pretension=1.0)}
    twice = {"motor_2": DCMotor(**of_motor)} if law.motors == 2 else {}
    made = CompliantActuator(
        law, mode=Mode.PID_EQ_PRESET, motor_1=DCMotor(**of_motor), link_backlash=Backlash(), hysteresis=Hysteresis(),
        creep=Creep(), strength=Strength(yield_torque=5.0, break_torque=9.0), **twice,
    )  # fmt: skip
    traces = made.simulate(np.full(500, 0.4), None, 0.4, 0.0, DT)
    assert abs(traces.torque).max() < 1e-12
    assert abs(traces.branch_torque).max() < 1e-12
    assert abs(traces.motor_1_position - 0.4).max() < 1e-12


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Tendon(pretension=1.0, slack=0.01), "contradicts slack"),
        (lambda: Strength(yield_torque=5.0, break_torque=4.0), "must be below break_torque"),
        (lambda: Backlash(width=-0.1), "width"),
        (lambda: Backlash(damping=0.0), "damping"),
        (lambda: Gear(inertia=0.0), "inertia"),
        (lambda: Creep(time=0.0), "time"),
        (lambda: Hysteresis(deflection=0.0), "deflection"),
        (lambda: Electrical(max_current_rate=0.0), "max_current_rate"),
    ],
)
def test_blocks_that_cannot_be_are_refused_with_what_would_be_valid(make, words):
    with pytest.raises(LawError, match=words):
        make()


def test_a_controller_holds_its_rotor_at_a_stop_before_an_elastic_gear():
    stopped = DCMotor(max_position=0.1, gear=Gear(), friction=PreslidingFriction(torque=0.0))
    made = CompliantActuator(SPRING, mode=Mode.PID_REFS, motor_1=stopped, pid_1=PID())
    traces = made.simulate(np.zeros(2000), None, 0.5, 0.0, DT)
    assert traces.motor_1_position.max() <= 0.1 + 1e-12
    assert traces.motor_1_position[-1] == pytest.approx(0.1)
    assert abs(traces.motor_1_output_velocity[-1]) < 1e-6


@pytest.mark.parametrize("beside", [-1e-9, 0.0, 1e-9])
def test_an_implicit_step_of_tendons_is_continuous_at_the_edge_of_their_slack(beside):
    actuator = CompliantActuator(Cable(), 4, motor_1=DCMotor(tendon=Tendon(slack=0.01, stiffness=500.0, damping=0.5)))
    h, stiffness, load = 1e-3, 10.0, 0.2
    par = actuator.pack(h)
    k = int(par[layout.A_TENDON_1])
    act, rate = np.zeros((2, k + 1))
    act[k] = 0.005 + beside
    advance_motor_end(par, 0, load, stiffness, h, act, rate)
    change = h * rate[k]
    force = 500.0 * (act[k] + change - 0.005)  # at the end of the step, which is taut
    assert 0.5 * rate[k] + stiffness * change + force == pytest.approx(load, rel=1e-9)
