"""The state machine of the two-finger hand, without sockets and without physics.

One cycle is `step`: measured width and its rate in, the closing force of the fingers out. Requests are answered
when their motion ends, as the real hand does; Stop is answered at once and aborts the running one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pliant.franka.device.memory import DT
from pliant.franka.device.parameters import Hand
from pliant.franka.wire import fci

STIFFNESS = 2000.0
"""Of the position control of the fingers [N/m]."""  # assumed
DAMPING = 40.0
"""Of the same [N s/m]."""  # assumed


@dataclass(frozen=True, slots=True)
class GripperAnswer:
    """Answer of the hand to a request."""

    command: int
    """Number of the request, 1 to 4."""
    command_id: int
    """Number that the request was given."""
    status: str
    """``success``, ``fail``, ``unsuccessful`` or ``aborted``."""


@dataclass(slots=True)
class _Task:
    kind: str
    command: int
    command_id: int
    target: float
    speed: float
    force: float
    inner: float = 0.0
    outer: float = 0.0
    still: int = 0
    anchor: float = -1.0
    age: int = 0


class HandTask(Protocol):
    """One operation of a hand."""

    command: int
    command_id: int


TaskT = TypeVar("TaskT", bound=HandTask)


class HandTasks(Generic[TaskT]):
    """Requested operations of a hand, one at a time, and the answers: the base of both controllers."""

    def __init__(self) -> None:
        self.answers: list[GripperAnswer] = []
        """Answers that are due."""
        self._task: TaskT | None = None

    def take_answers(self) -> list[GripperAnswer]:
        """Return the answers that are due, and remove them."""
        answers, self.answers = self.answers, []
        return answers

    def cancel(self) -> list[GripperAnswer]:
        """Return the answer of the operation that a reset ends: who waits for it must not wait for ever."""
        self.answers.clear()
        self._done("aborted")
        return self.take_answers()

    def _done(self, status: str) -> None:
        """End the running operation, and answer it."""
        task, self._task = self._task, None
        if task is not None:
            self.answers.append(GripperAnswer(task.command, task.command_id, status))


class Gripper(HandTasks[_Task]):
    """The hand's controller.

    Args:
        hand: geometry and limits.
        width: opening at start [m].

    The force that `step` returns acts on each finger, positive opening. Position control follows a reference that
    moves at the asked speed; a blocked finger presses with at most the asked force.
    """

    def __init__(self, hand: Hand, *, width: float) -> None:
        super().__init__()
        self.hand = hand
        self.reset(width)

    def reset(self, width: float) -> None:
        """Return to rest with an opening [m]."""
        self.width = width
        """Measured opening [m]."""
        self.max_width = self.hand.max_width
        """Largest opening, found by homing [m]."""
        self.is_grasped = False
        """Whether an object is held."""
        self.answers.clear()
        self._reference = width
        self._limit = self.hand.max_force
        self._hold_force = 0.0
        self._task = None
        self._band = (0.0, 0.0)

    @property
    def busy(self) -> bool:
        """Whether a motion runs."""
        return self._task is not None

    def request(self, request: fci.GripperRequest, command_id: int = 0) -> None:
        """Handle a request; its answer appears in `answers` when the motion has ended."""
        hand = self.hand
        if isinstance(request, fci.GripperStop):
            self._done("aborted")
            self._reference = self.width
            self._hold_force = 0.0
            self.is_grasped = False
            self.answers.append(GripperAnswer(4, command_id, "success"))
            return
        if isinstance(request, fci.Connect):
            raise TypeError("Connect is answered by the server")
        command = {fci.GripperHoming: 1, fci.GripperGrasp: 2, fci.GripperMove: 3}[type(request)]
        if isinstance(request, fci.GripperHoming):
            task = _Task("homing", 1, command_id, hand.max_width, 0.5 * hand.max_speed, 20.0)
        else:
            values = (
                (request.width, request.speed)
                if isinstance(request, fci.GripperMove)
                else (request.width, request.speed, request.force, request.epsilon_inner, request.epsilon_outer)
            )
            valid = (
                all(map(math.isfinite, values))
                and 0.0 <= request.width <= self.max_width + 1e-6
                and request.speed > 0.0
                and all(v >= 0.0 for v in values)
            )
            if not valid:
                self.answers.append(GripperAnswer(command, command_id, "fail"))
                return
            speed = min(request.speed, hand.max_speed)
            if isinstance(request, fci.GripperMove):
                task = _Task("move", 3, command_id, request.width, speed, hand.max_force)
            else:
                force = min(request.force, hand.max_force)
                inner, outer = request.width - request.epsilon_inner, request.width + request.epsilon_outer
                # Pressing fingers are slightly beyond the object's width. A held object is pressed in the same
                # direction as before, because opening would release it.
                holds = self.is_grasped and inner < self.width < outer
                closes = self._hold_force < 0.0 if holds else request.width <= max(0.0, self.width)
                task = _Task("grasp", 2, command_id, 0.0 if closes else hand.max_width, speed, force)
                task.inner, task.outer = inner, outer
        self._done("aborted")
        self._task = task
        self.is_grasped = False
        self._hold_force = 0.0
        self._reference = self.width
        self._limit = task.force

    def step(self, width: float, rate: float) -> float:
        """Advance by one millisecond.

        Args:
            width: opening between the fingers [m].
            rate: its derivative [m/s].

        Returns:
            Force on each finger, positive opening [N].
        """
        self.width = width
        task = self._task
        if task is not None:
            task.age += 1
            step = task.speed * DT
            gap = task.target - self._reference
            self._reference += max(-step, min(step, gap))
            # The reference stays near a blocked finger, so that a release is not delayed.
            lead = 0.005
            self._reference = max(width - lead, min(width + lead, self._reference))
            # Standstill: the width stays within 0.2 mm although the reference is ahead.
            ahead = abs(self._reference - width) > 0.8 * lead or self._reference == task.target
            if ahead and abs(width - task.anchor) < 2e-4:
                task.still += 1
            else:
                task.still, task.anchor = 0, width
            at_target = abs(width - task.target) < 1e-3
            if task.kind == "grasp":
                self._step_grasp(task, width)
            elif at_target and task.still >= 20:
                if task.kind == "homing":
                    self.max_width = self.hand.max_width if abs(width - self.hand.max_width) < 2e-3 else width
                self._reference = task.target
                self._done("success")
            elif task.still >= 200 and task.age > 200:
                if task.kind == "homing":
                    # The mechanical stops were reached early: the largest width is the present one.
                    self.max_width = width
                    self._done("success")
                else:
                    self._done("unsuccessful")
        if self.is_grasped and not self._band[0] < width < self._band[1]:
            self.is_grasped = False
        if self._hold_force != 0.0:
            return self._hold_force
        # The stroke of each finger is half of the width.
        force, limit = 0.5 * (STIFFNESS * (self._reference - width) - DAMPING * rate), self._limit
        return limit if force > limit else -limit if force < -limit else force

    def _step_grasp(self, task: _Task, width: float) -> None:
        if task.still < 50 or task.age < 100:
            return
        sign = 1.0 if task.target > 0.5 * self.hand.max_width else -1.0
        self._hold_force = sign * task.force
        inside = task.inner < width < task.outer
        self.is_grasped = inside
        self._band = (task.inner, task.outer)
        self._done("success" if inside else "unsuccessful")

    def state(self, message_id: int) -> fci.GripperState:
        """Return the state that the hand publishes."""
        return fci.GripperState(
            message_id=message_id & 0xFFFFFFFF,
            width=max(0.0, self.width),
            max_width=self.max_width,
            is_grasped=self.is_grasped,
            temperature=self.hand.temperature,
        )
