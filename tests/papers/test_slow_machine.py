"""No verdict depends on the speed of the machine: experiments give the same numbers when their processes stall.

`pliant reproduce` runs in a process of its own. Here one of its processes after the other, the simulation's server or
the program that drives it, is stopped for up to 0.9 s and continued, as on a machine that does something else.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from mutations import quick

from pliant.base.errors import BridgeError
from pliant.experiments import Context, find_experiment
from pliant.experiments.runner import list_experiments
from pliant.papers import franka_dual_arm, franka_float
from pliant.papers.arms import tag_servo
from pliant.papers.arms.follow_tag import Ending
from pliant.papers.arms.franka_server import ATTEMPTS, past_stalls
from pliant.papers.arms.tag_servo import interrupted, law_task
from pliant.papers.franka_visual_servo import (
    FrankaVisualServoOptions,
    run_servo,
    setup_of,
    start_poses,
)

NAMES = [found.name for found in list_experiments()]
BY_DAY = ("franka-torque",)
"""A short experiment with a server; the others are run at night."""
WALL = {"yarp-clock": ("simulated over wall time",)}
"""First words of targets on wall time; their limit is on one side, load only makes them pass."""
STALLS_S = (0.05, 0.9)
"""How long a process is stopped [s]: clients of libfranka give up after 1 s without a state."""
PAUSES_S = (0.2, 1.0)
"""How long all run between two stalls [s]."""


def family(pid):
    """Return a process and its descendants."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def run_with_stalls(process, seed, stalls_s=STALLS_S):
    """Stop and continue the processes of a running experiment until it ends; return how often."""
    rng, count = random.Random(seed), 0
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(*PAUSES_S))
            return count
        chosen = rng.choice(family(process.pid))
        with contextlib.suppress(ProcessLookupError):
            os.kill(chosen, signal.SIGSTOP)
            count += 1
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(*stalls_s))
        with contextlib.suppress(ProcessLookupError):
            os.kill(chosen, signal.SIGCONT)


