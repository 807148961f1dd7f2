"""The framework of experiments: targets, context, tables."""

import numpy as np
import pytest

from pliant.errors import PliantError
from pliant.experiments import Context, Result, Target
from pliant.experiments.report import render_report
from pliant.experiments.style import thin


@pytest.mark.parametrize(
    ("target", "value", "passed"),
    [
        (Target("x", low=1.0), 1.0, True),
        (Target("x", low=1.0), 0.999, False),
        (Target("x", low=1.0, high=2.0), 2.001, False),
        (Target("x", equals=10.0, relative=0.02), 10.2, True),
        (Target("x", equals=10.0, relative=0.02), 10.21, False),
        (Target("x", equals=-10.0, relative=0.02), -10.21, False),
        (Target("x", equals=0.0, tolerance=1e-4), -1e-4, True),
        (Target("x", equals=0.0), 1e-12, False),
        (Target("x", high=1.0), float("nan"), False),
        (Target("x", high=1.0), float("inf"), False),
    ],
)
def test_a_target_passes_inside_its_bounds_only(target, value, passed):
    assert target.measure(value).passed is passed


def test_a_target_that_was_not_measured_fails():
    assert not Target("x", high=1.0).passed


def test_a_target_without_an_expectation_is_refused():
    with pytest.raises(PliantError, match="expects nothing"):
        Target("x")
    with pytest.raises(PliantError, match="give one of them"):
        Target("x", equals=1.0, low=0.0)


def test_a_result_without_targets_does_not_pass():
    assert not Result().passed


def test_the_report_escapes_what_an_experiment_says():
    page = render_report(Result(name="x", title="x", notes=["<script>alert(1)</script>"], error="<b>"))
    assert "<script>" not in page
    assert "<b>" not in page


def test_a_thinned_trace_keeps_its_peaks():
    t = np.linspace(0.0, 1.0, 100_001)
    y = np.sin(40.0 * t)
    y[12_345] = 7.0
    x, z = thin(t, y, points=600)
    assert x.size < 1000
    assert z.max() == 7.0
    assert np.all(np.diff(x) > 0)


def test_track_reports_a_share_of_the_whole(tmp_path):
    seen = []
    context = Context(output=tmp_path, report=lambda f, text: seen.append((round(f, 3), text)))
    assert list(context.track("abcd", str.upper, low=0.2, high=0.6)) == list("abcd")
    assert seen == [(0.2, "A"), (0.3, "B"), (0.4, "C"), (0.5, "D"), (0.6, "")]


def test_options_of_an_experiment_without_options_are_refused(tmp_path):
    with pytest.raises(PliantError, match="found mass"):
        Context(output=tmp_path, options={"mass": 1.0}).refuse_options()
