"""A trajectory controller of the qb_move packages on one joint: its command topic, its action, its state.

The packages run ros_control's joint_trajectory_controller on two of the joints of a qbmove; the rules of goals,
tolerances and interpolation are that controller's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.base.errors import DeviceError, PliantError
from pliant.devices.signatures import JointDevice
from pliant.laws import COMMAND_NAMES
from pliant.ros.bridge.actions import ActionServer, Goal, GoalRefused, GoalState, Outcome
from pliant.ros.bridge.trajectory import JointPoints, MotionState, Trajectory, read_points
from pliant.ros.wire.message import Message, MessageView

__all__ = ["QB_PRESET", "QB_SUFFIXES", "Measured", "QbController"]

QB_PRESET = 3000 * math.pi / 2**14
"""Preset 1.0 of the qb_move packages [rad]: 3000 ticks of 180 deg / 2^14."""
QB_SUFFIXES = ("_motor_1_joint", "_motor_2_joint", "_shaft_joint", "_stiffness_preset_virtual_joint")
PATH_TOLERANCE = 0.05
"""Largest distance from the path [rad, or preset]: qb_move's configuration."""
GOAL_TOLERANCE = 0.01
"""Largest distance from the end [rad, or preset]: qb_move's configuration."""
GOAL_TIME = 0.2
"""How long after its end a goal may take to get there [s]: qb_move's configuration."""

# control_msgs/FollowJointTrajectoryResult
SUCCESSFUL = 0
INVALID_GOAL = -1
INVALID_JOINTS = -2
OLD_HEADER_TIMESTAMP = -3
PATH_TOLERANCE_VIOLATED = -4
GOAL_TOLERANCE_VIOLATED = -5


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Measured state of a joint with two motors, from one sample."""

    stamp_ns: int
    """Time of the sample [ns]."""
    position: float
    """Of the shaft [rad]."""
    velocity: float
    """Of the shaft [rad/s]."""
    equilibrium: float
    """Half the sum of the motor positions [rad]."""
    preset: float
    """Half their difference [rad]."""
    motor_velocities: tuple[float, float]
    """In rad/s; 0 where the motors have no dynamics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tolerances:
    """How far the joints may be from where they should; infinity for as far as they like. Shape (2,) each."""

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


