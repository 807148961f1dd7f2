"""The seven modes follow the original toolbox over time: order of operations, saturation, stops, friction."""

import functools
import types

import numpy as np
import pytest
import reference
from law_cases import BUILT_IN, VARIANTS

from pliant.laws import (
    PID,
    AwAS2,
    CompliantActuator,
    DCMotor,
    LeverDrive,
    Mode,
    PreslidingFriction,
    friction_kernels,
    kernels,
    layout,
    motor_kernels,
    observation_kernels,
    reference_kernels,
    spring_kernels,
)

DT = 1e-3
N = 1500
MODES = list(range(7))
# The original drives the lever of AwAS-II by a rotary motor with undefined references: its modes 4 to 6 have no truth.
CASES = [(name, mode) for name in BUILT_IN for mode in MODES if not (name == "awas_ii" and mode >= 4)]


def motion(seed=0):
    """Return a smooth link motion and its velocity."""
    rng = np.random.default_rng(seed)
    t = np.arange(N) * DT
    a, w, f = rng.uniform(0.05, 0.3, 3), rng.uniform(2, 30, 3), rng.uniform(0, 6, 3)
    q = sum(x * np.sin(y * t + z) for x, y, z in zip(a, w, f))
    return q, sum(x * y * np.cos(y * t + z) for x, y, z in zip(a, w, f))


