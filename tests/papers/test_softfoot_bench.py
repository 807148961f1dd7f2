"""The bench validation of the SoftFoot: verdicts without data, and with data that the simulation made."""

import dataclasses

import numpy as np
import pytest
from mutations import quick

from pliant.base.errors import PliantError
from pliant.experiments import Context, Verdict, find_experiment, reproduce
from pliant.feet.measured import write_trials
from pliant.feet.trials import all_trials
from pliant.papers import softfoot_bench as module


def _statement(statements, part):
    return next(s for s in statements if part in s.what)


@pytest.mark.nightly
def test_what_compares_with_measurements_is_not_judged_without_them():
    result = quick("softfoot-bench")
    lost = [s for s in result.statements if s.verdict is Verdict.NOT_JUDGED]
    assert len(lost) == 13
    assert all("never published" in s.found or "missing" in s.found for s in lost)
    assert result.passed


@pytest.mark.nightly
def test_nothing_is_called_reproduced_with_an_assumed_set_up():
    assert quick("softfoot-bench").verdicts["reproduced"] == 0


def test_proportions_of_the_sensitivities_do_not_hang_on_the_size_of_the_change():
    options = module.BenchValidationOptions()
    changes = {name: np.array(values) / 100.0 for name, values in module.SENSITIVITY.items()}
    for factor in (0.2, 1.0, 5.0):
        scaled = {name: factor * values for name, values in changes.items()}
        statements = module.sensitivity_statements(scaled, options)
        assert [s.verdict for s in statements[1:4]] == [Verdict.CONSISTENT] * 3, factor
        assert statements[4].verdict is Verdict.NOT_JUDGED
        assert module.free_size(100.0 * scaled["initial pitch"], (14.0, 19.0, 20.0)) == pytest.approx(1.0 / factor)
    equal = {name: np.full(3, values.mean()) for name, values in changes.items()}
    assert _statement(module.sensitivity_statements(equal, options), "7 : 1.5").verdict is Verdict.NOT_REPRODUCED


@pytest.fixture(scope="module")
def measured():
    """Return trials that stand for a measurement: a coarse grid, simulated with the reduced foot."""
    options = module.BenchValidationOptions()
    return module.run_trials(
        all_trials((50.0, 100.0), (0.005, 0.02), (1, 3, 6)), options, seconds=3.0, **module.REDUCED
    )


def test_data_that_agree_give_no_errors_and_meet_table_one(measured):
    statements = module.data_statements(measured, measured)
    for part in (
        "total vertical force",
        "mean relative force error",
        "Without values above",
        "analytical",
        "Away from",
    ):
        assert _statement(statements, part).verdict is Verdict.REPRODUCED, part
    assert _statement(statements, "in degrees").verdict is Verdict.NOT_JUDGED


def test_data_that_differ_by_half_do_not_meet_table_one(measured):
    other = dataclasses.replace(measured, force=measured.force / 1.5)
    statements = module.data_statements(measured, other)
    table = _statement(statements, "mean relative force error")
    assert table.verdict is Verdict.NOT_REPRODUCED
    assert [t.measured for t in table.targets[:2]] == pytest.approx([50.0, 50.0])
    assert _statement(statements, "total vertical force").verdict is Verdict.NOT_REPRODUCED


def test_errors_that_the_paper_describes_are_found(measured):
    """The measured forces are made such that the errors are those of figures 5, 6 and 8."""
    factor = np.ones((len(measured), 3))
    factor[measured.where(position=1)] = (1.4, 1.4, 0.3)
    factor[measured.where(position=3)] = (1.1, 1.2, 0.9)
    factor[measured.where(position=6)] = (1.05, 1.6, 0.8)
    factor[measured.where(height=0.005), 1] += 0.05
    turned = measured.pitch.copy()
    turned[measured.where(position=1)] += np.radians([3.0, 1.0, 1.0, 1.0, 1.0, 3.0])
    carrying = dataclasses.replace(measured, force=measured.force + 1.0)
    data = dataclasses.replace(carrying, force=carrying.force / factor, pitch=turned)
    statements = module.data_statements(carrying, data)
    for part in ("closest to the heel", "too high at fascia", "At p6", "lowest obstacle", "largest at the modules"):
        assert _statement(statements, part).verdict is Verdict.REPRODUCED, part
    assert _statement(statements, "closer to the heel").verdict is Verdict.REPRODUCED


def test_a_run_with_data_has_the_paper_s_table_and_figures(measured, tmp_path):
    write_trials(tmp_path / "data.csv", measured)
    found = find_experiment("softfoot-bench")
    options = found.options_class(data=str(tmp_path / "data.csv"), data_trials=12, duration=3.0)
    result = found.run(Context(output=tmp_path, quick=True), options)
    table = next(t for t in result.tables if "table I" in t.title)
    assert table.rows[2] == ["MuJoCo, printed", 14.6, 33.2, 21.7]
    assert max(table.rows[0][1:3]) < 20.0
    assert {f.name for f in result.figures} >= {"figure5", "figure6", "figure7", "figure8"}
    assert result.verdicts["reproduced"] > 0


def test_simulated_trials_are_written_in_the_form_in_which_data_are_read(tmp_path):
    from pliant.feet.measured import read_trials

    trials = module.run_trials(all_trials((50.0,), (0.01, 0.02), (2, 4)), module.BenchValidationOptions(), seconds=1.0)
    write_trials(tmp_path / "trials.csv", trials)
    assert read_trials(tmp_path / "trials.csv", count=4).force == pytest.approx(trials.force, abs=1e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fit": True}, "fit is true and there are no data"),
        ({"heights": (0.01,)}, r"heights is \(0.01,\); must be 2 or more different numbers"),
        ({"loads": (50.0, 50.0)}, "must be 1 or more different numbers"),
        ({"data": "absent.csv"}, "there is no such file"),
    ],
)
def test_options_that_cannot_be_are_refused(changes, message, tmp_path):
    found = find_experiment("softfoot-bench")
    with pytest.raises(PliantError, match=message):
        found.run(Context(output=tmp_path, quick=True), found.options_class(**changes))
    with pytest.raises(PliantError, match=message):
        reproduce("softfoot-bench", tmp_path / "out", options=changes)
    assert not (tmp_path / "out").exists(), "refused before anything runs"
