"""Sweeps and experiments that Ctrl-C ends keep and say what was done; two sweeps do not share a folder."""

import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from pliant import sweep
from pliant.experiments import Result, Target, experiment
from pliant.experiments import base as experiments
from pliant.sweep import runner

VARY = ("--vary", "actuator.k1=0.001:0.003:6", "--duration", "0.05", "--chunk", "2")


@pytest.fixture
def interrupt(monkeypatch):
    """Press Ctrl-C in the third chunk."""
    chunks = []
    run = runner.run_chunk

    def run_chunk(plan, first, points, *rest):
        chunks.append(first)
        if len(chunks) == 3:
            signal.raise_signal(signal.SIGINT)
        return run(plan, first, points, *rest)

    monkeypatch.setattr(runner, "run_chunk", run_chunk)
    return chunks


def indices(folder):
    with (folder / "results.csv").open() as file:
        return [int(row["index"]) for row in csv.DictReader(file)]


def test_an_interrupted_sweep_tells_what_it_has_and_goes_on_where_it_was(call, robot_file, tmp_path, interrupt):
    folder = tmp_path / "sweep"
    code, out, _ = call("sweep", robot_file, *VARY, "--output", folder)
    assert code == 130
    assert "4 simulations (0 done before)" in out
    assert "interrupted after 4 of 6 simulations; the same command continues the sweep" in out
    assert "elbow/peak_torque" in out
    assert indices(folder) == [0, 1, 2, 3]
    code, out, err = call("sweep", robot_file, *VARY, "--output", folder)
    assert code == 0, err
    assert "6 simulations (4 done before)" in out
    assert indices(folder) == [0, 1, 2, 3, 4, 5]
    code, out, _ = call("sweep", robot_file, *VARY, "--output", folder)
    assert code == 0
    assert indices(folder) == [0, 1, 2, 3, 4, 5]


def test_an_interrupted_sweep_without_a_folder_gives_its_rows(call, robot_file, interrupt):
    code, out, _ = call("sweep", robot_file, *VARY, "--json")
    assert code == 130
    found = json.loads(out)
    assert found["interrupted"] is True
    assert [row[0] for row in found["rows"]] == [0, 1, 2, 3]


def test_in_python_ctrl_c_stays_an_exception(robot_file, interrupt):
    plan = sweep.SweepPlan(
        source=robot_file, variations=(sweep.parse_variation("actuator.k1=0.001:0.003:6"),), duration=0.01
    )
    with pytest.raises(KeyboardInterrupt):
        sweep.run_sweep(plan, chunk=2)


def test_a_folder_in_which_a_sweep_is_at_work_is_refused(call, robot_file, tmp_path, monkeypatch):
    pytest.importorskip("fcntl")
    folder = tmp_path / "sweep"
    answers = []
    run = runner.run_chunk

    def meanwhile(plan, first, points, *rest):
        if not answers:
            answers.append(None)
            answers[0] = call("sweep", robot_file, *VARY, "--output", folder)
        return run(plan, first, points, *rest)

    monkeypatch.setattr(runner, "run_chunk", meanwhile)
    code, _, err = call("sweep", robot_file, *VARY, "--output", folder)
    assert code == 0, err
    code, _, err = answers[0]
    assert code == 1
    assert "another sweep is running in this folder" in err
    assert str(folder) in err.replace("\n", "")
    assert indices(folder) == [0, 1, 2, 3, 4, 5]


