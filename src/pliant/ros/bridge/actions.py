"""Actions without a wire: goals are checked, taken up, cancelled, ended, and reported, in the loop's time.

A wire gives goals to `ActionServer.submit` and requests to cancel to `ActionServer.cancel`, from its own threads, and
hears of every change through `ActionWire`. What a goal does is an `ActionHandler`. Only the loop's thread moves goals
on, in `ActionServer.tick`; so nothing happens to them while the simulation is paused.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from pliant.base.errors import BridgeError
from pliant.ros.wire.message import MessageView
from pliant.simulation.rate_timer import RateTimer

KEEP = 5.0
"""How long an ended goal is still listed [s of simulation time]; actionlib's status_list_timeout."""
STATUS_RATE = 5.0
"""How often the list of goals is sent though nothing changed [Hz]; actionlib's status_frequency."""
FEEDBACK_RATE = 20.0
"""How often feedback is sent [Hz]; joint_trajectory_controller's action_monitor_rate."""
MAX_QUEUE = 16
"""Goals that may wait for the loop; a paused loop takes none."""
MAX_HISTORY = 64
"""Goals that are listed, ended ones included; the oldest ended ones go first."""
MAX_ID = 1024
"""Longest name of a goal; actionlib's have about 40 characters, those of ROS 2 are 16 bytes."""


class GoalState(Enum):
    """Where a goal is in its life."""

    PENDING = "pending"
    """Taken; the loop has not begun it."""
    ACTIVE = "active"
    """Being executed."""
    CANCELING = "canceling"
    """Being executed, and asked to stop; the next step ends it."""
    SUCCEEDED = "succeeded"
    ABORTED = "aborted"
    """Ended by a fault, such as a tolerance that was left."""
    CANCELED = "canceled"
    """Ended because its client, or a newer command, wanted so."""
    REJECTED = "rejected"
    """Never taken."""

    @property
    def ended(self) -> bool:
        """Whether nothing changes any more."""
        return self not in (GoalState.PENDING, GoalState.ACTIVE, GoalState.CANCELING)


