"""The hand's actions ``homing``, ``move``, ``grasp``, ``gripper_action`` and ``stop``, as franka_gripper has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pliant.franka.device.arm import FrankaArm
from pliant.franka_ros.names import ArmNames
from pliant.franka_ros.setters import Asked
from pliant.ros.bridge.actions import Goal, GoalState, Outcome
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import Message, MessageView
from pliant.simulation.answers import answered

SPEED = 0.1
"""Speed of ``gripper_action`` [m/s], the vendor's ``default_speed``."""
EPSILON = 0.005
"""Tolerance of its grasps [m], the vendor's ``default_grasp_epsilon``."""
SAME = 1e-4
"""Distance of an opening that is reached already [m], the vendor's."""
LEAST_FORCE = 1e-4
"""Largest effort that ROS 1 takes for none [N], the vendor's."""
_FAULTS = {
    "fail": "libfranka gripper: Command failed!",
    "aborted": "libfranka gripper: Command aborted!",
}

Request = tuple[str, dict[str, float]]


def serve_hand(topics: RosTopics, device: FrankaArm, names: ArmNames) -> None:
    """Serve the actions of the hand, and ``stop``: an action of ROS 1, a service of ROS 2.

    ``gripper_action`` of ROS 2 has a second name, at which the vendor's MoveIt configuration looks for it.
    """
    node = f"{names.space}/franka_gripper"
    version = topics.node.codec.version
    package = "franka_gripper" if version == 1 else "franka_msgs"
    for action, kind, ask in (("homing", "Homing", _homing), ("move", "Move", _move), ("grasp", "Grasp", _grasp)):
        topics.serve_action(f"{node}/{action}", f"{package}/{kind}", HandAction(device, ask, version))
    nodes = [node] if version == 1 else [node, f"{names.space}/{names.arm_id}_gripper"]
    for name in nodes:
        topics.serve_action(f"{name}/gripper_action", "control_msgs/GripperCommand", GripperAction(device, version))
    if version == 1:
        topics.serve_action(f"{node}/stop", "franka_gripper/Stop", HandAction(device, _stop, version))
    elif topics.node.has_services:
        topics.serve(f"{node}/stop", "std_srvs/Trigger", lambda _: _answer_stop(device))


def _homing(goal: MessageView) -> Request:
    return "gripper_homing", {}


def _stop(goal: MessageView) -> Request:
    return "gripper_stop", {}


def _move(goal: MessageView) -> Request:
    return "gripper_move", {"width": float(goal["width"]), "speed": float(goal["speed"])}


def _grasp(goal: MessageView) -> Request:
    epsilon = goal["epsilon"]
    return "gripper_grasp", {
        "width": float(goal["width"]),
        "epsilon_inner": float(epsilon["inner"]),
        "epsilon_outer": float(epsilon["outer"]),
        "speed": float(goal["speed"]),
        "force": float(goal["force"]),
    }


def _answer_stop(device: FrankaArm) -> Message:
    answered(device.request("gripper_stop"))
    return {"message": ""}


class HandAction:
    """Handler of the goals of one action of the hand.

    The vendor's servers take every goal; a value that the hand refuses ends it with the text of the client library.

    Args:
        device: the arm with the hand.
        ask: returns the request of a goal and its fields.
        version: generation of ROS.
    """

    def __init__(self, device: FrankaArm, ask: Callable[[MessageView], Request], version: int) -> None:
        self._device = device
        self._ask = ask
        self._version = version

    def check(self, request: MessageView) -> None:
        """Take every goal."""

    def begin(self, goal: Goal, stamp_ns: int) -> None:
        """Give the hand its request."""
        request, fields = self._ask(goal.request)
        goal.plan = Asked(self._device, request, fields)

    def advance(self, goal: Goal, stamp_ns: int) -> Outcome | None:
        """Return how the hand ended."""
        status = goal.plan.status
        return self._ended(status) if status else None

    def _ended(self, status: str) -> Outcome:
        done, fault = status == "success", _FAULTS.get(status, "")
        # ROS 1 calls a command that the hand carried out in vain a success of the action, ROS 2 a failure.
        good = done or (self._version == 1 and not fault)
        state = GoalState.SUCCEEDED if good else GoalState.ABORTED
        return Outcome(state=state, result={"success": done, "error": fault}, text=fault)

    def feedback(self, goal: Goal, stamp_ns: int) -> MessageView | None:
        """Return the opening on ROS 2; ROS 1 has none."""
        return {"current_width": _width(self._device)} if self._version == 2 else None

    def stopped(self, goal: Goal, text: str) -> MessageView:
        """Stop the hand if it has begun with the goal."""
        _halt(self._device, goal)
        return {"success": False, "error": text}


