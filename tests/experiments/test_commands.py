"""`pliant reproduce`: exit codes, several names, changed assumptions, and what the console shows."""

import json
from dataclasses import dataclass

import pytest

from pliant.base.options import option
from pliant.experiments import Context, Result, Statement, Target, experiment
from pliant.experiments import base as experiments


@dataclass(frozen=True, slots=True, kw_only=True)
class PushOptions:
    friction: float = option(0.025, unit="N m", low=0.0, source="section 4.2")
    """Friction of the joint."""


@pytest.fixture(autouse=True)
def _experiments(monkeypatch):
    """Two experiments of few lines; "push" has a statement that holds below 0.03 N m and a check above 0.01 N m."""
    monkeypatch.setattr(experiments, "_EXPERIMENTS", {})

    @experiment("push", title="Push")
    def push(context: Context, options: PushOptions) -> Result:
        """Push a joint that sticks."""
        moved = Target("force left", high=0.03, unit="N m", source="section 4.2").measure(options.friction)
        statement = Statement(what="The joint moves.", where="figure 3", targets=[moved], found="It does not stay.")
        return Result(
            statements=[statement],
            targets=[Target("energy", low=0.01, unit="J", source="ours: energy").measure(options.friction)],
        )

    @experiment("pull", title="Pull")
    def pull(context: Context) -> Result:
        """Pull."""
        return Result(targets=[Target("one", 1.0, equals=1.0, source="ours: arithmetic")])

    for place in ("pliant.experiments", "pliant.experiments.runner"):
        monkeypatch.setattr(f"{place}.list_experiments", lambda: list(experiments._EXPERIMENTS.values()))


def test_several_experiments_run_in_the_order_of_their_names(call, tmp_path):
    code, out, _ = call("reproduce", "pull", "push", "--output", tmp_path)
    assert code == 0
    assert out.index("pull: checks pass") < out.index("push: checks pass")
    for text in ("figure 3", "The joint moves.", "It does not stay.", "reproduced", "1 of 1 pass"):
        assert text in out
    assert "1 reproduced, 0 consistent, 0 not reproduced, 0 not judged; 2 of 2 checks pass; report:" in out


def test_a_statement_that_is_not_reproduced_is_a_finding_and_an_error_with_strict(call, tmp_path):
    code, out, _ = call("reproduce", "push", "--output", tmp_path, "--set", "friction=0.05")
    assert code == 0
    assert "verdicts that change" in out
    assert "1 not reproduced" in out
    code, out, _ = call("reproduce", "push", "--output", tmp_path, "--set", "friction=0.05", "--strict", "--json")
    assert code == 3
    (found,) = json.loads(out)["experiments"]
    assert found["changes"][0] == {
        "name": "The joint moves.",
        "before": "reproduced",
        "after": "not reproduced",
        "found_before": "It does not stay.",
        "found": "It does not stay.",
    }
    assert call("reproduce", "push", "--output", tmp_path, "--strict")[0] == 0


def test_a_check_that_fails_ends_with_exit_code_3(call, tmp_path):
    code, out, _ = call("reproduce", "push", "--output", tmp_path, "--set", "push.friction=0.001")
    assert code == 3
    assert "push: checks fail with friction=0.001" in out
    assert "at least 0.01" in out


def test_every_number_is_printed_on_request(call, tmp_path):
    assert "force left" not in call("reproduce", "push", "--output", tmp_path)[1]
    assert "force left" in call("reproduce", "push", "--output", tmp_path, "--all-targets")[1]


def test_an_unknown_option_names_the_nearest(call, tmp_path):
    code, _, err = call("reproduce", "push", "--output", tmp_path, "--set", "frictoin=1")
    assert code == 1
    assert "did you mean 'friction'" in err


def test_the_options_of_an_experiment_are_listed(call):
    code, out, _ = call("list", "push", "--json")
    assert code == 0
    (row,) = json.loads(out)["options"]
    assert (row["name"], row["default"], row["source"]) == ("friction", "0.025", "section 4.2")
    assert json.loads(call("list", "pull", "--json")[1])["options"] == []
