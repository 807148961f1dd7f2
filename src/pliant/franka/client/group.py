"""Several Franka arms in one program and one thread, a command of each in every millisecond.

The interface answers a command when the next millisecond has passed, and in lock-step a millisecond passes when every
arm has its command. A program that waits for the answer of one arm before it sends to the next therefore waits in vain:
`FrankaGroup.step` sends to all, then receives from all.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import numpy as np

from pliant.base.errors import DeviceError, PliantError
from pliant.franka.client.model import RobotState
from pliant.franka.client.robot import FrankaRobot

DAMPING = np.array([20.0, 20.0, 20.0, 20.0, 5.0, 5.0, 5.0])
"""Of an arm under torques that is brought to rest [N m s/rad]."""  # assumed
REST = 5e-3
"""Joint velocity below which an arm counts as resting [rad/s]."""  # assumed
OWN_CLOCK = 1.0
"""Difference of robot times from which on two robots have clocks of their own [s]."""  # assumed
BRAKING_TIME = 1.0
"""Longest braking [s]."""  # assumed


class FrankaGroup:
    """Arms that move at the same time.

    Args:
        robots: the arms, all simulated in one simulation or all reached through the interface.

    Raises:
        DeviceError: no arms, or one of them twice.

    Example:
        >>> with FrankaRobot.connect("127.0.0.1") as a, FrankaRobot.connect("127.0.0.2") as b:
        ...     group = FrankaGroup([a, b])
        ...     group.start("force_torque", "velocity")
        ...     for _ in range(1000):
        ...         a.want_force_torque("joint", [0.0] * 7)
        ...         b.want_velocity("joint", [0.1, 0, 0, 0, 0, 0, 0])
        ...         group.step()
        ...     group.stop()
    """

    def __init__(self, robots: Sequence[FrankaRobot]) -> None:
        self.robots = tuple(robots)
        if not self.robots or len(set(map(id, self.robots))) != len(self.robots):
            raise DeviceError(
                f"a group of {len(self.robots)} arms; must be different arms, at least one", field="robots"
            )

    def start(self, *states: RobotState) -> None:
        """Start a motion of each arm; then `step` may be called.

        Args:
            states: "velocity" or "force_torque" of each arm, in their order.

        Raises:
            DeviceError: another number of states, other states, or a robot refuses.
        """
        if len(states) != len(self.robots) or not set(states) <= {"velocity", "force_torque"}:
            raise DeviceError(
                f"states are {states}; must be {len(self.robots)} of 'velocity' and 'force_torque'", field="states"
            )
        try:
            for robot in self.robots:
                robot.set_robot_state("stop")
            for robot, state in zip(self.robots, states, strict=True):
                robot.begin_together(state)
            # An arm that has started later has nothing old to read: its state is the newest.
            for robot in reversed(self.robots):
                robot.backend.receive()
            self._catch_up()
        except BaseException:
            self.abort()
            raise

    def step(self) -> None:
        """Send the command of each arm, and take the state of each that follows.

        Raises:
            DeviceError: an arm has aborted its motion; the others have been stopped.
        """
        try:
            for robot in self.robots:
                robot.backend.send(robot.next_command())
            for robot in self.robots:
                robot.backend.receive()
            self._catch_up()
        except BaseException:
            self.abort()
            raise

    def _catch_up(self) -> None:
        """Let arms of one clock have states of the same time: a command that answers an older state is not awaited."""
        newest = max(robot.backend.time for robot in self.robots)
        for robot in self.robots:
            while 5e-4 < newest - robot.backend.time < OWN_CLOCK:
                robot.backend.receive()

    def stop(self) -> None:
        """Bring every arm to rest and end the motions.

        Arms under velocities decelerate within their limits, arms under torques are damped; nothing is lost meanwhile.

        Raises:
            DeviceError: an arm has aborted its motion; the others have been stopped.
        """
        moving = [robot for robot in self.robots if robot.get_robot_state() in ("velocity", "force_torque")]
        rest = 0
        for _ in range(round(BRAKING_TIME * 1e3)):
            for robot in moving:
                dq = robot.backend.get("dq")
                if robot.get_robot_state() == "velocity":
                    robot.want_velocity("joint", np.zeros(7))
                else:
                    robot.want_force_torque("joint", -DAMPING * dq, filter_gain=1.0)
            still = all(np.abs(robot.backend.get("dq")).max() < REST for robot in moving)
            rest = rest + 1 if still and not any(robot.commands_motion() for robot in moving) else 0
            if rest > 1 or not moving:
                break
            self._step(moving)
        try:
            while moving:
                robot = moving.pop(0)
                # The others' commands of this millisecond must be there: it passes when the motion ends.
                for other in moving:
                    other.backend.send(other.next_command())
                robot.end_motion()
                for other in moving:
                    other.backend.receive()
        except BaseException:
            self.abort()
            raise
        for robot in self.robots:
            robot.backend.refresh()

    def _step(self, robots: Sequence[FrankaRobot]) -> None:
        FrankaGroup(robots).step()

    def abort(self) -> None:
        """Stop every arm at once, whatever runs; an arm that cannot be reached stops by itself."""
        for robot in self.robots:
            with contextlib.suppress(PliantError):
                robot.abort()
