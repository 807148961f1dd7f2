"""Inertial units, force/torque sensors and cameras on ROS: messages, frames, topics, and a subscriber that blocks."""

import threading
from collections import deque

import mujoco
import numpy as np
import pytest
from ros1_world import until

from pliant.base.errors import MissingDependency
from pliant.camera.model import CameraModel
from pliant.devices import make_devices
from pliant.devices.base import FieldInfo, Sample
from pliant.engine import MujocoEngine
from pliant.feet.model.sole import Sole
from pliant.feet.softfoot import softfoot
from pliant.model import Camera, ForceTorque, Imu, Interface, Laser, Noise, Robot
from pliant.ros.bridge.camera import serve_camera
from pliant.ros.bridge.interfaces import INTERFACES
from pliant.ros.bridge.options import RosOptions
from pliant.ros.bridge.send_rate import SendRate
from pliant.ros.bridge.sensors import covariance
from pliant.ros.bridge.tf import sensor_frames
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.ros1.graph import QUEUE_BYTES, Publication
from pliant.ros.ros1.node import Ros1Node
from pliant.ros.wire import Codec

MODEL = """
<mujoco>
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <body name="arm" pos="0 0 1"><joint name="elbow" axis="0 1 0"/><geom size="0.1" mass="1"/>
      <body name="hand" pos="0.1 0 0"><geom size="0.05" mass="0.5"/><site name="palm" pos="0 0 0.02"/></body></body>
  </worldbody>
</mujoco>
"""


class Topic:
    """A topic that keeps what it is given."""

    def __init__(self, topic, type_name, latch, active=True):
        self.topic, self.type, self.latch, self.active = topic, type_name, latch, active
        self.sent = []
        self.subscribers, self.count, self.drops, self.rate = [], 0, 0, SendRate()

    def send(self, data):
        self.sent.append(data)


class Wire:
    """A wire that keeps what is advertised."""

    def __init__(self, version=1, active=True):
        self.codec = Codec(version)
        self.topics = {}
        self.active = active

    def advertise(self, topic, type_name, *, latch=False, reliable=True):
        return self.topics.setdefault(topic, Topic(topic, type_name, latch, self.active))

    def messages(self, topic):
        found = self.topics[topic]
        return [self.codec.decode(found.type, data) for data in found.sent]


class Bench:
    """Devices of a robot, served on such a wire."""

    def __init__(self, *described, version=1, active=True, steps=2, spec=None):
        spec = mujoco.MjSpec.from_string(MODEL) if spec is None else spec
        robot = Robot(spec, interface=Interface(namespace="robot"))
        robot.devices = list(described)
        engine = MujocoEngine(robot, check=False)
        self.wire = Wire(version, active)
        self.topics = RosTopics(robot, self.wire, RosOptions())
        self.samples = {}
        for device in make_devices(robot):
            device.attach(engine)
            device.reset(np.random.default_rng(0))
            self.topics.devices[device.name] = device
            self.topics.writers[device.name] = []
            INTERFACES.find(device)(self.topics, device.name, device)
        for _ in range(steps):
            engine.step()
            for device in self.topics.devices.values():
                sample = self.samples[device.name] = device.read(engine.time_ns)
                for write in self.topics.writers[device.name]:
                    write(sample)


# ---------------------------------------------------------------------------- inertial units
def test_covariances_are_made_from_the_noise():
    assert covariance(None) == [0.0] * 9
    np.testing.assert_allclose(
        covariance(Noise(std=(0.1, 0.2, 0.3), bias=0.1)), np.diag([0.02, 0.05, 0.10]).ravel(), rtol=1e-14
    )


