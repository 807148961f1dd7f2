"""The chirp of one qbMove: analytic truth of its parts, and what the paper shows."""

import math

import numpy as np
import pytest

from pliant.experiments import Context, chirp, find_experiment
from pliant.experiments.chirp import DURATION, HIGH, LOW, response, servo_amplitude


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


@pytest.mark.slow
def test_every_target_is_met_and_the_peaks_are_those_computed_beforehand(tmp_path):
    result = find_experiment("chirp").run(Context(output=tmp_path, quick=True))
    assert [t.name for t in result.failures] == []
    rows = {row[0]: row for row in result.tables[0].rows}
    # Largest |q| computed beforehand by another program, read near the peak.
    assert rows["stiff, toolbox springs"][3] == pytest.approx(0.143, rel=0.02)
    assert rows["stiff, toolbox springs, I = 0.004"][3] == pytest.approx(0.205, rel=0.02)
    assert rows["stiff, toolbox springs, I = 0.004"][4] == pytest.approx(5.4, abs=0.2)
    assert rows["stiff, toolbox springs, I = 0.008"][3] == pytest.approx(0.315, rel=0.02)
    assert rows["stiff, toolbox springs, I = 0.008"][4] == pytest.approx(3.9, abs=0.2)
    free = result.traces["soft_toolbox_springs_no_friction_angle_rad"]
    assert 0.084 < np.abs(free).max() < 0.09


def test_the_stuck_run_has_the_printed_friction_and_the_template_inertia():
    run = next(r for r in chirp.RUNS if r.behaviour == "soft" and r.friction > 0 and r.springs == "toolbox")
    assert run.friction == 0.025
    assert run.inertia == pytest.approx(0.00232)
