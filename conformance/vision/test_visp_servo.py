"""Camera velocities against ViSP's vpServo: the same states, both answers equal to 1e-12.

ViSP is Debian's libvisp-dev (3.5). An installation in another folder is named by ``VISP_PREFIX``, the folder that
has ``usr/include`` or ``include``. The program is compiled once.
"""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pliant.base.spatial import exp_so3, pose
from pliant.vision import facing_pose, tag_corners
from pliant.vision.tasks import AdaptiveGain
from pliant.vision.visual_servoing import ibvs_velocity, pbvs_velocity

SOURCE = Path(__file__).parent / "visp" / "servo.cpp"
LIBRARIES = ("visp_vs", "visp_visual_features", "visp_core")
LAWS = ("current", "desired", "mean", "pose")
GAINS = {"constant": 1.25, "adaptive": AdaptiveGain(at_zero=4.0, at_infinity=1.2, slope_at_zero=25.0)}
STATES = 50


def folders():
    """Return the folders of ViSP's headers and libraries that exist."""
    prefix = Path(os.environ.get("VISP_PREFIX", "/"))
    machine = os.uname().machine + "-linux-gnu"
    places = [
        prefix / usr / kind / sub for usr in ("usr", ".") for kind in ("include", "lib") for sub in (machine, ".")
    ]
    found = [place for place in places if place.is_dir()]
    headers = [p for p in found if "include" in p.parts and (p / "visp3" / "vs" / "vpServo.h").is_file()]
    return headers, [p for p in found if "lib" in p.parts]


@pytest.fixture(scope="module")
def visp(tmp_path_factory):
    headers, libraries = folders()
    compiler = shutil.which("c++")
    if not headers or compiler is None:
        pytest.skip("ViSP or a C++ compiler is not installed: apt-get install libvisp-dev g++, or set VISP_PREFIX")
    program = tmp_path_factory.mktemp("visp") / "servo"
    paths = [f"-L{p}" for p in libraries] + [f"-Wl,-rpath-link,{p}" for p in libraries]
    command = [compiler, "-O1", "-std=c++17", "-w", *(f"-I{p}" for p in headers), str(SOURCE), "-o", str(program)]
    done = subprocess.run(
        [*command, *paths, *(f"-l{name}" for name in LIBRARIES)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    environment = os.environ | {"LD_LIBRARY_PATH": ":".join(map(str, libraries)), "OMP_NUM_THREADS": "1"}

    def ask(lines):
        done = subprocess.run(
            [program], input="\n".join(lines), capture_output=True, text=True, timeout=60, env=environment, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return np.array([line.split() for line in done.stdout.splitlines()], dtype=float)

    return ask


def states():
    """Return poses of a tag anywhere before the camera, and desired poses near the facing one."""
    rng = np.random.default_rng(1)
    found = []
    while len(found) < STATES:
        R = exp_so3(rng.uniform(-1.2, 1.2, 3)) @ np.diag([1.0, -1.0, -1.0])
        cMo = pose([*rng.uniform(-0.2, 0.2, 2), rng.uniform(0.2, 0.8)], R)
        cdMo = facing_pose(0.24) @ pose(rng.uniform(-0.05, 0.05, 3), exp_so3(rng.uniform(-0.3, 0.3, 3)))
        found.append((cMo, cdMo))
    return found


@pytest.mark.parametrize("kind", GAINS)
@pytest.mark.parametrize("law", LAWS)
def test_the_velocity_of_the_camera_is_that_of_vp_servo(visp, law, kind):
    gain, found = GAINS[kind], states()
    numbers = (gain.at_zero, gain.at_infinity, gain.slope_at_zero) if isinstance(gain, AdaptiveGain) else (gain, 0, 0)
    lines = [" ".join([law, *(f"{x:.17g}" for x in (*numbers, *cMo.ravel(), *cdMo.ravel()))]) for cMo, cdMo in found]
    answers = visp(lines)
    assert answers.shape == (STATES, 6)
    for (cMo, cdMo), answer in zip(found, answers, strict=True):
        if law == "pose":
            ours = pbvs_velocity(cMo, cdMo, gain=gain)
        else:
            ours = ibvs_velocity(tag_corners(0.08), cMo, cdMo, gain=gain, interaction=law)
        np.testing.assert_allclose(ours, answer, rtol=0, atol=1e-12)
