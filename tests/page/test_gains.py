"""The ranges of gains are where the loop of motor and controller is stable, as their own steps tell."""

import math

import numpy as np
import pytest

from pliant.laws import PID, SEA, CompliantActuator, DCMotor
from pliant.laws.friction import PreslidingFriction
from pliant.page.gains import gain_range

pytestmark = pytest.mark.quick
H, K = 1e-3, 40.0
MOTOR = DCMotor(max_torque=math.inf, friction=PreslidingFriction(torque=0.0))
ACTUATOR = CompliantActuator(SEA(k=K), motor_1=MOTOR, pid_1=PID())


def growth(gains, stiffness):
    """Return the spectral radius of one step of the loop: those of `PID` and `DCMotor`, on a spring to the ground."""
    pid = PID(**gains)

    def step(integral, position, velocity):
        integral, torque = pid.step(integral, 0.0, position, velocity, H)
        (position, velocity, _), _ = MOTOR.step((position, velocity, position), torque, stiffness * position, H)
        return integral, position, velocity

    return max(abs(np.linalg.eigvals(np.array([step(*unit) for unit in np.eye(3)]).T)))


def others(seed):
    """Return gains at random whose loop is stable."""
    random = np.random.default_rng(seed)
    while True:
        gains = {"kp": 10.0 ** random.uniform(0, 4), "kd": random.uniform(0.1, 12), "ki": 10.0 ** random.uniform(0, 5)}
        if growth(gains, 0.0) < 1.0 and growth(gains, K) < 1.0:
            return gains


@pytest.mark.parametrize("gain", ["kp", "ki", "kd"])
def test_at_both_ends_the_loop_is_stable_and_at_a_multiple_it_is_not(gain):
    for seed in range(40):
        gains = others(seed)
        low, high = gain_range(ACTUATOR, 1, gain, gains, H)
        assert low <= gains[gain] <= high
        for value in (low, high):
            for stiffness in (0.0, K):
                assert growth({**gains, gain: value}, stiffness) < 1.0 + 1e-9, (gains, gain, value)
        assert growth({**gains, gain: 4.5 * high + 10.0}, 0.0) > 1.0, (gains, gain, high)


def test_an_integral_gain_bounds_the_other_two_from_below():
    gains = {"kp": 125.0, "kd": 4.5, "ki": 10000.0}
    for gain in ("kp", "kd"):
        low, _ = gain_range(ACTUATOR, 1, gain, gains, H)
        assert low > 0.0
        assert growth({**gains, gain: 0.2 * low}, 0.0) > 1.0


def test_a_gain_that_is_beyond_its_range_already_stays_in_it():
    gains = {"kp": 1e9, "kd": 4.5, "ki": 0.0}
    assert gain_range(ACTUATOR, 1, "kp", gains, H) == (0.0, 1e9)
    assert gain_range(ACTUATOR, 1, "kd", gains, H)[1] == 4.5
