"""The chirp of one qbMove: analytic truth of its parts, and what the paper shows."""

import math

import numpy as np
import pytest
from mutations import quick

from pliant.experiments import Context, Verdict
from pliant.papers.chirp import (
    HIGH,
    LOW,
    ChirpOptions,
    judge_peaks,
    measured_peaks,
    response,
    runs_of,
    servo_amplitude,
)

DURATION = ChirpOptions().duration


def test_the_amplitude_of_a_known_chirp_is_found_at_each_frequency():
    t = np.arange(0.0, DURATION, 1e-3)
    phase = 2 * math.pi * (LOW * t + 0.5 * (HIGH - LOW) / DURATION * t * t)
    fading = 0.2 - 0.003 * t
    at = np.array([1.0, 3.0, 5.5])
    expected = 0.2 - 0.003 * (at - LOW) / (HIGH - LOW) * DURATION
    assert response(t, 0.1 + fading * np.sin(phase), at) == pytest.approx(expected, rel=0.01)


def test_the_servo_attenuates_to_three_fifths_at_six_hertz():
    assert servo_amplitude(6.0) == pytest.approx(0.0929, abs=1e-4)
    assert servo_amplitude(1e-6) == pytest.approx(0.15)


def test_soft_and_stiff_runs_of_one_name_have_the_same_joint():
    runs = runs_of(ChirpOptions(friction=0.01))
    for name in ("", ", identified springs", ", no friction"):
        soft, stiff = runs[f"soft{name}"], runs[f"stiff{name}"]
        assert (soft.options, soft.springs) == (stiff.options, stiff.springs)
    assert runs["soft"].options.friction == 0.01
    assert runs["soft, no friction"].options.friction == 0.0
    assert runs["soft"].inertia == pytest.approx(0.00232)


def test_a_link_that_does_not_move_is_not_similar_to_one_that_does():
    peaks = {"soft": 0.0, "stiff": 0.14, "soft, identified springs": 0.1, "stiff, identified springs": 0.14}
    judged = judge_peaks(peaks)
    assert [s.verdict for s in judged] == [Verdict.NOT_REPRODUCED, Verdict.NOT_JUDGED, Verdict.NOT_JUDGED]
    assert [t.passed for t in judged[0].targets] == [False, True]
    assert judge_peaks({**peaks, "soft": 0.09})[0].verdict is Verdict.CONSISTENT


def test_measured_curves_of_the_user_take_the_place_of_the_identified_springs(tmp_path):
    for behaviour, amplitude in (("soft", 0.05), ("stiff", 0.2)):
        rows = (f"{t},{0.01 + amplitude * np.sin(t)}" for t in np.linspace(0.0, 30.0, 2000))
        (tmp_path / f"figure11-{behaviour}.csv").write_text("\n".join(rows))
    measured = measured_peaks(Context(output=tmp_path, curves=tmp_path))
    assert measured == pytest.approx({"soft": 0.05, "stiff": 0.2}, rel=1e-3)
    peaks = {"soft": 0.0, "stiff": 0.19, "soft, identified springs": 0.1, "stiff, identified springs": 0.14}
    assert [t.measured for t in judge_peaks(peaks, measured)[0].targets] == pytest.approx([0.0, 0.95], rel=1e-3)


@pytest.mark.slow
def test_the_soft_link_sticks_and_the_peaks_are_those_computed_beforehand():
    result = quick("chirp")
    assert [t.name for t in result.failures] == []
    assert result.statements[0].verdict is Verdict.NOT_REPRODUCED
    rows = {row[0]: row for row in result.tables[0].rows}
    # Largest |q| computed beforehand by another program, read near the peak.
    assert rows["stiff"][4] == pytest.approx(0.143, rel=0.02)
    free = result.traces["soft_no_friction_angle_rad"]
    assert 0.084 < np.abs(free).max() < 0.09
