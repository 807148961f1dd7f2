"""A trajectory controller: command topic, action and state of joints that move together, whatever moves them.

The rules of goals, tolerances and interpolation are those of ros_control's joint_trajectory_controller. What the joints
are, and how a position reaches them, is a `Limb`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.base.errors import DeviceError, PliantError
from pliant.ros.bridge.actions import ActionServer, Goal, GoalRefused, GoalState, Outcome
from pliant.ros.bridge.trajectory import JointPoints, MotionState, Trajectory, read_points
from pliant.ros.wire.message import Message, MessageView

LARGEST_END_VELOCITY = float(np.finfo(np.float32).eps)
"""Largest velocity of the last point that joint_trajectory_controller of ROS 2 takes for none [rad/s]."""

# control_msgs/FollowJointTrajectoryResult
SUCCESSFUL = 0
INVALID_GOAL = -1
INVALID_JOINTS = -2
OLD_HEADER_TIMESTAMP = -3
PATH_TOLERANCE_VIOLATED = -4
GOAL_TOLERANCE_VIOLATED = -5


class Limb(ABC):
    """Joints that a controller moves. The loop's thread calls all but `check`, which any thread calls."""

    joints: Sequence[str]
    """Names of the joints in messages."""
    owned: Sequence[str]
    """Joints of the model that it moves; controllers of the same joint take turns."""
    path_tolerance = math.inf
    """Largest distance from the path where a goal gives none; infinity for any."""
    goal_tolerance = math.inf
    """Largest distance from the end where a goal gives none; infinity for any."""
    goal_time = 0.0
    """How long after its end a goal may take to get there where it gives no time [s]."""
    settling_time = 0.0
    """How long the last position is commanded on after a trajectory has ended [s]."""
    wraps: np.ndarray | None = None
    """Which joints turn without limits, shape (n,); None for none."""

    def check(self, points: JointPoints | None) -> None:  # noqa: B027  # most take all points
        """Refuse points that the joints cannot take, or all points while the joints take none.

        Raises:
            DeviceError: they cannot be taken.
        """

    @abstractmethod
    def actual(self) -> MotionState | None:
        """Return how the joints move; None before they are measured."""

    @abstractmethod
    def standing(self) -> MotionState | None:
        """Return where the joints are held, which is where a trajectory begins; None before that is known."""

    def begin(self) -> None:  # noqa: B027  # most need nothing in advance
        """Take the joints for a trajectory.

        Raises:
            DeviceError: something else moves them.
        """

    @abstractmethod
    def put(self, desired: MotionState, stamp_ns: int) -> None:
        """Command the motion of this time [ns].

        Raises:
            DeviceError: the joints do not follow any more.
        """

    def end(self) -> None:  # noqa: B027  # of most the last command stays
        """Leave the joints where they are: no more commands come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tolerances:
    """How far the joints may be from where they should; infinity for as far as they like. Shape (n,) each."""

    position: np.ndarray
    velocity: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """A trajectory that was taken and not begun."""

    points: JointPoints
    path: _Tolerances | None = None
    """None for what came on the topic: nobody waits for how it ends."""
    goal: _Tolerances | None = None
    goal_time_ns: int = 0


class TrajectoryController:
    """A trajectory controller on the joints of a limb.

    Args:
        limb: the joints.
        refuse: is told what the other side did wrong.
        version: generation of ROS, whose joint_trajectory_controller is followed where the two differ.
    """

    def __init__(self, limb: Limb, refuse: Callable[[str], None], version: int = 2) -> None:
        self.limb = limb
        self._version = version
        self.joints = list(limb.joints)
        self.topic = ""
        """Full name of the command topic."""
        self.rivals: list[TrajectoryController] = []
        """Other controllers that move a joint of this one; the newer trajectory wins."""
        self.server: ActionServer | None = None
        """The goals; None where the wire has no actions."""
        self.enabled = True
        """Whether it takes trajectories; a controller manager switches it."""
        self._refuse = refuse
        self._queued: _Plan | None = None
        self._waiting: _Plan | None = None
        self._plan: _Plan | None = None
        self._trajectory: Trajectory | None = None
        self._fault = ""
        self._desired: MotionState | None = None
        self._desired_ns = -1
        self._leaving = False
        self._disabled = False
        self._now_ns = 0

    # ------------------------------------------------------------------ what comes, in threads of the wire
    def take(self, message: MessageView) -> None:
        """Leave a JointTrajectory for the loop; without points it stops the motion where it is.

        Raises:
            DeviceError: it is not valid.
        """
        points = None if not message["points"] else self._points(message)
        self._queued = _Plan(points=points or self._stop_here())

    def check(self, request: MessageView) -> _Plan:
        """Return the plan of a goal.

        Raises:
            GoalRefused: it is not valid, or not now.
        """
        try:
            points = self._points(request["trajectory"])
        except DeviceError as error:
            code = INVALID_JOINTS if error.field == "joints" else INVALID_GOAL
            raise GoalRefused(str(error), _result(code, str(error))) from None
        end_ns = points.start_ns + round(float(points.times[-1]) * 1e9)
        if points.start_ns and end_ns < self._now_ns:
            text = f"the trajectory ended at {end_ns * 1e-9:.9g} s; it is {self._now_ns * 1e-9:.9g} s"
            raise GoalRefused(text, _result(OLD_HEADER_TIMESTAMP, text))
        asked = int(request["goal_time_tolerance"])
        return _Plan(
            points=points,
            path=self._tolerances(request["path_tolerance"], self.limb.path_tolerance),
            goal=self._tolerances(request["goal_tolerance"], self.limb.goal_tolerance),
            goal_time_ns=round(self.limb.goal_time * 1e9) if not asked else max(0, asked),
        )

    def query(self, time_ns: int) -> Message:
        """Return where the trajectory is at a time [ns], as control_msgs/QueryTrajectoryState wants it.

        Raises:
            DeviceError: nothing is measured yet.
        """
        trajectory = self._trajectory
        state = self.limb.standing() if trajectory is None else trajectory.at(time_ns)
        if state is None:
            raise DeviceError(f"{self.joints} are not measured yet: the simulation has not begun")
        return {
            "name": self.joints,
            "position": state.position,
            "velocity": state.velocity,
            "acceleration": state.acceleration,
        }

    def _points(self, message: MessageView) -> JointPoints:
        if not self.enabled:
            raise DeviceError("the controller is not active; the service switch_controller activates it")
        points = read_points(message, self.joints)
        last = points.velocities[-1]
        # By default that of ROS 2 refuses it from Jazzy on; NaN, where there are none, is not greater.
        if self._version == 2 and (np.abs(last) > LARGEST_END_VELOCITY).any():
            raise DeviceError(f"the last point has velocities {last.tolist()}; must be 0", field="points")
        self.limb.check(points)
        return points

    def _stop_here(self) -> JointPoints:
        """Return the points of a trajectory that stands where the motion is."""
        state = self._desired if self._trajectory is not None else self.limb.standing()
        if state is None:
            raise DeviceError(f"{self.joints} are not measured yet: there is no motion to stop")
        here, none = state.position[None, :], np.full((1, len(self.joints)), np.nan)
        return JointPoints(times=np.zeros(1), positions=here, velocities=none, accelerations=none, start_ns=0)

    def _tolerances(self, asked: list[MessageView], default: float) -> _Tolerances:
        """Return the bounds of a goal: 0 takes the default, below 0 is none."""
        n = len(self.joints)
        position, velocity = np.full(n, default), np.full(n, math.inf)
        for item in asked:
            if item["name"] not in self.joints:
                text = f"a tolerance is for {item['name']!r}; it must be one of {self.joints}"
                raise GoalRefused(text, _result(INVALID_JOINTS, text))
            for bounds, key in ((position, "position"), (velocity, "velocity")):
                value = float(item[key])
                if math.isnan(value):
                    text = f"the {key} tolerance of {item['name']} is nan; must be numbers, below 0 for no bound"
                    raise GoalRefused(text, _result(INVALID_GOAL, text))
                if value:
                    bounds[self.joints.index(item["name"])] = value if value > 0.0 else math.inf
        return _Tolerances(position=position, velocity=velocity)

    # ------------------------------------------------------------------ the loop
    def tick(self, stamp_ns: int) -> None:
        """Command the joints at this time [ns]; the loop calls this before the server's."""
        self._now_ns = stamp_ns
        if self._disabled or not self.enabled:
            self._disabled = False
            if self._trajectory is not None or self._waiting is not None:
                self.release("the controller was deactivated")
        if self._trajectory is None and self._queued is None and self._waiting is None and not self._leaving:
            return
        plan, self._queued = self._queued, None
        if plan is not None:
            if self.server is not None:
                self.server.preempt(f"a newer trajectory came on {self.topic}")
            self._waiting = plan
        self._move(stamp_ns)
        if self._fault and (self._plan is None or self._plan.path is None):
            self._refuse(f"{self.topic}: {self._fault}")
            self._fault = ""

    def _move(self, stamp_ns: int) -> None:
        try:
            if self._waiting is not None:
                self._start(self._waiting, stamp_ns)
            if self._leaving and self._desired is not None and self._desired_ns < stamp_ns:
                self._settle(self._desired, stamp_ns)  # nothing took the place of what ended
            trajectory = self._trajectory
            if trajectory is None:
                return
            self._desired, self._desired_ns = trajectory.at(stamp_ns), stamp_ns
            self.limb.put(self._desired, stamp_ns)
            if stamp_ns >= trajectory.end_ns and (self._plan is None or self._plan.path is None):
                self._leave()
        except PliantError as error:
            settled = self._trajectory is None and self._waiting is None
            self._leave()
            self._desired, self._leaving = None, False
            if not settled:  # a robot that is stopped after the end of a goal fails no goal
                self._fault = str(error)

    def _start(self, plan: _Plan, stamp_ns: int) -> None:
        self.limb.check(None)  # its mode may have changed since
        # What ended in this very step is gone on from, without a jump.
        moving = self._trajectory is not None or self._desired_ns == stamp_ns
        begin = self._desired if moving else self.limb.standing()
        if begin is None:  # not measured yet
            return
        self._waiting = None
        for rival in self.rivals:
            rival.release(f"a trajectory for {self.joints} took its place")
        self._plan = plan
        trajectory = Trajectory(plan.points, stamp_ns, begin, wraps=self.limb.wraps, early=self._version == 2)
        if not moving:
            self.limb.begin()
        self._trajectory, self._leaving = trajectory, False

    def _settle(self, last: MotionState, stamp_ns: int) -> None:
        """Hold the place of the last command as long as the limb asks for it, then leave the joints."""
        if not self._fault and stamp_ns < self._desired_ns + round(self.limb.settling_time * 1e9):
            still = np.zeros(len(self.joints))
            self.limb.put(MotionState(last.position, still, still), stamp_ns)
            return
        self._leaving = False
        self.limb.end()

    def _leave(self) -> None:
        """Command the joints no more."""
        self._leaving = self._leaving or self._trajectory is not None
        self._trajectory = self._waiting = None

    def release(self, text: str) -> None:
        """Stop moving the joints, because another controller does."""
        self._leave()
        if self.server is not None:
            self.server.preempt(text)

    def disable(self) -> None:
        """Take no more trajectories; the loop ends the present one in its next step, whatever follows."""
        self.enabled, self._disabled = False, True

    def forget(self) -> None:
        """Begin anew, as the simulation does."""
        self.enabled = True
        self._queued = self._waiting = self._plan = self._trajectory = self._desired = None
        self._fault = ""
        self._desired_ns, self._leaving, self._disabled, self._now_ns = -1, False, False, 0

    # ------------------------------------------------------------------ the goals, in the loop
    def begin(self, goal: Goal, stamp_ns: int) -> None:
        """Take a goal up."""
        self._queued, self._fault = None, ""
        self._waiting = goal.plan
        self._move(stamp_ns)

    def advance(self, goal: Goal, stamp_ns: int) -> Outcome | None:
        """Compare the joints with their trajectory; the bounds are the goal's."""
        if self._fault:
            text, self._fault = self._fault, ""
            return self._end(GoalState.ABORTED, INVALID_GOAL, text)
        trajectory, plan, found = self._trajectory, goal.plan, self.state()
        if trajectory is None or found is None or stamp_ns < trajectory.start_ns:
            return None  # not measured yet, or its time has not come
        over = stamp_ns >= trajectory.end_ns
        text = self._outside(plan.goal if over else plan.path, found[2])
        if not over:
            return self._end(GoalState.ABORTED, PATH_TOLERANCE_VIOLATED, text) if text else None
        if not text:
            return self._end(GoalState.SUCCEEDED, SUCCESSFUL, "")
        if stamp_ns < trajectory.end_ns + plan.goal_time_ns:
            return None
        return self._end(GoalState.ABORTED, GOAL_TOLERANCE_VIOLATED, text)

    def stopped(self, goal: Goal, text: str) -> Message:
        """Leave the joints where the trajectory has brought them."""
        if goal.begun and self._plan is goal.plan:
            self._leave()
        if self._waiting is goal.plan:
            self._waiting = None
        return _result(INVALID_GOAL if goal.state is GoalState.ABORTED else SUCCESSFUL, text)

    def feedback(self, goal: Goal, stamp_ns: int) -> Message | None:
        """Return where the joints should be, are, and the difference."""
        found = None if self._trajectory is None else self.state()
        if found is None:
            return None
        parts = ("desired", "actual", "error")
        return {
            "header": {"stamp": stamp_ns},
            "joint_names": self.joints,
            **{part: _point(state) for part, state in zip(parts, found, strict=True)},
        }

    def state(self) -> tuple[MotionState, MotionState, MotionState] | None:
        """Return where the joints should be, where they are, and the difference; None: not measured yet."""
        desired = self._desired if self._trajectory is not None else self.limb.standing()
        actual = self.limb.actual()
        if desired is None or actual is None:
            return None
        still = np.zeros(len(self.joints))
        error = MotionState(desired.position - actual.position, desired.velocity - actual.velocity, still)
        return desired, actual, error

    def _outside(self, bounds: _Tolerances, error: MotionState) -> str:
        """Return which bound is left and by how much; "" for none."""
        for what, values, most in (
            ("position", error.position, bounds.position),
            ("velocity", error.velocity, bounds.velocity),
        ):
            wrong = np.abs(values) > most
            if wrong.any():
                i = int(np.argmax(wrong))
                return f"{self.joints[i]} has a {what} error of {values[i]:.4g}; the tolerance is {most[i]:g}"
        return ""

    def _end(self, state: GoalState, code: int, text: str) -> Outcome:
        self._leave()
        return Outcome(state=state, result=_result(code, text), text=text)


def _result(code: int, text: str) -> Message:
    return {"error_code": code, "error_string": text}


def _point(state: MotionState) -> Message:
    return {"positions": state.position, "velocities": state.velocity, "accelerations": state.acceleration}
