"""Journals: results are found again by arguments and code; lines that a crash cut off are not."""

import math
from dataclasses import dataclass

import pytest

from pliant.base.errors import PliantError
from pliant.tasks import journal
from pliant.tasks.executor import Executor
from pliant.tasks.journal import Journal, code_digest, map_tasks, read_journal


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    name: str
    places: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    value: float
    parts: tuple[float, ...]


CALLS = []


def work(arguments, factor):
    CALLS.append(arguments.name)
    return Found(value=math.nan if factor is None else factor * sum(arguments.places), parts=arguments.places)


@pytest.fixture(autouse=True)
def _no_calls():
    CALLS.clear()


def tasks(count, factor=2.0):
    return {k: (Arguments(name=str(k), places=(float(k), math.inf if k == 1 else 0.5)), factor) for k in range(count)}


def test_results_that_are_kept_are_not_computed_again(tmp_path):
    path = tmp_path / "results.jsonl"
    heard = []
    with Journal(path, Found) as kept:
        first = map_tasks(work, tasks(2), journal=kept, progress=lambda *told: heard.append(told))
    assert heard == [(1, 2, 0), (2, 2, 1)]
    with path.open("a") as file:
        file.write('{"key": "cut off')
    with Journal(path, Found) as kept:
        again = map_tasks(work, tasks(4), journal=kept)
    assert CALLS == ["0", "1", "2", "3"]
    assert {k: again[k] for k in first} == first
    assert again[1] == Found(value=math.inf, parts=(1.0, math.inf))
    assert len(read_journal(path, Found)) == 4


def test_other_arguments_and_other_code_are_other_tasks(tmp_path, monkeypatch):
    path = tmp_path / "results.jsonl"

    def run(**options):
        with Journal(path, Found) as kept:
            return map_tasks(work, tasks(1, options.pop("factor", 2.0)), journal=kept, **options)

    run()
    run(factor=None)
    run(code=["pliant.base.errors"])
    run(code=["pliant.base.errors"])
    assert len(CALLS) == 3
    monkeypatch.setattr(journal, "code_digest", lambda *names: "changed")
    run(code=["pliant.base.errors"])
    assert len(CALLS) == 4
    assert math.isnan(run(factor=None)[0].value)


@pytest.mark.parametrize("executor", [Executor(threads=2), Executor(processes=2)], ids=["threads", "processes"])
def test_without_a_journal_nothing_is_kept(executor):
    assert map_tasks(divmod, {"a": (7, 2), "b": (9, 4)}, executor=executor) == {"a": (3, 1), "b": (2, 1)}


def test_two_runs_do_not_share_a_folder(tmp_path):
    pytest.importorskip("fcntl")
    with (
        Journal(tmp_path / "results.jsonl", Found),
        pytest.raises(PliantError, match="another run is running in this folder"),
        Journal(tmp_path / "results.jsonl", Found),
    ):
        pass
    with Journal(tmp_path / "results.jsonl", Found):
        pass


def test_a_folder_that_is_not_there_and_text_that_is_none_are_named(tmp_path):
    with pytest.raises(PliantError, match="cannot be used"), Journal(tmp_path / "no" / "results.jsonl", Found):
        pass
    (tmp_path / "results.jsonl").write_bytes(b"\xff\n")
    with pytest.raises(PliantError, match="journal is not UTF-8 text"), Journal(tmp_path / "results.jsonl", Found):
        pass


def test_a_digest_is_that_of_the_source():
    assert code_digest("pliant.base.errors") != code_digest("pliant.base.spatial")
    assert code_digest("pliant.laws") != code_digest("pliant.laws.actuator")
    with pytest.raises(PliantError, match=r"no module .pliant\.spam."):
        code_digest("pliant.spam")
