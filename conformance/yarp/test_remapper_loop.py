"""YARP's own remapper over the 23 axes of the biped: equal runs in lock-step, and controllers on the clock.

Build the program first (remapper_loop/README.md), then:

PLIANT_YARP_LOOP=/path/to/remapper_loop python -m pytest -s conformance/yarp/test_remapper_loop.py
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from running import running

pytestmark = pytest.mark.network
PROGRAM = os.environ.get("PLIANT_YARP_LOOP", "")
SECONDS = float(os.environ.get("PLIANT_YARP_SECONDS", "60"))
RUNS, PERIODS = 5, 50


def loop(home, *arguments, options="", settings=(), **more):
    """Return what the program prints beside a run of its own."""
    if not PROGRAM or not Path(PROGRAM).exists():
        pytest.skip("no loop of YARP: set PLIANT_YARP_LOOP (remapper_loop/README.md)")
    home.mkdir()
    with running(home, "biped", options, settings) as environment:
        done = subprocess.run(
            [PROGRAM, *arguments],
            env={**environment, **more},
            capture_output=True,
            text=True,
            timeout=1800,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize(
    "way", [("counted", "udp"), ("counted", "tcp"), ("counted", "fast_tcp"), ("acknowledged",)], ids="-".join
)
def test_five_runs_in_lockstep_give_one_hash(way, tmp_path):
    hashes = set()
    for run in range(RUNS):
        said = loop(tmp_path / str(run), *way, str(PERIODS), options="lockstep=true")
        rows = [line.split() for line in said.splitlines() if len(line.split()) == 23]
        assert len(rows) == PERIODS
        assert rows[0] != rows[-1]
        hashes.add(hashlib.sha256(repr(rows).encode()).hexdigest())
    assert len(hashes) == 1


@pytest.mark.parametrize("period", [0.001, 0.01])
def test_a_controller_on_the_clock_loses_no_state_and_reads_and_sends_in_every_run(period, tmp_path):
    fine = ("--set", "option.timestep=0.001")
    said = loop(tmp_path / "run", "clock", str(period), str(SECONDS), settings=fine, YARP_CLOCK="/clock")
    words = next(line for line in said.splitlines() if line.startswith("period ")).split()
    print(" ".join(words))
    found = {key: float(value) for key, value in zip(words[::2], words[1::2], strict=True)}
    assert found["missed"] == 0  # of the state's stream over tcp
    assert found["states"] == pytest.approx(100.0 * found["simulated"], rel=0.02)
    assert found["read"] == found["sent"] == found["runs"]
    assert found["runs"] + found["lost"] == pytest.approx(found["simulated"] / period, rel=0.02)
