"""YARP's own transform server and client and its frame grabbers, against a falling robot with a screen and a camera.

Build the program first (frames_and_pictures/README.md), then:

PLIANT_YARP_FRAMES=/path/to/frames_and_pictures python -m pytest conformance/yarp/test_frames_and_pictures.py
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from running import running  # noqa: E402

pytestmark = pytest.mark.network
PROGRAM = os.environ.get("PLIANT_YARP_FRAMES", "")
RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """Return the words of the program's lines after the first, by the first."""
    if not PROGRAM or not Path(PROGRAM).exists():
        pytest.skip("no devices of YARP: set PLIANT_YARP_FRAMES (frames_and_pictures/README.md)")
    home = tmp_path_factory.mktemp("yarp")
    quarters = np.array([[RED, GREEN], [BLUE, WHITE]], np.uint8).repeat(32, 0).repeat(32, 1)
    (home / "quarters.ppm").write_bytes(b"P6\n64 64\n255\n" + quarters.tobytes())
    with running(home, str(HERE / "frames_and_pictures" / "robot.urdf")) as environment:
        done = subprocess.run(
            [PROGRAM, "/r/frame", "/r/eye", "/grabber", home / "quarters.ppm"],
            env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = {}
    for line in done.stdout.splitlines():
        if line.startswith(("pose ", "picture ")):
            kind, *numbers = line.split()
            found.setdefault(kind, []).append([float(number) for number in numbers])
    return found


def test_a_stock_client_of_frames_reads_the_pose_of_the_falling_robot(lines):
    poses = np.array(lines["pose"]).reshape(5, 3, 4)
    turned = [[np.cos(1.2), -np.sin(1.2), 0.0], [np.sin(1.2), np.cos(1.2), 0.0], [0.0, 0.0, 1.0]]
    np.testing.assert_allclose(poses[:, :, :3], np.broadcast_to(turned, (5, 3, 3)), atol=1e-8)
    np.testing.assert_allclose(poses[:, :2, 3], [[1.0, 2.0]] * 5, atol=1e-8)
    heights = poses[:, 2, 3]
    assert (np.diff(heights) <= 0.0).all()
    assert heights[-1] < heights[0] < 3000.0
    # Semi-implicit Euler from rest: after n steps of h it has fallen g h^2 n (n + 1) / 2.
    triangular = 2.0 * (3000.0 - heights) / (9.81 * 0.001**2)
    steps = np.rint(0.5 * (np.sqrt(1.0 + 4.0 * triangular) - 1.0))
    np.testing.assert_allclose(0.5 * 9.81e-6 * steps * (steps + 1), 3000.0 - heights, atol=1e-7)


def test_a_camera_sees_the_pictures_of_a_stock_grabber_upright_and_not_mirrored(lines):
    last = np.array(lines["picture"][-1]).reshape(4, 3)
    for seen, shown in zip(last, (RED, GREEN, BLUE, WHITE), strict=True):
        assert (seen > 100).tolist() == [value > 0 for value in shown], last.tolist()
