"""The actuated joints of a parallel robot as one group: trajectories become joint values with equilibria."""

from __future__ import annotations

import numpy as np

from pliant.base.errors import DeviceError
from pliant.rods.device.parallel import ParallelRobotDevice
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.bridge.trajectory import JointPoints, MotionState
from pliant.ros.bridge.trajectory_controller import Limb, serve_controller

__all__ = ["ParallelLimb", "serve_trajectories"]

PERIOD_NS = 10_000_000
"""Time between two commands [ns]: each is a solution of the statics, and the device moves straight in between."""


class ParallelLimb(Limb):
    """The actuated joints of one parallel robot; the wrench on its plate stays.

    Args:
        topics: the topics of the bridge.
        name: name of the device.
        device: the robot.
    """

    def __init__(self, topics: RosTopics, name: str, device: ParallelRobotDevice) -> None:
        self.owned = list(device.joints)
        self.joints = [topics.names.joint(joint) for joint in self.owned]
        self._device, self._name, self._latest = device, name, topics.latest
        self._still = np.zeros(len(self.joints))
        self._wrench = device.held("wrench")
        self._last: np.ndarray | None = None
        self._next_ns = self._refused = 0
        self._taken = ""

    def interrupt(self, topic: str) -> None:
        """End a trajectory, because a command came on another topic; any thread may call this."""
        self._taken = topic

    def check(self, points: JointPoints | None) -> None:
        """Refuse a trajectory while the robot is away, or a controller moves its plate."""
        if self._device.removed:
            raise DeviceError("the robot was removed; a reset brings it back", field="motion")
        if self._device.driven:
            raise DeviceError("a controller of the plate moves the joints (robot.controller)", field="motion")

    def actual(self) -> MotionState | None:
        """Return the measured motion."""
        sample = self._latest.get(self._name)
        if sample is None:
            return None
        v = sample.values
        return MotionState(np.asarray(v["joint_values"]), np.asarray(v["joint_velocities"]), self._still)

    def standing(self) -> MotionState | None:
        """Return the joint values of the last command."""
        return MotionState(self._device.held("joints_values"), self._still, self._still)

    def begin(self) -> None:
        """Keep the wrench of the beginning."""
        self._wrench = self._device.held("wrench")
        self._refused, self._taken, self._last, self._next_ns = self._device.refused, "", None, 0

    def put(self, desired: MotionState, stamp_ns: int) -> None:
        """Command joint values, every 10 ms and where the trajectory stands still."""
        self.check(None)
        if self._taken:
            raise DeviceError(f"a command on {self._taken} took its place", field="motion")
        if self._device.refused > self._refused:
            raise DeviceError(f"the robot did not follow: {self._device.last_reason}", field="motion")
        arrives = not desired.velocity.any() and not np.array_equal(desired.position, self._last)
        if stamp_ns >= self._next_ns or arrives:
            self._last, self._next_ns = desired.position, stamp_ns + PERIOD_NS
            values = {"joints_values": desired.position, "wrench": self._wrench}
            self._device.inbox.put(values, mode="dgm_parameters")


def serve_trajectories(topics: RosTopics, name: str, device: ParallelRobotDevice) -> ParallelLimb:
    """Serve the trajectory controller of a parallel robot; return its joints."""
    limb = ParallelLimb(topics, name, device)
    serve_controller(topics, topics.name("joint_trajectory_controller"), limb)
    return limb
