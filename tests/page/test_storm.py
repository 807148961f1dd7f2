"""A page that cannot die: sixteen browsers do at random whatever the page lets them do."""

import ctypes
import gc
import json
import logging
import math
import os
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

import numpy as np
import pytest
from running import free_port

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
HOUR_S = 3600.0


def memory() -> int:
    """Return the memory of this process, without what is free already [bytes]."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def storm(url: str, seconds: float, seed: int, *spared: str) -> dict:
    """Let the browsers storm a page; return what they sent."""
    command = [sys.executable, str(STORM), url, str(seconds), str(seed), *spared]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 120.0)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("qbmove-2dof", 4.0),
        ("6PFR", 6.0),
        pytest.param("qbmove-5dof", HOUR_S, marks=[pytest.mark.nightly, pytest.mark.timeout(HOUR_S + 900.0)]),
        pytest.param("fr3", HOUR_S, marks=[pytest.mark.nightly, pytest.mark.timeout(HOUR_S + 900.0)]),
    ],
)
def test_sixteen_browsers_that_do_anything_leave_page_and_simulation_alive(
    name, seconds, tmp_path, monkeypatch, caplog, capfd
):
    monkeypatch.chdir(tmp_path)  # recordings
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))  # saved poses
    puts: dict[tuple[int, str, str], list[float]] = {}
    raised: list[str] = []
    put = Mailbox.put

    def noted(inbox, values, **options):
        command = put(inbox, values, **options)
        for key, value in values.items():
            ends = puts.setdefault((id(inbox), command.mode, key), [math.inf, -math.inf])
            ends[0], ends[1] = min(ends[0], np.min(value)), max(ends[1], np.max(value))
        return command

    monkeypatch.setattr(Mailbox, "put", noted)
    monkeypatch.setattr(
        threading, "excepthook", lambda a: raised.append("".join(traceback.format_exception(a.exc_value)))
    )
    interval = sys.getswitchinterval()
    started, start = [], Simulation.start
    monkeypatch.setattr(Simulation, "start", lambda simulation: (started.append(simulation), start(simulation)))
    with PageServer(port=free_port()) as server:
        thread = threading.Thread(target=show_robots, args=(server, load(name), name, LoadedRobots([name])))
        sys.setswitchinterval(1e-5)
        thread.start()
        try:
            storm(server.url, 0.3 * min(seconds, 60.0), 1)  # afterwards all code is loaded and compiled
            started[-1].resume()
            started[-1].submit(lambda: started[-1].set_speed(1.0)).result(60.0)
            before, wall, steps = memory(), time.monotonic(), sum(s.steps for s in started)
            done = storm(server.url, seconds, 2, "Pause", "Run", "simulation", "simulation speed")
            pace = (sum(s.steps for s in started) - steps) * started[-1].engine.dt / (time.monotonic() - wall)
            grown = memory() - before
            assert thread.is_alive()
        finally:
            sys.setswitchinterval(interval)
            started[-1].stop()
            thread.join(60.0)
        fields = {
            id(device.inbox): {(mode, key): i for mode, table in device.commands.items() for key, i in table.items()}
            for simulation in started
            for device in simulation.devices.values()
        }
    with capfd.disabled():
        print(f"\n{name}: {done}, {1e-6 * grown:.1f} MB, {pace:.2f} of real time, {len(started)} runs")
    assert not raised, raised[0]
    assert server.faults == 0
    outside = []
    for (inbox, mode, key), ends in puts.items():
        info = fields[inbox][mode, key]
        if not info.low <= ends[0] <= ends[1] <= info.high:
            outside.append((mode, key, ends, info.low, info.high))
    assert not outside
    assert puts
    assert set(done["sent"]) >= {"box", "body"}
    assert done["refused"] == 0
    assert done["pages"] >= 16
    errors = [r.getMessage() for r in caplog.records if r.levelno >= logging.ERROR and "has ended" in r.getMessage()]
    assert not errors
    assert grown < MAX_GROWTH
    if seconds >= HOUR_S:
        assert pace > 0.95
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err
