"""Starting the real parts: Debian's roscore, scripts in the interpreter that has rospy, pliant's command line."""

import contextlib
import functools
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).parent
INSTALL = (
    "apt-get install --no-install-recommends python3-rospy python3-roslaunch python3-rosmaster python3-std-msgs "
    "python3-sensor-msgs python3-geometry-msgs python3-rosgraph-msgs python3-std-srvs python3-dynamic-reconfigure"
)


@functools.cache
def rospy_python():
    """Return the interpreter that has rospy, or None."""
    for python in ("/usr/bin/python3", sys.executable):
        if Path(python).exists():
            test = "import rospy, dynamic_reconfigure.client, std_srvs.srv, sensor_msgs.msg"
            found = subprocess.run([python, "-c", test], capture_output=True, env=clean_env(), check=False)
            if found.returncode == 0:
                return python
    return None


def clean_env(port=None):
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    env["PATH"] = "/usr/bin:/bin:" + env.get("PATH", "")
    env["ROS_IP"] = "127.0.0.1"
    env["ROS_LOG_DIR"] = tempfile.gettempdir() + "/pliant-roslog"
    if port is not None:
        env["ROS_MASTER_URI"] = f"http://127.0.0.1:{port}"
    return env


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Roscore:
    """Debian's roscore on a port of its own."""

    def __init__(self, port=None):
        self.port = port or free_port()
        self.env = clean_env(self.port)
        self.process = subprocess.Popen(
            [rospy_python(), "/usr/bin/roscore", "-p", str(self.port)],
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        end = time.monotonic() + 30
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 0.2):
                return
            time.sleep(0.05)
        self.close()
        raise RuntimeError("roscore does not answer: " + (self.process.stdout.read() if self.process.stdout else ""))

    def close(self):
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        if self.process.stdout is not None:
            self.process.stdout.close()


def pliant(arguments, env):
    """Start pliant's command line."""
    return subprocess.Popen(
        [sys.executable, "-m", "pliant", *map(str, arguments)],
        env={**os.environ, **{k: v for k, v in env.items() if k.startswith("ROS_")}},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process, timeout=60):
    """Wait for a process; return what it said."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"it did not end within {timeout} s\n{out}\n{err}") from None
    assert process.returncode == 0, f"{process.returncode}\n{out}\n{err}"
    return out


def ros1_step(core, step, *arguments, timeout=120):
    """Run one step of ros1_steps.py in rospy's interpreter."""
    result = subprocess.run(
        [rospy_python(), FOLDER / "ros1_steps.py", step, *map(str, arguments)],
        env=core.env,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    for line in result.stdout.splitlines():
        if line.startswith("RESULT "):
            return json.loads(line[7:])
    raise AssertionError(f"{step}: {result.returncode}\n{result.stdout}\n{result.stderr}")
