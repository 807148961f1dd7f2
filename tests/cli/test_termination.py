"""SIGTERM and SIGHUP do what Ctrl-C does."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import weakref

import pytest
from daily import by_day

from pliant.cli import termination
from pliant.cli.termination import signals_as_interrupt
from pliant.recording import RecordingWarning, read_recording


@pytest.fixture
def interrupted():
    """Count what a SIGINT would do, and put the handlers back."""
    count = []
    before = {number: signal.getsignal(number) for number in termination.ENDING}
    signal.signal(signal.SIGINT, lambda *_: count.append(1))
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, also for these tests
    yield count
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", termination.ENDING)
def test_every_signal_that_ends_does_what_sigint_does(interrupted, number):
    with signals_as_interrupt():
        signal.raise_signal(number)
        assert interrupted == [1]


@pytest.mark.parametrize("number", termination.ENDING)
def test_where_sigint_is_ignored_every_signal_still_interrupts(interrupted, number):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with signals_as_interrupt(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def test_sighup_stays_ignored_under_nohup(interrupted):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with signals_as_interrupt():
        signal.raise_signal(signal.SIGHUP)
    assert interrupted == []


def test_the_handler_of_before_is_put_back(interrupted):
    told = []
    signal.signal(signal.SIGTERM, lambda *_: told.append(1))
    with signals_as_interrupt():
        pass
    signal.raise_signal(signal.SIGTERM)
    assert told == [1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_forked_process_ends_by_the_default_action(interrupted, number):
    with signals_as_interrupt():
        child = os.fork()
        if child == 0:
            try:
                signal.raise_signal(number)
            finally:
                os._exit(77)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -number


SWALLOWING = """
import signal
try:
    signal.raise_signal({number})
except BaseException:
    told = "swallowed"
else:
    told = "later"
"""


@pytest.mark.parametrize("number", termination.ENDING)
def test_an_import_that_catches_everything_does_not_lose_the_interrupt(interrupted, tmp_path, monkeypatch, number):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    (tmp_path / "swallowing.py").write_text(SWALLOWING.format(number=int(number)))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "swallowing", raising=False)
    with signals_as_interrupt(), pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the wait is where it comes
        __import__("swallowing")
        threading.Event().wait(30.0)
    assert sys.modules["swallowing"].told == "later"


class Finalized:
    def __init__(self, call):
        self.call = call

    def __del__(self):
        self.call()


def in_a_finalizer(call):
    Finalized(call)


def in_the_callback_of_a_weak_reference(call):
    target = set[int]()
    reference = weakref.ref(target, lambda _: call())
    del target
    assert reference() is None


def in_a_callback_from_c(call):
    ctypes.CFUNCTYPE(None)(call)()


@pytest.mark.parametrize("number", termination.ENDING)
@pytest.mark.parametrize("ignoring", [in_a_finalizer, in_the_callback_of_a_weak_reference, in_a_callback_from_c])
def test_an_interrupt_where_python_ignores_it_comes_again(interrupted, ignoring, number, capsys):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with signals_as_interrupt(), pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the wait is where it comes
        ignoring(lambda: signal.raise_signal(number))
        threading.Event().wait(5.0)
    assert "ignored" not in capsys.readouterr().err


STUCK = """
import mujoco, threading, time, warnings
from pliant.engine import MujocoEngine
from pliant.recording import read_recording

whole = MujocoEngine.step
warnings.simplefilter("ignore")  # the recording is not closed

def step(self, n=1):
    whole(self, n)
    if self.steps == 500:
        while len(read_recording("run.mcap").get("joint/time", ())) < 20:  # until the recorder has flushed
            time.sleep(0.01)
        # From a thread that gets its turn when the step below has released the interpreter.
        threading.Timer(0.3, print, ["inside"], {"flush": True}).start()
        mujoco.mj_step(self.model, self.data, nstep=2**31 - 1)

