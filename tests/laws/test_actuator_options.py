"""What pliant adds to the original, each option against its analytic truth; all of them are off by default."""

import dataclasses
import math

import numpy as np
import pytest
from law_cases import Hardening

from pliant.laws import BAVS, PID, SEA, AwAS2, CompliantActuator, DCMotor, Electrical, PreslidingFriction, QbMove

pytestmark = pytest.mark.quick

DT = 1e-3
FREE = SEA(k=0.0)
"""A spring of no stiffness: the motor runs free."""
NO_FRICTION = PreslidingFriction(torque=0.0)


def run(actuator, n, ref_1, ref_2=0.0, dt=DT, q=0.0, **more):
    q = np.broadcast_to(np.asarray(q, dtype=float), (n,)).copy()
    return actuator.simulate(q, np.zeros(n) if q.std() == 0 else None, ref_1, ref_2, dt, **more)


def motor_alone(motor, u, n, dt=DT):
    return run(CompliantActuator(FREE, mode=4, motor_1=motor), n, u, dt=dt)


def test_no_option_is_on_by_default():
    motor, pid, actuator = DCMotor(), PID(), CompliantActuator(QbMove())
    assert (motor.limit_velocity, motor.torque_speed, motor.preset_damping) == (False, False, 0.0)
    assert motor.electrical is None
    assert (pid.anti_windup, pid.velocity_feedforward) == (False, False)
    assert math.isinf(pid.integral_limit)
    assert motor.friction.load_coefficient == motor.friction.preset_coefficient == 0.0
    assert actuator.link_friction is None
    assert actuator.command_delay == actuator.command_resolution == actuator.link_damping == 0.0
    assert actuator.law.clip == "flat"


# -- the motor -----------------------------------------------------------------------------------------------


def test_a_motor_reaches_its_no_load_speed_with_its_mechanical_time_constant():
    traces = motor_alone(DCMotor(), 6.0, 2000)
    speed = (6.0 - 0.02) / 0.2698
    assert traces.motor_1_velocity[-1] == pytest.approx(speed, rel=1e-6)
    assert speed == pytest.approx(22.2, abs=0.05)
    after = round(0.0233 / 0.2698 / DT)
    assert traces.motor_1_velocity[after] == pytest.approx(speed * (1 - math.exp(-1)), rel=0.02)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_speed_limit_holds_in_both_directions_when_asked_for(sign):
    free = motor_alone(DCMotor(), sign * 6.0, 500)
    held = motor_alone(DCMotor(limit_velocity=True), sign * 6.0, 500)
    assert abs(free.motor_1_velocity).max() > 20.0
    assert abs(held.motor_1_velocity).max() == 6.0
    np.testing.assert_allclose(np.diff(held.motor_1_position)[-100:], sign * 6.0 * DT, rtol=1e-9)


def test_the_torque_speed_line_gives_the_speed_where_it_meets_the_losses():
    motor = DCMotor(torque_speed=True, friction=NO_FRICTION)
    traces = motor_alone(motor, 100.0, 2000)
    # 6 (1 - w/6) = D w
    assert traces.motor_1_velocity[-1] == pytest.approx(6.0 / (1.0 + 0.2698), rel=1e-9)
    assert traces.motor_1_effort[-1] == pytest.approx(6.0 * (1.0 - traces.motor_1_velocity[-1] / 6.0), rel=1e-9)


def test_the_torque_speed_line_leaves_braking_alone():
    motor = DCMotor(torque_speed=True, friction=NO_FRICTION, damping=0.0)
    (_, velocity, _), effort = motor.step((0.0, 5.0, 0.0), -6.0, 0.0, DT)
    assert effort == -6.0
    assert velocity == pytest.approx(5.0 - 6.0 / 0.0233 * DT)
    assert motor.step((0.0, 5.0, 0.0), 6.0, 0.0, DT)[1] == pytest.approx(1.0)
    assert motor.step((0.0, 9.0, 0.0), 6.0, 0.0, DT)[1] == 0.0


def test_a_motor_stops_dead_at_its_stops():
    motor = DCMotor(min_position=-0.2, max_position=0.3)
    for u, stop in ((6.0, 0.3), (-6.0, -0.2)):
        traces = motor_alone(motor, u, 400)
        assert traces.motor_1_position[-1] == stop
        assert traces.motor_1_velocity[-1] == 0.0
        assert traces.at_stop[-1] == 1.0
        assert traces.at_stop[0] == 0.0
        assert traces.motor_1_effort[-1] == u  # the command, where the original reports NaN


