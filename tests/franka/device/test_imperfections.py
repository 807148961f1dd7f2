"""Rounding of encoders, noise of torque sensors and motors: as large as asked for, and equal with equal seeds."""

import numpy as np
import pytest

from pliant.base.errors import DeviceError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.device.imperfections import Imperfections, JointNoise
from pliant.robots import build_robot
from pliant.simulation import Simulation

EXACT = {"static_friction": "false"}
STEPS = 600


def standing(options, seed=1, steps=STEPS):
    """Return what an arm that holds its pose measures in each millisecond, and its true positions."""
    robot = build_robot("fr3", {**EXACT, **options})
    engine = MujocoEngine(robot)
    seen = {name: [] for name in ("q", "dq", "tau_J", "tau_ext_hat_filtered", "true")}
    with Simulation(engine, make_devices(robot), pacer="free", seed=seed) as simulation:
        for _ in range(steps):
            simulation.step()
            values = simulation.sample("franka").values
            for name in seen:
                seen[name].append(np.array(engine.data.qpos[:7]) if name == "true" else np.array(values[name]))
    return {name: np.array(rows) for name, rows in seen.items()}


@pytest.fixture(scope="module")
def exact():
    return standing({})


def test_without_imperfections_the_sensors_are_exact(exact):
    np.testing.assert_array_equal(exact["q"], exact["true"])


def test_measured_positions_are_whole_steps_of_the_encoder():
    seen = standing({"encoder_resolution": "3e-4"})
    steps = seen["q"] / 3e-4
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-6)
    assert 0.0 < np.abs(seen["q"] - seen["true"]).max() <= 1.5e-4 * (1.0 + 1e-9)


def test_the_noise_of_a_torque_sensor_has_the_size_that_was_asked_for(exact):
    noise = standing({"torque_sensor_noise": "0.05"})["tau_J"][-400:] - exact["tau_J"][-1]
    # The impedance does not use the measured torque, so what is seen is the sensor's noise alone.
    assert noise.std() == pytest.approx(0.05, rel=4.0 / np.sqrt(2.0 * noise.size))
    assert abs(noise.mean()) < 4.0 * 0.05 / np.sqrt(noise.size)


def test_the_bias_of_a_torque_sensor_appears_in_the_estimated_external_torque(exact):
    seen = standing({"torque_sensor_bias": "0.5"})
    bias = seen["tau_J"][-1] - exact["tau_J"][-1]
    assert np.abs(bias).min() > 1e-3
    estimated = seen["tau_ext_hat_filtered"][-1] - exact["tau_ext_hat_filtered"][-1]
    np.testing.assert_allclose(np.abs(estimated), np.abs(bias), rtol=0.02, atol=2e-3)


def test_the_noise_of_the_motors_moves_the_arm(exact):
    assert np.ptp(exact["true"][-200:], axis=0).max() < 1e-9
    trembling = np.ptp(standing({"motor_noise": "0.5"})["true"][-200:], axis=0)
    assert 1e-7 < trembling.max() < 1e-2


def test_equal_seeds_give_equal_noise_and_others_other_noise():
    options = {
        "torque_sensor_noise": "0.1",
        "torque_sensor_bias": "0.1",
        "motor_noise": "0.1",
        "encoder_resolution": "1e-5",
    }
    first, again, other = (standing(options, seed=seed, steps=50) for seed in (3, 3, 4))
    assert first["tau_J"].tobytes() == again["tau_J"].tobytes()
    assert first["true"].tobytes() == again["true"].tobytes()
    assert first["tau_J"].tobytes() != other["tau_J"].tobytes()


def test_the_velocity_of_a_rounded_encoder_is_the_difference_of_its_positions():
    noise = JointNoise(Imperfections(encoder_resolution=1e-3))
    speed = np.linspace(-0.7, 0.9, 7)
    last = None
    for k in range(20):
        q, dq, _ = noise.measure(0.3 + 1e-3 * k * speed, speed, np.zeros(7))
        if last is not None:
            np.testing.assert_allclose(dq, (q - last) / 1e-3, atol=1e-9)
        last = q


@pytest.mark.parametrize("value", [-1e-9, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["encoder_resolution", "torque_sensor_noise", "torque_sensor_bias", "motor_noise"])
def test_a_size_that_is_none_is_refused(name, value):
    with pytest.raises(DeviceError, match=f"{name} is .*; must be a finite number >= 0"):
        Imperfections(**{name: value})