@pytest.mark.parametrize("version", [1, 2])
def test_an_inertial_unit_is_an_imu_with_the_covariances_of_its_noise(version):
    described = Imu(
        name="imu",
        body="hand",
        angular_velocity_noise=Noise(std=(0.1, 0.2, 0.3)),
        linear_acceleration_noise=Noise(std=0.5),
        orientation_noise=Noise(std=0.01),
    )
    bench = Bench(described, version=version)
    assert bench.wire.topics["/robot/imu"].type == "sensor_msgs/Imu"
    messages = bench.wire.messages("/robot/imu")
    message, values = messages[-1], bench.samples["imu"].values
    assert message["header"]["frame_id"] == "hand"
    assert message["header"]["stamp"] == bench.samples["imu"].stamp_ns
    if version == 1:
        assert [m["header"]["seq"] for m in messages] == [0, 1]
    w, *xyz = values["orientation"]
    assert [message["orientation"][axis] for axis in "xyzw"] == [*xyz, w]
    assert [message["angular_velocity"][axis] for axis in "xyz"] == values["angular_velocity"].tolist()
    assert [message["linear_acceleration"][axis] for axis in "xyz"] == values["linear_acceleration"].tolist()
    for field, variances in (
        ("orientation", [1e-4] * 3),
        ("angular_velocity", [0.01, 0.04, 0.09]),
        ("linear_acceleration", [0.25] * 3),
    ):
        np.testing.assert_allclose(message[f"{field}_covariance"], np.diag(variances).ravel(), rtol=1e-12)


def test_without_orientation_the_covariance_says_so():
    (message, _) = Bench(Imu(name="imu", site="palm", orientation=False)).wire.messages("/robot/imu")
    assert message["orientation_covariance"][0] == -1.0
    assert not any(message["angular_velocity_covariance"])


# ---------------------------------------------------------------------------- force/torque
def test_a_force_torque_sensor_is_a_stamped_wrench():
    bench = Bench(ForceTorque(name="ft", body="hand", measure_frame="parent", frame=""))
    (_, message) = bench.wire.messages("/robot/ft")
    values = bench.samples["ft"].values
    assert message["header"]["frame_id"] == "arm"
    assert message["header"]["seq"] == 1
    assert [message["wrench"]["force"][axis] for axis in "xyz"] == values["force"].tolist()
    assert [message["wrench"]["torque"][axis] for axis in "xyz"] == values["torque"].tolist()


# ---------------------------------------------------------------------------- lasers
@pytest.mark.parametrize("version", [1, 2])
def test_a_laser_is_a_scan_with_its_angles_and_limits(version):
    walls = MODEL.replace("<worldbody>", '<worldbody><geom type="box" size="1 20 20" pos="3 0 0"/>')
    walls = walls.replace('size="0.1"', 'size="0.04"')  # the arm is away from the laser
    rays = Laser(name="scan", body="hand", rays=5, min_angle=-0.4, max_angle=1.2, max_range=2.5, rate=0.0)
    bench = Bench(rays, version=version, spec=mujoco.MjSpec.from_string(walls))
    assert bench.wire.topics["/robot/scan"].type == "sensor_msgs/LaserScan"
    message = bench.wire.messages("/robot/scan")[-1]
    assert message["header"]["frame_id"] == "hand"
    assert message["header"]["stamp"] == bench.samples["scan"].stamp_ns
    found = {key: message[key] for key in ("angle_min", "angle_max", "angle_increment", "time_increment", "scan_time")}
    assert found == pytest.approx(
        {"angle_min": -0.4, "angle_max": 1.2, "angle_increment": 0.4, "time_increment": 0.0, "scan_time": 0.002},
        rel=1e-6,
    )
    assert (message["range_min"], message["range_max"]) == pytest.approx((0.05, 2.5))
    # The wall is 1.9 m in front of the hand; the last two rays meet it farther away than the scanner sees.
    ranges = np.asarray(message["ranges"])
    np.testing.assert_allclose(ranges[:3], 1.9 / np.cos([-0.4, 0.0, 0.4]), rtol=1e-5)
    assert np.isposinf(ranges[3:]).all()
    assert len(message["intensities"]) == 0


