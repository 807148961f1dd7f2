"""pliant with real nodes of ROS 2: rclpy of Jazzy and of Kilted on rmw_fastrtps, each in a process of its own.

The nodes have the settings of a fresh installation, apart from the domain. `make_rclpy_venv.sh` makes their virtual
environments from PyPI; `real.RCLPY_VARIABLES` are environment variables that name existing ones.
"""

import contextlib
import hashlib
import json
import os
import queue
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import real

from pliant.ros.ros2 import Ros2Node

COUNT = 12_000
IMAGES = 150

pytestmark = [pytest.mark.network, pytest.mark.slow]


@pytest.fixture(scope="module", params=["jazzy", "kilted"])
def python(request):
    found, why = real.rclpy_python(request.param)
    if found is None:
        pytest.skip(why)
    return found


@pytest.fixture
def domain():
    return real.free_domain()


@pytest.fixture
def serve(domain):
    started = []

    def start(source, duration, options=""):
        words = ["run", source, "--bridge", f"ros2:domain={domain}{options}", "--duration", duration, "--no-check"]
        started.append(real.pliant([*words, "--json"], os.environ))
        return started[-1]

    yield start
    for process in started:
        process.close()


@pytest.fixture
def client(python, domain):
    """Start a step in rclpy's interpreter; what it returns gives the result."""
    started = []

    def start(*arguments):
        process = real.Program(
            [python, real.FOLDER / "ros2_rclpy_steps.py", *arguments],
            {**real.clean_env(), "ROS_DOMAIN_ID": str(domain)},
        )
        started.append(process)

        def result(timeout=150.0):
            out = real.finish(process, timeout)
            return json.loads(next(line for line in out.splitlines() if line.startswith("RESULT "))[7:])

        return result

    yield start
    for process in started:
        process.close()


@pytest.mark.alone
def test_the_main_job_a_template_of_the_toolbox_driven_by_rclpy(client, serve):
    process = serve(real.JOINT, 15, ",aggregate_rate=100,joint_states=100")  # what rclpy follows on a loaded machine
    found = client("main_job", "toBEassigned", "joint")()
    base = "/toBEassigned/joint"
    expected = {
        f"{base}/torque_el1_state": ("std_msgs/msg/Float64", 100),
        f"{base}/torque_el2_state": ("std_msgs/msg/Float64", 100),
        f"{base}/motor_1_state": ("sensor_msgs/msg/JointState", 100),
        f"{base}/motor_2_state": ("sensor_msgs/msg/JointState", 100),
        "/toBEassigned/robot_state": ("sensor_msgs/msg/JointState", 100),
        "/joint_states": ("sensor_msgs/msg/JointState", 100),
        "/clock": ("rosgraph_msgs/msg/Clock", 1000),
    }
    assert {topic: kind for topic, kind in found["types"].items() if topic in expected} == {
        topic: kind for topic, (kind, _) in expected.items()
    }
    assert found["types"][f"{base}/link_state"] == "viactors_plugins/msg/StateInfo"
    assert "pliant_toBEassigned" in found["nodes"]
    # mode 5: the motors follow the references to within friction / kp
    assert found["motors"] == pytest.approx([0.7, 0.3], abs=0.01)
    assert found["q"] == pytest.approx(0.5, abs=0.02)
    assert found["names"] == ["joint"]
    assert 10.0 < found["now"] < 15.001  # the node's clock is the simulation's
    said = json.loads(real.finish(process))
    sent = {row["topic"]: row["count"] for row in said["served"]["ros2"]}
    for topic, (_, rate) in expected.items():
        assert sent[topic] >= found["counts"][topic] > sent[topic] - 0.02 * rate, topic  # none but at the beginning
        assert found["counts"][topic] > 5 * rate, topic
    bridge = said["health"]["bridges"]["ros2"]
    assert bridge["dropped"] == bridge["rejected"] == bridge["faults"] == 0


@pytest.mark.alone
def test_no_message_is_lost_in_either_direction(client, serve):
    process = serve("qbmove-5dof", 32, ",aggregate_rate=1000,tf=false")
    heard = client("count_states", "qbmove_5dof", COUNT)
    said = client("send_references", "qbmove_5dof", 5, COUNT)
    assert heard() == {"received": COUNT, "missing": 0, "backward": 0}
    sent = said()
    assert (sent["sent"], sent["acknowledged"]) == (COUNT, True)
    bridge = json.loads(real.interrupted(process))["health"]["bridges"]["ros2"]
    assert bridge["received"] == COUNT
    assert bridge["dropped"] == bridge["rejected"] == 0


def test_services_and_parameters_are_those_of_a_node(client, serve):
    process = serve("qbmove-2dof", 60)
    found = client("control", "pliant_qbmove_2dof")()
    assert found["triggers"][0] == [True, "paused"]
    assert found["triggers"][1][0]
    assert found["triggers"][2] == [True, "running"]
    assert {"joint_1.kp_1", "joint_2.operation_mode", "use_sim_time"} <= set(found["parameters"])
    assert found["set"]
    assert found["value"] == 0.5
    process.close()


def test_a_default_node_finds_a_default_pliant_soon(client, serve):
    process = serve("qbmove-2dof", 60)
    real.until(lambda: "name space" in process.text("err"), "pliant serves")
    assert client("find", "/clock")()["seconds"] < 10.0  # half a second on a machine that is idle
    process.close()


@pytest.mark.parametrize("reliability", ["reliable", "best_effort"])
def test_images_of_640_by_480_at_30_hz_arrive_whole(client, domain, reliability):
    """An image follows the last as soon as that one was seen: 30 a second, and fewer on a machine that is loaded."""
    node = Ros2Node("camera", domain=domain)
    seen: queue.Queue[int] = queue.Queue()
    node.start()
    try:
        image = node.advertise("/eye/image_raw", "sensor_msgs/Image")
        done = node.advertise("/eye/done", "std_msgs/Empty", latch=True)
        node.subscribe("/eye/seen", "std_msgs/Float64", lambda message: seen.put(int(message["data"])))
        node.announce()
        result = client("see_images", "/eye/image_raw", reliability)
        assert seen.get(timeout=60.0) == 0, "rclpy is heard"
        real.until(lambda: image.matched, "rclpy listens")
        sent, began = {}, time.monotonic()
        for k in range(1, IMAGES + 1):
            data = bytes([k]) * (640 * 480 * 3 - 4) + k.to_bytes(4, "little")
            header = {"stamp": k, "frame_id": "eye"}
            values = {"header": header, "height": 480, "width": 640, "encoding": "rgb8", "step": 1920, "data": data}
            sent[str(k)] = hashlib.sha256(data).hexdigest()
            image.send(node.codec.encode("sensor_msgs/Image", values))
            with contextlib.suppress(queue.Empty):  # what a best-effort reader loses is not sent again
                while seen.get(timeout=60.0 if reliability == "reliable" else 0.5) != k:
                    pass
            threading.Event().wait(max(0.0, began + k / 30 - time.monotonic()))
        done.send(node.codec.encode("std_msgs/Empty", {}))
        found = result()["digests"]
    finally:
        node.stop()
    assert image.drops == 0
    if reliability == "reliable":
        assert found == sent
    else:  # what arrives is whole
        assert found.items() <= sent.items()
        assert len(found) >= 0.9 * IMAGES
