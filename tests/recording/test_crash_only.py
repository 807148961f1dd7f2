"""However a run ends, its recording holds all but the last 100 ms of simulated time."""

import subprocess
import sys
from pathlib import Path

import pytest

from pliant.recording import RecordingWarning, read_recording

HERE = Path(__file__).parent
CHILD = """
import os, resource, signal, sys
sys.path[:0] = [{here!r}, {helpers!r}]
from test_recording import simulation
run = simulation({path!r}, flush_interval=60.0)
{body}
"""
MAX_LOSS = 100
"""Steps of 1 ms that may be lost."""


def child(path, body):
    code = CHILD.format(here=str(HERE), helpers=str(HERE.parent / "helpers"), path=str(path), body=body)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("steps", [150, 1777])
def test_a_killed_run_loses_at_most_100_ms_of_simulated_time(steps, tmp_path):
    path = tmp_path / "run.mcap"
    result = child(path, f"run.step({steps})\nos.kill(os.getpid(), signal.SIGKILL)")
    assert result.returncode == -9, result.stderr
    with pytest.warns(RecordingWarning, match="it was not closed"):
        kept = len(read_recording(path)["elbow/time"])
    assert steps - MAX_LOSS <= kept <= steps


@pytest.mark.parametrize("limit", [12_000, 28_000, 100_000])
def test_a_full_disk_keeps_what_fits(limit, tmp_path):
    path = tmp_path / "run.mcap"
    body = f"""
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
done = 0
try:
    while True:
        run.step(1)
        done += 1
except Exception as error:
    print(done, type(error).__name__)
"""
    result = child(path, body)
    done, kind = result.stdout.split()
    assert kind == "RecordingError", result.stderr
    assert path.stat().st_size <= limit
    with pytest.warns(RecordingWarning, match="it was not closed"):
        kept = len(read_recording(path)["elbow/time"])
    assert int(done) - MAX_LOSS <= kept <= int(done) + 1
    assert kept > 0
