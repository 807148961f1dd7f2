"""Joints that one trajectory moves together: those of a board, of a control board, and the model's position servos.

Each group has one controller, ``/<namespace>/<group>_trajectory_controller``, with the names that the joints have in
``/joint_states``.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

import mujoco
import numpy as np

from pliant.base.errors import DeviceError
from pliant.devices.base import Device, SampleSource
from pliant.devices.native_actuator import NativeActuator
from pliant.devices.signatures import BOARD, CONTROL_BOARD, JOINT, JOINT_STATES, JointDevice, ModedBoard
from pliant.laws import COMMAND_NAMES
from pliant.ros.bridge.control_topics import TORQUE_MODES
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.bridge.trajectory import JointPoints, MotionState
from pliant.ros.bridge.trajectory_controller import Limb
from pliant.ros.bridge.trajectory_topics import serve_controller
from pliant.ros2_control.source import HINGE, SLIDE, servo_of

DIRECT = "position_direct"
"""Command mode of boards that take the position of each axis at each step."""
FOLLOWING = ("position", DIRECT, "mixed")
"""Control modes of axes that follow positions; others are left alone, since another program moves the axis in them."""


def serve_groups(topics: RosTopics, model: mujoco.MjModel | None) -> None:
    """Serve one controller for each group of joints that follow positions.

    Args:
        topics: the topics of the bridge.
        model: the model of the robot; None where none is simulated.
    """
    for name, device in topics.devices.items():
        if not isinstance(device, Device):
            continue
        if BOARD.of(device):
            joints = _joint_devices(topics, device)
            if all(_follows_positions(joint) for joint in joints):
                _serve(topics, "joint", CompliantLimb(topics, device, joints, model))
        elif CONTROL_BOARD.live(device) and JOINT_STATES.of(device):
            _serve(topics, name, DirectLimb(topics, device))
    servos = [d for d in topics.devices.values() if isinstance(d, NativeActuator)]
    limb = _servo_limb(topics, servos, model) if model is not None else None
    if limb is not None:
        taken = any(c.topic.startswith(topics.name("joint_trajectory_controller")) for c in topics.controllers)
        _serve(topics, "servo" if taken else "joint", limb)


def _serve(topics: RosTopics, group: str, limb: CompliantLimb | DirectLimb | ServoLimb) -> None:
    serve_controller(topics, topics.name(f"{group}_trajectory_controller"), limb)


def _joint_devices(topics: RosTopics, board: SampleSource) -> list[JointDevice]:
    found = {d.joint: d for d in topics.devices.values() if JOINT.live(d)}
    return [found[joint] for joint in board.joints if joint in found]


def _follows_positions(device: JointDevice) -> bool:
    return device.mode not in TORQUE_MODES and device.actuator.law.second_input != "pressure"


class BoardLimb(Limb):
    """The joints of a device with arrays of positions and velocities.

    Args:
        topics: the topics of the bridge.
        device: the device.
        held: field of a sample where the joints are held, used where it is finite; None for the position.
    """

    def __init__(self, topics: RosTopics, device: Device, held: str | None = None) -> None:
        self.device = device
        self.owned: Sequence[str] = device.joints
        self.joints = [topics.names.joint(joint) for joint in device.joints]
        self._latest = topics.latest
        self._held = held
        self._still = np.zeros(len(self.joints))

    def actual(self) -> MotionState | None:
        """Return the measured motion."""
        sample = self._latest.get(self.device.name)
        if sample is None:
            return None
        v = sample.values
        return MotionState(np.asarray(v["position"]), np.asarray(v["velocity"]), self._still)

    def standing(self) -> MotionState | None:
        """Return where the joints are held."""
        sample = self._latest.get(self.device.name)
        if sample is None:
            return None
        position = np.asarray(sample.values["position"])
        if self._held is not None:
            held = np.asarray(sample.values[self._held])
            position = np.where(np.isfinite(held), held, position)
        return MotionState(position, self._still, self._still)


class CompliantLimb(BoardLimb):
    """All compliant joints of a robot: a position is that of the link, of the equilibrium or of the motors, by mode.

    The stiffness preset stays as it is.

    Args:
        topics: the topics of the bridge.
        board: the board over the joints.
        devices: the device of each joint, in the board's order.
        model: the model of the robot; None where none is simulated.
    """

    def __init__(
        self, topics: RosTopics, board: Device, devices: list[JointDevice], model: mujoco.MjModel | None
    ) -> None:
        super().__init__(topics, board, "equilibrium")
        self.devices = devices
        self.wraps = _continuous(model, self.owned)
        self._presets = self._still

    def check(self, points: JointPoints | None) -> None:
        """Refuse a trajectory while a joint takes torques."""
        for device in self.devices:
            if device.mode in TORQUE_MODES:
                raise DeviceError(
                    f"the joint {device.joint} is in mode {int(device.mode)}, which takes torques; must be "
                    "1, 2, 3, 5 or 6",
                    field="mode",
                )

    def begin(self) -> None:
        """Keep the presets of the beginning."""
        sample = self._latest[self.device.name]
        preset = np.asarray(sample.values["preset"])
        self._presets = np.where(np.isfinite(preset), preset, 0.0)

    def put(self, desired: MotionState, stamp_ns: int) -> None:
        """Command each joint in the terms of its mode."""
        self.check(None)  # a torque is no position
        for device, q, preset in zip(self.devices, desired.position.tolist(), self._presets.tolist(), strict=True):
            first, second = COMMAND_NAMES[device.mode]
            law = device.actuator.law
            if first == "reference_1" and law.motors == 2 and law.second_input == "angle":
                device.inbox.put({first: q + preset, second: q - preset})
            else:
                device.inbox.put({first: q})


class DirectLimb(BoardLimb):
    """The axes of a control board, which takes them into the mode for positions at each step.

    Args:
        topics: the topics of the bridge.
        device: the board.
    """

    device: ModedBoard

    def __init__(self, topics: RosTopics, device: ModedBoard) -> None:
        super().__init__(topics, device)

    def check(self, points: JointPoints | None) -> None:
        """Refuse a trajectory while an axis is in a mode that follows no positions."""
        for joint, mode in zip(self.joints, self.device.modes_now(), strict=True):
            if mode not in FOLLOWING:
                raise DeviceError(
                    f"the axis {joint} is in mode {mode!r}; must be {', '.join(FOLLOWING)}: the service "
                    "switch_controller of ROS 2 and every client of the board change it",
                    field="mode",
                )

    def begin(self) -> None:
        """Switch all axes to direct positions; see `enter`."""
        self.enter()

    def enter(self) -> Future[object]:
        """Switch all axes to direct positions; the board does so in its next step and holds them where they are."""
        return self.device.request("set_control_mode", mode=DIRECT)

    def put(self, desired: MotionState, stamp_ns: int) -> None:
        """Command all axes."""
        self.check(None)  # another program may have taken an axis
        self.device.inbox.put({DIRECT: desired.position}, mode=DIRECT)


def _continuous(model: mujoco.MjModel | None, joints: Sequence[str]) -> np.ndarray | None:
    """Return which joints are hinges without limits, which URDF calls continuous; None where there is no model."""
    if model is None:
        return None
    found = [model.joint(joint).id for joint in joints]
    return (model.jnt_type[found] == HINGE) & (model.jnt_limited[found] == 0)


def _servo_limb(topics: RosTopics, devices: list[NativeActuator], model: mujoco.MjModel) -> ServoLimb | None:
    """Return the limb of the actuators that are position servos of a joint; None where there is none."""
    found: list[tuple[NativeActuator, str, float]] = []
    for device in devices:
        i = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, device.actuator)
        joint = int(model.actuator_trnid[i, 0])
        if int(model.actuator_trntype[i]) != int(mujoco.mjtTrn.mjTRN_JOINT):
            continue
        if int(model.jnt_type[joint]) in (HINGE, SLIDE) and servo_of(model, i) == "position":
            found.append((device, model.joint(joint).name, float(model.actuator_gear[i, 0])))
    joints = [joint for _, joint, _ in found if joint]
    return ServoLimb(topics, found, model) if found and len(joints) == len(found) == len(set(joints)) else None


class ServoLimb(Limb):
    """The joints that position servos of MuJoCo move.

    Args:
        topics: the topics of the bridge.
        servos: device, joint and gear of each.
        model: the model of the robot.
    """

    def __init__(
        self, topics: RosTopics, servos: list[tuple[NativeActuator, str, float]], model: mujoco.MjModel
    ) -> None:
        assert topics.simulation is not None  # of a recording there are no servos
        engine = topics.simulation.engine
        self.owned = [joint for _, joint, _ in servos]
        self.wraps = _continuous(model, self.owned)
        self.joints = [topics.names.joint(joint) for joint in self.owned]
        self._devices = [device for device, _, _ in servos]
        self._gears = np.array([gear for _, _, gear in servos])
        self._positions = [engine.port(f"{joint}/position") for joint in self.owned]
        self._velocities = [engine.port(f"{joint}/velocity") for joint in self.owned]
        self._controls = [engine.port(f"{device.actuator}/control") for device in self._devices]
        self._still = np.zeros(len(servos))

    def actual(self) -> MotionState | None:
        """Return how the joints move."""
        position, velocity = (np.array([p.item() for p in ports]) for ports in (self._positions, self._velocities))
        return MotionState(position, velocity, self._still)

    def standing(self) -> MotionState | None:
        """Return where the servos hold the joints."""
        return MotionState(np.array([p.item() for p in self._controls]) / self._gears, self._still, self._still)

    def put(self, desired: MotionState, stamp_ns: int) -> None:
        """Command each servo."""
        for device, control in zip(self._devices, (desired.position * self._gears).tolist(), strict=True):
            device.inbox.put({"control": control})
