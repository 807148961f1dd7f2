"""Commands of one millisecond towards the reference of an action, in process or in a thread beside the robot.

An `Order` is immutable and replaced as a whole, and so is the `State` that the robot's cycle leaves: the thread of
LeRobot's loop and that of the robot share nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pliant.base.errors import DeviceError, PliantError
from pliant.base.numerics import Array
from pliant.base.spatial import log_so3
from pliant.franka.client import FrankaRobot
from pliant.franka.client.backend import PERIOD
from pliant.franka.client.held import HeldCommand
from pliant.franka.robots import kinematics

MASS = 3.0
"""Mass for which the translation is critically damped [kg]; about that of the arm at its end; assumed."""
ROTATION = 60.0
"""Stiffness of the rotation [N m/rad]; assumed."""
ROTATION_DAMPING = 5.0
"""Damping of the rotation [N m s/rad]; assumed."""
ELBOW, ELBOW_DAMPING = 10.0, 3.0
"""Stiffness and damping of the motion that leaves the end effector at rest [N m/rad, N m s/rad]; assumed."""
STIFFNESS_RATE = 5000.0
"""Largest rate of the stiffness [N/m/s]; assumed."""
HAND_TOLERANCE = 1e-3
"""Widths that differ by less are the same request to the hand [m]."""


class Order(NamedTuple):
    """Order that the robot follows from its next cycle on."""

    q: tuple[float, ...]
    """Joint positions [rad]."""
    speed: tuple[float, ...]
    """Speeds at which the reference goes there [rad/s]."""
    width: float
    """Opening of the hand [m]."""
    stiffness: float
    """Stiffness of the translation [N/m]; not used by a position servo."""


class State(NamedTuple):
    """The robot after one cycle."""

    time: float
    """Robot time [s]."""
    q: Array
    """Joint positions, shape (7,) [rad]."""
    reference: Array
    """Reference of the joints, shape (7,) [rad]."""
    stiffness: float
    """Stiffness of the translation [N/m]."""
    width: float
    """Opening of the hand [m]."""
    force: Array
    """Estimated force on the surroundings at the end effector, axes of the base, shape (3,) [N]."""


class Tracker:
    """Drives an arm and its hand, one millisecond a call of `cycle`.

    With torques, tau = J^T F + C dq + N (k (q_d - q) - d dq), F = (K e - 2 sqrt(K m) v, k_R e_R - d_R w): a Cartesian
    impedance about the pose of the joints' reference, as in the vendor's example; N leaves the end effector at rest.

    Args:
        robot: the arm, at rest.
        impedance: whether torques are commanded.
        stiffness: of the translation at the start [N/m].

    Raises:
        DeviceError: the arm refuses a motion.
    """

    def __init__(self, robot: FrankaRobot, *, impedance: bool, stiffness: float) -> None:
        self.robot = robot
        self._impedance = impedance
        self._reference = robot.get_position()
        self._stiffness = stiffness
        self._tool = robot.get_flMe()
        width = robot.get_gripper_width()
        self._asked = width
        self._hand: Callable[[], bool | None] | None = None
        self.order = Order(tuple(self._reference.tolist()), (0.0,) * 7, width, stiffness)
        """What `cycle` goes to."""
        self._held: HeldCommand | None = None
        if impedance:
            robot.set_robot_state("force_torque")
        else:
            self._held = HeldCommand(robot, "q_c", range(7))
            self._held.start()
        self.state = self._observe()
        """After the last cycle."""

    def cycle(self) -> None:
        """Advance by one millisecond.

        Raises:
            DeviceError: the arm has ended the motion, or the hand refused a width.
            BridgeError: the robot cannot be reached.
        """
        order, robot = self.order, self.robot
        step = np.array(order.speed) * PERIOD
        self._reference += np.clip(np.array(order.q) - self._reference, -step, step)
        change = STIFFNESS_RATE * PERIOD
        self._stiffness += min(max(order.stiffness - self._stiffness, -change), change)
        if abs(order.width - self._asked) > HAND_TOLERANCE:
            self._asked = order.width
            self._hand = robot.gripper_begin(order.width)
        if self._held is not None:
            self._held.hold(self._reference)
            self._held.cycle()
        else:
            robot.want_force_torque("joint", self._torque(), 1.0)
            robot.wait(PERIOD)
        if self._hand is not None and self._hand() is not None:
            self._hand = None
        self.state = self._observe()

    def _torque(self) -> Array:
        robot = self.robot
        backend = robot.backend
        q, dq = backend.get("q"), backend.get("dq")
        J = robot.get_fJe(q)
        X, X_d = kinematics.forward_kinematics(np.stack([q, self._reference]), F_T_EE=self._tool)
        K, twist = self._stiffness, J @ dq
        force = np.empty(6)
        force[:3] = K * (X_d[:3, 3] - X[:3, 3]) - 2.0 * np.sqrt(K * MASS) * twist[:3]
        force[3:] = ROTATION * log_so3(X_d[:3, :3] @ X[:3, :3].T) - ROTATION_DAMPING * twist[3:]
        elbow = ELBOW * (self._reference - q) - ELBOW_DAMPING * dq
        elbow -= J.T @ np.linalg.solve(J @ J.T + 1e-8 * np.eye(6), J @ elbow)
        return J.T @ force + robot.get_coriolis() + elbow

    def _observe(self) -> State:
        robot = self.robot
        backend = robot.backend
        return State(
            robot.time,
            backend.get("q"),
            self._reference.copy(),
            self._stiffness,
            robot.get_gripper_width(),
            backend.get("O_F_ext_hat_K")[:3],
        )

    def stop(self) -> None:
        """End the motion; the arm rests where it is."""
        self.robot.set_robot_state("stop")


class StreamThread:
    """Calls `Tracker.cycle` all the time: an arm behind its interface needs a command every millisecond.

    Args:
        tracker: the arm; only this thread uses it until `stop`.
    """

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._stop = threading.Event()
        self._fault: PliantError | None = None
        self._thread = threading.Thread(target=self._run, name="pliant-lerobot-arm", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._tracker.cycle()
        except PliantError as fault:
            self._fault = fault

    def check(self) -> None:
        """Raise what has ended the motion.

        Raises:
            DeviceError: the arm stopped, with the reason.
        """
        if self._fault is not None:
            raise DeviceError(f"the arm stopped while actions were streamed: {self._fault}", field="motion")

    def stop(self) -> None:
        """End the thread; the motion of the arm goes on until `Tracker.stop`."""
        self._stop.set()
        self._thread.join(5.0)
