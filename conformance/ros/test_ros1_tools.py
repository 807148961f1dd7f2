"""Debian's programs of ROS 1 at work on pliant: rostopic, rosnode, rosservice, rosparam, topic_tools, roswtf, tf2."""

import contextlib
import json
import re
import sys
import xmlrpc.client
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import itertools

import real

NODE = "/pliant_toBEassigned"
STATES = "/toBEassigned/robot_state"
TOOLS = Path("/usr/lib/topic_tools")

pytestmark = [
    pytest.mark.network,
    pytest.mark.slow,
    pytest.mark.skipif(real.rospy_python() is None, reason=f"no interpreter has rospy; type: {real.INSTALL}"),
]


def needs(path):
    return pytest.mark.skipif(not Path(path).exists(), reason=f"{path} is not there; type: {real.INSTALL}")


@pytest.fixture
def core():
    core = real.Roscore()
    yield core
    core.close()


@pytest.fixture
def serve(core):
    """Run the template on the bridge."""
    started = []

    def start(options="", *arguments, ready="/pliant/reset"):
        words = ["run", real.JOINT, "--bridge", f"ros1{options}", "--duration", 300, "--no-check", "--json", *arguments]
        process = real.pliant(words, core.env)
        started.append(process)
        real.until(lambda: ready in core.state()[1] or process.poll() is not None, "it is registered")
        return process

    yield start
    for process in started:
        process.close()


@pytest.fixture
def program(core):
    """Start one of Debian's programs; it ends with the test."""
    started = []

    def start(*words, env=()):
        started.append(real.Program(words, {**core.env, "PYTHONUNBUFFERED": "1", **dict(env)}))
        return started[-1]

    yield start
    for process in started:
        process.close()


@pytest.fixture
def tool(core):
    return lambda *words: real.tool(core, *words)


def end(process):
    """End a run as Ctrl-C does; return what it says."""
    process.send_signal(2)
    out, err = process.communicate(timeout=real.LIMIT)
    assert process.returncode in (0, 130), (out, err)
    return json.loads(out)


@needs("/usr/bin/rostopic")
def test_rostopic_lists_describes_and_prints(serve, tool):
    serve()
    listed = tool("rostopic", "list").split()
    for topic in (STATES, "/toBEassigned/joint/link_state", "/clock", "/rosout", "/toBEassigned/joint/external_torque"):
        assert topic in listed
    info = tool("rostopic", "info", STATES)
    assert "Type: sensor_msgs/JointState" in info
    assert f"* {NODE} (http://127.0.0.1:" in info
    assert tool("rostopic", "type", "/clock").strip() == "rosgraph_msgs/Clock"
    assert STATES in tool("rostopic", "find", "sensor_msgs/JointState").split()
    printed = tool("rostopic", "echo", "-n", 3, STATES)
    seqs = [int(n) for n in re.findall(r"seq: (\d+)", printed)]
    assert seqs == list(range(seqs[0], seqs[0] + 3))
    stamps = [int(s) * 10**9 + int(n) for s, n in re.findall(r"secs: (\d+)\n\s+nsecs: +(\d+)", printed)]
    assert [b - a for a, b in itertools.pairwise(stamps)] == [1_000_000] * 2
    assert printed.count("name: [joint]") + printed.count("- joint") >= 3


@needs("/usr/bin/rostopic")
def test_rostopic_hz_counts_in_simulation_time(serve, program):
    serve()
    hz = program(real.rospy_python(), "/usr/bin/rostopic", "hz", "/toBEassigned/joint/motor_1_state")
    rate = real.until(lambda: re.findall(r"average rate: ([\d.]+)", hz.text()), "a rate")
    real.until(lambda: len(re.findall(r"average rate", hz.text())) >= 3, "three rates")
    rate = float(re.findall(r"average rate: ([\d.]+)", hz.text())[-1])
    assert rate == pytest.approx(100.0, rel=0.4)  # of simulation time; rostopic gets it from a clock with jitter


@needs("/usr/bin/rostopic")
def test_rostopic_pub_moves_the_joint(serve, core, tool, program):
    serve()
    program(
        real.rospy_python(), "/usr/bin/rostopic", "pub", "-r", 20, "/toBEassigned/joint/reference_1",
        "std_msgs/Float64", "0.4",
    )  # fmt: skip
    moved = r"\[0\.39|\[0\.40"
    real.until(
        lambda: re.search(moved, tool("rostopic", "echo", "-n", 1, "/toBEassigned/joint/motor_1_state/position")),
        "the motor is there",
    )


@needs("/usr/bin/rostopic")
def test_a_refusal_is_heard_on_rosout(serve, core, program):
    serve()
    heard = program(real.rospy_python(), "/usr/bin/rostopic", "echo", "/rosout")
    real.until(lambda: any(n.startswith("/rostopic") for n in core.state()[1].get("/rosout", [])), "it listens")
    program(
        real.rospy_python(), "/usr/bin/rostopic", "pub", "-r", 2, "/toBEassigned/joint/reference_1",
        "std_msgs/Float64", ".nan",
    )  # fmt: skip
    real.until(lambda: "reference_1" in heard.text() and "nan" in heard.text(), "the refusal")
    said = heard.text()
    assert f'name: "{NODE}"' in said
    assert "level: 4" in said
    # roscore's own log gathers it too
    gathered = program(real.rospy_python(), "/usr/bin/rostopic", "echo", "/rosout_agg")
    real.until(lambda: "reference_1" in gathered.text(), "what rosout gathers")