# ---------------------------------------------------------------------------- soles
@pytest.mark.parametrize("version", [1, 2])
def test_the_sensing_of_a_sole_is_joint_states_and_a_stamped_wrench(version):
    foot = softfoot(n_chains=1, lump=True, coupling="midpoint", tendon="fixed")
    described = Sole(name="sole", body="attachment_cube", rate=0.0, ankle="none")
    bench = Bench(described, spec=foot, version=version)
    values, device = bench.samples["sole"].values, bench.topics.devices["sole"]
    states = bench.wire.messages("/robot/sole/joint_states")[-1]
    assert bench.wire.topics["/robot/sole/joint_states"].type == "sensor_msgs/JointState"
    assert list(states["name"]) == list(device.joints)
    for field in ("position", "velocity", "effort"):
        np.testing.assert_array_equal(states[field], values[field])
    wrench = bench.wire.messages("/robot/sole/wrench")[-1]
    assert bench.wire.topics["/robot/sole/wrench"].type == "geometry_msgs/WrenchStamped"
    assert wrench["header"]["frame_id"] == "attachment_cube"
    assert [wrench["wrench"]["torque"][axis] for axis in "xyz"] == values["torque"].tolist()


# ---------------------------------------------------------------------------- names
def test_a_topic_may_be_given_relative_or_absolute():
    bench = Bench(Imu(name="a", body="hand", topic="sensors/imu"), Imu(name="b", body="hand", topic="/imu/data"))
    assert sorted(bench.wire.topics) == ["/imu/data", "/robot/sensors/imu"]


def test_frames_that_are_no_bodies_are_static_transforms():
    bench = Bench(
        Imu(name="own", site="palm"), Imu(name="same", body="hand"), ForceTorque(name="named", body="hand", frame="x")
    )
    (transform,) = sensor_frames(bench.topics, {})
    assert (transform["header"]["frame_id"], transform["child_frame_id"]) == ("hand", "own")
    assert transform["transform"]["translation"] == {"x": 0.0, "y": 0.0, "z": 0.02}
    assert transform["transform"]["rotation"] == {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}


def test_the_frame_of_a_sensor_counts_from_the_link_which_is_on_the_axis_of_its_joint():
    bench = Bench(Imu(name="own", site="palm"))
    (transform,) = sensor_frames(bench.topics, {"hand": np.array([0.0, 0.0, 0.01])})
    assert transform["transform"]["translation"]["z"] == pytest.approx(0.01)


# ---------------------------------------------------------------------------- cameras
class Eye:
    """A camera that shows a pattern: no graphics library is needed."""

    signatures = ("camera",)

    def __init__(self, name="eye", width=5, height=4, **more):
        self.name = name
        self.samples = {
            "image": FieldInfo((height, width, 3), dtype="uint8"),
            "depth": FieldInfo((height, width), dtype="float32"),
        }
        self.camera = CameraModel(
            width=width, height=height, fx=6.0, fy=7.0, cx=2.0, cy=1.5, k1=-0.2, k2=0.05, p1=0.001, p2=-0.002, k3=0.01
        )
        self.frame = "eye_optical_frame"
        self.topic = ""
        self.topics = {}
        self.__dict__.update(more)

    def sample(self, stamp=1_500_000_000, seq=0):
        height, width, _ = self.samples["image"].shape
        image = (np.arange(height * width * 3) + seq).astype(np.uint8).reshape(height, width, 3)
        depth = np.linspace(0.5, 9.0, height * width, dtype=np.float32).reshape(height, width)
        depth[0, 0] = np.inf
        return Sample(self.name, seq, stamp, {"image": image, "depth": depth})


def served_eye(eye, version=1, active=True):
    wire = Wire(version, active)
    topics = RosTopics(None, wire, RosOptions(namespace="robot"))
    topics.devices[eye.name] = eye
    topics.writers[eye.name] = []
    assert INTERFACES.find(eye) is serve_camera
    serve_camera(topics, eye.name, eye)
    return wire, topics.writers[eye.name]


