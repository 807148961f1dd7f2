"""The framework of experiments: targets, registry, reports."""

import json
import re

import numpy as np
import pytest

from pliant.errors import PliantError
from pliant.experiments import Context, Figure, Result, Table, Target, base, reproduce
from pliant.experiments.base import experiment, find_experiment, writable_folder
from pliant.experiments.report import render_report
from pliant.experiments.style import label, new_figure, thin


@pytest.fixture
def registry(monkeypatch):
    """An empty registry that forgets what a test puts into it."""
    monkeypatch.setattr(base, "_EXPERIMENTS", {})
    monkeypatch.setattr(base, "list_experiments", lambda: [base._EXPERIMENTS[n] for n in sorted(base._EXPERIMENTS)])
    return base._EXPERIMENTS


def put_small_experiment(name="small", value=0.05):
    @experiment(name, title="A <small> one", paper="Somebody 2021", section="4.1")
    def small(context):
        """Measure one number."""
        figure, axis = new_figure(height=1.5)
        axis.plot([0, 1], [0, 1])
        label(axis, "time [s]", "angle [rad]", "Line")
        context.progress(0.5, "half way")
        return Result(
            summary="It `measures` & draws.",
            targets=[Target("error", high=0.08, unit="rad", source="section 4.3").measure(value)],
            tables=[Table(title="Numbers", columns=["case", "value [rad]"], rows=[["a", 1.25], ["b", None]])],
            figures=[Figure(name="line", caption="A line. It rises.", figure=figure)],
            traces={"time_s": np.arange(3.0)},
            notes=["step 1 ms"],
            assumptions=["the link's inertia"],
        )

    return small


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


def test_reproduce_writes_a_report_that_needs_no_other_file(registry, tmp_path):
    put_small_experiment()
    seen = []
    (result,) = reproduce("small", tmp_path / "out", progress=lambda *what: seen.append(what))
    assert result.passed
    page = (tmp_path / "out" / "small.html").read_text(encoding="utf-8")
    assert "A &lt;small&gt; one" in page
    assert "<svg" in page
    assert "pliant reproduce small" in page
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)
    assert not re.findall(r'<(?:script|link rel="stylesheet")', page)
    assert ("small", 0.5, "half way") in seen
    assert seen[-1][1] == 1.0
    found = json.loads((tmp_path / "out" / "small.json").read_text(encoding="utf-8"))
    assert found["passed"] is True
    assert found["targets"][0]["measured"] == 0.05
    for path in found["files"].values():
        assert (tmp_path / "out" / path).stat().st_size > 0
    assert 'href="small.html"' in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def test_the_index_lists_earlier_reports_of_the_folder_too(registry, tmp_path):
    put_small_experiment("one")
    put_small_experiment("two", value=0.5)
    reproduce("one", tmp_path)
    reproduce("two", tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'href="one.html"' in page
    assert 'href="two.html"' in page
    assert "1 of 2 experiments pass" in page


def test_a_failed_target_is_shown_first(registry, tmp_path):
    put_small_experiment(value=0.5)
    (result,) = reproduce("small", tmp_path)
    assert not result.passed
    assert "Not reached" in (tmp_path / "small.html").read_text(encoding="utf-8")


def test_an_experiment_that_breaks_does_not_lose_the_others(registry, tmp_path):
    @experiment("breaks")
    def breaks(context):
        raise ZeroDivisionError("by nothing")

    put_small_experiment()
    first, second = reproduce(["breaks", "small"], tmp_path)
    assert first.error == "ZeroDivisionError: by nothing"
    assert not first.passed
    assert second.passed
    assert "by nothing" in (tmp_path / "breaks.html").read_text(encoding="utf-8")


def test_an_unknown_experiment_names_the_nearest_and_runs_nothing(registry, tmp_path):
    put_small_experiment()
    with pytest.raises(PliantError, match="did you mean 'small'"):
        reproduce(["small", "smal"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_output_folder_that_is_a_file_is_named(registry, tmp_path):
    put_small_experiment()
    (tmp_path / "taken").write_text("x")
    with pytest.raises(PliantError, match=r"taken.*is a file"):
        reproduce("small", tmp_path / "taken")


def test_an_output_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "taken").write_text("x")
    with pytest.raises(PliantError, match=r"inside.*cannot be written"):
        writable_folder(tmp_path / "taken" / "inside")


def test_numbers_that_are_not_finite_leave_valid_json(registry, tmp_path):
    @experiment("odd")
    def odd(context):
        return Result(targets=[Target("x", high=1.0).measure(float("nan"))])

    reproduce("odd", tmp_path)
    assert json.loads((tmp_path / "odd.json").read_text())["targets"][0]["measured"] is None


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


def test_every_experiment_of_pliant_has_title_and_source():
    for found in base.list_experiments():
        assert found.title
        assert found.paper
        assert find_experiment(found.name) is found