@needs("/usr/bin/rosservice")
def test_rosservice_lists_describes_and_calls(serve, tool):
    serve()
    assert "/pliant/pause" in tool("rosservice", "list").split()
    assert tool("rosservice", "node", "/pliant/pause").strip() == NODE
    assert tool("rosservice", "type", "/pliant/pause").strip() == "std_srvs/Trigger"
    assert "rosrpc://127.0.0.1:" in tool("rosservice", "uri", "/pliant/pause")
    assert "success: True" in tool("rosservice", "call", "/pliant/pause")
    assert "time is 0" in tool("rosservice", "call", "/pliant/reset")
    assert "time is 0.001 s" in tool("rosservice", "call", "/pliant/step_once")
    tool("rosservice", "call", "/gazebo/unpause_physics")
    assert "call /pliant/pause first" in tool("rosservice", "call", "/pliant/step_once")


@needs("/usr/bin/rosnode")
def test_rosnode_knows_pings_and_ends_the_node(serve, core, tool):
    process = serve()
    assert NODE in tool("rosnode", "list").split()
    info = tool("rosnode", "info", NODE)
    assert f"Pid: {process.pid}" in info
    assert "* topic: /rosout" in info
    assert "* to: /rosout" in info  # roscore's node listens
    assert "direction: outbound" in info
    assert "transport: TCPROS" in info
    assert "xmlrpc reply" in tool("rosnode", "ping", "-c1", NODE)
    assert "127.0.0.1" in tool("rosnode", "machine")
    assert "killed" in tool("rosnode", "kill", NODE)
    out, err = process.communicate(timeout=real.LIMIT)
    assert process.returncode == 0, (out, err)
    assert any("asked this node to shut down" in f for f in json.loads(out)["health"]["bridges"]["ros1"]["last_faults"])
    assert NODE not in tool("rosnode", "list").split()
    assert not any(NODE in nodes for part in core.state() for nodes in part.values())


@needs("/usr/bin/rosnode")
def test_a_run_that_is_killed_hard_is_cleaned_up_and_the_next_one_is_served(serve, core, program):
    process = serve()
    process.kill()
    process.wait()
    assert NODE in core.state()[0]["/clock"]
    cleanup = program("/bin/sh", "-c", f"echo y | {real.rospy_python()} /usr/bin/rosnode cleanup")
    cleanup.wait(real.LIMIT)
    real.until(lambda: not any(NODE in nodes for part in core.state() for nodes in part.values()), "it is cleaned up")
    serve()
    assert core.wait_for("/clock") == [NODE]


@needs("/usr/bin/rostopic")
def test_a_run_takes_the_place_of_one_that_was_killed_hard(serve, core, tool):
    process = serve()
    process.kill()
    process.wait()
    again = serve()

    def served_by():
        with contextlib.suppress(OSError):
            uri = core.master.lookupNode("/test", NODE)[2]
            return xmlrpc.client.ServerProxy(uri).getPid("/test")[2]

    real.until(lambda: again.poll() is not None or served_by() == again.pid, "it is registered again")
    assert "secs" in tool("rostopic", "echo", "-n", 1, "/clock")  # it runs
    assert end(again)["health"]["bridges"]["ros1"]["master_state"] == "ok"


@needs("/usr/bin/rostopic")
def test_sigterm_leaves_nothing_in_the_master(serve, core, tool):
    process = serve()
    assert "secs" in tool("rostopic", "echo", "-n", 1, "/clock")  # it runs
    process.terminate()
    out, err = process.communicate(timeout=real.LIMIT)
    assert process.returncode in (0, 130), (out, err)
    assert json.loads(out)["steps"] > 0
    assert not any(NODE in nodes for part in core.state() for nodes in part.values())


@needs("/usr/bin/rosparam")
def test_rosparam_shows_the_parameters_of_the_toolbox(serve, tool):
    serve("", "--manager", real.MANAGER, ready="/pliant/reset")
    assert tool("rosparam", "get", "/namespace").strip() == "bench"
    assert tool("rosparam", "get", "/T_sample").strip() == "0.01"
    assert tool("rosparam", "get", "/joints_name").strip() in ("- joint", "[joint]")
    assert tool("rosparam", "get", "/use_sim_time").strip() == "true"


@needs(TOOLS / "relay")
def test_topic_tools_hand_the_states_on(serve, core, program, tool):
    serve()
    program(TOOLS / "relay", STATES, "/copy")
    program(TOOLS / "throttle", "messages", STATES, 10, "/slow")
    core.wait_for("/copy")  # they advertise when the first message comes
    core.wait_for("/slow")
    assert tool("rostopic", "type", "/copy").strip() == "sensor_msgs/JointState"
    assert "joint" in tool("rostopic", "echo", "-n", 1, "/copy/name")
    printed = tool("rostopic", "echo", "-n", 2, "/slow/header")
    first, second = (int(s) * 10**9 + int(n) for s, n in re.findall(r"secs: (\d+)\n\s+nsecs: +(\d+)", printed))
    assert second - first >= 90_000_000  # throttle counts in simulation time


@needs("/usr/bin/roswtf")
def test_roswtf_finds_no_fault_of_the_node(serve, tool):
    serve()
    said = tool("roswtf")
    assert "running graph rules" in said
    _, _, online = said.partition("Online checks summary")
    # that nobody sends references is no fault, and a warning only
    assert NODE not in online.partition("error(s)")[2], said


@needs("/usr/lib/tf2_tools/echo.py")
def test_tf2_listens_to_the_bodies(serve, program, core):
    serve()
    listener = program(real.rospy_python(), "/usr/lib/tf2_tools/echo.py", "world", "link", "-l", 3)
    listener.wait(real.LIMIT)
    assert "Translation:" in listener.text() + listener.text("err"), listener.text("err")
