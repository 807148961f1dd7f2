"""Run a policy as the controller of a real or simulated robot, over the joint topics of ROS."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import BridgeError, nearest, printable
from pliant.laws import COMMAND_NAMES
from pliant.learn.policy import Policy, PolicyError
from pliant.learn.running import TIMEOUT_S, PolicyClock, PolicyDriver, PolicyRun, Safety, Started, WallClock, run_policy
from pliant.ros.bridge.names import topic_name
from pliant.ros.controller_clock import CLOCK_TOPIC, CLOCKS, RosClock
from pliant.ros.wire.message import Message, MessageCallback

if TYPE_CHECKING:
    from pliant.ros.bridge.node import Node, TopicHandle

ROS = ("ros1", "ros2")
"""Bridges that use ROS."""
STATE = {
    "position": "q",
    "velocity": "dq",
    "reference_1": "ref_1",
    "reference_2": "ref_2",
    "elastic_torque": "tau",
    "reported_stiffness": "stiff",
}
"""Quantity of a joint -> field in the message ``link_state``."""
_ELEMENT = re.compile(r"(\w+)\[(\d{1,4})\]", re.ASCII)
REFERENCES = {name: k for names in COMMAND_NAMES.values() for k, name in enumerate(names, start=1)}
"""Command of a joint -> number of its reference."""
_JOINT_FIELDS = {*STATE, "external_torque", *(name for names in COMMAND_NAMES.values() for name in names)}
FIRST_MESSAGE_S = 10.0
"""Longest wait for the first message of each joint [s]."""
ROBOT_TOPIC = "robot_state"
"""Topic below the namespace whose messages name all joints of the robot."""
JOINT_NAMES_S = 2.0
"""Longest wait for the joint names if another node publishes that topic [s]; without names nothing is checked."""


def open_node(bridge: str, name: str = "pliant_policy") -> Node:
    """Return a ROS node that is not started; ``ROS_MASTER_URI`` or ``ROS_DOMAIN_ID`` selects its network.

    Raises:
        BridgeError: the bridge is unknown.
    """
    if bridge == "ros1":
        from pliant.ros.ros1.node import Ros1Node

        return Ros1Node(name)
    if bridge == "ros2":
        from pliant.ros.ros2.node import Ros2Node

        return Ros2Node(name)
    raise BridgeError(f"{bridge!r} is no bridge of ROS; {nearest(bridge, ROS)}", field="bridge")


@dataclass(frozen=True, slots=True)
class _Source:
    """Where an observation arrives."""

    key: str
    """Name of the joint, or ``<device>/<field>``."""
    column: str
    """Field of the message."""
    index: int | None
    """Element of an array."""


class _Commands:
    """One topic of commands and the elements of the policy's commands that it carries."""

    def __init__(self, topic: str, numbers: list[int], array: bool) -> None:
        self.topic = topic
        self.numbers = numbers
        self.type = "std_msgs/Float64MultiArray" if array else "std_msgs/Float64"
        self.array = array

    def message(self, commands: NDArray[np.float64]) -> dict[str, Any]:
        """Return the message for the commands of the policy."""
        values = commands[self.numbers].tolist()
        return {"layout": {"dim": [], "data_offset": 0}, "data": values} if self.array else {"data": values[0]}


