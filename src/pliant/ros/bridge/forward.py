"""Controllers that hand values on: forward_command_controller of ros2_control, one for each command interface.

``/<namespace>/forward_<interface>_controller/commands`` is an array with one value for each joint that this interface
moves: the joints that ros2_control's tags describe, and for efforts those whose devices take torques in another mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from pliant.base.errors import DeviceError
from pliant.devices.signatures import JointDevice, ModedBoard
from pliant.laws import Mode
from pliant.ros.bridge.control_topics import INTERFACES, ControlledJoint, controlled_joints, topic_systems
from pliant.ros.bridge.groups import CompliantLimb, DirectLimb
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import Message
from pliant.ros2_control.interface import control_of
from pliant.simulation.answers import answered

TAKE_TOPICS = {1: "command", 2: "commands"}
"""Topic in each generation of ROS: that of JointGroupPositionController, and that of forward_command_controller."""
POSITION_MODES = (Mode.PID_REFS, Mode.PID_EQ_PRESET)
"""Modes of compliant joints that share their states with that of motor torques."""
TORQUE = "torque"
"""Command mode of control boards that takes the torque of each axis [N m]."""


class Drive(Protocol):
    """The joints of a `ForwardController`, which it moves by one command interface."""

    joints: list[str]
    """Names on the graph."""
    owned: Sequence[str]
    """Names in the model."""

    def driven(self) -> bool:
        """Return whether the interface moves the joints now."""
        ...

    def enter(self) -> None:
        """Let the interface move the joints; other threads than the loop's call this.

        Raises:
            PliantError: a joint does not change its mode.
        """
        ...

    def put(self, values: np.ndarray) -> None:
        """Command the joints, shape (n,), in the interface's unit; NaN leaves a joint as it is.

        Raises:
            DeviceError: a device refuses it.
        """
        ...


class JointDrive:
    """Joints that one interface moves for the whole run.

    Args:
        interface: the command interface.
        joints: the joints.
    """

    def __init__(self, interface: str, joints: list[ControlledJoint]) -> None:
        self.joints = [joint.name for joint in joints]
        self.owned: Sequence[str] = [joint.joint for joint in joints]
        self._interface, self._joints = interface, joints

    def driven(self) -> bool:
        """Return whether the interface moves all of them."""
        return all(joint.interface == self._interface for joint in self._joints)

    def enter(self) -> None:
        """Do nothing."""

    def put(self, values: np.ndarray) -> None:
        """Command those that have a value."""
        for joint, value in zip(self._joints, values.tolist(), strict=True):
            if value == value:
                joint.put(value)


class MotorDrive(JointDrive):
    """Compliant joints that go into mode 4, torques of the motors, and back: modes 4, 5 and 6 have the same states.

    The effort of a joint is the sum of its motors' torques: two antagonistic ones have half of it each; a motor that
    sets the stiffness has none.

    Args:
        topics: the topics of the bridge.
        devices: the joints.
    """

    def __init__(self, topics: RosTopics, devices: list[JointDevice]) -> None:
        names = [(device, topics.names.joint(device.joint)) for device in devices]
        super().__init__("effort", [ControlledJoint(d.joint, name, d, ("effort",)) for d, name in names])
        self._devices = devices

    def enter(self) -> None:
        """Switch the joints to torques of the motors; they are at rest until a command comes."""
        for device in self._devices:
            if device.mode != Mode.MOTOR_TORQUES:
                answered(device.request("set_mode", mode=int(Mode.MOTOR_TORQUES)))


class BoardDrive:
    """The axes of a control board, in its mode for torques.

    Args:
        topics: the topics of the bridge.
        board: the board.
    """

    def __init__(self, topics: RosTopics, board: ModedBoard) -> None:
        self.owned: Sequence[str] = board.joints
        self.joints = [topics.names.joint(joint) for joint in board.joints]
        self._board = board
        self._last = np.zeros(len(self.joints))

    def driven(self) -> bool:
        """Return whether all axes take torques now, whoever changed their modes."""
        return all(mode == TORQUE for mode in self._board.modes_now())

    def enter(self) -> None:
        """Switch all axes to torques, which are 0 until a command comes."""
        self._last = np.zeros(len(self.joints))
        answered(self._board.request("set_control_mode", mode=TORQUE))

    def put(self, values: np.ndarray) -> None:
        """Command all axes; one without a value keeps its last one."""
        self._last = np.where(np.isnan(values), self._last, values)
        self._board.inbox.put({TORQUE: self._last}, mode=TORQUE)


class ForwardController:
    """Hands the values of a topic on to joints.

    Args:
        topics: the topics of the bridge.
        name: full name of the controller.
        interface: the command interface.
        drive: the joints that it moves.
        enabled: whether it takes commands from the start.
    """

    kind = "forward_command_controller/ForwardCommandController"

    def __init__(self, topics: RosTopics, name: str, interface: str, drive: Drive, *, enabled: bool = True) -> None:
        self.name, self.interface, self._drive = name, interface, drive
        self.joints, self.owned = drive.joints, drive.owned
        self.enabled = self._enabled_first = enabled
        """Whether it is activated."""
        self._rivals = [c for c in topics.controllers if set(c.limb.owned) & set(drive.owned)]
        self._commands: np.ndarray | None = None
        self.topic = f"{name}/{TAKE_TOPICS[topics.node.codec.version]}"
        self._refuse = topics.refuse
        topics.listen(self.topic, "std_msgs/Float64MultiArray", self.take)
        topics.ticks.append(self.tick)
        topics.rewinds.append(self._rewind)

    @property
    def active(self) -> bool:
        """Whether its commands move the joints."""
        return self.enabled and self._drive.driven()

    @property
    def claimed(self) -> list[str]:
        """The command interfaces that it needs."""
        return [f"{joint}/{self.interface}" for joint in self.joints]

    def take(self, message: Message) -> None:
        """Leave an array for the loop; NaN leaves a joint as it is.

        Raises:
            DeviceError: it is not valid, or the controller is not active.
        """
        values = np.asarray(message["data"], dtype=float)
        if values.size != len(self.joints):
            raise DeviceError(f"{values.size} values came; must be {len(self.joints)}, one for each of {self.joints}")
        if np.isinf(values).any():
            raise DeviceError(f"{self.joints[int(np.argmax(np.isinf(values)))]} is infinite; must be finite")
        if not self.active:
            raise DeviceError("the controller is not active; the service switch_controller activates it")
        self._commands = values

    def tick(self, stamp_ns: int) -> None:
        """Command the joints, once for each array."""
        values, self._commands = self._commands, None
        if values is None or not self.active:
            return
        for rival in self._rivals:
            rival.release(f"commands on {self.topic} took its place")
        try:
            self._drive.put(values)
        except DeviceError as error:
            self._refuse(f"{self.topic}: {error}")

    def activate(self) -> None:
        """Let the interface move the joints, and take commands.

        Raises:
            PliantError: a joint does not change its mode.
        """
        self._drive.enter()
        self.enabled = True

    def deactivate(self) -> None:
        """Take no more commands; the joints keep the last one."""
        self.enabled, self._commands = False, None

    def _rewind(self) -> None:
        self.enabled, self._commands = self._enabled_first, None


def serve_forward_controllers(topics: RosTopics) -> list[ForwardController]:
    """Serve a controller for each interface that moves joints which only ros2_control's tags describe; return them.

    In ROS 2 a command interface has one controller at a time, so that those of joints which trajectories move begin
    inactive; the controller manager activates them. The compliant joints of a robot and the axes of each control board
    have one for efforts besides. Components that talk over topics of their own have controllers elsewhere.
    """
    described = topics.interface.joints
    elsewhere = topic_systems(topics)
    systems = [system for system in control_of(topics.interface).systems if system not in elsewhere]
    joints = [
        joint
        for system in systems
        for joint in controlled_joints(topics, system)
        if joint.joint not in described or not described[joint.joint].compliant
    ]
    managed = topics.node.codec.version == 2 and not elsewhere
    taken_first = {joint for controller in topics.controllers for joint in controller.limb.owned} if managed else set()
    found = []
    for interface in INTERFACES:
        mine = [joint for joint in joints if joint.interface == interface]
        if mine:
            name = topics.name(f"forward_{interface}_controller")
            free = interface != "position" or taken_first.isdisjoint(joint.joint for joint in mine)
            found.append(ForwardController(topics, name, interface, JointDrive(interface, mine), enabled=free))
    if managed:
        taken = {controller.name for controller in found}
        for name, drive in _effort_drives(topics):
            if name not in taken:
                found.append(ForwardController(topics, name, "effort", drive, enabled=False))
    return found


def _effort_drives(topics: RosTopics) -> list[tuple[str, Drive]]:
    """Return the joints that trajectories move and that could take efforts instead, with names of their controllers."""
    declared = {j: i for system in control_of(topics.interface).systems for j, i in system.commands.items()}
    found: list[tuple[str, Drive]] = []
    for controller in topics.controllers:
        limb = controller.limb
        name = controller.topic.rpartition("/")[0].replace("trajectory", "forward_effort")
        if isinstance(limb, DirectLimb) and TORQUE in limb.device.commands:
            found.append((name, BoardDrive(topics, limb.device)))
        elif isinstance(limb, CompliantLimb):
            devices = [d for d in limb.devices if "effort" in declared.get(d.joint, ("effort",))]
            if len(devices) == len(limb.devices) and all(d.mode in POSITION_MODES for d in devices):
                found.append((topics.name("forward_effort_controller"), MotorDrive(topics, devices)))
    return found
