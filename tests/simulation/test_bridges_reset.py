"""After a reset a bridge is as in a fresh run: what clients had set is gone, what they read says so, commands work."""

import contextlib
import struct

import numpy as np
import pytest
from memory_node import MemoryNode

from pliant.base.errors import MissingDependency
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots.loading import load
from pliant.simulation import Simulation, sync
from pliant.simulation.bridges import list_bridges, make_bridge

pytestmark = pytest.mark.network

STEPS = 200
"""Steps of the comparison with a fresh run."""


class Ros:
    """The bridge of ROS on a wire in memory, and its client."""

    def __init__(self, version, robot):
        from pliant.ros.bridge import RosBridge, RosOptions

        self.node = MemoryNode(version)
        self.bridge = RosBridge(robot, self.node, RosOptions(aggregate_rate=1000))

    def open(self, simulation):
        self.simulation = simulation

    def disturb(self):
        self.put_gain(17.0)
        self.put_mode(5)
        self.node.put("/qbmove_2dof/reference_1", layout={"dim": [], "data_offset": 0}, data=[0.4, 0.3])
        self.node.put("/qbmove_2dof/joint_2/external_torque", data=0.2)
        self.simulation.step(30)
        for topic, (kind, _) in list(self.node.heard.items()):
            if kind != "trajectory_msgs/JointTrajectory" or "position_and_preset" not in topic:
                continue
            joint = topic.split("/")[2]
            names = [f"{joint}_shaft_joint", f"{joint}_stiffness_preset_virtual_joint"]
            point = {"positions": [0.5, 0.1], "velocities": [], "accelerations": [], "effort": []}
            point["time_from_start"] = 10**9
            head = {"stamp": 0, "frame_id": ""}
            self.node.put(topic, header=head, joint_names=names, points=[point])
        self.simulation.step(30)
        assert self.node.told == []

    def reset(self):
        assert self.node.call(self.simulation, "/pliant/reset")["success"]

    def command(self):
        self.node.put("/qbmove_2dof/reference_1", layout={"dim": [], "data_offset": 0}, data=[0.2, 0.1])


class Ros1(Ros):
    def __init__(self, robot):
        super().__init__(1, robot)

    def _set(self, **config):
        empty = {kind: [] for kind in ("bools", "ints", "strs", "doubles", "groups")}
        self.node.call(self.simulation, "/qbmove_2dof/joint_1/set_parameters", config={**empty, **config})

    def put_gain(self, value):
        self._set(doubles=[{"name": "kp_1", "value": value}])

    def put_mode(self, mode):
        self._set(ints=[{"name": "operation_mode", "value": mode}])

    def read(self):
        """Return what rqt_reconfigure shows."""
        told = self.node.last("/qbmove_2dof/joint_1/parameter_updates")
        asked = self.node.call(
            self.simulation,
            "/qbmove_2dof/joint_1/set_parameters",
            config={kind: [] for kind in ("bools", "ints", "strs", "doubles", "groups")},
        )["config"]
        values = [
            {item["name"]: item["value"] for kind in ("ints", "doubles") for item in config[kind]}
            for config in (told, asked)
        ]
        assert values[0] == values[1]
        return values[0]


class Ros2(Ros):
    def __init__(self, robot):
        super().__init__(2, robot)

    def _set(self, name, **value):
        (result,) = self.node.call(
            self.simulation, "/pliant_qbmove_2dof/set_parameters", parameters=[{"name": name, "value": value}]
        )["results"]
        assert result["successful"], result

    def put_gain(self, value):
        self._set("joint_1.kp_1", type=3, double_value=value)

    def put_mode(self, mode):
        self._set("joint_1.operation_mode", type=2, integer_value=mode)

    def read(self):
        """Return what ``ros2 param`` shows."""
        names = [f"joint_1.{name}" for name in ("operation_mode", "kp_1", "ki_1", "kd_1", "kp_2")]
        values = self.node.call(self.simulation, "/pliant_qbmove_2dof/get_parameters", names=names)["values"]
        return {name: (v["integer_value"], v["double_value"]) for name, v in zip(names, values, strict=True)}


