"""The engine computes what `CompliantActuator.simulate` and the restated original compute, in every mode."""

import numpy as np
import pytest
import reference
from benches import INERTIA, bench, drive, gravity_torque, smooth_references
from law_cases import BUILT_IN, VARIANTS, Hardening

from pliant.engine import MujocoEngine
from pliant.laws import PID, SEA, AwAS2, CompliantActuator, DCMotor, Electrical, PreslidingFriction, QbMove

DT = 1e-3
N = 600
T = np.arange(N) * DT
MODES = list(range(7))
WITH_TRUTH = [(name, mode) for name in BUILT_IN for mode in MODES if not (name == "awas_ii" and mode >= 4)]

RICH = {
    "link_friction": PreslidingFriction(torque=0.03, load_coefficient=0.05),
    "link_damping": 0.01,
    "link_preset_damping": 0.02,
    "command_delay": 3e-3,
    "command_resolution": 1.9175e-4,
    "motor_1": DCMotor(electrical=Electrical(inductance=0.01), torque_speed=True, min_position=-0.2, max_position=0.25),
    "pid_1": PID(ki=20.0, anti_windup=True, velocity_feedforward=True),
}


def recorded_motion():
    return 0.3 * np.sin(9 * T) + 0.1 * np.sin(31 * T), 2.7 * np.cos(9 * T) + 3.1 * np.cos(31 * T)


def play_back(engine, q, dq, r1, r2):
    """Move the joint as recorded; return the actuator's torque of each step and its state after it."""
    position, velocity = engine.port("joint/position"), engine.port("joint/velocity")
    ref_1 = engine.port("joint/reference_1")
    ref_2 = engine.port("joint/reference_2") if "joint/reference_2" in engine.ports() else np.zeros(1)
    torque, states = np.empty(len(q)), []
    for i in range(len(q)):
        position[0], velocity[0], ref_1[0], ref_2[0] = q[i], dq[i], r1[i], r2[i]
        engine.step()
        torque[i] = engine.data.actuator_force[0]
        states.append(engine.data.act.copy())
    return torque, np.array(states)


@pytest.mark.parametrize("options", [{}, RICH], ids=["plain", "every-option"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [*BUILT_IN, "test_energy_qbmove", "test_energy_awas", "test_hardening"])
def test_along_a_recorded_motion_the_engine_equals_simulate(name, mode, options):
    law = VARIANTS[name][0]
    actuator = CompliantActuator(law, mode=mode, start="zero", **options)
    q, dq = recorded_motion()
    r1, r2 = smooth_references(law, mode, T)
    expected = actuator.simulate(q, dq, r1, r2, DT, state=actuator.hold(0.0, DT)[0])
    torque, states = play_back(MujocoEngine(bench(actuator), check=False), q, dq, r1, r2)
    np.testing.assert_allclose(torque, expected.torque, rtol=1e-12, atol=1e-12)
    if mode >= 5:
        np.testing.assert_allclose(states[:, 0], expected.motor_1_position, rtol=0, atol=1e-12)
        np.testing.assert_allclose(states[:, 1], expected.motor_1_velocity, rtol=0, atol=1e-10)


@pytest.mark.parametrize("integrator", ["implicitfast", "Euler"])
@pytest.mark.parametrize(("name", "mode"), WITH_TRUTH)
def test_a_free_joint_moves_as_with_the_original_in_a_semi_implicit_loop(name, mode, integrator):
    law = VARIANTS[name][0]
    count = len(law.parameter_fields())
    original = reference.Actuator(reference.LAWS[name](*map(float, law.parameters()[:count])), mode)
    if mode == 1:
        original.pid_1 = reference.Pid(0.8, 0.0, 0.2)
    r1, r2 = smooth_references(law, mode, T)
    q, dq, _ = reference.free_joint(original, INERTIA, 0.065, gravity_torque, 0.0, r1, r2, DT, external=0.02)
    robot = bench(CompliantActuator(law, mode=mode, start="zero"), integrator=integrator)
    engine = MujocoEngine(robot, check=False)
    engine.port("joint/external_torque")[0] = 0.02
    found = drive(engine, "joint", r1, r2, ["joint/position", "joint/velocity"])
    assert np.abs(q).max() > 0.05
    np.testing.assert_allclose(found[0], q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[1], dq, rtol=0, atol=1e-7)
    if mode >= 4:
        assert engine.port("joint/motor_1_position")[0] == pytest.approx(original.motor_1.pos, abs=1e-9)


def test_the_state_that_is_published_is_that_of_the_end_of_the_step():
    actuator = CompliantActuator(QbMove(), mode=6, initial_preset=0.2)
    engine = MujocoEngine(bench(actuator))
    drive(engine, "joint", 0.3 + 0 * T[:100], 0.2 + 0 * T[:100])
    q, theta = engine.port("joint/position")[0], engine.data.act
    values = QbMove().evaluate(q, theta[0], theta[4])
    for field in ("torque", "load_1", "load_2", "stiffness", "energy"):
        assert engine.port(f"joint/{field}")[0] == pytest.approx(getattr(values, field), rel=1e-12)
    assert engine.port("joint/equilibrium")[0] == 0.5 * (theta[0] + theta[4])
    assert engine.port("joint/preset")[0] == 0.5 * (theta[0] - theta[4])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [*BUILT_IN, "test_hardening"])