def test_preset_damping_slows_the_motor_in_proportion_to_the_preset():
    motor = DCMotor(friction=NO_FRICTION, preset_damping=2.0, damping=0.1)
    law = QbMove(k1=0.0, k2=0.0)
    # A preset of theta_sr = 0.5 at the start, both motors turning together, so that it stays.
    actuator = CompliantActuator(law, mode=4, motor_1=motor, motor_2=motor, initial_preset=0.5)
    traces = run(actuator, 1000, 0.5, 0.5)
    np.testing.assert_allclose(traces.preset, 0.5, atol=1e-9)
    assert traces.motor_1_velocity[-1] == pytest.approx(0.5 / (0.1 + 2.0 * 0.5), rel=1e-6)


# -- the electrical part -------------------------------------------------------------------------------------


def test_a_voltage_driven_motor_reaches_the_analytic_speed():
    e = Electrical(resistance=2.3, inductance=0.0, torque_constant=0.8, back_emf_constant=0.3, supply_voltage=12.0)
    traces = motor_alone(DCMotor(max_torque=100.0, electrical=e), 100.0, 4000)
    speed = (0.8 * 12.0 / 2.3 - 0.02) / (0.2698 + 0.8 * 0.3 / 2.3)
    assert traces.motor_1_velocity[-1] == pytest.approx(speed, rel=1e-9)
    current = (12.0 - 0.3 * speed) / 2.3
    assert traces.motor_1_effort[-1] == pytest.approx(0.8 * current, rel=1e-9)
    assert traces.copper_power[-1] == pytest.approx(2.3 * current**2, rel=1e-9)


@pytest.mark.parametrize("inductance", [0.05, 0.5])
def test_a_blocked_motors_current_rises_with_the_time_constant_of_the_winding(inductance):
    e = Electrical(resistance=2.0, inductance=inductance, torque_constant=0.5, back_emf_constant=0.3)
    blocked = DCMotor(inertia=1e9, electrical=e)
    dt = inductance / 2.0 / 2000.0
    n = 8000
    traces = motor_alone(blocked, 3.0, n, dt=dt)
    t = np.arange(1, n + 1) * dt
    expected = 3.0 * (1.0 - np.exp(-t * 2.0 / inductance))
    np.testing.assert_allclose(traces.motor_1_effort, expected, atol=2e-3)


def test_a_stiff_winding_is_stable_at_any_step():
    e = Electrical(inductance=1e-6)
    traces = motor_alone(DCMotor(electrical=e), 2.0, 200)
    quasi = motor_alone(DCMotor(electrical=Electrical(inductance=0.0)), 2.0, 200)
    np.testing.assert_allclose(traces.motor_1_velocity, quasi.motor_1_velocity, rtol=1e-3, atol=1e-3)


# -- the controller ------------------------------------------------------------------------------------------


def ramp_lag(feedforward):
    pid = PID(velocity_feedforward=feedforward)
    motor = DCMotor(friction=NO_FRICTION)
    actuator = CompliantActuator(FREE, mode=5, motor_1=motor, pid_1=pid)
    t = np.arange(3000) * DT
    traces = run(actuator, t.size, 0.5 * t)
    # The trace holds the motor after each step; the controller saw it before.
    return (0.5 * t[-1] - traces.motor_1_position[-2]) / 0.5


def test_the_servo_lags_38_ms_and_feed_forward_takes_the_controllers_part_away():
    assert ramp_lag(False) == pytest.approx((4.5 + 0.2698) / 125.0, abs=2e-4)
    assert ramp_lag(False) == pytest.approx(0.0382, abs=2e-4)
    assert ramp_lag(True) == pytest.approx(0.2698 / 125.0, abs=2e-4)


