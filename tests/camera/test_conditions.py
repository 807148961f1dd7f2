import numpy as np
import pytest

from pliant.base.errors import PliantError
from pliant.camera.conditions import Condition, VisionError, finite_array, finite_result, number, positive_depth


def test_a_message_names_the_argument_the_entry_and_what_is_valid():
    with pytest.raises(VisionError, match=r"xy\[1, 0\] is nan; must be finite numbers") as e:
        finite_array("xy", [[0.0, 1.0], [np.nan, 2.0]], (None, 2))
    assert (e.value.condition, e.value.field) == (Condition.NOT_FINITE, "xy")
    with pytest.raises(VisionError, match=r"xy has shape \(3,\); must be \(n, 2\)"):
        finite_array("xy", [1.0, 2.0, 3.0], (None, 2))
    with pytest.raises(VisionError, match=r"Z\[1\] is 0 m; must be at least 1e-06 m"):
        positive_depth("Z", [1.0, 0.0])


@pytest.mark.parametrize("value", ["fast", None, True, [1.0, 2.0], np.nan, np.inf, -1.0])
def test_what_is_not_a_valid_number_is_refused(value):
    with pytest.raises(VisionError, match="gain"):
        number("gain", value, low=0.0)


def test_text_and_ragged_lists_are_no_arrays():
    for value in ("abc", [[1.0], [1.0, 2.0]]):
        with pytest.raises(VisionError) as e:
            finite_array("xy", value, (None, 2))
        assert e.value.condition is Condition.SHAPE
        with pytest.raises(VisionError):
            positive_depth("Z", value)


def test_an_overflow_is_a_condition_and_a_pliant_error():
    with pytest.raises(PliantError, match="overflows"):
        finite_result("L", [np.inf])
