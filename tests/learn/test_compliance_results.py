"""The page "Where compliance decides" tells what the file of the registered run holds."""

import re
from pathlib import Path

import pytest
from compliance_toys import make_toy

from pliant.base.errors import PliantError
from pliant.learn.compliance import task
from pliant.learn.compliance.results import read_results

FOLDER = Path(__file__).parents[2] / "docs" / "learn"
ROW = re.compile(r"^\| `(\w+)` \| `(\w+)` \| `(\w+)` \| (\S+) \((\S+) to (\S+)\).* \| (\S+) \| (.+) \|$", re.MULTILINE)


def test_the_tables_of_results_are_those_of_the_registered_runs():
    runs = [read_results(FOLDER / name) for name in ("compliance.json", "compliance-wipe.json")]
    assert [(run.seed, len(run.family)) for run in runs] == [(2, 8), (3, 10)]
    told = ROW.findall((FOLDER / "compliance.md").read_text(encoding="utf-8"))
    found = [
        (c.task, c.claim.better, c.claim.than, *(f"{v:+.3g}" for v in (c.difference.value, c.difference.low)),
         f"{c.difference.high:+.3g}", f"{c.corrected:.2g}", c.verdict)
        for run in runs for c in run.claims()
    ]  # fmt: skip
    assert told == [
        (*row[:3], *(w if w.startswith(("+", "-")) else f"+{w}" for w in row[3:6]), *row[6:]) for row in found
    ]
    assert len(told) == 10


def test_a_task_that_is_added_later_changes_no_verdict_of_the_registered_run(monkeypatch):
    monkeypatch.setattr(task, "_TASKS", {})
    before = read_results(FOLDER / "compliance.json").claims()
    make_toy("zz_later")
    assert read_results(FOLDER / "compliance.json").claims() == before


def test_a_claim_that_was_not_registered_before_the_run_is_refused(tmp_path):
    text = (FOLDER / "compliance.json").read_text(encoding="utf-8")
    (tmp_path / "compliance.json").write_text(
        text.replace('["throw", "fixed", "stiff"]', '["throw", "stiff", "fixed"]')
    )
    with pytest.raises(PliantError, match="'fixed' against 'stiff' of task 'throw' is not in the family"):
        read_results(tmp_path / "compliance.json")