class GripperAction:
    """Handler of the goals of ``gripper_action``, whose position is that of one finger: half of the opening.

    Args:
        device: the arm with the hand.
        version: generation of ROS.
    """

    def __init__(self, device: FrankaArm, version: int) -> None:
        self._device = device
        self._version = version

    def check(self, request: MessageView) -> None:
        """Take every goal."""

    def begin(self, goal: Goal, stamp_ns: int) -> None:
        """Move the hand where it opens or has no force, and grasp elsewhere."""
        command, hand = goal.request["command"], self._device.gripper
        target, effort = 2.0 * float(command["position"]), abs(float(command["max_effort"]))
        width = _width(self._device)
        if hand is None or not (math.isfinite(target) and 0.0 <= target <= hand.max_width):
            most = 0.0 if hand is None else 0.5 * hand.max_width
            goal.plan = (
                f"Commanding out of range position! max_position = {most:f}, commanded position = "
                f"{float(command['position']):f}. Be aware that you command the position of each finger which is half "
                "of the total opening width!"
            )
        elif abs(target - width) < SAME:
            goal.plan = None
        elif target >= width or (self._version == 1 and effort < LEAST_FORCE):
            goal.plan = Asked(self._device, "gripper_move", {"width": target, "speed": SPEED})
        else:
            fields = {"width": target, "speed": SPEED, "force": effort}
            fields |= {"epsilon_inner": EPSILON, "epsilon_outer": EPSILON}
            goal.plan = Asked(self._device, "gripper_grasp", fields)

    def advance(self, goal: Goal, stamp_ns: int) -> Outcome | None:
        """Return how the hand ended."""
        plan: Any = goal.plan
        if isinstance(plan, str):
            return Outcome(state=GoalState.ABORTED, result={}, text=plan)
        status = "success" if plan is None else plan.status
        if not status:
            return None
        if status == "success":
            return Outcome(state=GoalState.SUCCEEDED, result={**self._reached(), "reached_goal": True})
        # ROS 1 gives no result then.
        result = {} if self._version == 1 else self._reached()
        return Outcome(state=GoalState.ABORTED, result=result, text=_FAULTS.get(status, ""))

    def _reached(self) -> dict[str, object]:
        return {"position": _width(self._device), "effort": 0.0, "stalled": False, "reached_goal": False}

    def feedback(self, goal: Goal, stamp_ns: int) -> MessageView | None:
        """Return the opening on ROS 2; ROS 1 has none."""
        return {"position": _width(self._device)} if self._version == 2 else None

    def stopped(self, goal: Goal, text: str) -> MessageView:
        """Stop the hand if it has begun with the goal."""
        _halt(self._device, goal)
        return {} if self._version == 1 else self._reached()


def _halt(device: FrankaArm, goal: Goal) -> None:
    if isinstance(goal.plan, Asked) and not goal.plan.status:
        device.request("gripper_stop")


def _width(device: FrankaArm) -> float:
    """Return the opening of the hand [m]."""
    return 0.0 if device.gripper is None else max(0.0, float(device.gripper.width))
