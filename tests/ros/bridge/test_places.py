"""Each message of each sensor says where it was measured: its frame on tf is where MuJoCo has the sensor."""

import mujoco
import numpy as np
import pytest
from memory_node import MemoryNode

from pliant.base.errors import MissingDependency
from pliant.devices import make_devices
from pliant.devices.kinds import device_kinds
from pliant.engine import MujocoEngine
from pliant.feet.model.sole import Sole
from pliant.laws import CompliantActuator, QbMove
from pliant.model import Camera, ForceTorque, Imu, Interface, Laser, Robot
from pliant.ros.bridge import RosBridge
from pliant.ros.bridge.options import RosOptions
from pliant.simulation import Simulation

MODEL = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom type="box" size="0.1 5 5" pos="3 0 0"/>
    <body name="trunk" pos="0.3 -0.2 1" quat="0.9 0.1 0.2 0.3"><freejoint/>
      <geom type="box" size="0.2 0.1 0.05" mass="3"/>
      <site name="trunk" pos="0.05 0.01 0.02" quat="0.7 0.1 0.2 0.1"/>
      <body name="hip" pos="0.1 0.1 0" euler="10 20 30">
        <joint name="roll" axis="1 0.2 0" pos="0.01 0.02 0.03" damping="0.2"/>
        <joint name="slide" type="slide" axis="0 0 -1" pos="0.05 -0.01 0" damping="3"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.2" mass="0.6"/>
        <body name="shin" pos="0 0 -0.2" euler="0 5 0">
          <joint name="knee" axis="0 1 0" pos="0 0.01 0.05" damping="0.2" ref="0.3"/>
          <geom type="capsule" size="0.02" fromto="0 0 0 0.02 0 -0.2" mass="0.4"/>
        </body>
      </body>
      <body name="imu" pos="-0.2 0 0"><joint name="tail" type="ball" pos="0 0 0.02" damping="0.05"/>
        <geom type="capsule" size="0.01" fromto="0 0 0 -0.2 0 0" mass="0.1"/></body>
    </body>
  </worldbody>
  <actuator><position name="knee_servo" joint="knee" kp="20"/></actuator>