class Foxglove:
    """A client of Foxglove's protocol; the test's thread is the loop."""

    def __init__(self, robot):
        self.bridge = make_bridge("foxglove:port=0", robot)

    def open(self, simulation):
        from foxglove_client import FoxgloveClient

        self.simulation = simulation
        self.client = FoxgloveClient(self.bridge.addresses["Foxglove"])
        self.client.send("subscribeParameterUpdates", parameterNames=["joint_1.kp_1", "joint_1.operation_mode"])
        self.client.advertise(1, "/board/command")

    def close(self):
        self.client.socket.close()

    def _wait(self, condition):
        """Step, and take what comes, until a condition holds."""
        for _ in range(500):
            self.simulation.step()
            with contextlib.suppress(TimeoutError):
                while True:
                    self.client.take(self.client.socket.recv(timeout=0.002))
            if (found := condition()) is not None:
                return found
        raise AssertionError(self.client.texts[-5:])

    def _values(self, since=0):
        told = [text for text in self.client.texts[since:] if text["op"] == "parameterValues"]
        return {item["name"]: item["value"] for text in told for item in text["parameters"]}

    def _set(self, name, value):
        self.client.send("setParameters", parameters=[{"name": name, "value": value}], id="set")
        self._wait(lambda: True if self._values().get(name) == value else None)

    def put_gain(self, value):
        self._set("joint_1.kp_1", value)

    def put_mode(self, mode):
        self._set("joint_1.operation_mode", mode)

    def disturb(self):
        self.put_gain(17.0)
        self.put_mode(5)
        self.client.publish(1, {"reference_1": [0.4, 0.3], "mode": "references"})
        self._wait(lambda: self.simulation.devices["board"].inbox.peek())
        self.simulation.step(30)

    def reset(self):
        before = len(self.client.answers)
        self._wait(lambda: True if "/reset" in self.client.services else None)
        head = struct.pack("<BIII", 2, self.client.services["/reset"], 99, 4)
        self.since = len(self.client.texts)
        self.client.socket.send(head + b"json{}")
        self._wait(lambda: True if len(self.client.answers) > before else None)
        # Without being asked, clients are told what the reset has restored.
        self._wait(
            lambda: True if {"joint_1.kp_1", "joint_1.operation_mode"} <= set(self._values(self.since)) else None
        )

    def read(self):
        since = len(self.client.texts)
        self.client.send("getParameters", parameterNames=[], id="get")
        return self._wait(lambda: self._values(since) or None)

    def command(self):
        self.client.publish(1, {"reference_1": [0.2, 0.1], "mode": "references"})
        self._wait(lambda: self.simulation.devices["board"].inbox.peek())


CLIENTS = {"ros1": Ros1, "ros2": Ros2, "foxglove": Foxglove}
ELSEWHERE = {
    "zenoh": "the bridge of ros2 on another wire",
    "yarp": "test_bridges_reset_robots.py",
    "fci": "test_bridges_reset_robots.py",
    "pictures": "takes nothing from clients",
    "dynamixel": "tests/dynamixel/test_bridge.py",
}
"""Bridges whose clients need another robot, or that have none."""


def samples(simulation, steps):
    """Return the bytes of all samples of some steps."""
    seen = []
    for _ in range(steps):
        simulation.step()
        for name in sorted(simulation.devices):
            with contextlib.suppress(Exception):
                seen += [np.asarray(v, dtype=float).tobytes() for v in simulation.sample(name).values.values()]
    return seen


def test_every_registered_bridge_is_under_the_contract():
    assert {name for name in list_bridges() if "test" not in name} == {*CLIENTS, *ELSEWHERE}


@pytest.mark.parametrize("name", CLIENTS)
def test_after_a_reset_a_bridge_is_as_in_a_fresh_run(name):
    robot = load("qbmove-2dof")
    try:
        client = CLIENTS[name](robot)
        simulation = Simulation(
            MujocoEngine(robot, check=False), make_devices(robot), [client.bridge], pacer=sync(), seed=3
        )
        simulation.start()
    except MissingDependency as missing:
        pytest.skip(str(missing))
    with simulation, contextlib.ExitStack() as stack:
        client.open(simulation)
        stack.callback(getattr(client, "close", lambda: None))
        at_first = client.read()
        client.disturb()
        assert client.read() != at_first
        client.reset()
        simulation.step(150)
        assert client.read() == at_first
        # Setting the value of before the reset again is a change.
        client.put_gain(17.0)
        assert client.read() != at_first
        assert simulation.engine.model.actuator_user[0].tolist().count(17.0) == 1
        simulation.reset()
        found = samples(simulation, STEPS)
        with Simulation(MujocoEngine(robot, check=False), make_devices(robot), pacer=sync(), seed=3) as fresh:
            fresh.start()
            assert found == samples(fresh, STEPS)
        client.command()
        simulation.step(20)
        assert [simulation.engine.port(f"joint_{k}/reference_1")[0] for k in (1, 2)] == [0.2, 0.1]
