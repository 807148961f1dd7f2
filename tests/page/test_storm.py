"""A page that cannot die: sixteen browsers do at random whatever the page lets them do."""

import ctypes
import gc
import json
import logging
import os
import subprocess
import sys
import threading
import time
import traceback
import weakref
from pathlib import Path

import numpy as np
import pytest
from running import eventually, free_port

from pliant.devices.mailbox import Mailbox
from pliant.page import PageServer
from pliant.page.commands import show_robots
from pliant.page.loaded import LoadedRobots
from pliant.robots.loading import load
from pliant.simulation import Simulation

pytestmark = [pytest.mark.network, pytest.mark.slow]

STORM = Path(__file__).parents[1] / "helpers" / "page_storm.py"
MAX_GROWTH = 50e6
"""Most memory that may be added [bytes]."""
HOUR_S = float(os.environ.get("PLIANT_STORM_S", "3600"))
"""Length of the long storms [s]."""


def memory() -> int:
    """Return the memory of this process, without what is free already [bytes]."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def storm(url: str, seconds: float, seed: int, *spared: str, look=lambda: None) -> dict:
    """Let the browsers storm a page, looking at it at each sixth of the time; return what they sent."""
    command = [sys.executable, str(STORM), url, str(seconds), str(seed), *spared]
    begun = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as browsers:
        for part in range(1, 7):
            try:
                out, err = browsers.communicate(timeout=max(begun + part * seconds / 6.0 - time.monotonic(), 0.1))
                break
            except subprocess.TimeoutExpired:
                look()
        else:
            try:
                out, err = browsers.communicate(timeout=120.0)
            finally:
                browsers.kill()
    assert browsers.returncode == 0, err
    return json.loads(out)


def kept_from_a_core(thread: threading.Thread) -> float:
    """Return how long a thread could have gone on, and the machine did something else [s]."""
    return 1e-9 * int(Path(f"/proc/self/task/{thread.native_id}/schedstat").read_text().split()[1])


class Runs:
    """Notes the simulations that the page begins, without keeping them alive."""

    def __init__(self) -> None:
        self.count, self._past, self._last = 0, 0.0, lambda: None

    def noted(self, start):
        def begin(simulation):
            if (before := self._last()) is not None:
                self._past += before.steps * self._dt
            self._last, self.count = weakref.ref(simulation), self.count + 1
            self._dt = simulation.engine.dt
            start(simulation)

        return begin

    def newest(self) -> Simulation:
        """Return the simulation that runs, and wait for one between two robots."""
        eventually(lambda: self._last() is not None)
        return self._last()

    def time(self) -> float:
        """Return the simulated time of all [s]."""
        return self._past + self.newest().steps * self._dt


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("qbmove-2dof", 2.0),
        pytest.param("6PFR", 4.0, marks=pytest.mark.nightly),
        pytest.param("qbmove-5dof", HOUR_S, marks=[pytest.mark.nightly, pytest.mark.timeout(HOUR_S + 900.0)]),
        pytest.param("fr3", HOUR_S, marks=[pytest.mark.nightly, pytest.mark.timeout(HOUR_S + 900.0)]),
    ],
)
def test_sixteen_browsers_that_do_anything_leave_page_and_simulation_alive(
    name, seconds, tmp_path, monkeypatch, caplog, capfd
):
    caplog.set_level(logging.WARNING)
    monkeypatch.chdir(tmp_path)  # recordings
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))  # saved poses
    outside, puts = [], set()
    raised: list[str] = []
    put = Mailbox.put

    def noted(inbox, values, **options):
        command = put(inbox, values, **options)
        for key, value in values.items():
            info = inbox._commands[command.mode][key]
            puts.add((inbox.device, command.mode, key))
            if not (info.low <= np.min(value) and np.max(value) <= info.high):
                outside.append((inbox.device, command.mode, key, value))
        return command

    monkeypatch.setattr(Mailbox, "put", noted)
    monkeypatch.setattr(
        threading, "excepthook", lambda a: raised.append("".join(traceback.format_exception(a.exc_value)))
    )
    interval = sys.getswitchinterval()
    runs = Runs()
    monkeypatch.setattr(Simulation, "start", runs.noted(Simulation.start))
    with PageServer(port=free_port()) as server:
        thread = threading.Thread(target=show_robots, args=(server, load(name), name, LoadedRobots([name])))
        sys.setswitchinterval(1e-5)
        thread.start()
        try:
            eventually(lambda: runs.count, 600.0)  # the machine code of a robot may be compiled first
            storm(server.url, 0.3 * min(seconds, 60.0), 1)  # afterwards all code is loaded and compiled
            runs.newest().resume()
            runs.newest().submit(lambda: runs.newest().set_speed(1.0)).result(60.0)
            before, wall, simulated, kept = memory(), time.monotonic(), runs.time(), kept_from_a_core(thread)
            done, seed = {"pages": 0, "refused": 0}, 2
            sent: set[str] = set()
            course: list[int] = []
            while not sent >= {"box", "body"} and seed < 12:  # on a busy machine one storm may reach no box
                spared = ("Pause", "Run", "simulation", "simulation speed")
                more = storm(server.url, seconds, seed, *spared, look=lambda: course.append(memory() - before))
                sent |= set(more.pop("sent"))
                done, seed = {key: done[key] + count for key, count in more.items()}, seed + 1
            wall, simulated, kept = time.monotonic() - wall, runs.time() - simulated, kept_from_a_core(thread) - kept
            pace = simulated / wall
            grown = memory() - before
            assert thread.is_alive()
        finally:
            sys.setswitchinterval(interval)
            runs.newest().stop()
            thread.join(60.0)
    with capfd.disabled():
        print(
            f"\n{name}: {done}, {1e-6 * grown:.1f} MB, {pace:.2f} of real time, {runs.count} runs, "
            f"{kept:.0f} s without a core"
        )
        print("growth at each sixth [MB]:", *(f"{1e-6 * part:.1f}" for part in course))
    assert not raised, raised[0]
    assert server.faults == 0
    assert not outside
    warned = [
        r.getMessage() for r in caplog.records if "; expected " in r.getMessage() and " apart;" not in r.getMessage()
    ]
    assert not warned
    assert puts
    assert sent >= {"box", "body"}
    assert done["refused"] == 0
    assert done["pages"] >= 16
    errors = [r.getMessage() for r in caplog.records if r.levelno >= logging.ERROR and "has ended" in r.getMessage()]
    assert not errors
    assert grown < MAX_GROWTH
    if seconds >= HOUR_S:
        assert simulated + kept > 0.95 * wall  # what other programs take from the loop is not the page's doing
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err
