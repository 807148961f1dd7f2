"""What MuJoCo itself says of a divergence, and where."""

import subprocess
import sys

import pytest

from pliant.base.codecache import cache_folder

DIVERGES = """
import contextlib, mujoco, numpy as np
from pliant.base.errors import DivergedError
from pliant.batch import make_batch
from pliant.engine import MujocoEngine
from pliant.robots.loading import load
{before}
robot = load("qbmove-1dof")
if {batch}:
    batch = make_batch(robot, 2)
    batch.bind("qvel")[:] = np.nan
    batch.step()
else:
    engine = MujocoEngine(robot)
    engine.data.qvel[:] = np.nan
    with contextlib.suppress(DivergedError):
        engine.step(1)
"""


def run(tmp_path, batch, before=""):
    code = DIVERGES.format(batch=batch, before=before)
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path / "home"),
        "PLIANT_CACHE": str(cache_folder()),  # the law is compiled already
        "PYTHONPATH": ":".join(p for p in sys.path if p),
    }
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run([sys.executable, "-c", code], cwd=work, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "WARNING: Nan" in done.stderr
    return sorted(p.name for p in work.iterdir())


@pytest.mark.parametrize("batch", [False, True])
def test_a_divergence_leaves_no_file_in_the_working_folder(tmp_path, batch):
    assert run(tmp_path, batch) == []


def test_a_log_file_that_the_program_names_is_kept(tmp_path):
    named = "log = mujoco.MjLogConfig.get(); log.logfile = 'mine.txt'; log.set()"
    assert run(tmp_path, True, named) == ["mine.txt"]
