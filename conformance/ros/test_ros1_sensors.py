"""pliant's sensors as rospy hears them: Imu, WrenchStamped, Image, CameraInfo and frames, with Debian's roscore."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import real

from pliant.base.errors import PliantError
from pliant.base.graphics import choose_backend

MODEL = """
<mujoco model="wrist">
  <visual><headlight ambient="1 1 1" diffuse="0 0 0" specular="0 0 0"/></visual>
  <worldbody>
    <body name="hand" pos="0 0 1"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <body name="tool" pos="0 0 0.1"><inertial pos="0 0 0" mass="0.5" diaginertia="1 1 1"/><site name="wrist"/></body>
      <site name="palm" pos="0 0 0.02"/>
      <camera name="eye" pos="0 0 -0.1" fovy="60"/>
    </body>
    <geom name="floor" type="box" size="1 1 0.1" rgba="0 1 0 1"/>
  </worldbody>
  <sensor>
    <gyro site="palm" noise="0.01"/><accelerometer site="palm"/><force site="wrist"/><torque site="wrist"/>
  </sensor>
</mujoco>
"""


def no_graphics():
    """Return why nothing can be rendered, "" if it can."""
    try:
        choose_backend()
    except PliantError as error:
        return str(error)
    return ""


pytestmark = [
    pytest.mark.network,
    pytest.mark.slow,
    pytest.mark.skipif(real.rospy_python() is None, reason=f"no interpreter has rospy; type: {real.INSTALL}"),
    pytest.mark.skipif(bool(no_graphics()), reason=f"no graphics library: {no_graphics()}"),
]


def test_rospy_hears_every_sensor_with_its_frame_rate_and_numbers(tmp_path):
    path = tmp_path / "wrist.xml"
    path.write_text(MODEL)
    core = real.Roscore()
    settings = ["enabled=true", "rate=20", "width=160", "height=120", "depth=true", "latency=0.1"]
    arguments = ["run", path, "--bridge", "ros1:namespace=robot", "--duration", 90, "--no-check", "--json"]
    process = real.pliant([*arguments, *(word for item in settings for word in ("--set", f"eye.{item}"))], core.env)
    try:
        heard = subprocess.run(
            [real.rospy_python(), Path(__file__).with_name("ros1_sensor_steps.py"), "60", "20"],
            env=core.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    finally:
        process.terminate()
        said = process.communicate(timeout=30)
        core.close()
    lines = [line[7:] for line in heard.stdout.splitlines() if line.startswith("RESULT ")]
    assert lines, (heard.stdout, heard.stderr, said)
    found = json.loads(lines[0])
    eye = [topic for topic in found["frames"] if "/eye/" in topic]
    assert {found["frames"][topic] for topic in eye} == {"eye_optical_frame"}
    assert (found["frames"]["/robot/palm"], found["frames"]["/robot/wrist"]) == ("palm", "wrist")
    assert all(steps == [1] for steps in found["steps"].values()), found["steps"]
    # Until the first picture is as old as the latency, it is sent again.
    assert all(set(found["periods"][topic]) <= {0, 50_000_000} for topic in eye), found["periods"]
    assert found["periods"]["/robot/palm"] == [1_000_000]
    assert found["acceleration"] == pytest.approx([0, 0, 9.81], abs=1e-9)
    assert found["covariance"] == pytest.approx([1e-4, 0, 0, 0, 1e-4, 0, 0, 0, 1e-4])
    assert found["orientation_covariance"] == -1.0  # the model has no framequat
    assert found["force"] == pytest.approx([0, 0, 0.5 * 9.81], rel=1e-9)
    assert found["size"] == [160, 120, 480, 57600]
    assert found["encodings"] == ["rgb8", "32FC1"]
    assert found["center"] == [0, 255, 0]
    assert found["distance"] == pytest.approx(0.8, abs=1e-4)
    focal = 60 / math.tan(math.radians(30))
    assert found["K"] == pytest.approx([focal, 0, 79.5, 0, focal, 59.5, 0, 0, 1])
    assert found["model"] == "plumb_bob"
    assert found["same_stamp"]
    if found["transforms"] is not None:
        assert found["transforms"]["palm"] == pytest.approx([0, 0, 0.02, 1, 0, 0, 0])
        pose = found["transforms"]["eye_optical_frame"]
        assert pose[:3] == pytest.approx([0, 0, -0.1])
        assert [abs(v) for v in pose[3:]] == pytest.approx([0, 1, 0, 0])  # half a turn: it looks down