MujocoEngine.step = step
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", by_day([signal.SIGINT, signal.SIGTERM], lambda number: number == signal.SIGINT))
def test_a_second_signal_ends_a_run_inside_mujoco_and_its_recording_opens(tmp_path, number):
    (tmp_path / "stuck.py").write_text(STUCK)
    child = subprocess.Popen(
        [sys.executable, "-m", "pliant", "run", "sea-1dof", "--record", "run.mcap", "--import", "stuck.py"],
        cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        while "inside" not in (line := child.stdout.readline()):
            assert line, child.stderr.read()
        child.send_signal(number)
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(1.0)
        child.send_signal(number)
        _, err = child.communicate(timeout=120.0)
    finally:
        child.kill()
        child.wait()
    assert child.returncode == 128 + number
    assert "a recording is readable up to what was written before" in err
    with pytest.warns(RecordingWarning, match="it was not closed"):
        assert len(read_recording(tmp_path / "run.mcap")["joint/time"]) > 10


def run_script(body, *, signals):
    """Run a script and send it SIGINT at each line "now"; returns exit code, output and errors."""
    child = subprocess.Popen(
        [sys.executable, "-c", body],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    try:
        for _ in range(signals):
            while "now" not in (line := child.stdout.readline()):
                assert line, child.stderr.read()
            child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=120.0)
    finally:
        child.kill()
        child.wait()
    return child.returncode, out, err


def test_a_main_thread_that_answers_the_second_signal_may_take_its_time_to_end():
    body = """
import time
from pliant.cli.termination import ending_at_second_signal
with ending_at_second_signal():
    for _ in range(2):
        try:
            print("now", flush=True)
            time.sleep(60.0)
        except KeyboardInterrupt:
            pass
    began = time.monotonic()
    while time.monotonic() - began < 1.5:
        sum(range(1000))
    print("ended by itself")
"""
    code, out, err = run_script(body, signals=2)
    assert (code, out.strip().splitlines()[-1]) == (0, "ended by itself"), err


def test_a_main_thread_that_ends_at_once_after_the_second_signal_is_not_taken_for_stuck():
    body = """
import signal, sys, time
from pliant.cli.termination import SAME_PRESS, ending_at_second_signal
sys.setswitchinterval(0.5)  # the thread of the signals runs when the main thread waits for it, and not before
for _ in range(3):
    with ending_at_second_signal():
        for _ in range(2):
            try:
                time.sleep(2.0 * SAME_PRESS)
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                pass
print("ended by itself")
"""
    code, out, err = run_script(body, signals=0)
    assert (code, out.strip()) == (0, "ended by itself"), err


def test_the_signal_that_pliant_sends_to_itself_is_not_the_second_one():
    body = """
import mujoco, os, threading, time
from pliant.cli.termination import PATIENCE, ending_at_second_signal, interrupt_main
model = mujoco.MjModel.from_xml_string("<mujoco/>")
data = mujoco.MjData(model)

def press_and_wait():
    while data.time == 0.0:  # until the main thread is inside
        time.sleep(0.01)
    print("now", flush=True)
    time.sleep(0.5)
    interrupt_main()
    time.sleep(PATIENCE + 0.5)
    os._exit(7)

with ending_at_second_signal():
    threading.Thread(target=press_and_wait).start()
    mujoco.mj_step(model, data, nstep=2**31 - 1)
"""
    code, _, err = run_script(body, signals=1)
    assert code == 7, err


def test_the_first_signal_asks_to_stop_its_copy_is_ignored_and_the_second_interrupts(monkeypatch):
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(termination, "SAME_PRESS", 60.0)
    with termination.stopping_at_signal() as stop:
        assert not stop.is_set()
        signal.raise_signal(signal.SIGINT)
        assert stop.is_set()
        signal.raise_signal(signal.SIGINT)  # passed on by a parent that the terminal interrupts, too
        monkeypatch.setattr(termination, "SAME_PRESS", -1.0)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.network
def test_a_signal_right_after_the_address_of_a_bridge_is_the_normal_end_of_the_run(call, monkeypatch):
    from pliant.cli import simulating

    say_where = simulating.say_where

    def said(console, wire):
        say_where(console, wire)
        signal.raise_signal(signal.SIGHUP)

    monkeypatch.setattr(simulating, "say_where", said)
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored, and ends no command
    code, out, err = call("run", "sea-1dof", "--bridge", "yarp:server=127.0.0.1:0,lockstep=true")
    signal.signal(signal.SIGHUP, before)
    assert code == 0, err
    assert "0 steps" in out


@pytest.mark.network
def test_a_signal_right_after_the_address_of_the_page_is_its_normal_end(call, monkeypatch):
    from pliant.page import commands

    monkeypatch.setattr(commands, "show_robots", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    code, _, err = call("view", "sea-1dof")
    assert code == 0, err
    assert "view: ended" in err
