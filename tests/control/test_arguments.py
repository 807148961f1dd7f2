"""Every number of a controller or trajectory is checked where it is given."""

import dataclasses
import math

import pytest

from pliant.base.argument_checks import ControlError
from pliant.control import (
    CartesianComputedTorque,
    ClosedLoopInverseKinematics,
    IterativeLearning,
    MinimumJerk,
)

pytestmark = pytest.mark.quick

GIVEN = [
    MinimumJerk(start=0.1, goal=0.9, duration=2.0, begin=0.5),
    IterativeLearning(filter_cutoff=0.2),
]
NUMBERS = [(one, field.name) for one in GIVEN for field in dataclasses.fields(one)]


@pytest.mark.parametrize(("given", "field"), NUMBERS, ids=lambda x: x if isinstance(x, str) else type(x).__name__)
def test_what_is_no_number_is_refused_by_name(given, field):
    with pytest.raises(ControlError, match=rf"{type(given).__name__}: {field}"):
        dataclasses.replace(given, **{field: math.nan})


SIGNED = ("start", "goal", "begin")


@pytest.mark.parametrize(
    ("given", "field"),
    [(one, field) for one, field in NUMBERS if field not in SIGNED],
    ids=lambda x: x if isinstance(x, str) else type(x).__name__,
)
def test_what_cannot_be_negative_is_refused_below_zero(given, field):
    with pytest.raises(ControlError, match=rf"{type(given).__name__}: {field}"):
        dataclasses.replace(given, **{field: -1 if field == "max_runs" else -1e-9})


def same(q, *_):
    return q


MADE = {
    CartesianComputedTorque: ((), ("stiffness", "damping", "null_damping")),
    ClosedLoopInverseKinematics: (
        (same, same), ("gain", "damping", "threshold", "posture_gain", "max_velocity")
    ),
}  # fmt: skip


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1.0, "high"])
@pytest.mark.parametrize("kind", MADE, ids=lambda kind: kind.__name__)
def test_gains_and_limits_are_finite_and_not_negative(kind, bad):
    first, fields = MADE[kind]
    for field in fields:
        with pytest.raises(ControlError, match=f"{kind.__name__}: {field}"):
            kind(*first, **{field: bad})


def test_a_speed_limit_of_nothing_is_refused():
    with pytest.raises(ControlError, match="max_velocity is 0"):
        ClosedLoopInverseKinematics(same, same, max_velocity=[1.0, 0.0])
