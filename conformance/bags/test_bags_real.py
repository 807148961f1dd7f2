"""Bags with Debian's rosbag: what pliant writes is read and played, what it replays is recorded, what it reads is real.

Nothing here is judged by its speed: whoever waits, waits for a message or a file, and at most `LIMIT`.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ros"))
import real

from pliant.bags import open_bag, read_traces
from pliant.command_tables import read_commands
from pliant.recording import RecordingWarning, read_recording

ROSBAG = Path("/usr/bin/rosbag")
LIMIT = 120
"""Longest wait for anything [s]."""
INSTALL = "apt-get install --no-install-recommends python3-rosbag"
SPACE = "/qbmove_1dof"

pytestmark = [
    pytest.mark.network,
    pytest.mark.slow,
    pytest.mark.skipif(real.rospy_python() is None, reason=f"no interpreter has rospy; type: {real.INSTALL}"),
    pytest.mark.skipif(not ROSBAG.exists(), reason=f"rosbag is not there; type: {INSTALL}"),
]

# Reads a bag with rosbag's own library: every message is decoded by the definition in the file.
READ = """
import json, sys, rosbag
found = {}
with rosbag.Bag(sys.argv[1]) as bag:
    for topic, message, time in bag.read_messages():
        row = found.setdefault(topic, {"count": 0, "type": message._type, "sum": 0.0, "last": 0.0})
        row["count"] += 1
        row["last"] = time.to_sec()
        if message._type == "viactors_plugins/state_info":
            row["sum"] += message.q
        elif message._type == "sensor_msgs/JointState":
            row["sum"] += sum(message.position)
