"""The five topics by which actionlib speaks about the goals of an action.

http://wiki.ros.org/actionlib/DetailedDescription; the numbers of the states are those of actionlib_msgs/GoalStatus.
"""

from __future__ import annotations

from collections import OrderedDict

from pliant.ros.bridge.actions import ActionServer, ActionWire, Goal, GoalRefused, GoalState
from pliant.ros.bridge.node import Node
from pliant.ros.wire.message import Message, MessageView

MAX_MEMORY = 64
"""Names of goals that were cancelled and have not come; they are remembered in case the cancel was faster."""
_STATES = {
    GoalState.PENDING: 0,
    GoalState.ACTIVE: 1,
    GoalState.CANCELED: 2,
    GoalState.SUCCEEDED: 3,
    GoalState.ABORTED: 4,
    GoalState.REJECTED: 5,
    GoalState.CANCELING: 6,
}
RECALLED = 8
"""Cancelled before anything began."""


class ActionTopics(ActionWire):
    """An action on a node of ROS 1: ``goal`` and ``cancel`` in, ``status``, ``feedback`` and ``result`` out.

    The status is latched, as rospy's server has it, and sent again at 5 Hz of simulation time.

    Args:
        node: the node.
        node_name: its name, which the names of goals begin with.
        name: full name of the action.
        type_name: ``package/Type`` without "Action".
        server: the goals.
    """

    def __init__(self, node: Node, node_name: str, name: str, type_name: str, server: ActionServer) -> None:
        self._node = node
        self._node_name = node_name
        self._server = server
        self._encode = node.codec.encode
        self._status = node.advertise(f"{name}/status", "actionlib_msgs/GoalStatusArray", latch=True)
        self._feedback = node.advertise(f"{name}/feedback", f"{type_name}ActionFeedback")
        self._result = node.advertise(f"{name}/result", f"{type_name}ActionResult")
        self._early: OrderedDict[str, None] = OrderedDict()
        self._last_cancel_ns = 0
        self._heads = {"status": 0, "feedback": 0, "result": 0}
        server.wire = self
        self.changed([], 0)
        node.subscribe(f"{name}/goal", f"{type_name}ActionGoal", self._goal)
        node.subscribe(f"{name}/cancel", "actionlib_msgs/GoalID", self._cancel)

    # ------------------------------------------------------------------ in
    def _goal(self, message: Message) -> None:
        id, stamp = message["goal_id"]["id"], int(message["goal_id"]["stamp"])
        if not id:  # actionlib's servers make a name of their own then
            id = f"{self._node_name}-{message['header']['seq']}-{int(message['header']['stamp'])}-{stamp}"
        if self._server.goal(id) is not None:  # sent twice; actionlib takes it once
            return
        try:
            if id in self._early:
                del self._early[id]
                self._server.recall(id, message["goal"], stamp, "it was cancelled before it came")
            elif stamp and stamp <= self._last_cancel_ns:
                self._server.recall(id, message["goal"], stamp, "goals up to its time were cancelled")
            else:
                goal = self._server.submit(id, message["goal"], stamp)
                if goal.state is GoalState.REJECTED:
                    self._node.complain(f"{self._server.name}: {goal.text}")
        except GoalRefused as error:
            self._node.complain(str(error))

    def _cancel(self, message: Message) -> None:
        id, stamp = message["id"], int(message["stamp"])
        self._server.cancel(id, stamp)
        if id and self._server.goal(id) is None:
            self._early[id] = None
            while len(self._early) > MAX_MEMORY:
                self._early.popitem(last=False)
        self._last_cancel_ns = max(self._last_cancel_ns, stamp)

    # ------------------------------------------------------------------ out
    def changed(self, goals: list[Goal], stamp_ns: int) -> None:
        """Send the list of goals."""
        values = {"header": self._header("status", stamp_ns), "status_list": [_status(goal) for goal in goals]}
        self._status.send(self._encode("actionlib_msgs/GoalStatusArray", values))

    def feedback(self, goal: Goal, values: MessageView, stamp_ns: int) -> None:
        """Send the feedback of a goal."""
        if self._feedback.active:
            header = self._header("feedback", stamp_ns)
            self._feedback.send(
                self._encode(self._feedback.type, {"header": header, "status": _status(goal), "feedback": values})
            )

    def ended(self, goal: Goal, stamp_ns: int) -> None:
        """Send the result of a goal."""
        header = self._header("result", stamp_ns)
        self._result.send(
            self._encode(self._result.type, {"header": header, "status": _status(goal), "result": goal.result})
        )

    def _header(self, topic: str, stamp_ns: int) -> Message:
        count = self._heads[topic]
        self._heads[topic] = (count + 1) & 0xFFFFFFFF
        return {"seq": count, "stamp": stamp_ns}


def _status(goal: Goal) -> Message:
    recalled = goal.state is GoalState.CANCELED and not goal.begun
    return {
        "goal_id": {"stamp": goal.stamp_ns, "id": goal.id},
        "status": RECALLED if recalled else _STATES[goal.state],
        "text": goal.text,
    }
