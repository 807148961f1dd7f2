"""However a run ends, its recording holds all but the last 100 ms of simulated time."""

import subprocess
import sys
from pathlib import Path

import pytest

from pliant.base.errors import BridgeError, DivergedError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.recording import Recorder, RecordingWarning, read_recording
from pliant.robots.loading import load
from pliant.simulation import Simulation
from pliant.simulation.bridge import BridgeBase

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


def simulation(path, **options):
    robot = load("qbmove-1dof")
    engine = MujocoEngine(robot, dump_folder=path.parent)
    return Simulation(
        engine, make_devices(robot), pacer="free", recorder=Recorder(path, flush_interval=60.0), **options
    )


@pytest.mark.parametrize("steps", [0, 1, 250])
def test_a_divergence_is_in_the_recording_from_the_first_step_on(steps, tmp_path):
    path = tmp_path / "run.mcap"
    run = simulation(path)
    run.step(steps)
    run.engine.data.qvel[0] = 1e9
    with pytest.raises(DivergedError):
        run.step(3)
    found = read_recording(path)
    (event,) = found.events
    assert (event.name, event.values["error"], event.values["joint"]) == ("fault", "DivergedError", "joint")
    assert event.time == pytest.approx(run.engine.dt * (steps + 1))
    assert Path(event.values["dump"]).parent == tmp_path
    assert Path(event.values["dump"]).is_file()
    assert len(found["board/time"] if steps else []) == steps


def test_a_run_that_cannot_begin_leaves_no_recording(tmp_path):
    path = tmp_path / "run.mcap"
    with pytest.raises(BridgeError, match="no port"):
        simulation(path, bridges=[CannotStart()]).step(1)
    assert not path.exists()


class CannotStart(BridgeBase):
    name = "closed"

    def start(self, devices):
        raise BridgeError("no port")

    def stop(self):
        pass