class RosJoints(Started):
    """ROS interface to the devices of a policy.

    A compliant joint has ``<namespace>/<joint>/link_state`` and one topic for each command; any other device has
    ``<namespace>/<device>/<field>`` for what it measures and ``<namespace>/<device>/command/<field>``.

    Args:
        policy: policy that names the joints.
        node: ROS node that is not started.
        namespace: prefix of the topics of the robot; "" for the namespace of the policy.
        clock: clock that measures the period of the policy: ``wall`` time, ``ros`` for ``/clock``, or ``auto`` for
            ``/clock`` if it is published.

    Raises:
        PolicyError: ``link_state`` does not contain one of the observations.
        BridgeError: the clock is unknown.
    """

    def __init__(self, policy: Policy, node: Node, *, namespace: str = "", clock: str = "auto") -> None:
        if clock not in CLOCKS:
            raise BridgeError(f"there is no clock {clock!r}; {nearest(clock, CLOCKS)}", field="clock")
        self.node = node
        self.clock: PolicyClock = WallClock()
        """Clock that measures the period; `wait` chooses it."""
        self._policy = policy
        self._asked_clock = clock
        self._robot_joints: list[str] = []
        self._space = namespace or policy.namespace
        self._messages: dict[str, Message] = {}
        self._times: dict[str, float] = {}
        self.arrived = threading.Condition()
        """Notified with each message."""
        self._ros_clock = RosClock(self.arrived, TIMEOUT_S)
        self.counts: dict[str, int] = {}
        """Messages of each joint."""
        self._is_joint = _joints_of(policy)
        self._sources = [self._source(name) for name in policy.measured]
        self.joints = tuple(dict.fromkeys(source.key for source in self._sources))
        """Joints, and ``<device>/<field>`` of other devices, whose messages are observed."""
        self._groups = self._grouped(policy.commands)
        self._publications: list[TopicHandle] = []

    def _source(self, name: str) -> _Source:
        device, quantity, index = _split(name)
        if not self._is_joint[device]:
            return _Source(f"{device}/{quantity}", "data", index)
        if quantity not in STATE or index is not None:
            raise PolicyError(
                f"the observation {name!r} is not in the joint's message link_state; {nearest(quantity, STATE)}",
                field="observations",
            )
        return _Source(device, STATE[quantity], None)

    def _grouped(self, names: Sequence[str]) -> list[_Commands]:
        groups: dict[str, list[tuple[int | None, int]]] = {}
        for k, name in enumerate(names):
            device, field, index = _split(name)
            topic = self.topic(device, field if self._is_joint[device] else f"command/{field}")
            groups.setdefault(topic, []).append((index, k))
        found = []
        for topic, members in groups.items():
            members.sort(key=lambda member: member[0] or 0)
            indices = [index for index, _ in members]
            if indices != [None] and indices != list(range(len(indices))):
                raise PolicyError(
                    f"the policy commands the elements {indices} of {topic}; must be all of the array, from 0",
                    field="commands",
                )
            found.append(_Commands(topic, [k for _, k in members], indices != [None]))
        return found

    def topic(self, joint: str, name: str) -> str:
        """Return the topic of a joint or of another device."""
        return topic_name(self._space, *joint.split("/"), *name.split("/"))

    def start(self) -> None:
        """Start the node, subscribe to the joint states and advertise the commands."""
        self.node.start()
        arrays = {source.key for source in self._sources if source.index is not None}
        for key in self.joints:
            plain = "std_msgs/Float64MultiArray" if key in arrays else "std_msgs/Float64"
            kind = self.node.state_type if self._is_joint.get(key) else plain
            self.node.subscribe(self._state_topic(key), kind, self._taker(key))
        self._publications = [self.node.advertise(group.topic, group.type) for group in self._groups]
        if self._asked_clock != "wall":
            self._ros_clock.subscribe(self.node)
        if self._policy.joints:
            self.node.subscribe(self._robot_topic, "sensor_msgs/JointState", self._take_joints)
        self.node.announce()

    def _state_topic(self, key: str) -> str:
        return self.topic(key, "link_state") if self._is_joint.get(key) else topic_name(self._space, *key.split("/"))

    @property
    def _robot_topic(self) -> str:
        return topic_name(self._space, ROBOT_TOPIC)

    def _take_joints(self, message: Message) -> None:
        with self.arrived:
            self._robot_joints = list(message["name"])
            self.arrived.notify_all()

    def stop(self) -> None:
        """Close the node; the robot keeps the last command."""
        self.node.stop()

    def lost(self) -> str:
        """Return why the connection is lost, "" while it is not."""
        return self.node.lost()

    def _taker(self, joint: str) -> MessageCallback:
        def take(message: Message) -> None:
            with self.arrived:
                self._messages[joint] = message
                self._times[joint] = time.monotonic()
                self.counts[joint] = self.counts.get(joint, 0) + 1
                self.arrived.notify_all()

        return take

    def wait(self, timeout: float = FIRST_MESSAGE_S, *, silence: float = TIMEOUT_S) -> None:
        """Wait for the first message of each joint and for a subscriber to each command, and select the clock.

        Args:
            timeout: longest wait for each of these [s of wall time].
            silence: longest time without progress of ``/clock`` afterwards [s of wall time].

        Raises:
            BridgeError: a topic has no publisher or no subscriber, or the robot has other joints than the policy.
        """

        def silent() -> list[str]:
            found = [self._state_topic(key) for key in self.joints if key not in self._messages]
            return found or [p.topic for p in self._publications if not p.active]

        self._until(lambda: self._has_other_joints() or not silent(), timeout)
        for topic in [] if self._has_other_joints() else silent()[:1]:
            raise BridgeError(
                f"nobody answers on {topic} within {timeout:g} s; start the robot, such as with pliant run ROBOT "
                f"--bridge {self.node.wire}, or give its name space with --namespace",
                field="topic",
            )
        if self._policy.joints:
            self._check_robot(timeout)
        self._choose_clock(timeout, silence)

    def _has_other_joints(self) -> bool:
        """Return whether the robot has named its joints and they are not those of the policy's robot."""
        return bool(self._robot_joints) and set(self._robot_joints) != set(self._policy.joints)

    def _until(self, done: Callable[[], bool], timeout: float) -> bool:
        """Wait for messages until something holds; return whether it does."""
        end = time.monotonic() + timeout
        with self.arrived:
            while not done() and time.monotonic() < end:
                self.arrived.wait(0.05)
            return done()

    def _check_robot(self, timeout: float) -> None:
        """Refuse a robot with other joints than the policy's, where its topics name them."""
        if not self._robot_joints and self.node.taken([self._robot_topic]):
            self._until(lambda: bool(self._robot_joints), min(timeout, JOINT_NAMES_S))
        self.node.unsubscribe(self._robot_topic)
        if self._has_other_joints():
            raise BridgeError(
                f"the robot in the name space /{self._space.strip('/')} has the joints {_listed(self._robot_joints)}; "
                f"the policy is for {self._policy.robot} with {_listed(self._policy.joints)}; give the name space of "
                "that robot with --namespace",
                field="joints",
            )

    def _choose_clock(self, timeout: float, silence: float) -> None:
        if self._asked_clock == "wall":
            return
        clock = self._ros_clock
        clock.timeout = silence
        if self._asked_clock == "auto" and not clock.count and not self.node.taken([CLOCK_TOPIC]):
            self.node.unsubscribe(CLOCK_TOPIC)
            return
        if not self._until(lambda: clock.count > 0, timeout):
            raise BridgeError(
                f"nobody sends {CLOCK_TOPIC} within {timeout:g} s; start the simulation, or take wall time with "
                "--clock wall",
                field="clock",
            )
        self.clock = clock

    def observe(self) -> tuple[NDArray[np.float64], float]:
        """Return the measured observations in the policy's order, and the age of the oldest message [s]."""
        with self.arrived:
            values = np.array([self._value(source) for source in self._sources], dtype=float)
            age = time.monotonic() - min(self._times[joint] for joint in self.joints) if self.joints else 0.0
        return values, age

    def _value(self, source: _Source) -> float:
        value = self._messages[source.key][source.column]
        if source.index is None:
            return value
        if source.index >= len(value):
            raise BridgeError(
                f"{self._state_topic(source.key)} has {len(value)} numbers; the policy needs number {source.index}",
                field="observations",
            )
        return value[source.index]

    def send(self, commands: NDArray[np.float64]) -> None:
        """Publish the commands in their units, shape (commands,)."""
        for publication, group in zip(self._publications, self._groups, strict=True):
            publication.send(self.node.codec.encode(group.type, group.message(commands)))

    def present(self) -> NDArray[np.float64]:
        """Return the references in effect of compliant joints, NaN for other commands, shape (commands,)."""
        found = np.full(len(self._policy.commands), np.nan)
        with self.arrived:
            for k, name in enumerate(self._policy.commands):
                device, field, _ = _split(name)
                if self._is_joint[device] and device in self._messages and field in REFERENCES:
                    found[k] = self._messages[device][f"ref_{REFERENCES[field]}"]
        return found


