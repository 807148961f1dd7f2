"""Devices without a message of their own kind: topics from the field table, services from the buttons."""

from concurrent.futures import ThreadPoolExecutor

import mujoco
import numpy as np
import pytest
from native_actuators import model_of

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.robots.build import build_arms
from pliant.franka.wire.fci import RobotMode
from pliant.model import Robot
from pliant.ros.bridge import RosOptions
from pliant.ros.bridge.interfaces import INTERFACES
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire import Codec
from pliant.simulation import Simulation


class Topic:
    active = True

    def __init__(self):
        self.sent = []

    def send(self, data):
        self.sent.append(data)


class Wire:
    """Keeps what is advertised and served; encodes and decodes services as a wire would."""

    has_services, has_actions = True, False

    def __init__(self, version):
        self.codec = Codec(version)
        self.topics, self.services, self.heard, self.told = {}, {}, {}, []

    def advertise(self, topic, type_name, **_):
        return self.topics.setdefault(topic, Topic())

    def serve(self, name, type_name, callback):
        self.services[name] = type_name, callback

    def subscribe(self, topic, type_name, arrived):
        self.heard[topic] = type_name, arrived

    def complain(self, text):
        self.told.append(text)

    def send(self, topic, **message):
        type_name, arrived = self.heard[topic]
        full = {"layout": {"dim": [], "data_offset": 0}, **message} if "Array" in type_name else message
        arrived(self.codec.decode(type_name, self.codec.encode(type_name, full)))

    def call(self, name, **request):
        type_name, callback = self.services[name]
        kind = self.codec.types.service(type_name)
        asked = self.codec.decode(kind.request, self.codec.encode(kind.request, request))
        return self.codec.decode(kind.response, self.codec.encode(kind.response, callback(asked)))


class Arm:
    """A Franka arm whose simulation steps while a service waits for its answer."""

    def __init__(self, version):
        robot = build_arms()
        self.simulation = Simulation(MujocoEngine(robot), make_devices(robot))
        self.simulation.start()
        self.wire = Wire(version)
        topics = RosTopics(robot, self.wire, RosOptions(namespace="cell"))
        device = self.simulation.devices["franka"]
        topics.writers["franka"] = self.writers = []
        INTERFACES.find(device)(topics, "franka", device)

    def call(self, name, **request):
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(self.wire.call, f"/cell/franka/{name}", **request)
            while not answer.done():
                self.simulation.step()
            return answer.result()

    @property
    def mode(self):
        self.simulation.step()
        return int(self.simulation.sample("franka").values["robot_mode"])


@pytest.fixture(params=[1, 2])
def arm(request):
    made = Arm(request.param)
    with made.simulation:
        yield made


def test_guiding_user_stop_and_brakes_of_an_arm_are_services(arm):
    for name, mode in (
        ("guide", RobotMode.GUIDING),
        ("user_stop", RobotMode.USER_STOPPED),
        ("brakes", RobotMode.OTHER),
    ):
        assert arm.wire.services[f"/cell/franka/{name}"][0] == "std_srvs/SetBool"
        assert arm.call(name, data=True) == {"success": True, "message": ""}
        assert arm.mode == mode
        assert arm.call(name, data=False)["success"]
        assert arm.mode == RobotMode.IDLE


def test_a_service_says_why_a_button_was_refused(arm):
    assert arm.call("user_stop", data=True)["success"]
    refused = arm.call("guide", data=True)
    assert not refused["success"]
    assert "the robot's mode is user_stopped" in refused["message"]


def test_requests_without_values_are_triggers_and_requests_with_values_are_none(arm):
    assert arm.wire.services["/cell/franka/automatic_error_recovery"][0] == "std_srvs/Trigger"
    assert arm.call("stop_move")["success"]
    assert arm.call("gripper_homing")["success"]
    assert not {"/cell/franka/disconnect", "/cell/franka/move", "/cell/franka/set_load"} & set(arm.wire.services)


def test_every_field_is_a_topic(arm):
    device = arm.simulation.devices["franka"]
    own = {topic for topic in arm.wire.topics if topic.startswith("/cell/franka/")}
    assert own == {f"/cell/franka/{field}" for field in device.samples}
    arm.simulation.step()
    sample = arm.simulation.sample("franka")
    for write in arm.writers:
        write(sample)
    (data,) = arm.wire.topics["/cell/franka/q"].sent
    sent = arm.wire.codec.decode("std_msgs/Float64MultiArray", data)
    np.testing.assert_array_equal(sent["data"], sample.values["q"])


@pytest.mark.parametrize("version", [1, 2])
def test_the_commands_of_a_device_are_topics_of_its_fields(version):
    robot = Robot(mujoco.MjSpec.from_string(model_of("hinge", "pid")))
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation:
        simulation.start()
        wire = Wire(version)
        topics = RosTopics(robot, wire, RosOptions(namespace="cell"))
        topics.writers["driven"] = []
        INTERFACES.find(simulation.devices["driven"])(topics, "driven", simulation.devices["driven"])
        wire.send("/cell/driven/command/control", data=[0.5, 0.1])
        simulation.step()
        np.testing.assert_array_equal(simulation.engine.port("driven/control"), [0.5, 0.1])
        wire.send("/cell/driven/command/control", data=[0.5])
        assert topics.rejected == 1
        assert "shape (1,); must be an array of 2" in wire.told[0]


def test_an_arm_that_takes_commands_of_its_client_only_has_no_topics_for_them(arm):
    assert not [topic for topic in arm.wire.heard if "/command/" in topic]
