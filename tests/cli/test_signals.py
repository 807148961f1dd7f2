"""Every command that serves or runs ends on SIGINT, SIGTERM and SIGHUP, also if a script started it in the background.

A shell without job control starts its background jobs with SIGINT ignored.
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs groups of processes")
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
START_S = 120.0
"""Longest wait for a command to be ready [s]: a first start compiles."""
END_S = 30.0
"""Longest wait for a command to end [s], on a machine whose cores are busy."""
START = """
import sys
import threading

def tell_steps():
    from pliant.engine import MujocoEngine
    from pliant.sweep import runner

    run_chunk = runner.run_chunk

    def chunk(*arguments, **options):
        print("ready", file=sys.stderr, flush=True)
        return run_chunk(*arguments, **options)

    runner.run_chunk = chunk
    whole, told = MujocoEngine.step, []

    def step(self, n=1):
        whole(self, n)
        if not told and self.steps > 20:
            told.append(print("ready", file=sys.stderr, flush=True))

    MujocoEngine.step = step

def wait_as_a_command(*_, **__):
    print("ready", flush=True)
    threading.Event().wait()

if __name__ == "__main__":
    import signal

    from pliant.cli import application

    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup ignores, for the tests too

    tell_steps()
    if sys.argv[1:] == ["check"]:
        application.app = wait_as_a_command
    application.main(sys.argv[1:])
"""
YARP = "yarp:server=127.0.0.1:0"
SWEEP = ("--vary", "joint.k=1:2:4000", "--chunk", "5", "--processes", "1", "--output", "swept")
COMMANDS = {
    "any": (("check",), "ready", 130),
    "run": (("run", "sea-1dof", "--duration", "1e6"), "ready", 130),
    "run-served": (("run", "sea-1dof", "--bridge", YARP), "ready", 0),
    "run-lockstep": (("run", "sea-1dof", "--bridge", f"{YARP},lockstep=true"), "Ctrl-C ends", 0),
    "run-recorded": (("run", "sea-1dof", "--duration", "1e6", "--record", "run.mcap"), "ready", 130),
    "replay": (("replay", "short.mcap", "--loop", "--bridge", YARP), "Ctrl-C ends", 0),
    "view": (("view", "sea-1dof"), "ready", 0),
    "yarpserver": (("yarpserver", "--socket", "0"), "name server /root at", 0),
    "yarp-read": (("yarp", "read", "/signals/reader"), "", 0),
    "sweep": (("sweep", "sea-1dof", *SWEEP), "ready", 130),
    "reproduce": (("reproduce", "yarp-clock", "--output", "reproduced"), "ready", 130),
}
"""Command -> its arguments, what tells that it runs, and its exit code after a signal."""
BY_DAY = {("any", number) for number in SIGNALS} | {
    ("run-served", signal.SIGINT),
    ("run-lockstep", signal.SIGHUP),
    ("run", signal.SIGTERM),
    ("yarpserver", signal.SIGINT),
    ("yarpserver", signal.SIGHUP),
    ("view", signal.SIGINT),
}
NIGHTLY = [pytest.mark.nightly]
CASES = [
    pytest.param(name, number, marks=[] if (name, number) in BY_DAY else NIGHTLY, id=f"{name}-{number.name}")
    for name in COMMANDS
    for number in SIGNALS
]


def ignore_interrupts():
    """Do what a shell does with its background jobs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def started(folder, arguments, environment):
    """Run a command in the background and give its process and its log."""
    (folder / "start.py").write_text(START)
    log = folder / "log"
    with log.open("w") as output:
        child = subprocess.Popen(
            [sys.executable, "start.py", *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=output, stderr=output, start_new_session=True, preexec_fn=ignore_interrupts,
        )  # fmt: skip
    try:
        yield child, log
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait(30.0)


def prepare(name, folder, stack):
    """Make what a command needs; return its further arguments."""
    if name == "replay":
        command = [sys.executable, "-m", "pliant", "run", "sea-1dof", "--duration", "0.2", "--record", "short.mcap"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=START_S)
    if name == "yarp-read":
        from pliant.yarp.bridge.nameserver import NameServer

        server = stack.enter_context(NameServer(port=0))
        return server, ("--server", str(server.address))
    if name == "view":
        with socket.create_server(("127.0.0.1", 0)) as probe:
            return None, ("--view-port", str(probe.getsockname()[1]))
    return None, ()


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.parametrize(("name", "number"), CASES)
def test_a_command_in_the_background_ends_at_once_and_in_order(tmp_path, name, number):
    arguments, ready, code = COMMANDS[name]
    environment = {**os.environ, "YARP_CONFIG_HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    with contextlib.ExitStack() as stack:
        server, more = prepare(name, tmp_path, stack)
        child, log = stack.enter_context(started(tmp_path, (*arguments, *more), environment))
        end = time.monotonic() + START_S
        while not is_ready(server, log, ready):
            assert child.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        child.send_signal(number)
        assert child.wait(END_S) == code, log.read_text()
        assert "Traceback" not in log.read_text()


def is_ready(server, log, ready):
    if server is not None:  # the command says nothing before a message arrives
        return "/signals/reader" in server.contacts
    return re.search(ready, log.read_text()) is not None