def case(name):
    return pytest.param(name, marks=[] if name in BY_DAY else [pytest.mark.nightly])


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("name", [case(name) for name in NAMES])
def test_an_experiment_gives_the_same_numbers_on_a_machine_that_stalls(name, tmp_path):
    command = [sys.executable, "-m", "pliant", "reproduce", name, "--quick", "--output", str(tmp_path)]
    with (tmp_path / "log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        count = run_with_stalls(process, seed=name)
    found = json.loads((tmp_path / f"{name}.json").read_text())
    expected = quick(name)
    assert count > 3
    assert not found["error"], (tmp_path / "log").read_text()
    assert [s["verdict"] for s in found["statements"]] == [str(s.verdict) for s in expected.statements]
    targets = [t for part in (*found["statements"], found) for t in part["targets"]]
    assert len(targets) == len(expected.every_target)
    for given, wanted in zip(targets, expected.every_target, strict=True):
        assert given["passed"] == wanted.passed, given
        if not given["name"].startswith(WALL.get(name, "-")):
            assert given["measured"] == pytest.approx(wanted.measured, rel=1e-6, abs=1e-9, nan_ok=True), given["name"]


@pytest.mark.network
def test_a_program_that_stalls_loses_no_command(monkeypatch):
    pytest.importorskip("pylibfranka")
    options = FrankaVisualServoOptions(starts=1)
    setup = setup_of(options)
    (start,), _ = start_poses(options, np.random.default_rng(0), setup)
    quiet = run_servo(start, "PBVS", setup, rendered=False, fci=True, duration=0.1)
    looked, pause = [], threading.Event()

    def stalling(*given):
        looked.append(pause.wait(0.8 if len(looked) == 2 else 0.0))
        return law_task(*given)

    monkeypatch.setattr(tag_servo, "law_task", stalling)
    slow = run_servo(start, "PBVS", setup, rendered=False, fci=True, duration=0.1)
    assert len(looked) == len(slow.time) == 5
    assert slow.status == quiet.status == "running"
    assert [slow.counters[name] for name in ("lost", "late", "timeouts", "malformed")] == [0, 0, 0, 0]
    np.testing.assert_allclose(slow.place, quiet.place, atol=1e-9)


class Fault:
    status, message = "fault", "the robot at 127.0.0.1: libfranka: UDP receive: Timeout"


class Whole:
    status, message = "converged", ""


class Lost:
    status, message = "fault", "the motion was aborted: reflex"


@pytest.mark.parametrize(
    ("runs", "kept", "made"),
    [([Whole], Whole, 1), ([Fault, Whole], Whole, 2), ([Fault] * ATTEMPTS, Fault, ATTEMPTS), ([Lost, Whole], Lost, 1)],
)
def test_a_run_that_the_machine_interrupted_is_made_again_and_no_other(runs, kept, made):
    rest = list(runs)
    assert past_stalls(lambda: rest.pop(0), interrupted) is kept
    assert len(runs) - len(rest) == made
    assert [interrupted(run()) for run in (Fault, Lost, Whole)] == [True, False, False]


STALL = "UDP receive: Timeout"


@pytest.mark.parametrize(
    ("answers", "runs"), [(["ok"], 1), ([STALL, "ok"], 2), ([STALL] * ATTEMPTS, ATTEMPTS), (["refused"], 1)]
)
def test_a_torque_run_is_made_again_after_a_stall_and_after_nothing_else(answers, runs):
    left = list(answers)

    def make():
        answer = left.pop(0)
        if answer != "ok":
            raise BridgeError(f"the robot at 127.0.0.1: libfranka: {answer}", field="address")
        return answer

    if answers[-1] == "ok":
        assert past_stalls(make) == "ok"
    else:
        with pytest.raises(BridgeError, match=answers[-1]):
            past_stalls(make)
    assert len(answers) - len(left) == runs


@pytest.mark.parametrize(("answers", "runs"), [([STALL, "ok"], 2), ([STALL] * ATTEMPTS, ATTEMPTS), (["refused"], 1)])
def test_an_arm_that_floats_through_the_interface_floats_again_after_a_stall(answers, runs, monkeypatch):
    left = list(answers)

    def float_published(duration, fci):
        assert (duration, fci) == (franka_float.DURATION, None)
        if (answer := left.pop(0)) != "ok":
            raise BridgeError(f"the robot at 127.0.0.1: libfranka: {answer}", field="address")
        raise InterruptedError("the arm has floated")

    monkeypatch.setattr(franka_float, "float_published", float_published)
    with pytest.raises(InterruptedError if answers[-1] == "ok" else BridgeError):
        find_experiment("franka-float").run(Context(output=Path("absent")), franka_float.FrankaFloatOptions())
    assert len(answers) - len(left) == runs


@pytest.mark.parametrize(
    ("endings", "runs"),
    [
        ([(Ending.FAULT, STALL), (Ending.COMPLETED, "")], 2),
        ([(Ending.FAULT, STALL)] * ATTEMPTS, ATTEMPTS),
        ([(Ending.FAULT, "the motion was aborted: reflex")], 1),
    ],
)
def test_two_arms_run_again_after_a_stall_and_after_nothing_else(endings, runs, monkeypatch):
    left = list(endings)

    def follow(torso, plan):
        ending, message = left.pop(0)
        return SimpleNamespace(ending=ending, message=message)

    torso = SimpleNamespace(health=lambda: [{"lost": 0}])
    monkeypatch.setattr("pliant.papers.arms.opened.open_torso", lambda **_: contextlib.nullcontext(torso))
    monkeypatch.setattr("pliant.papers.arms.follow_tag.follow", follow)
    run = franka_dual_arm.run_arms(SimpleNamespace(approach=True), fci=True)
    assert (run.ending, run.message) == endings[-1]
    assert run.health == [{"lost": 0}]
    assert len(endings) - len(left) == runs
