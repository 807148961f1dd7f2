"""The seven joints of an arm as one group: the vendor's trajectory controller, which commands torques.

The controller holds the trajectory by a proportional and a derivative term on the joints, and the robot adds gravity,
as franka_ros2's ``fr3_arm_controller`` does on the effort interface. The torque changes by no more than the robot
allows, so that a linear path without velocities ends in no reflex.
"""

from __future__ import annotations

import numpy as np

from pliant.base.errors import DeviceError
from pliant.franka.device.arm import FrankaArm
from pliant.franka.wire import fci
from pliant.franka_ros.names import ArmNames
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.bridge.trajectory import JointPoints, MotionState
from pliant.ros.bridge.trajectory_controller import Limb
from pliant.ros.bridge.trajectory_topics import serve_controller

GAINS_P = np.array([600.0, 600.0, 600.0, 600.0, 250.0, 150.0, 50.0])
"""[N m/rad]: franka_ros2's configuration of its arm controller."""
GAINS_D = np.array([30.0, 30.0, 30.0, 30.0, 10.0, 10.0, 5.0])
"""[N m s/rad]: the same."""
TORQUE_STEP = 0.9
"""Largest change of a torque within a millisecond [N m]; the vendor's limit is 1000 N m/s."""
CONTROLLERS = {1: "position_joint_trajectory_controller", 2: "{}_arm_controller"}
"""The vendor's names in each generation of ROS."""


def serve_trajectories(topics: RosTopics, name: str, device: FrankaArm, names: ArmNames) -> None:
    """Serve the controller of an arm under the vendor's name."""
    base = f"{names.space}/{CONTROLLERS[topics.node.codec.version].format(names.arm_id)}"
    serve_controller(topics, base, ArmLimb(topics, name, device, names))


class ArmLimb(Limb):
    """The joints of one arm.

    Args:
        topics: the topics of the bridge.
        name: name of the device.
        device: the arm.
        names: its names in the graph.
    """

    settling_time = 0.5  # assumed: after a linear path the arm is within 1 mrad by then

    def __init__(self, topics: RosTopics, name: str, device: FrankaArm, names: ArmNames) -> None:
        self.owned = [f"{name}_joint{i}" for i in range(1, 8)]
        self.joints = [topics.names.joint(joint) for joint in names.joints]
        self._device = device
        self._name = name
        self._latest = topics.latest
        self._motion: object = None
        self._torque = np.zeros(7)
        self._still = np.zeros(7)

    def check(self, points: JointPoints | None) -> None:
        """Refuse points beyond the limits of the joints, and all while something else moves the arm."""
        device = self._device
        if device.client:
            raise DeviceError(f"{device.client} moves the arm; it must disconnect first", field="client")
        mode, motion = fci.RobotMode(device.cabinet.state.robot_mode), device.cabinet.motion
        if mode not in (fci.RobotMode.IDLE, fci.RobotMode.MOVE):
            raise DeviceError(f"the arm takes no motion: {_reason(device)}; its mode must be idle", field="motion")
        if motion is not None and motion is not self._motion:
            raise DeviceError("another motion runs; it must end first", field="motion")
        if points is None:
            return
        limits = device.description.arm.limits
        low, high = (np.asarray(limit) for limit in (limits.position_min, limits.position_max))
        outside = (points.positions < low) | (points.positions > high)
        if outside.any():
            at, i = (int(k) for k in np.argwhere(outside)[0])
            raise DeviceError(
                f"point {at} has {self.joints[i]} at {points.positions[at, i]:.6g} rad; must be {low[i]:g} to "
                f"{high[i]:g} rad",
                field="points",
            )

    def actual(self) -> MotionState | None:
        """Return the measured motion."""
        sample = self._latest.get(self._name)
        if sample is None:
            return None
        return MotionState(np.asarray(sample.values["q"]), np.asarray(sample.values["dq"]), self._still)

    def standing(self) -> MotionState | None:
        """Return where the robot holds the arm."""
        sample = self._latest.get(self._name)
        return None if sample is None else MotionState(np.asarray(sample.values["q_d"]), self._still, self._still)

    def begin(self) -> None:
        """Start a motion of torques."""
        device = self._device
        device.ask(fci.Move(controller=fci.Controller.EXTERNAL, motion_generator=fci.MotionGenerator.NONE))
        self._motion = device.cabinet.motion
        self._torque = np.zeros(7)

    def put(self, desired: MotionState, stamp_ns: int) -> None:
        """Command the torques of this millisecond."""
        device, actual = self._device, self.actual()
        motion = device.cabinet.motion
        if actual is None or motion is None or motion is not self._motion or motion.finishing:
            raise DeviceError(f"the robot ended the motion: {_reason(device)}", field="motion")
        wanted = GAINS_P * (desired.position - actual.position) + GAINS_D * (desired.velocity - actual.velocity)
        self._torque = self._torque + np.clip(wanted - self._torque, -TORQUE_STEP, TORQUE_STEP)
        device.inbox.put({"tau_J_d": self._torque, "finished": 0.0}, mode="torque")

    def end(self) -> None:
        """End the motion: the robot decelerates and holds the arm."""
        device = self._device
        motion = device.cabinet.motion
        if motion is not None and motion is self._motion and not motion.finishing:
            device.inbox.put({"tau_J_d": self._torque, "finished": 1.0}, mode="torque")


def _reason(device: FrankaArm) -> str:
    """Return the errors of the last motion, else the robot's mode."""
    state = device.cabinet.state
    errors = [name.lower() for name, raised in zip(fci.ERRORS, state.reflex_reason, strict=True) if raised]
    return ", ".join(errors) or f"its mode is {fci.RobotMode(state.robot_mode).name.lower()}"
