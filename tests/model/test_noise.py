"""The errors of a sensor as data."""

import math

import numpy as np
import pytest

from pliant.base.errors import DeviceError
from pliant.model.noise import Noise


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"std": -1.0}, "noise std is -1.0; must be a finite number >= 0, or one for each element"),
        ({"bias": math.nan}, "noise bias is nan"),
        ({"resolution": "fine"}, "noise resolution is 'fine'"),
        ({"mean": math.inf}, "noise mean is inf; must be a finite number, or one"),
        ({"std": (0.1, -0.1, 0.1)}, "noise std is"),
        ({"std": ()}, "noise std is"),
        ({"std": True}, "noise std is True"),
    ],
)
def test_numbers_that_are_no_noise_are_refused(values, message):
    with pytest.raises(DeviceError, match=message):
        Noise(**values)


def test_a_tuple_of_another_length_than_the_field_is_refused():
    noise = Noise(std=(0.1, 0.2))
    noise.check_size(2, "imu: gyro")
    with pytest.raises(DeviceError, match="imu: gyro: noise std has 2 numbers; must be a number, or 3 of them"):
        noise.check_size(3, "imu: gyro")
    with pytest.raises(DeviceError, match=r"must be a number$"):
        noise.check_size(0, "elbow: position")


def test_a_density_becomes_the_deviation_of_a_sample():
    noise = Noise.from_density(2e-3, 400.0, bias=0.1)
    assert noise.std == pytest.approx(0.04, rel=1e-15)
    assert noise.bias == 0.1
    assert Noise.from_density(2e-3, 0.25).std == pytest.approx(1e-3, rel=1e-15)
    for rate in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(DeviceError, match=f"rate is {rate}"):
            Noise.from_density(1e-3, rate)


def test_variances_add_up_noise_bias_and_quantisation():
    noise = Noise(std=(0.1, 0.2, 0.0), bias=0.3, resolution=0.06, mean=5.0)
    np.testing.assert_allclose(noise.variances(3), np.array([0.01, 0.04, 0.0]) + 0.09 + 0.0003, rtol=1e-14)


def test_silence_is_known():
    assert Noise().silent
    assert Noise(std=(0.0, 0.0)).silent
    assert not Noise(mean=0.1).silent
    assert not Noise(std=(0.0, 0.1)).silent
