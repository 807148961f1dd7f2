"""pliant and a node of roscpp, Debian's: the test builds it from ros1_peer.cpp."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import real

STATES = "/toBEassigned/robot_state"


def cannot():
    """Return why roscpp cannot be met here; "" if it can."""
    if real.rospy_python() is None:
        return f"no interpreter has rospy, which roscore needs; type: {real.INSTALL}"
    if shutil.which("g++") is None or shutil.which("pkg-config") is None:
        return "no g++ or no pkg-config; type: apt-get install g++ pkg-config"
    found = subprocess.run(["pkg-config", "--exists", "roscpp"], stdin=subprocess.DEVNULL, check=False)
    if found.returncode:
        return f"no roscpp to build with; type: {real.INSTALL}"
    return ""


pytestmark = [pytest.mark.network, pytest.mark.slow, pytest.mark.skipif(bool(cannot()), reason=cannot() or "-")]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    target = tmp_path_factory.mktemp("roscpp") / "ros1_peer"
    words = subprocess.run(["pkg-config", "--cflags", "--libs", "roscpp"], capture_output=True, text=True, check=True)
    built = subprocess.run(
        ["g++", "-O1", "-std=c++17", real.FOLDER / "ros1_peer.cpp", "-o", target, *words.stdout.split(), "-lpthread"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return target


@pytest.fixture(scope="module")
def core():
    core = real.Roscore()
    yield core
    core.close()


@pytest.fixture
def peer(core, program):
    def run(*words):
        code, out, err = real.run([program, *words], core.env, 120)
        line = next((line for line in out.splitlines() if line.startswith("RESULT ")), None)
        assert line is not None, f"{words}: {code}\n{out}\n{err}"
        return json.loads(line[7:])

    return run


@pytest.fixture
def serve(core):
    """Run the template on the bridge."""
    started = []

    def start(options="", duration=300, ready="/pliant/reset"):
        words = ["run", real.JOINT, "--bridge", f"ros1{options}", "--duration", duration, "--no-check", "--json"]
        process = real.pliant(words, core.env)
        started.append(process)
        real.until(lambda: ready in core.state()[1] or process.poll() is not None, "it is registered")
        return process

    yield start
    for process in started:
        process.close()


def end(process):
    """End a run as Ctrl-C does; return what its bridge says."""
    process.send_signal(2)
    out, err = process.communicate(timeout=real.LIMIT)
    assert process.returncode in (0, 130), (out, err)
    return json.loads(out)["health"]["bridges"]["ros1"]


@pytest.mark.parametrize("hint", ["nodelay", "both"])
def test_a_subscriber_of_roscpp_loses_nothing(serve, peer, hint):
    process = serve()
    found = peer("listen", STATES, 2000, hint)
    assert found["received"] >= 2000
    assert found["missing"] == 0
    assert found["publishers"] == 1
    assert end(process)["dropped"] == 0


def test_a_subscriber_that_wants_udp_alone_is_refused_and_told_of(serve, peer):
    process = serve()
    assert peer("udp", STATES) == {"received": 0}
    faults = end(process)["last_faults"]
    assert any(f"wants {STATES} by UDPROS; must be TCPROS" in fault for fault in faults), faults


def test_what_is_latched_reaches_a_subscriber_that_comes_later(serve, peer):
    serve()
    found = peer("latched", "/toBEassigned/joint/parameter_updates")
    assert found["received"] == 1
    assert found["bytes"] > 50


def test_a_persistent_service_client_steps_the_simulation(serve, peer):
    serve()
    assert peer("service", "/pliant/pause", 1)["good"] == 1
    assert peer("service", "/pliant/reset", 1)["good"] == 1
    found = peer("service", "/pliant/step_once", 50)
    assert found["good"] == 50
    assert found["once"]
    assert found["refused"]
    assert found["message"].startswith("time is 0.05")


def test_names_remapped_and_deep_name_spaces(serve, peer):
    serve(":namespace=cell/left")
    found = peer("about", "__ns:=/deep/space", "__name:=probe", "states:=/cell/left/robot_state")
    assert found["node"] == "/deep/space/probe"
    assert found["resolved"] == "/cell/left/robot_state"
    assert found["use_sim_time"] is True
    assert found["namespace"] == "cell/left"
    assert found["slept"] >= 0.2
    heard = peer("listen", "states", 100, "plain", "__ns:=/deep/space", "states:=/cell/left/robot_state")
    assert heard["received"] >= 100


def test_a_subscriber_that_blocks_holds_nobody_up(serve, peer):
    process = serve()
    slow = peer("block", STATES, 2)
    assert slow["received"] >= 1
    assert peer("listen", STATES, 500, "plain")["missing"] == 0
    assert end(process)["dropped"] == 0


def test_a_controller_in_lock_step_gives_equal_runs(serve, peer):
    states = []
    for _ in range(2):
        process = serve(":sync=reference_1,aggregate_rate=1000", duration=1.5)
        assert peer("drive", "/toBEassigned/reference_1", STATES, 1500)["answered"]
        said = json.loads(real.finish(process))
        assert said["steps"] == 1500
        states.append(said["joints"])
    assert states[0] == states[1]
