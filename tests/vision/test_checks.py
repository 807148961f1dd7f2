"""Checks of arguments that only visual servoing has."""

import math

import pytest

from pliant.camera.conditions import Condition, VisionError
from pliant.vision.checks import require_fresh


def test_an_image_is_late_beyond_the_largest_age_and_rounding_does_not_make_it_wrong():
    for age in (-7e-18, 0.0, 0.1):
        require_fresh(age, 0.1)
    for age, condition in ((0.11, Condition.LATE), (-0.01, Condition.OUT_OF_RANGE), (math.nan, Condition.NOT_FINITE)):
        with pytest.raises(VisionError) as e:
            require_fresh(age, 0.1)
        assert e.value.condition is condition
    with pytest.raises(VisionError, match="the image is 250 ms old; must be at most 100 ms"):
        require_fresh(0.25, 0.1)