def references(mode, name, seed=0):
    """Return references that move, jump and (in mode 4) saturate."""
    rng = np.random.default_rng(seed + 10)
    t = np.arange(N) * DT
    steps = rng.uniform(-1, 1, (2, 6)).repeat(N // 6, axis=1)
    wave = np.array([np.sin(5 * t), np.cos(7 * t)])
    if mode in (0, 4):
        return 4.0 * steps + 4.0 * wave
    first = 0.6 * steps[0] + 0.3 * wave[0]
    if name == "awas_ii":
        return first, 0.02 + 0.015 * wave[1]
    if mode in (3, 6):
        return first, 0.25 + 0.2 * steps[1]
    return first, 0.6 * steps[1] + 0.3 * wave[1]


def both(name, mode, variant=0, motor=None, pid=None, link_pid=None):
    """Return pliant's actuator and the original's, with the same parameters."""
    law = VARIANTS[name][variant]
    count = len(law.parameter_fields())
    other = reference.Actuator(reference.LAWS[name](*map(float, law.parameters()[:count])), mode)
    motors = {}
    if motor:
        J, D, tau_max, low, high, friction = motor
        block = DCMotor(
            inertia=J,
            damping=D,
            max_torque=tau_max,
            min_position=low,
            max_position=high,
            friction=PreslidingFriction(torque=friction),
        )
        motors["motor_1"] = block
        other.motor_1, other.motor_2 = (reference.Motor(*motor) for _ in range(2))
        if law.motors == 2 and law.second_input == "angle":
            motors["motor_2"] = block
    if mode == 1:
        gains = link_pid or (0.8, 0.0, 0.2)
        motors["pid_1"] = PID(*gains)
        other.pid_1 = reference.Pid(*gains)
    elif pid:
        motors["pid_1"] = PID(*pid)
        other.pid_1, other.pid_2 = reference.Pid(*pid), reference.Pid(*pid)
        if law.motors == 2 and law.second_input == "angle":
            motors["pid_2"] = PID(*pid)
    return CompliantActuator(law, mode=mode, start="zero", **motors), other


def compare(mine, other, name, mode, seed=0):
    q, dq = motion(seed)
    r1, r2 = references(mode, name, seed)
    traces = mine.simulate(q, dq, r1, r2, DT)
    torque, states = other.run(q, dq, r1, r2, DT)
    error = np.abs(traces.torque - torque) / np.maximum(1.0, np.abs(torque))
    assert error.max() <= 1e-8, f"torque off by {error.max():.3g}"
    if mode < 4:
        return traces, torque, states
    # In mode 4 the trace has the motors that made the torque, which are those before the step.
    shift = 1 if mode == 4 else 0
    names = ("motor_1_position", "motor_1_velocity", "motor_2_position", "motor_2_velocity")
    for column, field in zip((0, 1, 3, 4), names):
        if mine.law.motors == 1 and "_2_" in field:
            continue
        found, expected = traces.values[field][shift:], states[: N - shift, column]
        assert np.abs(found - expected).max() <= 1e-9, field
    return traces, torque, states


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_a_mode_follows_the_original_with_the_default_parameters(name, mode):
    compare(*both(name, mode), name, mode)


@pytest.mark.parametrize(("name", "mode"), [c for c in CASES if c[0] != "bavs"])
def test_a_mode_follows_the_original_with_saturation_stops_friction_and_integral_action(name, mode):
    motor = (0.01, 0.05, 2.0, -0.4, 0.35, 0.5)
    mine, other = both(name, mode, -1, motor, (60.0, 40.0, 1.5), (5.0, 3.0, 0.3))
    traces, _, states = compare(mine, other, name, mode, seed=1)
    if mode >= 4:
        assert (states[:, 0] == 0.35).any(), "the upper stop was not reached"
        assert (states[:, 0] == -0.4).any(), "the lower stop was not reached"
        assert (np.abs(states[:, 2]) == 2.0).any(), "the motor was not saturated"
        assert traces.at_stop.any()


@pytest.mark.parametrize("mode", [4, 5, 6])
def test_the_effort_is_the_saturated_command_of_the_motor(mode):
    mine, other = both("qbmove", mode)
    q, dq = motion()
    r1, r2 = (9.0, -2.0) if mode == 4 else (0.5, 0.2)
    traces = mine.simulate(q, dq, r1, r2, DT)
    _, states = other.run(q, dq, np.full(N, r1), np.full(N, r2), DT)
    # A trace of modes 5 and 6 looks at the state after the step: its effort is that of the step to come.
    shift = 0 if mode == 4 else 1
    for field, column in (("motor_1_effort", 2), ("motor_2_effort", 5)):
        np.testing.assert_allclose(traces.values[field][: N - shift], states[shift:, column], rtol=0, atol=1e-9)
    assert np.abs(traces.motor_1_effort).max() == 6.0


@pytest.mark.parametrize("mode", [2, 3])
def test_ideal_motors_make_the_torque_of_the_law_itself(mode):
    law = VARIANTS["qbmove"][1]
    q, dq = motion()
    r1, r2 = references(mode, "qbmove")
    traces = CompliantActuator(law, mode=mode).simulate(q, dq, r1, r2, DT)
    values = law.evaluate(q, r1, r2) if mode == 2 else law.evaluate(q, r1 + r2, r1 - r2)
    np.testing.assert_array_equal(traces.torque, values.torque)
    np.testing.assert_array_equal(traces.stiffness, values.stiffness)
    np.testing.assert_array_equal(traces.load_1, values.load_1)
    np.testing.assert_array_equal(traces.load_2, values.load_2)
    np.testing.assert_array_equal(traces.energy, values.energy)


@pytest.mark.parametrize("mode", [0, 1])
def test_modes_without_a_spring_report_no_spring(mode):
    q, dq = motion()
    traces = CompliantActuator(VARIANTS["qbmove"][0], mode=mode).simulate(q, dq, 0.3, 0.0, DT)
    assert np.isnan(traces.stiffness).all()
    assert np.isnan(traces.load_1).all()
    np.testing.assert_array_equal(traces.values["torque"], traces.torque)


def python_simulate(law_class):
    """Return `kernels.simulate` as plain Python, with the kernels of one law bound to its names."""
    names: dict = {}
    modules = (kernels, friction_kernels, motor_kernels, observation_kernels, reference_kernels, spring_kernels)
    for module in modules:
        names |= vars(module)
    for kernel in ("torques", "stiffness", "reported_stiffness", "energy", "references"):
        names[f"law_{kernel}"] = getattr(law_class, kernel)
    for name, value in list(names.items()):
        if isinstance(value, types.FunctionType) and value.__module__ in {m.__name__ for m in modules}:
            names[name] = types.FunctionType(value.__code__, names, name, value.__defaults__)
    step = tuple(names[name] for name in ("advance", "link_torque", "observe", "show"))
    return functools.partial(names["simulate"], step)


@pytest.mark.parametrize("name", [*BUILT_IN, "test_energy_qbmove", "test_hardening"])
@pytest.mark.parametrize("mode", [1, 4, 6])
def test_the_compiled_step_equals_the_python_step(name, mode):
    law = VARIANTS[name][0]
    actuator = CompliantActuator(law, mode=mode, link_friction=PreslidingFriction(0.03), command_delay=3e-3)
    n = 150
    q, dq = (x[:n].copy() for x in motion(2))
    r1, r2 = (np.array(x[:n]) for x in references(mode, "awas_ii" if law.second_input == "lever" else name, 2))
    compiled = actuator.simulate(q, dq, r1, r2, DT)
    par = actuator.pack(DT)
    states = int(par[layout.P_STATES])
    act = np.zeros(2 * states + 1)
    act[:states] = actuator.hold(float(q[0]), DT)[0]
    torque, trace = np.zeros(n), np.zeros((n, layout.OBSERVATIONS))
    python_simulate(type(law))(par, q, dq, r1, r2, DT, act, np.empty(0), torque, trace)
    np.testing.assert_allclose(torque, compiled.torque, rtol=1e-12, atol=1e-13)
    for field, column in layout.OUT.items():
        np.testing.assert_allclose(trace[:, column], compiled.values[field], rtol=1e-11, atol=1e-12, err_msg=field)


# -- rest ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("name", [*BUILT_IN, "test_energy_awas", "test_hardening"])
@pytest.mark.parametrize("delay", [0.0, 4e-3])
def test_an_actuator_at_rest_stays_at_rest_in_every_mode(name, mode, delay):
    law = VARIANTS[name][0]
    actuator = CompliantActuator(law, mode=mode, command_delay=delay, link_friction=PreslidingFriction(0.02))
    angle = 0.7
    state, refs = actuator.hold(angle, DT)
    assert state.shape == (actuator.states(DT),)
    traces = actuator.simulate(np.full(200, angle), np.zeros(200), *refs, DT)
    np.testing.assert_allclose(traces.torque, 0.0, atol=1e-9)
    if not mode.has_motors:
        return
    # The preloaded springs of BAVS push its motors apart: by the droop of the servo, or freely without one.
    preload = law.evaluate(0.0, *law.map_references(0.0, actuator.initial_preset)).load_1
    if mode == Mode.MOTOR_TORQUES and preload:
        assert name == "bavs"
        return
    assert abs(traces.motor_1_position[-1] - angle) <= preload / 125.0 + 1e-9
    if not preload:
        assert np.abs(traces.motor_1_velocity).max() <= 1e-9


@pytest.mark.parametrize("mode", [5, 6])
def test_holding_with_a_preset_leaves_only_the_droop_of_the_servo(mode):
    actuator = CompliantActuator(VARIANTS["qbmove"][0], mode=mode, initial_preset=0.4)
    _, refs = actuator.hold(-0.3, DT)
    traces = actuator.simulate(np.full(3000, -0.3), np.zeros(3000), *refs, DT)
    load = 0.0019 * np.sinh(8.9992 * 0.4)
    assert refs == pytest.approx((0.1, -0.7) if mode == 5 else (-0.3, 0.4))
    assert np.abs(traces.torque).max() <= 1e-9
    assert abs(traces.preset[-1] - 0.4) <= load / 125.0


def test_a_start_at_zero_kicks_as_the_original_does():
    at_pose, at_zero = (CompliantActuator(VARIANTS["sea"][0], mode=6, start=s) for s in ("pose", "zero"))
    q = np.full(10, 0.5)
    assert np.abs(at_pose.simulate(q, 0 * q, 0.5, 0.0, DT).torque).max() <= 1e-12
    assert at_zero.simulate(q, 0 * q, 0.5, 0.0, DT).torque[0] == pytest.approx(-5.0, abs=0.2)


# -- the lever -----------------------------------------------------------------------------------------------


def lever(mode, **options):
    return CompliantActuator(AwAS2(), mode=mode, **options)


@pytest.mark.parametrize("mode", [5, 6])
def test_the_lever_follows_its_reference_under_load(mode):
    t = np.arange(3000) * DT
    sigma = np.where(t < 0.5, 0.01, 0.02)
    traces = lever(mode).simulate(np.full(t.size, 0.2), np.zeros(t.size), 0.05, sigma, DT)
    droop = (traces.load_2[-1] + 5.0) / 2.0e4
    assert traces.load_2[-1] > 0.0
    assert abs(traces.motor_2_position[-1] - 0.02) <= droop + 1e-12
    assert traces.preset[-1] == traces.motor_2_position[-1]
    assert traces.stiffness[-1] == pytest.approx(
        AwAS2().evaluate(0.2, traces.motor_1_position[-1], traces.motor_2_position[-1]).stiffness, rel=1e-12
    )


def test_a_free_lever_is_driven_to_the_soft_end_and_stops_there():
    drive = LeverDrive(friction=PreslidingFriction(torque=0.0, stiffness=1e6), damping=20.0)
    actuator = lever(4, motor_2=drive, initial_preset=0.03)
    n = 4000
    traces = actuator.simulate(np.full(n, 0.25), np.zeros(n), 0.0, 0.0, DT, state=actuator.hold(0.0, DT)[0])
    assert traces.motor_2_position.min() >= 0.0
    assert np.diff(traces.motor_2_position).max() <= 1e-12
    assert traces.motor_2_position[-1] < 2e-3


@pytest.mark.parametrize("force", [2000.0, -2000.0])
def test_the_lever_does_not_pass_its_stops(force):
    n = 1000
    traces = lever(4).simulate(np.full(n, 0.1), np.zeros(n), 0.0, force, DT)
    top = 0.9 * AwAS2().L
    assert traces.motor_2_position.max() <= top
    assert traces.motor_2_position.min() >= 0.0
    assert traces.motor_2_position[-1] == (top if force > 0 else 0.0)
    assert traces.at_stop[-1] == 1.0
    assert np.isfinite(traces.torque).all()


@pytest.mark.parametrize("mode", [Mode.LINK_PID, Mode.SPRING_EQ_PRESET, Mode.PID_EQ_PRESET])
@pytest.mark.parametrize("name", BUILT_IN)
def test_a_mirrored_motion_and_equilibrium_give_the_mirrored_torque(name, mode):
    law = VARIANTS[name][0]
    pid = PID(kp=1.2, ki=4.0, kd=0.1)
    more = {"pid_2": pid} if law.second_input == "angle" and mode == Mode.PID_EQ_PRESET else {}  # the motors swap roles
    actuator = CompliantActuator(law, mode=mode, start="zero", pid_1=pid, **more)
    q, dq = motion()
    r1 = 0.4 * np.sin(3.0 * np.arange(N) * DT) + 0.2
    preset = {"none": 0.0, "lever": 0.02}.get(law.second_input, 0.1)
    one, other = (actuator.simulate(sign * q, sign * dq, sign * r1, preset, DT) for sign in (1.0, -1.0))
    assert np.ptp(one.torque) > 1e-3
    np.testing.assert_allclose(other.torque, -one.torque, atol=1e-9 * np.abs(one.torque).max())
    np.testing.assert_allclose(other.values["energy"], one.values["energy"], atol=1e-9)