@pytest.mark.parametrize("version", [1, 2])
def test_a_camera_has_images_depth_and_a_camera_info_with_each(version):
    eye = Eye()
    wire, writers = served_eye(eye, version)
    sample = eye.sample()
    for write in writers:
        write(sample)
    types = {topic: item.type for topic, item in wire.topics.items()}
    assert types == {
        "/robot/eye/image_raw": "sensor_msgs/Image",
        "/robot/eye/camera_info": "sensor_msgs/CameraInfo",
        "/robot/eye/depth/image_raw": "sensor_msgs/Image",
        "/robot/eye/depth/camera_info": "sensor_msgs/CameraInfo",
    }
    assert not any(item.latch for item in wire.topics.values())
    for field, topic, encoding, size in (
        ("image", "/robot/eye/image_raw", "rgb8", 3),
        ("depth", "/robot/eye/depth/image_raw", "32FC1", 4),
    ):
        (message,) = wire.messages(topic)
        assert (message["width"], message["height"], message["step"]) == (5, 4, size * 5)
        assert (message["encoding"], message["is_bigendian"]) == (encoding, 0)
        assert message["header"]["frame_id"] == "eye_optical_frame"
        array = np.frombuffer(message["data"], sample.values[field].dtype).reshape(sample.values[field].shape)
        np.testing.assert_array_equal(array, sample.values[field])
        info_topic = topic.replace("image_raw", "camera_info")
        (info,) = wire.messages(info_topic)
        assert info["header"]["stamp"] == message["header"]["stamp"] == 1_500_000_000
        assert info["header"]["frame_id"] == "eye_optical_frame"
        D, K, R, P = (info[key if version == 1 else key.lower()] for key in "DKRP")
        assert info["distortion_model"] == "plumb_bob"
        assert list(D) == [-0.2, 0.05, 0.001, -0.002, 0.01]
        assert list(K) == [6, 0, 2, 0, 7, 1.5, 0, 0, 1]
        assert list(R) == [1, 0, 0, 0, 1, 0, 0, 0, 1]
        assert list(P) == [6, 0, 2, 0, 0, 7, 1.5, 0, 0, 0, 1, 0]


def test_topics_of_a_camera_may_be_given():
    topics = {"image": "rgb/image_color", "image_info": "/infos/eye"}
    wire, _ = served_eye(Eye(topic="/front", topics=topics))
    assert sorted(wire.topics) == ["/front/depth/camera_info", "/front/depth/image_raw", "/front/rgb/image_color",
                                   "/infos/eye"]  # fmt: skip


def test_nothing_is_encoded_where_nobody_listens():
    eye = Eye()
    wire, writers = served_eye(eye, active=False)
    for write in writers:
        write(eye.sample())
    assert not any(item.sent for item in wire.topics.values())


def test_a_rendered_camera_is_served_as_it_is():
    described = Camera(name="eye", body="world", pos=(0, 0, 3), quat=(0, 1, 0, 0), width=32, height=24, rate=500)
    try:
        bench = Bench(described)
    except MissingDependency as error:
        pytest.skip(f"no graphics library: {error}")
    try:
        message = bench.wire.messages("/robot/eye/image_raw")[-1]
        info = bench.wire.messages("/robot/eye/camera_info")[-1]
        assert message["data"] == bench.samples["eye"].values["image"].tobytes()
        assert info["K"][0] == pytest.approx(12 / np.tan(np.radians(22.5)), rel=1e-12)
    finally:
        bench.topics.devices["eye"].close()


# ---------------------------------------------------------------------------- ROS 1, large messages
class Blocked:
    """A connection whose other end reads nothing."""

    def __init__(self, limit=1000):
        self.out, self.limit, self.drops = deque(), limit, 0


class Idle:
    """Stands for the node of a publication."""

    codec = Codec(1)

    def flush(self):
        pass


def test_a_subscriber_that_blocks_holds_a_bounded_number_of_bytes():
    publication = Publication(Idle(), "/eye/image_raw", "sensor_msgs/Image", False, 1000)
    connection = Blocked()
    publication.connections = (connection,)
    picture = bytes(640 * 480 * 3)
    for _ in range(100):
        publication.send(picture)
    held = sum(len(data) for data in connection.out)
    assert held <= QUEUE_BYTES
    assert len(connection.out) == QUEUE_BYTES // len(picture)
    assert connection.drops == publication.drops == 100 - len(connection.out)