class QbController:
    """A trajectory controller on one joint.

    Args:
        device: the joint.
        base: name of the qbmove.
        motors: whether it takes motor positions; else shaft position and preset.
        measure: returns the newest sample of the joint; None before the first.
        refuse: is told what the other side did wrong.
    """

    def __init__(
        self,
        device: JointDevice,
        base: str,
        motors: bool,
        measure: Callable[[], Measured | None],
        refuse: Callable[[str], None],
    ) -> None:
        self.device = device
        self.motors = motors
        self.joints = [base + s for s in (QB_SUFFIXES[:2] if motors else QB_SUFFIXES[2:])]
        self.topic = ""
        """Full name of the command topic."""
        self.rival: QbController | None = None
        """The other controller on the joint; the newer trajectory wins."""
        self.server: ActionServer | None = None
        """The goals; None where the wire has no actions."""
        self._measure = measure
        self._refuse = refuse
        self._queued: _Plan | None = None
        self._waiting: _Plan | None = None
        self._plan: _Plan | None = None
        self._trajectory: Trajectory | None = None
        self._fault = ""
        self._desired: MotionState | None = None
        self._desired_ns = 0
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
            self._names()
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
            path=self._tolerances(request["path_tolerance"], PATH_TOLERANCE),
            goal=self._tolerances(request["goal_tolerance"], GOAL_TOLERANCE),
            goal_time_ns=round(GOAL_TIME * 1e9) if not asked else max(0, asked),
        )

    def query(self, time_ns: int) -> Message:
        """Return where the trajectory is at a time [ns], as control_msgs/QueryTrajectoryState wants it.

        Raises:
            DeviceError: nothing is measured yet.
        """
        trajectory = self._trajectory
        state = self._standing() if trajectory is None else trajectory.at(time_ns)
        if state is None:
            raise DeviceError(f"{self.joints} are not measured yet: the simulation has not begun")
        return {
            "name": self.joints,
            "position": state.position,
            "velocity": state.velocity,
            "acceleration": state.acceleration,
        }

    def _points(self, message: MessageView) -> JointPoints:
        points = read_points(message, self.joints)
        preset = points.positions[:, 1]
        if not self.motors and not ((preset > -1e-9) & (preset < 1.0 + 1e-9)).all():
            raise DeviceError(f"the stiffness presets are {preset.tolist()[:8]}; must be 0 to 1", field="points")
        return points

    def _stop_here(self) -> JointPoints:
        """Return the points of a trajectory that stands where the motion is."""
        state = self._desired if self._trajectory is not None else self._standing()
        if state is None:
            raise DeviceError(f"{self.joints} are not measured yet: there is no motion to stop")
        return JointPoints(
            times=np.zeros(1), positions=state.position[None, :], velocities=None, accelerations=None, start_ns=0
        )

    def _tolerances(self, asked: list[MessageView], default: float) -> _Tolerances:
        """Return the bounds of a goal: 0 takes the default, below 0 is none."""
        position, velocity = np.full(2, default), np.full(2, math.inf)
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
    @property
    def busy(self) -> bool:
        """Whether there is something to do in this step."""
        return self._queued is not None or self._waiting is not None or self._trajectory is not None

    def tick(self, stamp_ns: int) -> None:
        """Put the references of this time [ns] into the joint's mailbox; the loop calls this before the server's."""
        self._now_ns = stamp_ns
        if self._trajectory is None and self._queued is None and self._waiting is None:
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
            trajectory = self._trajectory
            if trajectory is None:
                return
            self._desired, self._desired_ns = trajectory.at(stamp_ns), stamp_ns
            self._put(self._desired.position)
            if stamp_ns >= trajectory.end_ns and (self._plan is None or self._plan.path is None):
                self._trajectory = None
        except PliantError as error:
            self._trajectory = self._waiting = None
            self._fault = str(error)

    def _start(self, plan: _Plan, stamp_ns: int) -> None:
        begin = self._desired if self._trajectory is not None else self._standing()
        if begin is None:  # not measured yet
            return
        self._waiting = None
        if self.rival is not None:
            self.rival.release(f"a trajectory for {self.joints} took its place")
        self._plan = plan
        self._trajectory = Trajectory(plan.points, stamp_ns, begin)

    def release(self, text: str) -> None:
        """Stop moving the joint, because another controller does."""
        self._waiting = self._trajectory = None
        if self.server is not None:
            self.server.preempt(text)

    def forget(self) -> None:
        """Begin anew, as the simulation does."""
        self._queued = self._waiting = self._plan = self._trajectory = self._desired = None
        self._fault = ""
        self._now_ns = 0

    def _standing(self) -> MotionState | None:
        """Return where the joint is held: the last trajectory's, or what was measured since; None: not known yet."""
        measured = self._measure()
        known = [c._commanded() for c in (self, self.rival) if c is not None and c._desired is not None]
        if measured is not None:
            known.append((measured.stamp_ns, measured.equilibrium, measured.preset))
        if not known:
            return None
        # What is put at the end of a step acts in the next, so a sample of the same time does not show it.
        _, equilibrium, preset = max(known, key=lambda item: item[0])
        return MotionState(self._commands(equilibrium, preset), np.zeros(2), np.zeros(2))

    def _commanded(self) -> tuple[int, float, float]:
        """Return when this controller moved the joint last [ns], and to which equilibrium and preset [rad]."""
        assert self._desired is not None
        first, second = (float(v) for v in self._desired.position)
        if self.motors:
            return self._desired_ns, 0.5 * (first + second), 0.5 * (first - second)
        return self._desired_ns, first, second * QB_PRESET

    def _commands(self, equilibrium: float, preset: float) -> np.ndarray:
        if self.motors:
            return np.array([equilibrium + preset, equilibrium - preset])
        return np.array([equilibrium, preset / QB_PRESET])

    def _names(self) -> tuple[str, str]:
        names = COMMAND_NAMES[self.device.mode]
        if names[0] not in ("equilibrium_position", "reference_1"):
            raise DeviceError(f"the joint is in mode {int(self.device.mode)}; must be 2, 3, 5 or 6", field="mode")
        return names

    def _put(self, values: np.ndarray) -> None:
        first, second = float(values[0]), float(values[1])
        if not self.motors:
            second *= QB_PRESET
        names = self._names()
        equilibrium = names[0] == "equilibrium_position"
        if self.motors and equilibrium:
            first, second = 0.5 * (first + second), 0.5 * (first - second)
        elif not self.motors and not equilibrium:
            first, second = first + second, first - second
        self.device.inbox.put({names[0]: first, names[1]: second})

    # ------------------------------------------------------------------ the goals, in the loop
    def begin(self, goal: Goal, stamp_ns: int) -> None:
        """Take a goal up."""
        self._queued, self._fault = None, ""
        self._waiting = goal.plan
        self._move(stamp_ns)

    def advance(self, goal: Goal, stamp_ns: int) -> Outcome | None:
        """Compare the joint with its trajectory; the bounds are the goal's."""
        if self._fault:
            text, self._fault = self._fault, ""
            return self._end(GoalState.ABORTED, INVALID_GOAL, text)
        trajectory, plan, state = self._trajectory, goal.plan, self._errors()
        if trajectory is None or state is None or stamp_ns < trajectory.start_ns:
            return None  # not measured yet, or its time has not come
        over = stamp_ns >= trajectory.end_ns
        text = self._outside(plan.goal if over else plan.path, state)
        if not over:
            return self._end(GoalState.ABORTED, PATH_TOLERANCE_VIOLATED, text) if text else None
        if not text:
            return self._end(GoalState.SUCCEEDED, SUCCESSFUL, "")
        if stamp_ns < trajectory.end_ns + plan.goal_time_ns:
            return None
        return self._end(GoalState.ABORTED, GOAL_TOLERANCE_VIOLATED, text)

    def stopped(self, goal: Goal, text: str) -> Message:
        """Leave the joint where the trajectory has brought it."""
        if goal.begun and self._plan is goal.plan:
            self._trajectory = None
        if self._waiting is goal.plan:
            self._waiting = None
        return _result(SUCCESSFUL, text)

    def feedback(self, goal: Goal, stamp_ns: int) -> Message | None:
        """Return where the joint should be, is, and the difference."""
        if self._trajectory is None:
            return None
        found = self.state()
        if found is None:
            return None
        parts = ("desired", "actual", "error")
        return {
            "header": {"stamp": stamp_ns},
            "joint_names": self.joints,
            **{part: _point(state) for part, state in zip(parts, found, strict=True)},
        }

    def state(self) -> tuple[MotionState, MotionState, MotionState] | None:
        """Return where the joint should be, where it is, and the difference; None: not measured yet."""
        desired = self._desired if self._trajectory is not None else self._standing()
        measured = self._measure()
        if desired is None or measured is None:
            return None
        m = measured
        if self.motors:
            position = [m.equilibrium + m.preset, m.equilibrium - m.preset]
            velocity = list(m.motor_velocities)
        else:
            position = [m.position, m.preset / QB_PRESET]
            velocity = [m.velocity, 0.5 * (m.motor_velocities[0] - m.motor_velocities[1]) / QB_PRESET]
        actual = MotionState(np.array(position), np.array(velocity), np.zeros(2))
        error = MotionState(desired.position - actual.position, desired.velocity - actual.velocity, np.zeros(2))
        return desired, actual, error

    def _errors(self) -> MotionState | None:
        found = self.state()
        return None if found is None else found[2]

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
        self._trajectory = self._waiting = None
        return Outcome(state=state, result=_result(code, text), text=text)


def _result(code: int, text: str) -> Message:
    return {"error_code": code, "error_string": text}


def _point(state: MotionState) -> Message:
    return {"positions": state.position, "velocities": state.velocity, "accelerations": state.acceleration}
