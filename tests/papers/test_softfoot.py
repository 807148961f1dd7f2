"""The standing SoftFoot and its windlass: their statements, and what the options change."""

import math

import numpy as np
import pytest
from mutations import quick, quick_run

from pliant.base.errors import ModelError
from pliant.feet.press_bench import REDUCED, stand
from pliant.papers import softfoot_windlass
from pliant.papers.softfoot_statics import LOADS, stiffness_curve


def test_what_the_paper_says_of_a_standing_foot_is_consistent():
    run = quick_run("softfoot-statics")
    result = run.result
    assert [t.name for t in result.failures] == []
    assert result.verdicts == {"reproduced": 0, "consistent": 4, "not reproduced": 0, "not judged": 0}
    assert {f.name for f in result.figures} == {"stiffening", "shape", "places", "center_of_pressure"}
    assert run.progress == sorted(run.progress)


def test_the_windlass_of_the_released_tendons_is_nearly_inactive():
    result = quick("softfoot-windlass")
    assert [t.name for t in result.failures] == []
    assert result.verdicts == {"reproduced": 0, "consistent": 1, "not reproduced": 3, "not judged": 0}
    released, _, short = result.traces["height_m"]
    assert abs(released[-1] - released[0]) < 0.1e-3
    assert short[-1] - short[0] > 3e-3
    # They are taut at 29.5 degrees: one point of the sweep lies beyond.
    assert list(result.traces["tension_N"][0] > 0.0) == [False, False, False, True]


def test_stiffness_is_the_load_over_the_height_that_it_takes():
    class Foot:
        def __init__(self, load):
            self.height = 0.1 - load / 5e4

    assert stiffness_curve([Foot(load) for load in LOADS]) == pytest.approx(np.full(len(LOADS) - 1, 5e4))


def test_the_toes_reach_the_angle_that_is_asked_for():
    # Servos of 100 N m/rad against bands of 2 N m/rad, and weight.
    for options in (REDUCED, {**REDUCED, "coupling": "exact"}):
        foot = stand(20.0, toes=math.radians(20.0), **options)
        assert foot.pitches[-1] - foot.pitches[6] == pytest.approx(math.radians(20.0), abs=math.radians(1.0))


def test_the_arch_of_lumped_midpoint_chains_rises_as_that_of_exact_ones():
    one, other = (
        [
            stand(20.0, toes=toes, tendon_slack=0.0, **{**REDUCED, "coupling": kind})
            for toes in (0.0, math.radians(36.0))
        ]
        for kind in ("exact", "midpoint")
    )
    assert one[1].height - one[0].height == pytest.approx(other[1].height - other[0].height, rel=0.1)


def test_an_option_of_the_foot_that_is_not_valid_is_refused():
    with pytest.raises(ModelError, match="closure_compliance"):
        stand(300.0, closure_compliance=1e-9, **REDUCED)


def test_the_lever_arm_of_the_tendons_is_3_8_mm():
    assert softfoot_windlass.lever_arm() == pytest.approx(0.0038, rel=0.01)