def test_even_pictures_above_the_bound_go_out_two_at_a_time():
    publication = Publication(Idle(), "/eye/image_raw", "sensor_msgs/Image", False, 1000)
    connection = Blocked()
    publication.connections = (connection,)
    picture = bytes(QUEUE_BYTES + 1)
    for _ in range(5):
        publication.send(picture)
    assert len(connection.out) == 2


def test_short_messages_are_bounded_by_their_number():
    publication = Publication(Idle(), "/eye/x", "std_msgs/Float64", False, 1000)
    connection = Blocked()
    publication.connections = (connection,)
    for _ in range(1500):
        publication.send(bytes(12))
    assert len(connection.out) == 1000


@pytest.mark.network
def test_a_ros1_subscriber_gets_whole_images(master):
    eye = Eye(width=640, height=480)
    sender, receiver = Ros1Node("sender", master=master.uri), Ros1Node("receiver", master=master.uri)
    got, came = [], threading.Event()

    def arrived(message):
        got.append(message)
        came.set()

    sender.start()
    receiver.start()
    try:
        wire_served = RosTopics(None, NodeWire(sender), RosOptions(namespace="robot"))
        wire_served.writers["eye"] = []
        serve_camera(wire_served, "eye", eye)
        receiver.subscribe("/robot/eye/image_raw", "sensor_msgs/Image", arrived)
        sender.announce()
        receiver.announce()
        until(lambda: sender.publications["/robot/eye/image_raw"].connections, "the receiver is connected")
        sample = eye.sample()
        for write in wire_served.writers["eye"]:
            write(sample)
        sender.flush()
        assert came.wait(20.0)
        assert got[0]["data"] == sample.values["image"].tobytes()
        assert got[0]["header"]["stamp"] == sample.stamp_ns
    finally:
        receiver.stop()
        sender.stop()


class NodeWire:
    """The part of a node that `serve_camera` uses, over a node."""

    def __init__(self, node):
        self.node, self.codec = node, node.codec

    def advertise(self, topic, type_name, *, latch=False, reliable=True):
        return self.node.advertise(topic, type_name, latch=latch)


@pytest.mark.network
def test_a_ros2_subscriber_gets_whole_images_with_their_camera_info():
    from ros2_clients import DOMAINS

    from pliant.ros.ros2 import Ros2Node

    domain = next(DOMAINS)
    sender, receiver = Ros2Node("sender", domain=domain), Ros2Node("receiver", domain=domain)
    eye = Eye(width=640, height=480)
    images, infos = [], []
    sender.start()
    try:
        receiver.start()
        try:
            topics = RosTopics(None, ParticipantWire(sender), RosOptions(namespace="robot"))
            topics.writers["eye"] = []
            serve_camera(topics, "eye", eye)
            receiver.subscribe("/robot/eye/image_raw", "sensor_msgs/Image", images.append)
            receiver.subscribe("/robot/eye/camera_info", "sensor_msgs/CameraInfo", infos.append)
            for topic in ("/robot/eye/image_raw", "/robot/eye/camera_info"):
                until(lambda topic=topic: sender.publications[topic].matched, f"{topic} is matched")
            sample = eye.sample()

            for write in topics.writers["eye"]:
                write(sample)
            sender.flush()
            until(lambda: images and infos, "an image and its camera info")
            assert images[0]["data"] == sample.values["image"].tobytes()
            assert images[0]["header"]["stamp"] == infos[0]["header"]["stamp"] == sample.stamp_ns
            assert list(infos[0]["k"]) == [6, 0, 2, 0, 7, 1.5, 0, 0, 1]
        finally:
            receiver.stop()
    finally:
        sender.stop()


class ParticipantWire:
    """The part of a node that `serve_camera` uses, over a participant; reliable, as its readers are."""

    def __init__(self, participant):
        self.participant, self.codec = participant, participant.codec

    def advertise(self, topic, type_name, *, latch=False, reliable=True):
        return self.participant.advertise(topic, type_name, latch=latch)
