"""`pliant bench compliance`."""

import json

import pytest
from compliance_toys import make_toy

from pliant.learn.compliance import task


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    monkeypatch.setattr(task, "_TASKS", {})
    return make_toy()


def test_a_quick_benchmark_prints_claims_and_scores_and_writes_a_report(call, tmp_path):
    words = ("bench", "compliance", "--task", "toy", "--quick", "--output", str(tmp_path))
    code, out, _ = call(*words)
    assert code == 0
    assert "toy" in out
    assert "not judged" in out
    assert all(len(line) <= 80 for line in out.splitlines()[:-1])
    page = (tmp_path / "compliance.html").read_text()
    assert "Two stiffnesses are better than one." in page
    code, again, _ = call("bench", "compliance", "--results", str(tmp_path / "compliance.json"))
    assert code == 0
    assert again.splitlines()[:-1] == out.splitlines()[:-1]
    code, text, _ = call(*words, "--json")
    found = json.loads(text)
    assert [claim["verdict"] for claim in found["claims"]] == ["not judged"] * 2
    assert {score["measure"] for score in found["scores"]} == {"error", "twice"}
    before = page
    assert (tmp_path / "compliance.html").read_text() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--task", "toi"), "there is no task 'toi'; did you mean 'toy'"),
        (("--task", "toy", "--runs", "0"), "runs is 0; must be 1 to 900"),
        (("--task", "toy", "--population", "0"), "population is 0; must be >= 8"),
        (("--task", "toy", "--quick", "--held-out", "0"), "held_out is 0; must be 1 to 10000"),
        (("--task", "toy", "--seed", "-1"), "seed is -1; must be a whole number >= 0"),
        (("--results", "absent.json", "--runs", "3"), "--results runs nothing"),
        (("--results", "absent.json"), "absent.json"),
    ],
)
def test_what_cannot_be_run_is_refused_by_name(call, tmp_path, words, message):
    output = () if "--results" in words else ("--output", str(tmp_path))
    code, _, err = call("bench", "compliance", *words, *output)
    assert code == 1
    assert message in " ".join(err.split())


def test_a_result_file_of_another_seed_version_or_size_is_refused(call, tmp_path):
    call("bench", "compliance", "--task", "toy", "--quick", "--output", str(tmp_path))
    file = tmp_path / "compliance.json"
    text = file.read_text()
    for change, words, message in (
        (("", ""), ("--seed", "4"), "the results have the seed 0 and not 4"),
        (('"version": 2', '"version": 1'), (), "of version 1; this pliant reads version 2"),
        (('"run": 1', '"run": 7'), (), "has the runs [0, 7]; must be 0 to 1"),
        (('"task": "toy"', '"task": "other"'), (), "there is no task 'other'"),
        (('"error": [', '"error": [1.0, '), (), "has 3 values of error; must be 2"),
        (('"seed": 0', '"seed": "x"'), (), "this is no result of pliant bench compliance"),
    ):
        file.write_text(text.replace(*change) if change[0] else text)
        code, _, err = call("bench", "compliance", "--results", str(file), *words)
        assert code == 1
        assert message in " ".join(err.split())