def test_the_effort_that_is_shown_has_the_feed_forward_that_was_applied():
    motor = DCMotor(friction=NO_FRICTION)
    actuator = CompliantActuator(FREE, mode=5, motor_1=motor, pid_1=PID(velocity_feedforward=True), start="zero")
    t = np.arange(400) * DT
    traces = run(actuator, t.size, np.where(t < 0.3, 0.1 * np.sin(8.0 * t), 0.1 * np.sin(2.4)))
    speed = np.concatenate([[0.0], traces.motor_1_velocity])
    applied = motor.inertia * np.diff(speed) / DT + motor.damping * speed[:-1]  # the spring has no stiffness
    assert np.abs(applied).max() > 2.0
    # The sample has the output at the motor after the step, which is kp v h + kd v' h less.
    np.testing.assert_allclose(
        traces.motor_1_effort, applied - 125.0 * DT * speed[1:] - 4.5 * np.diff(speed), rtol=0, atol=1e-9
    )


def test_the_sine_of_the_paper_is_followed_with_17_milliradians_rms():
    t = np.arange(20_000) * DT
    actuator = CompliantActuator(FREE, mode=5, motor_1=DCMotor(friction=NO_FRICTION))
    traces = run(actuator, t.size, 0.8 * np.sin(0.8 * t))
    error = (traces.motor_1_position[:-1] - 0.8 * np.sin(0.8 * t[1:]))[-15708:]  # two whole periods
    assert np.sqrt(np.mean(error**2)) == pytest.approx(0.0173, abs=2e-4)


def test_droop_is_the_load_over_the_gain():
    traces = run(CompliantActuator(SEA(k=100.0), mode=5, motor_1=DCMotor(friction=NO_FRICTION)), 4000, 0.1, q=0.0)
    load = 100.0 * traces.motor_1_position[-1]
    assert 0.1 - traces.motor_1_position[-1] == pytest.approx(load / 125.0, rel=1e-9)


def test_anti_windup_takes_the_overshoot_away():
    def overshoot(**options):
        actuator = CompliantActuator(FREE, mode=5, motor_1=DCMotor(max_torque=1.0), pid_1=PID(ki=400.0, **options))
        return run(actuator, 3000, 1.0).motor_1_position.max() - 1.0

    plain, guarded, limited = overshoot(), overshoot(anti_windup=True), overshoot(integral_limit=2.0)
    assert plain > 0.3
    assert guarded < 0.35 * plain
    assert limited < plain


def test_the_integral_limit_bounds_the_integral_exactly():
    pid = PID(kp=0.0, ki=10.0, kd=0.0, integral_limit=0.7)
    integral = 0.0
    for _ in range(1000):
        integral, out = pid.step(integral, 1.0, 0.0, 0.0, DT)
    assert integral == out == 0.7


def test_feed_forward_works_on_the_link_controller_too():
    q = 0.3 * np.sin(4 * np.arange(500) * DT)
    actuator = CompliantActuator(SEA(), mode=1, pid_1=PID(kp=2.0, kd=0.5, velocity_feedforward=True))
    ref = 0.2 * np.sin(6 * np.arange(500) * DT)
    traces = actuator.simulate(q, np.gradient(q, DT), ref, 0.0, DT, state=[0.0, ref[0], 0.0, 0.0])
    rate = np.diff(ref, prepend=ref[0]) / DT
    np.testing.assert_allclose(traces.torque, 2.0 * (ref - q) + 0.5 * (rate - np.gradient(q, DT)), atol=1e-12)


# -- the bus -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [1e-3, 5e-4, 1e-5, 2e-5, 1 / 3000, 4.1e-4, 1 / 49])
@pytest.mark.parametrize("steps", [1, 2, 7])
@pytest.mark.parametrize("mode", [0, 3])
def test_a_command_arrives_after_exactly_the_steps_of_its_delay(dt, steps, mode):
    law = SEA(k=10.0, max_deflection=5.0)
    actuator = CompliantActuator(law, mode=mode, command_delay=steps * dt)
    assert actuator.delay_steps(dt) == steps
    n = 60
    ref = np.cumsum(np.ones(n)) / n
    traces = run(actuator, n, ref, dt=dt)
    late = np.concatenate([np.zeros(steps), ref[:-steps]])
    np.testing.assert_allclose(traces.torque, late if mode == 0 else 10.0 * late, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(traces.values["torque"], traces.torque, rtol=1e-12, atol=1e-12)


def test_both_references_are_delayed_alike():
    t = np.arange(100) * DT
    r1, r2 = np.sin(20 * t), 0.3 + 0.2 * np.cos(30 * t)
    late = CompliantActuator(QbMove(), mode=3, command_delay=5e-3, initial_preset=0.3)
    prompt = CompliantActuator(QbMove(), mode=3)
    found = run(late, 100, r1, r2).torque
    np.testing.assert_allclose(found[5:], run(prompt, 100, r1, r2).torque[:-5], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[:5], 0.0, atol=1e-12)


def test_references_are_rounded_to_the_quantum_of_the_bus():
    quantum = 1.9175e-4
    ref = np.linspace(-0.01, 0.01, 801)
    actuator = CompliantActuator(SEA(k=1.0), mode=2, command_resolution=quantum)
    steps = run(actuator, ref.size, ref).torque / quantum
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)
    np.testing.assert_allclose(steps * quantum, ref, atol=0.5 * quantum * (1 + 1e-9))
    assert np.unique(np.round(steps)).size == 105