</mujoco>
"""
ASIDE = {"pos": (0.01, 0.02, 0.03), "quat": (0.9, 0.1, 0.2, 0.3)}
PLACES = {"site": {"site": "trunk"}, "origin": {"body": "shin"}, "aside": {"body": "hip", **ASIDE}}
"""Where a sensor may sit: on a site with the name of a body, in a body's origin away from its joint's axis, aside."""
KINDS = {
    Imu: [{}],
    # The axes of a parent are no frame that moves with the sensor: the header names the parent.
    ForceTorque: [{"measure_frame": "sensor"}, {"measure_frame": "child"}],
    Laser: [{"rays": 5, "min_angle": -1.0, "max_angle": 1.0, "max_range": 20.0, "rate": 0.0}],
    Camera: [{"width": 8, "height": 6, "rate": 100.0, "depth": True, "segmentation": True}],
}
"""Every kind of sensor -> the ways in which it measures."""


def described():
    """Return a sensor of every kind and way at every place; the one at the site "trunk" is called "imu", as a body."""
    found = []
    for kind, ways in KINDS.items():
        for number, way in enumerate(ways):
            for place, where in PLACES.items():
                if place == "site" and (kind is Camera or way.get("measure_frame") == "child"):
                    continue  # a camera has no site, and a sensor on a site has the axes of the site
                name = "imu" if kind is Imu and place == "site" else f"{kind.__name__.lower()}_{number}_{place}"
                found.append(kind(name=name, **where, **way))
    return found


def test_every_kind_of_sensor_is_among_them():
    ours = {kind for kind in device_kinds() if kind.__module__.startswith("pliant.")}
    assert set(KINDS) == ours - {Sole}  # a sole measures many joints, in the frame of its foot


def pose(rotation, position):
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = np.reshape(rotation, (3, 3)), position
    return out


def turned(q):
    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, np.array([q[a] for a in "wxyz"]))
    return out


class Run:
    """A robot on a bridge, run for some steps, with the positions of each step."""

    def __init__(self, version, **options):
        board = {"roll": CompliantActuator(QbMove(), mode=6)}
        robot = Robot(mujoco.MjSpec.from_string(MODEL), board, interface=Interface(namespace="robot"))
        robot.devices += described()
        self.node = MemoryNode(version)
        self.engine = MujocoEngine(robot, check=False)
        bridge = RosBridge(robot, self.node, RosOptions(**options))
        self.positions = {}
        with Simulation(self.engine, make_devices(robot), [bridge], pacer="free") as simulation:
            simulation.start()
            self.engine.data.qvel[:] = np.linspace(-0.5, 0.5, self.engine.model.nv)
            for _ in range(40):
                simulation.step()
                self.positions[self.engine.time_ns] = self.engine.data.qpos.copy()
        self.sensors = robot.devices

    def messages(self, topic):
        kind = self.node.handles[topic].type
        return [self.node.codec.decode(kind, data) for data in self.node.sent[topic]]

    def tree(self, transforms):
        """Return frame -> (its parent, its pose there); each has one parent."""
        found = {}
        for item in [*self.messages("/tf_static")[-1]["transforms"], *transforms]:
            assert item["child_frame_id"] not in found
            move = item["transform"]
            at = pose(turned(move["rotation"]), [move["translation"][a] for a in "xyz"])
            found[item["child_frame_id"]] = item["header"]["frame_id"], at
        return found


def placed(tree, frame):
    """Return the pose of a frame in the world; an error where it is not in the tree, or the tree has a loop."""
    out = np.eye(4)
    for _ in range(len(tree) + 1):
        if frame == "world":
            return out
        parent, at = tree[frame]
        out, frame = at @ out, parent
    raise AssertionError(f"{frame} goes round in circles")


def true_place(model, data, sensor):
    if isinstance(sensor, Camera):
        camera = data.camera(f"{sensor.name}/camera")
        return pose(camera.xmat.reshape(3, 3) @ np.diag([1.0, -1.0, -1.0]), camera.xpos)
    site = data.site(sensor.site or f"{sensor.name}/frame")
    return pose(site.xmat, site.xpos)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("options", [{}, {"prefix": "left_", "frame_prefix": "one/", "namespace": "left"}])
def test_the_frame_of_each_message_is_where_the_sensor_is(version, options):
    try:
        run = Run(version, **options)
    except MissingDependency as error:
        pytest.skip(f"no graphics library: {error}")
    model = run.engine.model
    data = mujoco.MjData(model)
    for message in run.messages("/tf")[1:]:
        tree = run.tree(message["transforms"])
        data.qpos[:] = run.positions[message["transforms"][0]["header"]["stamp"]]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_camlight(model, data)
        for sensor in run.sensors:
            below = f"/{options.get('namespace', 'robot')}/{sensor.name}"
            topics = [t for t in run.node.sent if t == below or t.startswith(f"{below}/")]
            assert topics
            for topic in topics:
                sent = run.messages(topic)
                assert sent, topic
                frame = sent[-1]["header"]["frame_id"]
                found = placed(tree, frame)
                np.testing.assert_allclose(
                    found, true_place(model, data, sensor), atol=1e-9, err_msg=f"{topic} {frame}"
                )


def test_the_messages_of_every_topic_of_ros_1_are_counted_whoever_fills_them():
    try:
        run = Run(1)
    except MissingDependency as error:
        pytest.skip(f"no graphics library: {error}")
    counted = 0
    for topic in run.node.sent:
        messages = run.messages(topic)
        if messages and "header" in messages[0]:
            assert [m["header"]["seq"] for m in messages] == list(range(len(messages))), topic
            counted += len(messages) > 1
    states = {tuple(m["name"]) for m in run.messages("/joint_states")}
    assert states == {("roll",), ("slide", "knee")}  # of a board, and of no board
    assert counted > 10