def test_a_robot_without_load_holds_its_pose_until_the_first_command(name, mode):
    robot = bench(CompliantActuator(VARIANTS[name][0], mode=mode), gravity=0.0)
    engine = MujocoEngine(robot, check=False)
    engine.set_pose({"joint": 0.7})
    engine.step(300)
    assert engine.port("joint/position")[0] == pytest.approx(0.7, abs=1e-9)


@pytest.mark.parametrize(
    ("law", "preset", "final"),
    [
        (VARIANTS["sea"][0].replace(k=200.0), 0.0, 0.79973),
        (AwAS2(), 0.005, 0.77965),
        (VARIANTS["bavs"][0], 0.001, 0.79452),
        (VARIANTS["bavs"][0], 0.22, 0.79880),
        (QbMove(), 0.2, 0.52792),
        (QbMove(), 0.6, 0.78538),
    ],
    ids=["sea", "awas-soft", "bavs-soft", "bavs-stiff", "qbmove-soft", "qbmove-stiff"],
)
def test_the_step_of_the_paper_ends_where_law_and_gravity_balance(law, preset, final):
    # The paper's table has the load on the far side: gravity pulls towards smaller angles.
    engine = MujocoEngine(bench(CompliantActuator(law, mode=3), gravity=9.81, dt=5e-4), check=False)
    n = 6000
    q = drive(engine, "joint", np.full(n, 0.8), np.full(n, preset), ["joint/position"])[0]
    assert q[-1] == pytest.approx(final, abs=1e-4)


def test_an_energy_only_law_drives_the_engine_like_the_built_in_one():
    options = {"mode": 6, "initial_preset": 0.1}
    mine = MujocoEngine(bench(CompliantActuator(VARIANTS["test_energy_qbmove"][0], **options)), check=False)
    law = QbMove(*VARIANTS["test_energy_qbmove"][0].parameters()[:5])
    theirs = MujocoEngine(bench(CompliantActuator(law, **options)), check=False)
    r1, r2 = smooth_references(law, 6, T)
    a, b = (drive(e, "joint", r1, r2, ["joint/position", "joint/stiffness"]) for e in (mine, theirs))
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    assert isinstance(VARIANTS["test_hardening"][0], Hardening)


@pytest.mark.parametrize("mode", [1, 5, 6])
def test_samples_have_the_torques_of_the_feed_forward_of_the_step(mode):
    motor = DCMotor(friction=PreslidingFriction(torque=0.0))
    pid = PID(kp=5.0, kd=2.0 if mode >= 5 else 0.2, velocity_feedforward=True)
    actuator = CompliantActuator(SEA(k=0.0), mode=mode, motor_1=motor, pid_1=pid)
    engine = MujocoEngine(bench(actuator, dt=2.5e-4, gravity=0.0), check=False)
    reference, velocity = engine.port("joint/reference_1"), engine.port("joint/velocity")
    shown, applied = [], []
    for i in range(600):
        reference[0] = 0.3 * np.sin(9.0 * 2.5e-4 * min(i, 400))
        before = engine.data.act[1] if mode >= 5 else velocity[0]
        engine.step()
        if mode >= 5:
            applied.append(motor.inertia * (engine.data.act[1] - before) / 2.5e-4 + motor.damping * before)
            shown.append(engine.port("joint/motor_1_effort")[0])
        else:
            applied.append(engine.data.actuator_force[0])
            shown.append(engine.port("joint/torque")[0])
    np.testing.assert_allclose(shown, applied, rtol=0, atol=0.03 * np.abs(applied).max())