def test_torque_commands_and_lever_references_are_not_quantised():
    torque = run(CompliantActuator(QbMove(), mode=0, command_resolution=0.1), 3, [0.03, 0.04, 0.12]).torque
    np.testing.assert_array_equal(torque, [0.03, 0.04, 0.12])
    fine = CompliantActuator(AwAS2(), mode=3, command_resolution=0.01)
    np.testing.assert_allclose(run(fine, 2, 0.1, [0.0103, 0.0147]).values["preset"], [0.0103, 0.0147])


# -- friction ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_presliding_friction_is_passive_on_any_path(seed):
    rng = np.random.default_rng(seed)
    friction = PreslidingFriction(torque=0.3, stiffness=50.0, load_coefficient=0.1)
    x = np.cumsum(rng.normal(0.0, 0.004, 5000))
    anchor, work = x[0], 0.0
    force = 0.0
    for a, b, load in zip(x[:-1], x[1:], rng.uniform(-2, 2, x.size)):
        stored = 0.5 * force**2 / friction.stiffness
        anchor, force = friction.step(b, anchor, load)
        assert force * (b - a) >= 0.5 * force**2 / friction.stiffness - stored - 1e-15
        assert abs(force) <= 0.3 + 0.1 * abs(load) + 1e-12
        work += force * (b - a)
    assert work > 0.0


def test_presliding_friction_does_not_depend_on_the_rate():
    friction = PreslidingFriction(torque=0.3, stiffness=50.0)
    path = 0.05 * np.sin(np.linspace(0, 9, 400))

    def forces(points):
        anchor, out = 0.0, []
        for x in points:
            anchor, f = friction.step(x, anchor)
            out.append(f)
        return np.array(out)

    np.testing.assert_allclose(forces(np.repeat(path, 3))[2::3], forces(path), atol=1e-12)


def test_presliding_friction_is_a_spring_until_it_slides():
    friction = PreslidingFriction()
    assert friction.step(1.9e-5, 0.0) == (0.0, pytest.approx(0.019))
    anchor, force = friction.step(1.0, 0.0)
    assert (anchor, force) == (pytest.approx(1.0 - 2e-5, abs=1e-15), pytest.approx(0.02, rel=1e-9))
    back = friction.step(1.0 - 4e-5, anchor)[1]
    assert back == pytest.approx(-0.02, rel=1e-9)  # the presliding travel is 2 z_max


