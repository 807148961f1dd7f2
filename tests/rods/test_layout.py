"""Offsets of the kernels' arrays, and the table of the integration formula."""

import numpy as np
import pytest

from pliant.rods.kernels import layout
from pliant.rods.kernels.integrator import EARLY, LAST_WEIGHT, LATE, RESULT, STAGE_ABSCISSAE


@pytest.mark.parametrize("one", layout.LAYOUTS, ids=lambda one: one.array)
def test_fields_follow_each_other_without_gaps(one):
    ends = np.cumsum([field.width for field in one.fields])
    assert [field.offset for field in one.fields] == [0, *ends[:-1]]
    assert one.size == ends[-1]
    assert all(field.description for field in one.fields)


def test_records_begin_at_multiples_of_the_lanes():
    for offset in (layout.STATE, layout.RECORD, layout.STAGE, layout.SLOPES, layout.DN):
        assert offset % layout.LANES == 0


def test_the_weights_of_each_stage_add_up_to_its_abscissa():
    sums = [*EARLY.sum(axis=1), *LATE.sum(axis=1)]
    assert sums == pytest.approx(STAGE_ABSCISSAE, abs=1e-13)
    assert RESULT.sum() + LAST_WEIGHT == pytest.approx(1.0, abs=1e-13)
