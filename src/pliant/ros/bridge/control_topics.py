"""Hardware of ros2_control that talks over topics: commands and states of its joints as sensor_msgs/JointState.

The params ``joint_commands_topic`` and ``joint_states_topic`` of a ``<ros2_control>`` element name the topics; without
them, the plugins TopicBasedSystem and JointStateTopicSystem use the defaults here. The controller manager runs
elsewhere, with that plugin. It publishes only the values of the command interfaces that the tags declare, so that an
array may have fewer elements than there are names: one for each joint that has the interface.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.base.errors import BridgeError, DeviceError, nearest
from pliant.devices.base import Device
from pliant.devices.native_actuator import NativeActuator
from pliant.devices.signatures import BOARD, JOINT
from pliant.laws import COMMAND_NAMES, Mode
from pliant.ros.bridge.names import topic_name
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import Message
from pliant.ros2_control.interface import ControlSystem, control_of
from pliant.ros2_control.served_joints import VELOCITY_SUFFIX

PLUGINS = ("TopicBasedSystem", "JointStateTopicSystem")
"""Ends of the names of the plugins that use topics without being told which."""
COMMANDS, STATES = "/robot_joint_commands", "/robot_joint_states"
"""Topics of these plugins where the tags name none."""
INTERFACES = ("position", "velocity", "effort")
"""Fields of sensor_msgs/JointState, which are interfaces of ros2_control."""
TORQUE_MODES = (Mode.LINK_TORQUE, Mode.MOTOR_TORQUES)


@dataclass(slots=True)
class ControlledJoint:
    """A joint with command interfaces, and the device behind it."""

    joint: str
    """Name in the model."""
    name: str
    """Name on the graph."""
    device: Device
    """A compliant joint, or the velocity servo of a joint."""
    interfaces: tuple[str, ...]
    """Command interfaces, in the order of the file."""

    @property
    def interface(self) -> str:
        """The command interface that moves the joint now."""
        if JOINT.live(self.device):
            return "effort" if self.device.mode in TORQUE_MODES else "position"
        return "velocity"

    def put(self, value: float) -> None:
        """Command the joint in the unit of its interface.

        Raises:
            DeviceError: the device refuses it.
        """
        device = self.device
        if not JOINT.live(device):
            device.inbox.put({"control": value})
            return
        first, second = COMMAND_NAMES[device.mode]
        values = {first: value}
        if second in device.commands[device.mode.name.lower()]:
            if first == "reference_1":
                values[second] = value  # both motors: the equilibrium, at no preset
            elif device.mode == Mode.MOTOR_TORQUES and device.actuator.law.second_input == "angle":
                values = {first: 0.5 * value, second: 0.5 * value}
        device.inbox.put(values)


def controlled_joints(topics: RosTopics, system: ControlSystem) -> list[ControlledJoint]:
    """Return the joints of a component that a device moves; those that move freely or mimic others are left out."""
    devices: dict[str, Device] = {}
    for device in topics.devices.values():
        if JOINT.live(device):
            devices[device.joint] = device
        elif isinstance(device, NativeActuator) and device.actuator.endswith(VELOCITY_SUFFIX):
            devices.setdefault(device.actuator.removesuffix(VELOCITY_SUFFIX), device)
    return [
        ControlledJoint(joint, topics.names.joint(joint), devices[joint], interfaces)
        for joint, interfaces in system.commands.items()
        if joint in devices and interfaces
    ]


def topic_systems(topics: RosTopics) -> list[ControlSystem]:
    """Return the components that talk over topics of their own."""
    return [
        system
        for system in control_of(topics.interface).systems
        if set(system.params) & {"joint_commands_topic", "joint_states_topic"} or system.plugin.endswith(PLUGINS)
    ]


def topic_joints(topics: RosTopics) -> frozenset[str]:
    """Return the joints of these components: a broadcaster of their controller manager sends ``/joint_states``."""
    return frozenset(joint for system in topic_systems(topics) for joint in system.states)


def serve_control_topics(topics: RosTopics) -> None:
    """Serve the topics of all components that have some.

    Raises:
        BridgeError: a topic has a name that ROS does not take, or both of a component are one.
    """
    listeners: dict[str, _Commands] = {}
    for system in topic_systems(topics):
        commands = _topic(system, "joint_commands_topic", COMMANDS)
        states = _topic(system, "joint_states_topic", STATES)
        if commands == states:
            raise BridgeError(
                f"ros2_control {system.name!r}: joint_commands_topic and joint_states_topic are both {states}; must be "
                "two topics",
                field="joint_states_topic",
            )
        _send_states(topics, system, states)
        if commands in listeners:
            listeners[commands].add(system)
        else:
            listeners[commands] = _Commands(topics, commands, system)


def _topic(system: ControlSystem, param: str, default: str) -> str:
    given = system.params.get(param, default)
    name = given if given.startswith("/") else f"/{given}"
    if len(name) < 2 or name != topic_name(name):
        raise BridgeError(
            f"ros2_control {system.name!r}: {param} is {given!r}; must be a name of letters, digits, '_' and '/', such "
            f"as {default}",
            field=param,
        )
    return name


class _Commands:
    """Takes the commands that come on one topic."""

    def __init__(self, topics: RosTopics, topic: str, system: ControlSystem) -> None:
        self._topics, self._topic = topics, topic
        self._joints: dict[str, ControlledJoint] = {}
        self._interfaces: dict[str, tuple[str, ...]] = {}
        self._told: set[str] = set()
        self.add(system)
        topics.listen(topic, "sensor_msgs/JointState", self.take)

    def add(self, system: ControlSystem) -> None:
        """Take the commands of a component too."""
        names = self._topics.names
        self._joints |= {joint.name: joint for joint in controlled_joints(self._topics, system)}
        self._interfaces |= {names.joint(joint): commands for joint, commands in system.commands.items()}

    def take(self, message: Message) -> None:
        """Command the joints of a message, each by the interface that moves it; NaN is no command.

        Raises:
            DeviceError: a name or a length is wrong, or a value is infinite; then no joint is commanded.
        """
        names: list[str] = message["name"]
        unknown = next((name for name in names if name not in self._interfaces), None)
        if unknown is not None:
            raise DeviceError(f"{unknown!r} is no joint of the component; {nearest(unknown, self._interfaces)}")
        if len(set(names)) != len(names):
            raise DeviceError(f"the names {names[:8]} have one twice; each joint must be named once")
        values = {interface: self._by_joint(names, interface, message[interface]) for interface in INTERFACES}
        for name in names:
            joint = self._joints.get(name)
            if joint is None:
                continue  # it mimics another or moves freely, as the notes say
            value = values[joint.interface].get(name)
            if value is None:
                self._tell_unused(name, joint, values)
            elif not math.isnan(value):
                joint.put(value)

    def _by_joint(self, names: Sequence[str], interface: str, given: object) -> dict[str, float]:
        numbers = np.asarray(given, dtype=float)
        if not numbers.size:
            return {}
        having = [name for name in names if interface in self._interfaces[name]]
        meant = names if numbers.size == len(names) else having
        if numbers.size != len(meant):
            raise DeviceError(
                f"{interface} has {numbers.size} values for {len(names)} names, of which {len(having)} have this "
                f"interface; must be {len(names)} or {len(having)}"
            )
        if np.isinf(numbers).any():
            raise DeviceError(f"{interface} of {meant[int(np.argmax(np.isinf(numbers)))]} is infinite; must be finite")
        return dict(zip(meant, numbers.tolist(), strict=True))

    def _tell_unused(self, name: str, joint: ControlledJoint, values: dict[str, dict[str, float]]) -> None:
        came = [interface for interface in INTERFACES if name in values[interface]]
        if came and name not in self._told:
            self._told.add(name)
            self._topics.refuse(
                f"{self._topic}: {name} has {' and '.join(came)}, and is moved by its {joint.interface} interface"
            )


def _send_states(topics: RosTopics, system: ControlSystem, topic: str) -> None:
    """Send position, velocity and effort of all joints of a component at each step."""
    if topics.simulation is None:
        return
    joints = list(system.states)
    measures = [_measure(topics, joint) for joint in joints]
    zeros = [0.0] * len(joints)
    values = {"name": joints, "position": zeros, "velocity": zeros, "effort": zeros}
    handle = topics.advertise(topic, "sensor_msgs/JointState")
    fill = topics.stamped("sensor_msgs/JointState", values, list(INTERFACES))

    def write(stamp_ns: int) -> None:
        if handle.active:
            handle.send(fill(stamp_ns, *np.array([measure() for measure in measures]).T))

    topics.ticks.append(write)


def _measure(topics: RosTopics, joint: str) -> Callable[[], tuple[float, float, float]]:
    """Return what tells how a joint moves and its effort: from the board's sample where there is one."""
    assert topics.simulation is not None
    engine, latest = topics.simulation.engine, topics.latest
    ports = engine.ports()
    position, velocity = engine.port(f"{joint}/position"), engine.port(f"{joint}/velocity")
    force = engine.port(f"{joint}{VELOCITY_SUFFIX}/force") if f"{joint}{VELOCITY_SUFFIX}/force" in ports else None
    board, at = next(
        ((name, d.joints.index(joint)) for name, d in topics.devices.items() if BOARD.of(d) and joint in d.joints),
        ("", 0),
    )

    def measure() -> tuple[float, float, float]:
        sample = latest.get(board)
        if sample is None:
            return position.item(), velocity.item(), 0.0 if force is None else force.item()
        v: Any = sample.values
        return float(v["position"][at]), float(v["velocity"][at]), float(v["effort"][at])

    return measure