class GoalRefused(BridgeError):
    """A goal that is not valid, with the result that its client gets.

    Args:
        text: what was asked, found, valid.
        result: fields of the action's result.
    """

    def __init__(self, text: str, result: MessageView | None = None) -> None:
        super().__init__(text, field="goal")
        self.result = dict(result or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a goal ended."""

    state: GoalState
    """One of the states that have ended."""
    result: MessageView
    """Fields of the action's result."""
    text: str = ""
    """Why, for people."""


class Goal:
    """One goal of a client.

    Args:
        id: its name: text of any form that the wire can turn back into its own.
        request: fields of the action's goal.
        stamp_ns: time that the client gave it [ns], 0 for none.
    """

    __slots__ = ("begun", "ended_ns", "id", "plan", "request", "result", "stamp_ns", "state", "text")

    def __init__(self, id: str, request: MessageView, stamp_ns: int = 0) -> None:
        self.id = id
        self.request = request
        self.stamp_ns = stamp_ns
        self.plan: object = None
        """Plan that the handler made from the request."""
        self.state = GoalState.PENDING
        self.begun = False
        """Whether the loop has taken it up: what tells a recalled goal of ROS 1 from a preempted one."""
        self.text = ""
        """Why it is in its state, for people."""
        self.result: MessageView = {}
        """Fields of the action's result, once it has ended; those left out are zero."""
        self.ended_ns = 0
        """Simulation time of its end [ns]."""


class ActionHandler(Protocol):
    """Handler of the goals of one action. There is one goal at a time: a new one ends the one before."""

    def check(self, request: MessageView) -> object:
        """Return the plan of a goal; called by any thread, so it must change nothing.

        Raises:
            GoalRefused: the goal is not valid now.
        """
        ...

    def begin(self, goal: Goal, stamp_ns: int) -> None:
        """Take a goal up; the loop calls this."""
        ...

    def advance(self, goal: Goal, stamp_ns: int) -> Outcome | None:
        """Move a goal on by one step; return how it ended, or None while it goes on. The loop calls this."""
        ...

    def feedback(self, goal: Goal, stamp_ns: int) -> MessageView | None:
        """Return the fields of the action's feedback; None for none. The loop calls this."""
        ...

    def stopped(self, goal: Goal, text: str) -> MessageView:
        """Stop a goal, or hear that it will never begin; return the fields of its result.

        Its state is ABORTED where a reset ends it; otherwise it is cancelled.
        """
        ...


class ActionWire:
    """Receiver of the goals' changes of state, for a wire; this one tells nobody.

    It is called with the server locked, and must not wait.
    """

    def changed(self, goals: list[Goal], stamp_ns: int) -> None:
        """Hear that a goal is new, or has another state; also called at `STATUS_RATE`."""

    def feedback(self, goal: Goal, values: MessageView, stamp_ns: int) -> None:
        """Hear the feedback of a goal."""

    def ended(self, goal: Goal, stamp_ns: int) -> None:
        """Hear that a goal has ended; its result is in the goal."""


class ActionServer:
    """The goals of one action.

    Args:
        name: how messages call the action.
        handler: what its goals do.
        keep: how long an ended goal is still listed [s of simulation time].

    Example:
        >>> server = ActionServer("/arm/follow", handler)  # doctest: +SKIP
        >>> goal = server.submit("client-1", {"order": 3})  # doctest: +SKIP
        >>> server.tick(1_000_000)  # doctest: +SKIP
    """

    def __init__(self, name: str, handler: ActionHandler, *, keep: float = KEEP) -> None:
        self.name = name
        self.handler = handler
        self.wire = ActionWire()
        """Who is told; the wire sets it."""
        self.keep_ns = round(keep * 1e9)
        self._lock = threading.RLock()
        self._goals: dict[str, Goal] = {}
        self._queue: deque[Goal] = deque()
        self._active: Goal | None = None
        self._status = RateTimer(STATUS_RATE)
        self._feedback = RateTimer(FEEDBACK_RATE)
        self._now_ns = 0
        self._idle_ns = 0
        """Until when nothing is due where there is no goal [ns]."""

    # ------------------------------------------------------------------ the wire's side, any thread
    @property
    def now_ns(self) -> int:
        """Simulation time of the last step [ns]."""
        return self._now_ns

    def goal(self, id: str) -> Goal | None:
        """Return a goal that is listed; None where there is none of this name."""
        return self._goals.get(id)

    @property
    def goals(self) -> list[Goal]:
        """The goals that are listed, the oldest first."""
        with self._lock:
            return list(self._goals.values())

    def submit(self, id: str, request: MessageView, stamp_ns: int = 0) -> Goal:
        """Take a goal, or reject it: then its state is REJECTED, and its text and result say why.

        Args:
            id: its name.
            request: fields of the action's goal.
            stamp_ns: time that the client gave it [ns], 0 for none.

        Raises:
            GoalRefused: the name is empty, too long, or that of a goal that is listed: such a goal is none at all.
        """
        self._check_id(id)
        goal = Goal(id, request, stamp_ns)
        fault: GoalRefused | None = None
        try:
            goal.plan = self.handler.check(request)
        except GoalRefused as error:
            fault = error
        with self._lock:
            self._check_id(id)
            if fault is None and len(self._queue) >= MAX_QUEUE:
                fault = GoalRefused(f"{MAX_QUEUE} goals wait already, which is the most: is the simulation paused?")
            self._list(goal)
            if fault is not None:
                self._end(goal, Outcome(state=GoalState.REJECTED, result=fault.result, text=str(fault)))
                return goal
            self._queue.append(goal)
            self.wire.changed(self.goals, self._now_ns)
        return goal

    def recall(self, id: str, request: MessageView, stamp_ns: int, text: str) -> Goal:
        """List a goal that was cancelled before it came, as actionlib allows.

        Raises:
            GoalRefused: as `submit`.
        """
        with self._lock:
            self._check_id(id)
            goal = Goal(id, request, stamp_ns)
            self._list(goal)
            self._end(goal, Outcome(state=GoalState.CANCELED, result={}, text=text))
        return goal

    def cancel(self, id: str = "", before_ns: int = 0) -> list[Goal]:
        """Cancel goals; those that the loop has begun end in its next step.

        Args:
            id: name of a goal; "" for none in particular.
            before_ns: cancel those with this stamp or an earlier one [ns]; 0 for none. With neither, all are cancelled.

        Returns:
            The goals that are cancelled by this.
        """
        found: list[Goal] = []
        with self._lock:
            for goal in list(self._goals.values()):
                wanted = (not id and not before_ns) or goal.id == id or (before_ns and goal.stamp_ns <= before_ns)
                if not wanted or goal.state.ended or goal.state is GoalState.CANCELING:
                    continue
                found.append(goal)
                if goal.begun:
                    goal.state, goal.text = GoalState.CANCELING, "its client cancelled it"
                    continue
                self._queue.remove(goal)
                self._stop(goal, "its client cancelled it before it began")
            if found:
                self.wire.changed(self.goals, self._now_ns)
        return found

    # ------------------------------------------------------------------ the loop's side
    def tick(self, stamp_ns: int) -> None:
        """Begin, move on and end goals at this simulation time [ns]."""
        self._now_ns = stamp_ns
        if stamp_ns < self._idle_ns and not self._queue and self._active is None:
            return  # nearly every step of nearly every action
        due = self._status.due(stamp_ns)
        self._idle_ns = stamp_ns - stamp_ns % self._status.period_ns + self._status.period_ns
        if not (due or self._queue or self._active is not None):
            return
        with self._lock:
            while self._queue:
                self._begin(self._queue.popleft(), stamp_ns)
            if self._active is not None:
                self._advance(self._active, stamp_ns)
            if due:
                self._forget(stamp_ns)
                self.wire.changed(self.goals, stamp_ns)

    def preempt(self, text: str) -> None:
        """End the active goal because something newer moves the robot; the loop calls this."""
        with self._lock:
            if self._active is not None:
                self._stop(self._active, text)

    def rewind(self) -> None:
        """End every goal because time starts anew; the loop calls this."""
        with self._lock:
            goals = [goal for goal in self._goals.values() if not goal.state.ended]
            self._queue.clear()
            for goal in goals:
                text, goal.state = "the simulation was reset", GoalState.ABORTED
                self._end(goal, Outcome(state=GoalState.ABORTED, result=self.handler.stopped(goal, text), text=text))
            for goal in self._goals.values():
                goal.ended_ns = 0
            self._now_ns = self._idle_ns = 0

    def _begin(self, goal: Goal, stamp_ns: int) -> None:
        if self._active is not None:
            self._stop(self._active, f"the newer goal {goal.id} took its place")
        self._active = goal
        goal.state, goal.begun = GoalState.ACTIVE, True
        self.wire.changed(self.goals, stamp_ns)
        self.handler.begin(goal, stamp_ns)

    def _advance(self, goal: Goal, stamp_ns: int) -> None:
        if goal.state is GoalState.CANCELING:
            self._stop(goal, goal.text)
            return
        outcome = self.handler.advance(goal, stamp_ns)
        if self._feedback.due(stamp_ns):
            values = self.handler.feedback(goal, stamp_ns)
            if values is not None:
                self.wire.feedback(goal, values, stamp_ns)
        if outcome is not None:
            self._end(goal, outcome)

    def _stop(self, goal: Goal, text: str) -> None:
        self._end(goal, Outcome(state=GoalState.CANCELED, result=self.handler.stopped(goal, text), text=text))

    def _end(self, goal: Goal, outcome: Outcome) -> None:
        if goal is self._active:
            self._active = None
        goal.state, goal.text, goal.result = outcome.state, outcome.text, outcome.result
        goal.ended_ns = self._now_ns
        self.wire.ended(goal, self._now_ns)
        self.wire.changed(self.goals, self._now_ns)

    # ------------------------------------------------------------------ the list
    def _check_id(self, id: str) -> None:
        if not id or len(id) > MAX_ID:
            raise GoalRefused(f"{self.name}: the name of a goal has {len(id)} characters; must be 1 to {MAX_ID}")
        if id in self._goals:
            raise GoalRefused(f"{self.name}: there is a goal {id!r} already ({self._goals[id].state.value})")

    def _list(self, goal: Goal) -> None:
        while len(self._goals) >= MAX_HISTORY:  # the queue is shorter, so one of them has ended
            oldest = next(key for key, item in self._goals.items() if item.state.ended)
            del self._goals[oldest]
        self._goals[goal.id] = goal

    def _forget(self, stamp_ns: int) -> None:
        for id, goal in list(self._goals.items()):
            if goal.state.ended and stamp_ns - goal.ended_ns > self.keep_ns:
                del self._goals[id]
