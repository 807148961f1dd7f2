"""Starting the real parts: Debian's roscore and programs, scripts for the interpreter that has rospy, pliant itself.

Every process gets a session of its own, reads nothing, writes to files, and is ended with all that it started.
"""

import contextlib
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import weakref
import xmlrpc.client
from pathlib import Path

FOLDER = Path(__file__).parent
DATA = FOLDER.parents[1] / "tests" / "data"
JOINT = DATA / "qbmove_joint.urdf"
"""A robot of one qbMove in the format of the toolbox."""
MANAGER = DATA / "manager.yaml"
"""Its plugin manager's file."""
TOOLBOX = FOLDER.parents[2] / "shared" / "data" / "gazebo_compliant_plugin" / "qbmove_template.urdf"
"""The toolbox's own file, where it is beside the checkout."""
LIMIT = 60.0
"""How long things may take on a machine that has much to do [s]."""
INSTALL = (
    "apt-get install --no-install-recommends python3-rospy python3-roslaunch python3-rosmaster python3-std-msgs "
    "python3-sensor-msgs python3-geometry-msgs python3-rosgraph-msgs python3-std-srvs python3-dynamic-reconfigure "
    "python3-actionlib python3-rosnode python3-rosparam python3-rosservice python3-rostopic python3-roswtf topic-tools "
    "tf2-tools libroscpp-dev libactionlib-dev g++"
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


RCLPY_VARIABLES = {"jazzy": "PLIANT_RCLPY_JAZZY", "kilted": "PLIANT_RCLPY_KILTED"}
"""Distribution of ROS 2 -> environment variable with the folder of a virtual environment that has its rclpy."""
RCLPY_LIMIT = 240.0
"""How long it may take to make such an environment [s]."""


@functools.cache
def rclpy_python(distro):
    """Return the interpreter that has rclpy of a distribution, made from PyPI where it is not there; and why not."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "pliant-tests"
    folder = Path(os.environ.get(RCLPY_VARIABLES[distro]) or cache / f"rclpy-{distro}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    words = ["sh", FOLDER / "make_rclpy_venv.sh", distro, folder, sys.executable]
    try:
        code, _, err = run(words, clean_env(), RCLPY_LIMIT)
    except AssertionError as error:
        return None, f"no rclpy of {distro}: {error}"
    if code:
        return (
            None,
            f"no rclpy of {distro}, or pip does not reach it; {RCLPY_VARIABLES[distro]} names a folder: {err[-300:]}",
        )
    return folder / "bin" / "python", ""


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


def free_domain():
    """Return a domain of DDS in which nobody is.

    Domains from 102 on have ports that Linux gives to any socket (7400 + 250 d and the next). Two workers of one run
    try different domains, so that none takes one that the other has found and not entered yet.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    mine = range(1 + worker % workers, 102, workers)
    for k in range(len(mine)):
        domain = mine[(os.getpid() + k) % len(mine)]
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.bind(("", 7410 + 250 * domain))  # the first participant's
            return domain
    raise RuntimeError("somebody is in each domain of DDS from 1 to 101")


class Program(subprocess.Popen):
    """A process whose output goes to files; `communicate` and `text` read them as long as the object lives."""

    def __init__(self, words, env=None):
        self._folder = Path(tempfile.mkdtemp(prefix="pliant-program-"))
        self._forget = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        with (self._folder / "out").open("wb") as out, (self._folder / "err").open("wb") as err:
            super().__init__(
                [str(word) for word in words],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    def text(self, stream="out"):
        """Return what it has said so far."""
        path = self._folder / stream
        return path.read_text(errors="replace") if path.exists() else ""

    def communicate(self, input=None, timeout=None):
        """Wait for the end; return what it said."""
        self.wait(timeout)
        return self.text("out"), self.text("err")

    def kill(self):
        """End it and all that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        super().kill()

    def close(self, patience=15.0):
        """End it politely, then not; forget what it said."""
        if self.poll() is None:
            self.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.wait(patience)
        self.kill()
        self.wait(patience)
        self._forget()


def until(condition, what="", timeout=LIMIT):
    """Wait for what another process does; fail if it takes too long."""
    end = time.monotonic() + timeout
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout} s: {what or condition}")
        time.sleep(0.02)


class Roscore:
    """Debian's roscore on a port of its own."""

    def __init__(self, port=None):
        self.port = port or free_port()
        self._folder = tempfile.mkdtemp(prefix="pliant-roscore-")
        self.env = {**clean_env(self.port), "ROS_LOG_DIR": self._folder, "ROS_HOME": self._folder}
        self.master = xmlrpc.client.ServerProxy(self.env["ROS_MASTER_URI"])
        self.process = Program([rospy_python(), "/usr/bin/roscore", "-p", self.port], self.env)
        try:
            until(self._ready, "roscore answers")
        except AssertionError:
            said = self.process.text(), self.process.text("err")
            self.close()
            raise RuntimeError(f"roscore does not answer: {said}") from None

    def _ready(self):
        with contextlib.suppress(OSError, xmlrpc.client.Error):
            return self.master.lookupNode("/test", "/rosout")[0] == 1
        return False

    def state(self):
        """Return what the master lists: for topics published, topics subscribed, services: name -> nodes."""
        return [dict(part) for part in self.master.getSystemState("/test")[2]]

    def wait_for(self, topic, timeout=LIMIT):
        """Wait until a topic is published; return by whom."""
        return until(lambda: self.state()[0].get(topic), f"{topic} is published", timeout)

    def close(self):
        self.process.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def pliant(arguments, env):
    """Start pliant's command line."""
    return Program(
        [sys.executable, "-m", "pliant", *arguments],
        {**os.environ, **{k: v for k, v in env.items() if k.startswith("ROS_")}},
    )


def interrupted(process, timeout=LIMIT):
    """Press Ctrl-C, which ends a run with its results; return what it said."""
    os.killpg(process.pid, signal.SIGINT)
    return finish(process, timeout, code=130)


def finish(process, timeout=LIMIT, code=0):
    """Wait for a process; return what it said."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise AssertionError(f"it did not end within {timeout} s\n{process.text()}\n{process.text('err')}") from None
    assert process.returncode == code, f"{process.returncode}\n{out}\n{err}"
    return out


def run(words, env, timeout=LIMIT):
    """Run a program to its end; return its exit status and what it said."""
    program = Program(words, env)
    try:
        out, err = program.communicate(timeout=timeout)
        return program.returncode, out, err
    except subprocess.TimeoutExpired:
        raise AssertionError(
            f"{words} did not end within {timeout} s\n{program.text()}\n{program.text('err')}"
        ) from None
    finally:
        program.close()


def tool(core, *words, timeout=LIMIT):
    """Run one of Debian's programs in the interpreter that it is made for; return all that it said."""
    _, out, err = run([rospy_python(), f"/usr/bin/{words[0]}", *words[1:]], core.env, timeout)
    return out + err


def step(core, script, *arguments, timeout=120):
    """Run a script in rospy's interpreter; return what it prints after RESULT."""
    code, out, err = run([rospy_python(), FOLDER / script, *arguments], core.env, timeout)
    for line in out.splitlines():
        if line.startswith("RESULT "):
            return json.loads(line[7:])
    raise AssertionError(f"{script} {arguments}: {code}\n{out}\n{err}")


def ros1_step(core, name, *arguments, timeout=120):
    """Run one step of ros1_steps.py in rospy's interpreter."""
    return step(core, "ros1_steps.py", name, *arguments, timeout=timeout)
