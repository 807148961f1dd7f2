"""Relative angles from pairs of inertial units, and contact forces from the shape of a planar sole."""

import math

import numpy as np
import pytest

from pliant.base.argument_checks import ControlError
from pliant.feet.sole_estimation import RelativeAngleFilter, SoleForceEstimator, SoleHinge, SoleModel

G = 9.81


def felt(angle, force=(0.0, -G)):
    """What a unit feels, turned by an angle, x forward and y down; force is that of the world on it."""
    f = complex(*force) * complex(math.cos(angle), -math.sin(angle))
    return [f.real, f.imag, 0.0]


def units(*angles, force=(0.0, -G)):
    return np.array([felt(a, force) for a in angles])


def rates(*values):
    return np.array([[0.0, 0.0, v] for v in values])


def test_at_rest_the_relative_angle_is_that_of_the_two_gravity_vectors():
    found, speed = RelativeAngleFilter([0], [1], [0.1], 0.5).update(rates(0, 0), units(0.3, -0.2), 0.01)
    assert found == pytest.approx([-0.6])
    assert speed == pytest.approx([0.0])


def test_a_common_acceleration_does_not_change_the_relative_angle():
    found, _ = RelativeAngleFilter([0], [1], [0.0], 0.5).update(rates(0, 0), units(0.3, 0.7, force=(6.0, -4.0)), 0.01)
    assert found == pytest.approx([0.4])


def test_fast_motion_is_measured_by_the_gyroscopes():
    pair, dt, angle = RelativeAngleFilter([0], [1], [0.0], 1e9), 1e-3, 0.0
    pair.update(rates(0, 0), units(0.0, 0.0), dt)
    for k in range(1000):
        speed = math.cos(2e-3 * math.pi * (k + 0.5))
        angle += speed * dt
        found, measured = pair.update(rates(0.5, 0.5 + speed), units(0.0, 0.9), dt)
        assert measured == pytest.approx([speed])
        assert found == pytest.approx([angle], abs=1e-6)


def test_the_error_of_a_gyroscope_offset_is_the_time_constant_times_the_offset():
    pair, dt = RelativeAngleFilter([0], [1], [0.0], 0.2), 1e-3
    for _ in range(4000):
        found, _ = pair.update(rates(0.0, 0.05), units(0.0, 0.3), dt)
    assert found[0] - 0.3 == pytest.approx(0.2 * 0.05, rel=1e-6)


def test_in_free_fall_the_accelerometers_are_not_trusted():
    pair = RelativeAngleFilter([0], [1], [0.0], 0.0)
    pair.update(rates(0, 0), units(0.0, 0.3), 0.01)
    found, _ = pair.update(rates(0, 0), units(0.0, 1.2, force=(0.0, -1e-9)), 0.01)
    assert found[0] == pytest.approx(0.3, abs=1e-6)


def test_a_negative_time_constant_is_refused():
    with pytest.raises(ControlError, match="time_constant is -1"):
        RelativeAngleFilter([0], [1], [0.0], -1.0)


def beam(stiffness=0.0, mass=0.0, slack=1.0):
    """A root with one straight link of 0.2 m ahead, hinged 0.1 m below the ankle, that may be touched at both ends."""
    return SoleModel(
        coordinates=("knee",),
        bodies=("root", "link"),
        parents=(-1, 0),
        positions=(0j, 0.1j),
        angles=(0.0, 0.0),
        masses=(0.0, mass),
        centers=(0j, 0.1 + 0j),
        hinges=(SoleHinge(body=1, position=0j, coordinate=0, ratio=1.0, stiffness=stiffness),),
        limits=((-math.inf, math.inf),),
        contacts=((0, -0.1 + 0.1j), (1, 0.2 + 0j)),
        closures=(),
        tendons=(((-0.01,), slack),),
    )


def test_without_a_load_on_the_ankle_the_spring_alone_gives_the_force():
    # The tip at 0.2 m is turned up by 0.1 rad: the spring pushes it on the ground with k q / (0.2 m cos q).
    found = SoleForceEstimator(beam(stiffness=4.0), friction=1e-6, torque_error=1e-9).estimate([-0.1])
    assert found.normal[1] == pytest.approx(4.0 * 0.1 / (0.2 * math.cos(0.1)), rel=1e-3)


def test_the_wrench_of_the_ankle_gives_what_stands_on_the_root():
    model = beam(stiffness=4.0, mass=0.5)
    tip = (4.0 * 0.1 + 0.5 * G * 0.1 * math.cos(0.1)) / (0.2 * math.cos(0.1))
    rear = 30.0 + 0.5 * G - tip
    x = 0.2 * math.cos(0.1)
    moment = 0.1 * math.cos(0.1) * 0.5 * G - x * tip + 0.1 * rear
    estimator = SoleForceEstimator(model, friction=1e-6, torque_error=1e-9, force_error=1e-6)
    found = estimator.estimate([-0.1], ankle=[0.0, 30.0, -moment])
    assert found.normal == pytest.approx([rear, tip], rel=1e-3)
    assert found.force == pytest.approx([0.0, -(rear + tip)], abs=1e-2)
    assert found.moment == pytest.approx(-x * tip + 0.1 * rear, rel=1e-3)
    assert found.residual < 1e-5


def test_a_pitched_foot_has_its_forces_along_gravity():
    estimator = SoleForceEstimator(beam(stiffness=4.0), friction=1e-6, torque_error=1e-9)
    found = estimator.estimate([-0.1], pitch=0.1)
    # The link is level again, so the lever is its whole length.
    assert found.normal[1] == pytest.approx(4.0 * 0.1 / 0.2, rel=1e-3)
    assert found.force[0] / found.force[1] == pytest.approx(math.tan(0.1), rel=1e-3)


def test_a_slack_tendon_carries_nothing_and_a_taut_one_does():
    slack = SoleForceEstimator(beam(slack=0.01), friction=1e-6, torque_error=1e-9).estimate([-0.1], load=20.0)
    taut = SoleForceEstimator(beam(slack=0.001), friction=1e-6, torque_error=1e-9).estimate([-0.1], load=20.0)
    assert slack.tension == pytest.approx([0.0])
    assert slack.normal[1] == pytest.approx(0.0, abs=1e-3)
    # Its pull turns the link down, against the force at the tip.
    assert taut.tension[0] > 1.0
    assert taut.tension[0] * 0.01 == pytest.approx(taut.normal[1] * 0.2 * math.cos(0.1), rel=1e-2)


def test_forces_never_pull():
    found = SoleForceEstimator(beam(stiffness=4.0), friction=1e-6).estimate([0.3])
    assert np.all(found.normal >= 0.0)
    assert found.normal[1] == 0.0


@pytest.mark.parametrize("name", ["friction", "torque_error", "force_error"])
def test_an_estimator_refuses_sizes_that_are_not_positive(name):
    with pytest.raises(ControlError, match=f"{name} is 0.0; must be > 0"):
        SoleForceEstimator(beam(), **{name: 0.0})


def test_a_wrong_number_of_angles_is_refused():
    with pytest.raises(ControlError, match="must be 1 finite numbers"):
        SoleForceEstimator(beam()).estimate([0.0, 0.0])
