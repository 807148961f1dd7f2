"""The framework of experiments: targets, context, tables."""

import numpy as np
import pytest

from pliant.base.errors import PliantError
from pliant.base.figures import thin
from pliant.experiments import Context, Result, Statement, Target, Verdict
from pliant.experiments.report import render_report


@pytest.mark.parametrize(
    ("target", "value", "passed"),
    [
        (Target("x", low=1.0, source="ours: a test"), 1.0, True),
        (Target("x", low=1.0, source="ours: a test"), 0.999, False),
        (Target("x", low=1.0, high=2.0, source="ours: a test"), 2.001, False),
        (Target("x", equals=10.0, relative=0.02, source="ours: a test"), 10.2, True),
        (Target("x", equals=10.0, relative=0.02, source="ours: a test"), 10.21, False),
        (Target("x", equals=-10.0, relative=0.02, source="ours: a test"), -10.21, False),
        (Target("x", equals=0.0, tolerance=1e-4, source="ours: a test"), -1e-4, True),
        (Target("x", equals=0.0, source="ours: a test"), 1e-12, False),
        (Target("x", high=1.0, source="ours: a test"), float("nan"), False),
        (Target("x", high=1.0, source="ours: a test"), float("inf"), False),
    ],
)
def test_a_target_passes_inside_its_bounds_only(target, value, passed):
    assert target.measure(value).passed is passed


def test_a_target_that_was_not_measured_fails():
    assert not Target("x", high=1.0, source="ours: a test").passed


def test_a_target_without_an_expectation_is_refused():
    with pytest.raises(PliantError, match="expects nothing"):
        Target("x", source="ours: a test")
    with pytest.raises(PliantError, match="give one of them"):
        Target("x", equals=1.0, low=0.0, source="ours: a test")


@pytest.mark.parametrize("source", ["", "  "])
def test_a_target_without_a_source_is_refused(source):
    with pytest.raises(PliantError, match="must be a section, figure or table"):
        Target("x", high=1.0, source=source)


@pytest.mark.parametrize(
    ("target", "beyond"),
    [
        (Target("x", 1.5, high=1.0, source="table 1"), 0.5),
        (Target("x", 0.25, low=1.0, source="table 1"), 0.75),
        (Target("x", 1.0, low=1.0, source="table 1"), 0.0),
        (Target("x", 13.0, equals=10.0, tolerance=1.0, relative=0.1, source="table 1"), 1.0),
    ],
)
def test_a_missed_target_says_by_how_much(target, beyond):
    assert target.beyond == pytest.approx(beyond)
    assert ("beyond" in target.difference) is (beyond > 0.0)


MET = Target("met", 1.0, high=2.0, source="section 1")
MISSED = Target("missed", 3.0, high=2.0, source="section 1")


@pytest.mark.parametrize(
    ("targets", "rests_on", "verdict"),
    [
        ([], "", Verdict.NOT_JUDGED),
        ([], "the masses", Verdict.NOT_JUDGED),
        ([MET], "", Verdict.REPRODUCED),
        ([MET], "the masses", Verdict.CONSISTENT),
        ([MET, MISSED], "", Verdict.NOT_REPRODUCED),
        ([MET, MISSED], "the masses", Verdict.NOT_REPRODUCED),
        ([Target("unmeasured", high=2.0, source="section 1")], "", Verdict.NOT_REPRODUCED),
    ],
)
def test_a_verdict_follows_from_targets_and_assumptions(targets, rests_on, verdict):
    statement = Statement(what="It moves.", where="section 1", targets=targets, found="It moves.", rests_on=rests_on)
    assert statement.verdict is verdict
    assert statement.as_dict()["verdict"] == verdict.value


def test_a_statement_without_a_finding_is_refused():
    with pytest.raises(PliantError, match="found must not be empty"):
        Statement(what="It moves.", where="section 1", found="")


def test_a_result_without_targets_and_statements_does_not_pass():
    assert not Result().passed


def test_a_statement_that_is_not_reproduced_is_a_finding_and_a_failed_check_is_a_failure():
    statement = Statement(what="It moves.", where="section 1", targets=[MISSED], found="It stays.")
    found = Result(statements=[statement], targets=[MET])
    assert found.passed
    assert found.not_reproduced == [statement]
    assert found.verdicts == {"reproduced": 0, "consistent": 0, "not reproduced": 1, "not judged": 0}
    assert not Result(statements=[statement], targets=[MISSED]).passed


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


def test_the_badge_of_a_report_is_that_of_its_checks_and_says_so():
    statement = Statement(
        what="It moves.",
        where="figure 1",
        targets=[Target("way", 0.0, low=1.0, source="figure 1")],
        found="It stays.",
    )
    other = Statement(what="It is red.", where="figure 2", found="No colour is simulated.")
    page = render_report(Result(name="x", title="x", statements=[statement, other]))
    assert '<span class="badge checks-pass">checks pass</span>' in page


@pytest.mark.parametrize(
    ("what", "where", "source", "match"),
    [
        ("Ours: the fit describes all loops.", "figure 3", "figure 3", "not one of a publication"),
        ("ours, the fit describes all loops.", "figure 3", "figure 3", "not one of a publication"),
        ("The fit describes all loops.", "our measurements", "figure 3", "not one of a publication"),
        ("The fit describes all loops.", "figure 3", "ours: one tenth", "numbers of ours alone"),
    ],
)
def test_a_row_of_ours_is_no_statement_of_a_publication(what, where, source, match):
    target = Target("misfit", 0.1, high=0.1, source=source)
    with pytest.raises(PliantError, match=match):
        Statement(what=what, where=where, targets=[target], found="It does.")