def _split(name: str) -> tuple[str, str, int | None]:
    """Return device, field and index of ``<device>/<field>`` or ``<device>/<field>[<i>]``."""
    device, _, field = name.rpartition("/")
    match = _ELEMENT.fullmatch(field)
    return (device, match[1], int(match[2])) if match else (device, field, None)


def _joints_of(policy: Policy) -> dict[str, bool]:
    """Return for each device whether it is a compliant joint: by the policy's joints, else by what it is asked for."""
    names = [_split(name) for name in (*policy.measured, *policy.commands)]
    if policy.joints:
        return {device: device in policy.joints for device, _, _ in names}
    return {
        device: all(field in _JOINT_FIELDS and index is None for other, field, index in names if other == device)
        for device, _, _ in names
    }


def _listed(names: Sequence[str]) -> str:
    """Return at most eight names, and how many there are if they are more."""
    shown = ", ".join(printable(name) for name in names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"


def _driver(bridge: str) -> PolicyDriver:
    def run(
        policy: Policy, inputs: Mapping[str, float], options: Mapping[str, Any], duration: float, safety: Safety
    ) -> tuple[dict[str, int], str]:
        joints = RosJoints(policy, open_node(bridge), namespace=options["namespace"], clock=options["clock"])
        task = PolicyRun(policy, joints, inputs, safety)
        with joints, contextlib.suppress(KeyboardInterrupt):
            run_policy(task, duration=duration)
        text = f"{task.steps} commands, {task.late} of them late; the robot keeps the last references"
        return {"commands": task.steps, "late": task.late}, text

    return PolicyDriver(options=("namespace", "clock"), run=run)


ROS1, ROS2 = (_driver(bridge) for bridge in ROS)
"""Policies over the joint topics of ROS."""
