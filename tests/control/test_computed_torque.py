import numpy as np
import pytest

from pliant.control import ComputedTorque, ElasticFeedforward, ServoFeedforward, Sinusoid
from pliant.laws import PID, SEA, DCMotor, PreslidingFriction, QbMove

M, L, G = 0.5, 0.2, 9.81


def inertia(q):
    return np.array([[M * L * L]])


def bias(q, dq):
    return np.array([0.01 * dq[0] + M * G * L * np.sin(q[0])])


def test_the_error_obeys_the_chosen_second_order_equation():
    control = ComputedTorque(inertia, bias, kp=100.0)
    q, dq, dt = np.array([0.4]), np.zeros(1), 1e-5
    for _ in range(20_000):
        tau = control(q, dq, np.zeros(1))
        dq = dq + dt * np.linalg.solve(inertia(q), tau - bias(q, dq))
        q = q + dt * dq
    t = 0.2
    assert q[0] == pytest.approx(0.4 * (1.0 + 10.0 * t) * np.exp(-10.0 * t), abs=1e-4)


@pytest.mark.parametrize(("law", "preset"), [(SEA(k=20.0), 0.0), (QbMove(), 0.4)])
def test_elastic_feed_forward_asks_the_spring_for_the_torque_of_the_motion(law, preset):
    forward = ElasticFeedforward([law], inertia, bias)
    motion = Sinusoid(amplitude=0.3, omega=2.0)(0.7)
    eq, tau = forward([motion.position], [motion.velocity], [motion.acceleration], preset)
    expected = M * L * L * motion.acceleration + bias([motion.position], [motion.velocity])[0]
    assert tau[0] == pytest.approx(expected, rel=1e-12)
    given = type(law).torques(motion.position, *law.map_references(eq[0], preset), law.parameters())[0]
    assert given == pytest.approx(expected, abs=1e-10)


def test_servo_feed_forward_removes_the_lag_of_the_toolbox_s_servo():
    motor, pid = DCMotor(friction=PreslidingFriction(torque=0.0)), PID()
    servo = ServoFeedforward.of(motor, pid)
    assert servo.lag == pytest.approx(0.03816, abs=1e-5)
    path = Sinusoid(amplitude=0.8, omega=0.8)
    h = 1e-4
    errors = []
    for inverse in (False, True):
        state, rms = (0.0, 0.64, 0.0), []
        for i in range(40_000):
            m = path(i * h)
            ref = servo(*m) if inverse else m.position
            _, out = pid.step(0.0, ref, state[0], state[1], h)
            state, _ = motor.step(state, out, 0.0, h)
            if i > 20_000:
                rms.append(state[0] - path((i + 1) * h).position)
        errors.append(np.sqrt(np.mean(np.square(rms))))
    assert errors[0] > 0.01
    assert errors[1] < 1e-4
