"""What pliant says on /rosout."""

import math
import threading

import mujoco
import pytest
from ros1_world import until

from pliant.model import Robot
from pliant.ros.bridge import RosOptions
from pliant.ros.bridge.rosout import BACKLOG, BURST, INFO, LENGTH, serve_rosout
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire import Codec, registry


class Handle:
    def __init__(self, topic, kind, latch):
        self.topic, self.type, self.latch = topic, kind, latch
        self.sent, self.subscribers = [], []
        self.trouble = lambda: None

    def send(self, data):
        self.trouble()
        self.sent.append(data)


class FakeNode:
    def __init__(self, version):
        self.codec = Codec(version)
        self.handle = None

    def advertise(self, topic, kind, *, latch=False, reliable=True):
        self.handle = Handle(topic, kind, latch)
        return self.handle


def make(version, notes=(), **options):
    robot = Robot(mujoco.MjSpec(), notes=notes)
    topics = RosTopics(robot, FakeNode(version), RosOptions(**options))
    rosout = serve_rosout(topics)
    handle = topics.node.handle
    kind = topics.node.codec.types.message(handle.type)

    def heard():
        return [topics.node.codec.decode(kind, data) for data in handle.sent]

    return rosout, handle, heard


def test_the_type_of_ros_2_has_the_hash_that_its_tools_print():
    expected = "RIHS01_e28ce254ca8abc06abf92773b74602cdbf116ed34fbaf294fb9f81da9f318eac"
    assert registry(2).rihs01("rcl_interfaces/Log") == expected


def test_ros_1_and_ros_2_have_their_own_messages():
    rosout, handle, heard = make(1, namespace="arm/left")
    handle.subscribers.append("/rosout")
    rosout.tick(5_000_000)
    rosout.say("no good")
    rosout.say("by the way", INFO)
    first, second = heard()
    assert (handle.topic, handle.type, handle.latch) == ("/rosout", "rosgraph_msgs/Log", False)
    assert (first["level"], first["msg"], first["name"]) == (4, "no good", "/pliant_arm_left")
    assert first["header"] == {"seq": 0, "stamp": 5_000_000, "frame_id": ""}
    assert (second["level"], second["header"]["seq"]) == (2, 1)
    rosout, handle, heard = make(2, node="mine")
    rosout.say("no good")
    assert (handle.type, handle.latch) == ("rcl_interfaces/Log", True)
    assert (heard()[0]["level"], heard()[0]["name"], heard()[0]["msg"]) == (30, "mine", "no good")


def test_on_ros_1_what_is_said_early_waits_for_the_first_listener():
    rosout, handle, heard = make(1, notes=["a mesh was left away"])
    rosout.say("early")
    rosout.tick(1)
    assert heard() == []
    handle.subscribers.append("/rosout")
    rosout.tick(2)
    rosout.say("late")
    assert [m["msg"] for m in heard()] == ["a mesh was left away", "early", "late"]


def test_little_waits_and_little_is_said_and_the_rest_is_counted():
    rosout, handle, heard = make(1, notes=[f"note {i}" for i in range(500)])
    rosout.tick(1)
    handle.subscribers.append("/rosout")
    rosout.tick(2)
    assert len(heard()) == BACKLOG
    for i in range(500):
        rosout.say(f"fault {i}")
    assert len(heard()) < BACKLOG + BURST
    until(lambda: rosout.say("again") or "were held back" in heard()[-1]["msg"])


def test_a_long_text_is_cut():
    rosout, _, heard = make(2)
    rosout.say("x" * 100_000)
    assert heard()[0]["msg"] == "x" * LENGTH + " ... (100000 characters)"


def test_a_fault_of_sending_is_not_said_on_the_wire_that_has_it():
    rosout, handle, heard = make(2)
    handle.trouble = lambda: rosout.say("sending failed")
    rosout.say("first")
    assert [m["msg"] for m in heard()] == ["first"]


def test_many_threads_may_speak():
    rosout, handle, heard = make(1)
    handle.subscribers.append("/rosout")
    threads = [threading.Thread(target=rosout.say, args=(f"thread {i}",)) for i in range(BURST)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(m["header"]["seq"] for m in heard()) == list(range(BURST))


@pytest.mark.network
def test_a_refusal_is_heard_on_rosout(world):
    item = world()
    item.connect()
    log = item.hear("/rosout", "rosgraph_msgs/Log")
    item.speak("/toBEassigned/joint/equilibrium_position", "std_msgs/Float64")(data=math.nan)
    item.simulation.step(3)
    refusal = until(lambda: [m for m in log if "equilibrium_position" in m["msg"]])[0]
    assert refusal["name"] == "/pliant_toBEassigned"
    assert "nan" in refusal["msg"]
