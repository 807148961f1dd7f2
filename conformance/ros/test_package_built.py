"""The packages of `pliant export ros-package`, built by catkin and by colcon, and what reads topics by their types."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import real

pytestmark = [pytest.mark.network, pytest.mark.slow, pytest.mark.timeout(900)]
READ = """
import sys, time, rclpy
from rclpy.qos import QoSProfile
from viactors_plugins.msg import StateInfo
from pliant_msgs.srv import Step
rclpy.init()
node, heard = rclpy.create_node("reader"), []
node.create_subscription(StateInfo, "/qbmove_2dof/joint_1/link_state", heard.append, QoSProfile(depth=10))
client, end = node.create_client(Step, "/pliant/step"), time.monotonic() + 60
while not (heard and client.service_is_ready()) and time.monotonic() < end:
    rclpy.spin_once(node, timeout_sec=0.5)
asked = client.call_async(Step.Request(count=1))
rclpy.spin_until_future_complete(node, asked, timeout_sec=30)
print(round(heard[-1].ref_2, 3), "paused" in asked.result().message)
"""


@pytest.fixture
def workspace(tmp_path):
    words = [sys.executable, "-m", "pliant", "export", "ros-package", "qbmove-2dof", tmp_path / "src"]
    subprocess.run(words, check=True, capture_output=True)
    return tmp_path


def built(words, folder, env):
    env = {**env, "PWD": str(folder)}  # which catkin_make prefers to the folder that it runs in
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.skipif(
    shutil.which("catkin_make") is None or real.rospy_python() is None,
    reason=f"no catkin or no rospy; type: apt-get install --no-install-recommends catkin, and {real.INSTALL}",
)
def test_catkin_builds_the_packages_and_rostopic_reads_a_state_by_its_type(workspace):
    env = {key: value for key, value in os.environ.items() if not key.startswith("ROS_")} | {"PATH": "/usr/bin:/bin"}
    built(["catkin_make", "-DPYTHON_EXECUTABLE=/usr/bin/python3"], workspace, env)
    core = real.Roscore()
    run = real.pliant(["run", "qbmove-2dof", "--bridge", "ros1", "--duration", 120], core.env)
    try:
        echo = f". {workspace}/devel/setup.sh; exec rostopic echo -n 1 /qbmove_2dof/joint_1/link_state"
        code, out, err = real.run(["bash", "-c", echo], {**env, **core.env, "PATH": "/usr/bin:/bin"})
        assert code == 0, err
        assert "ref_2: 0.2" in out
    finally:
        run.close()
        core.close()


@pytest.mark.skipif("PLIANT_COLCON" not in os.environ, reason="conformance/ros/make_colcon_venv.sh makes PLIANT_COLCON")
def test_colcon_builds_the_packages_and_rclpy_reads_a_state_by_its_type(workspace):
    prefix = Path(os.environ["PLIANT_COLCON"]).resolve()
    (packages,) = prefix.glob("lib/python3.*/site-packages")
    env = {
        "ROS_VERSION": "2", "ROS_DISTRO": "jazzy", "ROS_PYTHON_VERSION": "3", "ROS_DOMAIN_ID": "84",
        "AMENT_PREFIX_PATH": str(prefix), "CMAKE_PREFIX_PATH": str(prefix), "PYTHONPATH": str(packages),
        "PATH": f"{prefix}/bin:/usr/bin:/bin", "HOME": os.environ["HOME"],
    }  # fmt: skip
    built(["colcon", "build", "--cmake-args", f"-DPython3_EXECUTABLE={prefix}/bin/python"], workspace, env)
    run = real.pliant(["run", "qbmove-2dof", "--bridge", "ros2:domain=84", "--duration", 120], {})
    try:
        read = f". {workspace}/install/local_setup.bash; exec {prefix}/bin/python -c '{READ}'"
        code, out, err = real.run(["bash", "-c", read], env)
        assert code == 0, err
        assert out.split() == ["0.2", "True"]
    finally:
        run.close()