def test_another_sweep_and_a_damaged_plan_are_named(call, robot_file, tmp_path):
    folder = tmp_path / "sweep"
    assert call("sweep", robot_file, *VARY, "--output", folder)[0] == 0
    code, _, err = call("sweep", robot_file, *VARY, "--seed", "3", "--output", folder)
    assert code == 1
    assert "another sweep" in err
    for text in ("{", "[1, 2]", ""):
        (folder / "plan.json").write_text(text)
        code, _, err = call("sweep", robot_file, *VARY, "--output", folder)
        assert code == 1
        assert "not the plan of a sweep" in err
        assert "plan.json" in err
    assert indices(folder) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--samples", "3"), "--samples has no effect without a random --vary"),
        (("--chunk", "0"), "--chunk is 0"),
        (("--processes", "0"), "--processes is 0"),
        (("--seed", "-1"), "seed is -1; must be a whole number >= 0"),
        (("--duration", "1e300"), "must be at most 10000000"),
        (("--duration", "9000", "--samples", "100", "--vary", "elbow.k2=uniform(0.001,0.002)"), "a chunk of 111 or"),
        (("--processes", "2", "--dask", "localhost:1"), "--processes has no effect with --dask"),
    ],
)
def test_options_of_a_sweep_that_do_nothing_are_refused(call, robot_file, options, word):
    code, _, err = call("sweep", robot_file, "--vary", "actuator.k1=0.001,0.002", *options)
    assert code == 1
    assert word in err


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs groups of processes")
def test_ctrl_c_ends_a_sweep_of_several_processes_and_all_of_them(robot_file, tmp_path):
    folder, log = tmp_path / "sweep", tmp_path / "log"
    with log.open("w") as output:
        child = subprocess.Popen(
            [sys.executable, "-m", "pliant", "sweep", robot_file, "--vary", "actuator.k1=0.001:0.003:4000",
             "--duration", "1", "--chunk", "5", "--processes", "2", "--output", str(folder)],
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + 120.0
        table = folder / "results.csv"
        while not (table.exists() and table.read_text().count("\n") > 1):
            assert child.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        os.killpg(child.pid, signal.SIGINT)
        assert child.wait(60.0) == 130, log.read_text()
        text = log.read_text()
        assert "interrupted after" in text
        assert "Traceback" not in text
        found = indices(folder)
        assert 5 <= len(found) < 4000
        assert len(set(found)) == len(found)
        while True:  # the group is empty once its last process is gone
            try:
                os.killpg(child.pid, 0)
            except ProcessLookupError:
                break
            assert time.monotonic() < deadline + 60.0
            time.sleep(0.05)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait(30.0)


# -- experiments -----------------------------------------------------------------------------------------------


@pytest.fixture
def _two_experiments(monkeypatch):
    monkeypatch.setattr(experiments, "_EXPERIMENTS", {})

    @experiment("a-first", title="First")
    def first(context):
        """Pass."""
        return Result(targets=[Target(name="one", measured=1.0, equals=1.0, tolerance=0.1, source="ours: a test")])

    @experiment("b-second", title="Second")
    def second(context):
        """Be interrupted."""
        signal.raise_signal(signal.SIGINT)
        return Result(targets=[])

    chosen = [experiments._EXPERIMENTS[name] for name in ("a-first", "b-second")]
    for place in ("pliant.experiments", "pliant.experiments.runner"):
        monkeypatch.setattr(f"{place}.list_experiments", lambda: chosen)


@pytest.mark.usefixtures("_two_experiments")
def test_interrupted_experiments_keep_the_reports_of_those_that_are_done(call, tmp_path):
    code, out, _ = call("reproduce", "--output", tmp_path)
    assert code == 130
    assert "1 of 1 checks pass" in out
    assert "interrupted after 1 of 2 experiments; not done: b-second" in out
    assert (tmp_path / "a-first.html").exists()
    assert (tmp_path / "index.html").exists()
    code, out, _ = call("reproduce", "--output", tmp_path, "--json")
    assert code == 130
    found = json.loads(out)
    assert found["interrupted"] is True
    assert found["passed"] is False
    assert [e["name"] for e in found["experiments"]] == ["a-first"]


@pytest.mark.usefixtures("_two_experiments")
def test_experiments_that_are_interrupted_at_once_count_no_checks(call, tmp_path):
    code, out, _ = call("reproduce", "b-second", "--output", tmp_path)
    assert code == 130
    assert "interrupted before any experiment ended; not done: b-second" in out
    assert "checks pass" not in out