def loop_width(actuator, amplitude=0.3, **more):
    """Return half the height of the torque loop at the centre of a slow motion of the link."""
    n = 4000
    q = amplitude * np.sin(np.linspace(0, 4 * np.pi, n))
    traces = actuator.simulate(q, np.zeros(n), 0.0, more.get("preset", 0.0), DT)
    second = slice(n // 2, n)
    values, angle = traces.torque[second], q[second]
    rising = np.gradient(angle) > 0
    down = values[~rising][np.argmin(np.abs(angle[~rising]))]
    return 0.5 * (down - values[rising][np.argmin(np.abs(angle[rising]))])


def test_link_friction_opens_a_loop_of_its_own_level():
    actuator = CompliantActuator(SEA(), mode=3, link_friction=PreslidingFriction(torque=0.4))
    assert loop_width(actuator) == pytest.approx(0.4, rel=0.05)
    assert loop_width(CompliantActuator(SEA(), mode=3)) == pytest.approx(0.0, abs=0.05)


def test_link_friction_grows_with_load_and_preset():
    link = PreslidingFriction(torque=0.01, preset_coefficient=0.5)
    actuator = CompliantActuator(QbMove(), mode=3, link_friction=link)
    # Two angles between samples of the trace blur the loop by the spring's own slope over them: 3e-3.
    assert loop_width(actuator, preset=0.2) == pytest.approx(0.01 + 0.5 * 0.2, abs=3e-3)
    link = PreslidingFriction(torque=0.02, load_coefficient=0.1)
    traces = CompliantActuator(SEA(), mode=3, link_friction=link).simulate(
        np.linspace(0.0, 0.5, 2000), np.zeros(2000), 0.0, 0.0, DT
    )
    np.testing.assert_allclose(
        traces.link_friction_torque[1000:], 0.02 + 0.1 * np.abs(traces.elastic_torque[1000:]), rtol=1e-9
    )


def test_motor_friction_grows_with_the_load():
    friction = PreslidingFriction(torque=0.1, load_coefficient=0.2)
    actuator = CompliantActuator(BAVS(), mode=6, motor_1=DCMotor(friction=friction))
    n = 3000
    traces = run(actuator, n, np.linspace(0, 0.2, n), 0.1)
    moving = slice(1500, n - 1)
    expected = 0.1 + 0.2 * np.abs(traces.load_1[moving])
    np.testing.assert_allclose(traces.motor_1_friction[moving], expected, rtol=1e-3)


def test_link_damping_opposes_the_velocity_and_grows_with_the_preset():
    actuator = CompliantActuator(QbMove(k1=0.0, k2=0.0), mode=3, link_damping=0.1, link_preset_damping=0.5)
    dq = np.array([2.0, -1.0])
    traces = actuator.simulate(np.zeros(2), dq, 0.0, 0.4, DT)
    np.testing.assert_allclose(traces.torque, -(0.1 + 0.5 * 0.4) * dq, rtol=1e-12)
    np.testing.assert_allclose(traces.link_loss_power, (0.1 + 0.5 * 0.4) * dq**2, rtol=1e-12)


def test_options_work_on_a_law_that_has_an_energy_alone():
    actuator = CompliantActuator(
        Hardening(),
        mode=6,
        motor_1=DCMotor(electrical=Electrical(inductance=0.01), limit_velocity=True),
        pid_1=PID(ki=10.0, anti_windup=True, velocity_feedforward=True),
        link_friction=PreslidingFriction(torque=0.01),
        command_delay=3e-3,
    )
    traces = run(actuator, 2000, 0.5)
    assert traces.motor_1_position[-1] == pytest.approx(0.5, abs=0.05)
    assert np.isfinite(traces.torque).all()
    assert len(dataclasses.fields(actuator)) > 10


# -- simulate's own arguments --------------------------------------------------------------------------------


def test_the_velocity_is_differentiated_where_it_is_not_given():
    q = np.sin(np.arange(50) * DT)
    actuator = CompliantActuator(SEA(), mode=1)
    np.testing.assert_array_equal(
        actuator.simulate(q, None, 0.1, 0.0, DT).torque, actuator.simulate(q, np.gradient(q, DT), 0.1, 0.0, DT).torque
    )


def test_traces_have_one_entry_a_sample_and_name_their_fields():
    traces = CompliantActuator(QbMove()).simulate(np.zeros(7), None, 0.0, 0.0, 0.01)
    np.testing.assert_allclose(traces.time, np.arange(7) * 0.01)
    assert all(v.shape == (7,) for v in traces.values.values())
    with pytest.raises(AttributeError, match="no_such_field"):
        _ = traces.no_such_field


def test_a_run_may_be_continued_from_a_state():
    actuator = CompliantActuator(QbMove(), mode=6, command_delay=2e-3, link_friction=PreslidingFriction())
    state, _ = actuator.hold(0.0, DT)
    first = actuator.simulate(np.zeros(20), None, 0.3, 0.1, DT, state=state)
    again = actuator.simulate(np.zeros(20), None, 0.3, 0.1, DT)
    np.testing.assert_array_equal(first.torque, again.torque)
    np.testing.assert_array_equal(state, actuator.hold(0.0, DT)[0])  # the given state is not written to
