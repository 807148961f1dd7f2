"""The action ``ptp_motion`` of franka_ros2: joint goals that the robot itself interpolates.

The vendor's action server gives them to the robot as asynchronous joint targets, with joint impedance. The texts and
the condition of a reached target are those of its client library (``AsyncPositionControlHandler``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.franka.device.arm import FrankaArm
from pliant.franka.wire import fci
from pliant.franka_ros.setters import Asked, refusal
from pliant.ros.bridge.actions import Goal, GoalState, Outcome
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import MessageView

IDLE, EXECUTING, TARGET_REACHED, ABORTED = range(4)
"""Constants of franka_msgs/TargetStatus."""
REACHED_SPEED = 0.01
"""Norm of the desired velocities below which a target counts as reached [rad/s], the vendor's."""


def serve_point_to_point(topics: RosTopics, device: FrankaArm, space: str) -> None:
    """Serve the action; only ROS 2 has it."""
    topics.serve_action(f"{space}/action_server/ptp_motion", "franka_msgs/PTPMotion", PointToPoint(device))


class _Plan:
    """A goal on its way."""

    def __init__(self, request: MessageView) -> None:
        self.target = np.array(request["goal_joint_configuration"], dtype=float)
        self.speeds = tuple(float(v) for v in request["maximum_joint_velocities"])
        self.tolerance = float(request["goal_tolerance"])
        self.asked: Asked | None = None
        """The request to move, once it is made."""
        self.motion: object = None
        """The motion of the cabinet, once it runs."""

    def ask(self, device: FrankaArm) -> None:
        """Ask the robot for the motion; with no velocities given, for those of its limits."""
        fields = {
            "controller": int(fci.Controller.JOINT_IMPEDANCE),
            "motion_generator": int(fci.MotionGenerator.JOINT_POSITION),
            "use_async": True,
            "maximum_joint_velocity": self.speeds or (0.0,) * 7,
        }
        self.asked = Asked(device, "move", fields)


class PointToPoint:
    """Handler of the goals."""

    def __init__(self, device: FrankaArm) -> None:
        self._device = device

    def check(self, request: MessageView) -> None:
        """Take every goal, as the vendor's server does."""

    def begin(self, goal: Goal, stamp_ns: int) -> None:
        """Ask the robot to move, unless the goal has a wrong number of values."""
        plan = goal.plan = _Plan(goal.request)
        if len(plan.speeds) not in (0, 7):
            goal.plan = f"{len(plan.speeds)} maximum joint velocities; must be 7, or none"
        elif plan.target.shape != (7,):
            goal.plan = "Goal joint configuration size does not match number of joints."
        elif self._device.client:
            goal.plan = f"{self._device.client} moves the arm; it must disconnect first"
        else:
            plan.ask(self._device)

    def advance(self, goal: Goal, stamp_ns: int) -> Outcome | None:
        """Give the robot the target, and return how the motion ended."""
        plan, device = goal.plan, self._device
        if isinstance(plan, str):
            return _aborted(plan)
        if plan.motion is None:
            return self._started(plan)
        cabinet = device.cabinet
        if cabinet.motion is not plan.motion:
            mode = cabinet.state.robot_mode
            why = {fci.RobotMode.REFLEX: "reflex", fci.RobotMode.USER_STOPPED: "user stop"}.get(fci.RobotMode(mode))
            return _aborted(f"Control aborted due to {why}." if why else "Control interface is in aborted state.")
        distance = float(np.linalg.norm(np.asarray(cabinet.state.q_d) - plan.target))
        if distance < plan.tolerance and float(np.linalg.norm(cabinet.state.dq_d)) < REACHED_SPEED:
            self._finish(plan)
            result = {"target_status": {"status": TARGET_REACHED}, "error_message": ""}
            return Outcome(state=GoalState.SUCCEEDED, result=result)
        return None

    def _started(self, plan: Any) -> Outcome | None:
        """Take note of the answer to the request to move; with "started", command the target."""
        status = plan.asked.status
        if not status:
            return None
        if status != "started":
            return _aborted(refusal(self._device, "Move", status))
        if not np.isfinite(plan.target).all():
            self._device.request("stop_move", answered=lambda _: None)
            return _aborted("Commanding value is infinite or NaN.")
        plan.motion = self._device.cabinet.motion
        self._device.inbox.put({"q_c": plan.target, "finished": 0.0}, mode="joint_position")
        return None

    def _finish(self, plan: Any) -> None:
        """End the motion, if it is the goal's."""
        if plan.motion is not None and self._device.cabinet.motion is plan.motion:
            self._device.inbox.put({"q_c": plan.target, "finished": 1.0}, mode="joint_position")

    def feedback(self, goal: Goal, stamp_ns: int) -> MessageView | None:
        """Return that the motion goes on."""
        moving = isinstance(goal.plan, _Plan) and goal.plan.motion is not None
        return {"target_status": {"status": EXECUTING if moving else IDLE}}

    def stopped(self, goal: Goal, text: str) -> MessageView:
        """End the motion: the robot decelerates and holds the arm."""
        if isinstance(goal.plan, _Plan):
            self._finish(goal.plan)
        return {"target_status": {"status": ABORTED}, "error_message": text}


def _aborted(text: str) -> Outcome:
    result = {"target_status": {"status": ABORTED}, "error_message": text}
    return Outcome(state=GoalState.ABORTED, result=result, text=text)
