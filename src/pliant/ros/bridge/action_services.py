"""An action on a wire of ROS 2: three services and two topics about the goals of an `ActionServer`.

The protocol is that of rcl_action: ``send_goal`` answers at once whether a goal is taken, ``get_result`` answers when
it has ended, ``cancel_goal`` says which goals are being cancelled; ``status`` and ``feedback`` are topics. All of them
stand under ``<name>/_action``.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from pliant.ros.bridge.actions import ActionServer, ActionWire, Goal, GoalRefused, GoalState
from pliant.ros.bridge.node import Node
from pliant.ros.wire.message import Message, MessageView, Respond

MAX_MEMORY = 64
"""Results that are kept for who asks late."""
MAX_WAITING = 256
"""Clients that wait for results."""

# action_msgs/GoalStatus
UNKNOWN = 0
_STATES = {
    GoalState.PENDING: 1,
    GoalState.ACTIVE: 2,
    GoalState.CANCELING: 3,
    GoalState.SUCCEEDED: 4,
    GoalState.CANCELED: 5,
    GoalState.ABORTED: 6,
}
# action_msgs/CancelGoal
ACCEPTED, REJECTED, UNKNOWN_GOAL, TERMINATED = 0, 1, 2, 3


class ActionServices(ActionWire):
    """The goals of one action on a wire.

    Args:
        node: the wire.
        name: full name of the action.
        type_name: its type, ``package/Type``.
        server: the goals.
    """

    def __init__(self, node: Node, name: str, type_name: str, server: ActionServer) -> None:
        self._node = node
        self._server = server
        self._lock = threading.Lock()
        self._results: OrderedDict[str, tuple[int, MessageView]] = OrderedDict()
        self._waiting: dict[str, list[Respond]] = {}
        self._told: list[tuple[str, int]] = []
        package, _, kind = type_name.partition("/")
        base, inside = f"{package}/action/{kind}", f"{name}/_action"
        self._status = node.advertise(f"{inside}/status", "action_msgs/GoalStatusArray", latch=True)
        self._feedback = node.advertise(f"{inside}/feedback", f"{base}_FeedbackMessage")
        server.wire = self
        self._tell([])
        node.serve(f"{inside}/send_goal", f"{base}_SendGoal", self._send_goal)
        node.serve(f"{inside}/cancel_goal", "action_msgs/CancelGoal", self._cancel_goal)
        node.serve_later(f"{inside}/get_result", f"{base}_GetResult", self._get_result)

    # ------------------------------------------------------------------ in
    def _send_goal(self, request: Message) -> Message:
        id, stamp = _text(request["goal_id"]), self._server.now_ns
        try:
            goal = self._server.submit(id, request["goal"], stamp)
        except GoalRefused as error:
            self._node.complain(str(error))
            return {"accepted": False}
        if goal.state is GoalState.REJECTED:
            self._node.complain(f"{self._server.name}: {goal.text}")
            return {"accepted": False}
        return {"accepted": True, "stamp": stamp}

    def _cancel_goal(self, request: Message) -> Message:
        info = request["goal_info"]
        id, before = _text(info["goal_id"]) if any(info["goal_id"]["uuid"]) else "", int(info["stamp"])
        cancelled = self._server.cancel(id, before)
        code = ACCEPTED
        if id and not cancelled:
            goal = self._server.goal(id)
            with self._lock:
                ended = id in self._results
            if goal is None and not ended:
                code = UNKNOWN_GOAL
            elif ended or (goal is not None and goal.state.ended):
                code = TERMINATED
        return {"return_code": code, "goals_canceling": [_info(goal) for goal in cancelled]}

    def _get_result(self, request: Message, respond: Respond) -> None:
        id = _text(request["goal_id"])
        with self._lock:
            found, goal = self._results.get(id), self._server.goal(id)
            if found is None and goal is not None and goal.state is not GoalState.REJECTED:
                if sum(map(len, self._waiting.values())) < MAX_WAITING:
                    self._waiting.setdefault(id, []).append(respond)
                    return
                self._node.complain(f"{self._server.name}: {MAX_WAITING} clients wait for results already")
        status, result = found or (UNKNOWN, {})
        respond({"status": status, "result": result})

    # ------------------------------------------------------------------ out
    def changed(self, goals: list[Goal], stamp_ns: int) -> None:
        """Send the list of goals, if it is another one; late listeners get the last one from the wire."""
        listed = [goal for goal in goals if goal.state in _STATES]
        if [(goal.id, _STATES[goal.state]) for goal in listed] != self._told:
            self._tell(listed)

    def _tell(self, goals: list[Goal]) -> None:
        self._told = [(goal.id, _STATES[goal.state]) for goal in goals]
        values = {"status_list": [{"goal_info": _info(goal), "status": _STATES[goal.state]} for goal in goals]}
        self._status.send(self._node.codec.encode("action_msgs/GoalStatusArray", values))

    def feedback(self, goal: Goal, values: MessageView, stamp_ns: int) -> None:
        """Send the feedback of a goal."""
        if self._feedback.active:
            message = {"goal_id": _uuid(goal.id), "feedback": values}
            self._feedback.send(self._node.codec.encode(self._feedback.type, message))

    def ended(self, goal: Goal, stamp_ns: int) -> None:
        """Keep the result of a goal, and tell it to those who wait."""
        if goal.state not in _STATES:
            return  # it was never taken, and its client knows
        found = _STATES[goal.state], goal.result
        with self._lock:
            self._results[goal.id] = found
            while len(self._results) > MAX_MEMORY:
                self._results.popitem(last=False)
            waiting = self._waiting.pop(goal.id, [])
        for respond in waiting:
            respond({"status": found[0], "result": found[1]})


def _text(goal_id: MessageView) -> str:
    return bytes(goal_id["uuid"]).hex()


def _uuid(id: str) -> Message:
    return {"uuid": bytes.fromhex(id)}


def _info(goal: Goal) -> Message:
    return {"goal_id": _uuid(goal.id), "stamp": goal.stamp_ns}