print("RESULT " + json.dumps(found))
"""

# Writes commands with rosbag's own library.
WRITE = """
import sys, rosbag, rospy
from std_msgs.msg import Float64, String
with rosbag.Bag(sys.argv[1], "w", compression=sys.argv[2]) as bag:
    for k in range(200):
        at = rospy.Time(1700000000 + k // 100, k % 100 * 10000000)
        bag.write(sys.argv[3] + "/joint/equilibrium_position", Float64(0.002 * (k + 1)), at)
        bag.write("/chatter", String("hello %d" % k), at)
print("RESULT {}")
"""


@pytest.fixture
def core():
    core = real.Roscore()
    yield core
    core.close()


@pytest.fixture
def start(tmp_path):
    """Start programs; whatever happens, they end with the test, and what they say goes to files."""
    with contextlib.ExitStack() as stack:
        count = 0

        def run(words, env):
            nonlocal count
            count += 1
            logs = [tmp_path / f"{count}.{kind}.txt" for kind in ("out", "err")]
            out, err = (stack.enter_context(log.open("wb")) for log in logs)
            process = subprocess.Popen(
                [str(w) for w in words],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                cwd=tmp_path,
                # A shell lets its background jobs ignore SIGINT, which rosbag calls as if it were a function.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )
            process.logs = logs
            stack.callback(_end, process)
            return process

        yield run


def _end(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(LIMIT)


def ended(process, code=0):
    """Wait until a program has ended by itself; return its standard output."""
    try:
        found = process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        pytest.fail(f"{process.args[:3]} did not end within {LIMIT} s:\n{said(process)}")
    assert found == code, said(process)
    return process.logs[0].read_text()


def said(process):
    return "\n".join(log.read_text() for log in process.logs)


def until(condition, what):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    pytest.fail(f"not within {LIMIT} s: {what}")


def pliant(*words, **options):
    """Run pliant's command line to its end."""
    return subprocess.run(
        [sys.executable, "-m", "pliant", *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=LIMIT, check=False, **options,
    )  # fmt: skip


def rospy_script(script, *arguments):
    result = subprocess.run(
        [real.rospy_python(), "-c", script, *map(str, arguments)], env=real.clean_env(), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=LIMIT, check=False,
    )  # fmt: skip
    line = next((line for line in result.stdout.splitlines() if line.startswith("RESULT ")), None)
    assert line is not None, result.stdout + result.stderr
    return json.loads(line[7:])


def pliant_env(core):
    return {**os.environ, **{k: v for k, v in core.env.items() if k.startswith("ROS_")}}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A second of a qbMove that moves."""
    path = tmp_path_factory.mktemp("bags") / "run.mcap"
    result = pliant(
        "run", "qbmove-1dof", "-r", "joint/equilibrium_position=0.5", "--duration", 1, "--record", path, "--json"
    )
    assert result.returncode == 0, result.stderr
    return path


def test_rosbag_reads_every_message_of_an_exported_bag(recording, tmp_path):
    bag = tmp_path / "out.bag"
    result = pliant("export", "bag", recording, bag)
    assert result.returncode == 0, result.stderr
    info = subprocess.run(
        [ROSBAG, "info", "--yaml", bag], env=real.clean_env(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=LIMIT, check=True,
    ).stdout  # fmt: skip
    about = yaml.safe_load(info)
    assert about["indexed"] is True
    listed = {row["topic"]: (row["type"], row["messages"]) for row in about["topics"]}
    found = rospy_script(READ, bag)
    assert listed == {topic: (row["type"], row["count"]) for topic, row in found.items()}
    run = read_recording(recording)
    steps = len(run["board/time"])
    assert steps >= 1000
    assert listed["/clock"] == ("rosgraph_msgs/Clock", steps)
    assert listed["/joint_states"] == ("sensor_msgs/JointState", steps)
    assert listed[f"{SPACE}/joint/link_state"] == ("viactors_plugins/state_info", 100)
    assert found[f"{SPACE}/joint/link_state"]["sum"] == pytest.approx(float(run["joint/position"].sum()), rel=1e-5)
    assert found["/joint_states"]["sum"] == pytest.approx(float(run["board/position"].sum()), rel=1e-9)
    assert found["/joint_states"]["last"] == pytest.approx(1.0)


def test_rosbag_records_every_message_of_a_replay(recording, core, start, tmp_path):
    exported = tmp_path / "out.bag"
    assert pliant("export", "bag", recording, exported).returncode == 0
    with open_bag(exported) as bag:
        sent = {t.name: [m.body for m in bag.messages([t.name])] for t in bag.topics}
    fast = {name for name, bodies in sent.items() if len(bodies) >= 1000}
    assert fast == {"/clock", "/joint_states"}
    limits = {name: 400 if name in fast else 20 for name in sent}
    recorders = {}
    for limit in (20, 400):
        names = [name for name in sent if limits[name] == limit]
        path = tmp_path / f"recorded_{limit}.bag"
        # Ends by itself when each topic has brought that many.
        recorders[path] = start([ROSBAG, "record", "-b", 0, "-l", limit, "-O", path, *names], core.env)
    # rosbag keeps 100 messages a topic: slowly, so that a busy machine may leave it alone for a second.
    replay = start(
        [sys.executable, "-m", "pliant", "replay", recording, "--bridge", "ros1", "--wait", "--speed", 0.05,
         "--duration", 0.25, "--json"],
        pliant_env(core),
    )  # fmt: skip
    told = json.loads(ended(replay))
    assert told["health"]["ros1"]["dropped"] == 0
    got = {}
    for path, recorder in recorders.items():
        ended(recorder)
        with open_bag(path) as bag:
            assert bag.fault == ""
            got.update({t.name: [m.body for m in bag.messages([t.name])] for t in bag.topics})
    assert set(got) == set(sent)
    for topic, bodies in sent.items():
        assert got[topic] == bodies[: limits[topic]], topic


@pytest.mark.parametrize("compression", ["none", "bz2", "lz4"])
def test_commands_that_rosbag_wrote_are_commands_of_a_run(tmp_path, compression):
    bag = tmp_path / "commands.bag"
    rospy_script(WRITE, bag, compression, SPACE)
    table = read_commands(bag)
    assert table.time == pytest.approx([0.01 * k for k in range(200)], abs=1e-9)
    assert table.unused == ("/chatter (std_msgs/String)",)
    lines = [f"{0.01 * k:.9f},{0.002 * (k + 1)!r}" for k in range(200)]
    (tmp_path / "same.csv").write_text("\n".join(["time,joint/equilibrium_position", *lines]) + "\n")
    ends = []
    for file in (bag, tmp_path / "same.csv"):
        result = pliant("run", "qbmove-1dof", "--command", file, "--duration", 2.5, "--json")
        assert result.returncode == 0, result.stderr
        if file is bag:
            assert "joint/equilibrium_position from /qbmove_1dof/joint/equilibrium_position" in result.stderr
        ends.append(json.loads(result.stdout)["joints"]["joint"])
    assert ends[0] == ends[1]
    assert abs(ends[0]["position"]) > 0.05


def test_rosbag_plays_commands_to_a_run_and_records_what_it_does(core, start, tmp_path):
    commands = tmp_path / "commands.bag"
    rospy_script(WRITE, commands, "none", SPACE)
    run = start(
        [sys.executable, "-m", "pliant", "run", "qbmove-1dof", "--bridge", "ros1", "--duration", 3600, "--json"],
        pliant_env(core),
    )
    recorder = start(
        [ROSBAG, "record", "-b", 0, "--chunksize", 1, "-O", tmp_path / "seen.bag", "/clock",
         f"{SPACE}/joint/link_state"],
        core.env,
    )  # fmt: skip
    # rosbag play registers a /clock too: pliant comes first, or it would refuse to be the second.
    until(lambda: "topics out" in said(run), "pliant on the master")
    # The only subscriber is pliant: rosbag waits for it.
    topic = f"{SPACE}/joint/equilibrium_position"
    ended(start([ROSBAG, "play", "--wait-for-subscribers", "--topics", topic, "--bags", commands], core.env))
    active = tmp_path / "seen.bag.active"
    until(lambda: active.exists() and active.stat().st_size > 50_000, "something on the disk")
    os.killpg(recorder.pid, signal.SIGINT)
    ended(recorder)
    os.killpg(run.pid, signal.SIGINT)
    told = json.loads(ended(run, 130))
    rows = {row["topic"]: row for row in told["served"]["ros1"]}
    assert rows[topic]["count"] > 0
    with open_bag(tmp_path / "seen.bag") as bag:
        assert {t.name for t in bag.topics if t.count} >= {"/clock", f"{SPACE}/joint/link_state"}
    traces = read_traces(tmp_path / "seen.bag", "joint")
    assert {"link_position", "link_velocity", "reference_1", "reference_2", "torque"} <= set(traces.columns)


def test_a_bag_whose_recorder_was_killed_is_read(recording, core, start, tmp_path):
    name = f"{SPACE}/joint/link_state"
    # Small chunks, so that there is something on the disk.
    recorder = start([ROSBAG, "record", "-b", 0, "--chunksize", 1, "-O", tmp_path / "seen.bag", name, "/joint_states"],
                     core.env)  # fmt: skip
    start(
        [sys.executable, "-m", "pliant", "replay", recording, "--bridge", "ros1:clock=false", "--loop"],
        pliant_env(core),
    )
    active = tmp_path / "seen.bag.active"
    until(lambda: active.exists() and active.stat().st_size > 100_000, "something on the disk")
    os.killpg(recorder.pid, signal.SIGKILL)
    recorder.wait(LIMIT)
    with (
        pytest.warns(RecordingWarning, match=r"seen\.bag\.active: it .*; read are \d+ messages"),
        open_bag(active) as bag,
    ):
        assert bag.count > 100
