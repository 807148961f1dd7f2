"""A continuum parallel robot as a device: joint values and plate pose in, joint values, plate pose and wrench out.

Modes and fields are named as the topics of the Gazebo simulator (Gotelli et al. 2022): ``dgm_parameters`` with
``joints_values`` and ``wrench``, ``igm_parameters`` with ``pose`` and ``wrench``, ``controller_wrench``; samples carry
``joint_values``. Poses are (x, y, z, qx, qy, qz, qw) as in geometry_msgs/Pose, in ``plate_pose`` (x, y, z, roll, pitch,
yaw); of a planar robot (x, y, theta). Wrenches are about the plate's origin, world axes; planar ones (fx, fy, mz).
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import DeviceError, PliantError, nearest
from pliant.base.numerics import Array
from pliant.base.spatial import (
    pose,
    quaternion_from_rotation,
    rotation_from_quaternion,
    rotation_from_rpy,
    rpy_from_rotation,
)
from pliant.devices.base import Command, DeviceBase, DeviceOptions, Mailbox, request
from pliant.engine.base import Engine, mujoco_state
from pliant.parallel.device.parallel_fields import parallel_fields
from pliant.parallel.model.mechanism import MechanismState, ParallelMechanism
from pliant.parallel.model.options import CONTROLLER_WRENCHES, JOINT_SPEEDS
from pliant.rods.geometry import pose_angles
from pliant.rods.limits import refuse_beyond
from pliant.rods.model.rod_lines import RodLines
from pliant.rods.solving import Solver

if TYPE_CHECKING:
    from pliant.rods.description import BaseJoint
    from pliant.rods.robot import ContinuumParallelRobot
    from pliant.rods.solution import Solution

log = logging.getLogger("pliant")
LINE_POINTS = 101  # of a centre line, as many as the Gazebo simulator draws
LONGEST_INTERVAL = 0.1  # between commands of a stream, whose joints are interpolated [s]  # assumed


@dataclass(frozen=True, slots=True)
class _Goal:
    """Where the robot was told to be, and what acts on it there."""

    solution: Solution
    """The equilibrium."""
    q: Array
    """Actuated joint values [m or rad]."""
    load: Array
    """Wrench that came with the last pose or joint values, shape (6,) [N, N m]."""
    control: Array
    """Wrench of the controller, shape (6,) [N, N m]."""
    applied: Array
    """External wrench on the plate, shape (6,) [N, N m]."""
    stable: float
    """1 where the equilibrium of the last pose or joint values is stable, 0 where it is not or a motion is free."""
    place: tuple[float, float, float]
    """Where the equilibrium has the plate's origin [m]."""
    lines: Array | None = None
    """Centre lines, where the device itself is the robot."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """One command as the solver gets it."""

    mode: str
    """A mode of the device, or "parameters_vector"."""
    values: Mapping[str, Any]
    """Fields of the command."""
    measured: Array | None = None
    """Plate pose when it was asked, shape (4, 4); None: that of the equilibrium."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Outcome of a command."""

    generation: int
    """How often the device was reset before it was asked."""
    goal: _Goal | None
    """The new goal; None: there is none."""
    reason: str
    """Why not."""
    seconds: float
    """How long it took [s of wall time]."""


class ParallelRobotDevice(DeviceBase):
    """Direct and inverse model, joint servos and plate of a parallel robot.

    With a dynamic model (`pliant.parallel.model.build_parallel`) commands go to its servos, as joint values or through
    the inverse model, and samples are measured. With a robot of the statics alone the device itself is the robot, as
    in the original: the pose is that of the equilibrium.

    A command without an equilibrium, or beyond the joints' limits, changes nothing; it is counted, its reason stands in
    ``health`` and goes to each of ``listeners``. A command that leads to another branch of equilibria is carried out;
    it is counted as well, and reported.

    What the wrench of a controller does, beside the wrench that came with the pose or the joint values:

    * ``hold``: the joints hold the plate where it is under this wrench. So does the original.
    * ``push``: it acts on the plate, which gives way by the rods' compliance; the joints stay.
    * ``exert``: the joints take the values at which the rods exert it on the plate where it is now; nothing acts on the
      plate from outside. So can a controller of the plate's pose move it.

    Args:
        robot: the mechanism of a robot that the engine simulates (`mechanism_of`), or a `ContinuumParallelRobot`.
        name: unique in a simulation.
        controller_wrench: hold, push or exert.
        joint_speeds: largest speeds of sliding and turning joints [m/s, rad/s]; the servos' commands approach a goal in
            a straight line of the joint space. Not for a robot of the statics alone.
        ramp: time over which joints and load change to those of a new command, in a straight line [s]; 0: as fast as
            the joints' speeds allow, the load at once. Not for a robot of the statics alone.
        interpolate: whether, without a ramp, a command within ``LONGEST_INTERVAL`` of the one before is approached in
            a straight line over the time between the two: a stream then does not shake the plate.
        worker: whether a thread of its own solves, as it does in a run at the clock's pace: what is slow to solve (a
            command without an equilibrium takes a tenth of a second) then keeps no step waiting. Without it the step
            solves, and two runs are equal.
        options: of `DeviceBase`.

    Raises:
        DeviceError: an option is not valid.
    """

    signatures = ("parallel_robot",)

    def __init__(
        self,
        robot: ParallelMechanism | ContinuumParallelRobot,
        name: str = "cpr",
        *,
        controller_wrench: str = "push",
        joint_speeds: tuple[float, float] = JOINT_SPEEDS,
        ramp: float = 0.0,
        interpolate: bool = True,
        worker: bool = False,
        **options: Unpack[DeviceOptions],
    ) -> None:
        if controller_wrench not in CONTROLLER_WRENCHES:
            raise DeviceError(
                f"{name}: controller_wrench is {controller_wrench!r}; "
                f"{nearest(controller_wrench, CONTROLLER_WRENCHES)}",
                field="controller_wrench",
            )
        if len(joint_speeds) != 2 or not all(speed > 0.0 for speed in joint_speeds):
            raise DeviceError(
                f"{name}: joint_speeds is {joint_speeds!r}; must be two numbers > 0 [m/s, rad/s]",
                field="joint_speeds",
            )
        if isinstance(robot, ParallelMechanism):
            self._mechanism: ParallelMechanism | None = robot
            self._statics = robot.solution.robot
        else:
            self._mechanism, self._statics = None, robot
        samples, commands = parallel_fields(self._statics.actuator_count, self._statics.planar)
        super().__init__(name, samples=samples, commands=commands, **options)
        self.policy = controller_wrench
        """Effect of a controller's wrench."""
        self.driven = False
        """Whether a controller moves the plate: then a pose that is asked for is its goal, not the joints'."""
        self._late: deque[tuple[int, Command]] = deque()
        self.wrenches = Mailbox(name, {"controller_wrench": commands["controller_wrench"]})
        """Where a controller puts its wrench, so that it does not displace a pose that came in the same step."""
        self.listeners: list[Callable[[str], None]] = []
        """Called by the loop with the reason of each refusal."""
        self._speeds = np.array(
            [joint_speeds[1 if joint.kind == "revolute" else 0] for joint in self._actuated_joints()], dtype=float
        )
        self._ramp, self._interpolate = float(ramp), bool(interpolate)
        self._solver: Solver | None = None
        self._robot = self._statics
        if worker:
            self.keep_pace()
        self.joints = self._joint_names()
        self._limits = [joint.limits for joint in self._actuated_joints()]
        if self._mechanism is not None:
            self._limits = [servo.limits for servo in self._mechanism.servos]
            self.written_ports = tuple(f"{joint}/control" for joint in self.joints)
        self._lock = threading.Lock()
        self._generation = 0
        self._answers: dict[str, Future[list[float]]] = {}
        self._vectors = 0
        self._controls: list[Array] = []
        self._positions: list[Array] = []
        self._velocities: list[Array] = []
        self._state: MechanismState | None = None
        self._lines: RodLines | None = None
        self._forget()
        self._home()

    def _forget(self) -> None:
        self._failed, self._reason, self._worst = 0, "", 0.0
        self._changes, self._note, self._removed = 0, "", False

    def _home(self) -> None:
        solution = self._statics.home() if self._mechanism is None else self._mechanism.solution
        wrench = np.array(solution.wrench, dtype=float)
        place = _origin(solution)
        goal = _Goal(solution, solution.q.copy(), wrench, np.zeros(6), wrench, float(solution.stable), place)
        with self._lock:
            self._generation += 1
            self._newest = self._goal = goal
        self._setpoint, self._load = goal.q.copy(), goal.applied
        self._approached, self._left, self._since = goal, 0, np.inf

    def keep_pace(self) -> None:
        """Let a thread of its own solve from now on, as the option ``worker`` does."""
        if self._solver is None:
            self._solver = Solver(f"{self.name} solver")
            self._robot = self._statics.fork()

    # -- facts --------------------------------------------------------------------------------------------------

    @property
    def robot(self) -> ContinuumParallelRobot:
        """The robot's statics."""
        return self._statics

    @property
    def planar(self) -> bool:
        """Whether the robot moves in a plane."""
        return self._statics.planar

    @property
    def removed(self) -> bool:
        """Whether the robot was taken away, by the request ``remove``; a reset brings it back."""
        return self._removed

    @property
    def refused(self) -> int:
        """Number of commands since the reset that were not carried out."""
        return self._failed

    @property
    def last_reason(self) -> str:
        """Reason of the last one; "" for none."""
        return self._reason

    def _joint_names(self) -> tuple[str, ...]:
        """Return the names of the actuated joints, in the order of the values."""
        if self._mechanism is not None:
            return tuple(self._mechanism.actuators)
        d = self._statics.description
        return tuple(f"{d.limb_name(i)}/{d.limbs[i].joints[j].kind}" for i, j in d.actuators)

    def _actuated_joints(self) -> list[BaseJoint]:
        d = self._statics.description
        return [d.limbs[i].joints[j] for i, j in d.actuators]

    def held(self, field: str) -> Array:
        """Return joint values, plate pose or wrench of the last command."""
        s = self._goal.solution
        values = {"joints_values": self._goal.q, "wrench": self._flat(self._goal.load)}
        if self.planar:
            values["pose"] = s.pose2d
        else:
            p, R = s.plate_pose[:3, 3], s.plate_pose[:3, :3]
            values |= {"pose": np.concatenate([p, _quaternion(R)])}
            values |= {"xyz_rpy": np.concatenate([p, rpy_from_rotation(R)])}
        return np.array(values[field], dtype=float)

    def verify(self, mode: str, values: Mapping[str, Any]) -> None:
        """Solve a command without carrying it out, from the present goal; for commands that are known before a run.

        Raises:
            PliantError: it has no equilibrium, or exceeds the limits of a joint; the device would ignore it.
        """
        if mode == "controller_wrench" or self.driven:
            return
        with np.errstate(all="ignore"):
            self._solve(_Asked(mode, values), self._newest)

    # -- the loop thread ----------------------------------------------------------------------------------------

    def _connect(self, engine: Engine) -> None:
        if self._mechanism is None:
            return
        names = self._mechanism.actuators
        self._controls = [engine.port(f"{joint}/control") for joint in names]
        self._positions = [engine.port(f"{joint}/position") for joint in names]
        self._velocities = [engine.port(f"{joint}/velocity") for joint in names]
        self._place = engine.port("body/plate/position")
        self._turn = engine.port("body/plate/orientation")
        self._step = float(engine.dt)
        # What changes with a rod's length is the model itself, and the plate of a spatial robot hangs on a joint
        # that no port carries.
        state = mujoco_state(engine, f"the dynamic parallel robot {self.name!r}")
        self._state = self._mechanism.bind(state.model, state.data)
        self._lines = RodLines(state.model, state.data, LINE_POINTS)

    def _restart(self, rng: np.random.Generator) -> None:
        self._forget()
        self.wrenches.clear()
        self._late.clear()
        self._accept(None)
        if self._solver is not None:
            self._solver.clear()
        self._home()
        for answer in self._answers.values():
            answer.set_exception(DeviceError(f"{self.name}: the simulation was reset before it was solved"))
        self._answers.clear()
        self._firmware()

    def serve(self) -> None:
        """Run the requests that are queued now, and answer those that were solved elsewhere."""
        super().serve()
        if self._answers:  # a paused loop serves without writing
            self._collect()

    def write(self) -> None:
        """Take the controller's wrench, then what the other commands ask for."""
        late = self._delayed(self.wrenches.take(), self._late)
        if late is not None:
            self._obey(late)
        super().write()

    def _latch(self, command: Command) -> None:
        measured = None
        if command.mode == "controller_wrench" and self.policy == "exert" and self._controls:
            measured = self.plate_pose()
        kind = "controller" if command.mode == "controller_wrench" else "goal"
        self._ask(kind, _Asked(command.mode, command.values, measured))

    def _trip(self) -> None:
        """Let the servos stay where they are commanded to be now, under the present load."""
        with self._lock:
            self._generation += 1  # an answer that comes later is too late
            self._newest = self._goal = replace(self._goal, q=self._setpoint.copy(), applied=self._load)

    def _ask(self, kind: str, asked: _Asked) -> None:
        generation = self._generation
        if self._solver is None:
            self._take(kind, self._answer(asked, generation))
        else:
            self._solver.submit(kind, lambda: self._answer(asked, generation))

    def _collect(self) -> None:
        if self._solver is not None:
            for kind, outcome in self._solver.results():
                self._take(kind, outcome)

    def _take(self, kind: str, outcome: _Outcome) -> None:
        answer = self._answers.pop(kind, None)
        if outcome.generation != self._generation:  # sent home, or stopped by the watchdog, in between
            if answer is not None:
                answer.set_exception(
                    DeviceError(f"{self.name}: the robot was sent home or stopped before it was solved")
                )
            return
        self._worst = max(self._worst, outcome.seconds)
        if outcome.goal is not None:
            self._goal = outcome.goal
            self._say(outcome.goal.solution)
            if answer is not None:
                answer.set_result(self._vector())
            return
        self._failed += 1
        if not self._reason:  # the next ones are counted in ``health``
            log.warning("%s: ignored a command: %s", self.name, outcome.reason)
        self._reason = outcome.reason
        if answer is not None:
            answer.set_exception(DeviceError(outcome.reason))
            return
        for listener in self.listeners:
            listener(outcome.reason)

    def _say(self, solution: Solution) -> None:
        """Report once that the command led to another branch of equilibria, or to one that is not stable."""
        if solution.note and solution.note != self._note:
            self._changes += 1
            log.warning("%s: %s", self._statics.name, solution.note)
        self._note = solution.note

    def _firmware(self) -> None:
        self._collect()
        if self._state is None:
            return
        goal = self._goal
        if goal is not self._approached:
            self._approached = goal
            self._left = max(0, round(self._ramp / self._step))
            if self._left == 0 and self._interpolate and self._since * self._step <= LONGEST_INTERVAL:
                self._left = int(self._since)
            self._since = 0
        self._since += 1
        if self._left > 0:
            self._load = self._load + (goal.applied - self._load) / self._left
            ahead = (goal.q - self._setpoint) / self._left
            self._left -= 1
        else:
            self._load, ahead = goal.applied, goal.q - self._setpoint
        steps = float(np.max(np.abs(ahead) / self._speeds, initial=0.0)) / self._step
        arrives = self._left == 0 and steps <= 1.0
        self._setpoint = goal.q if arrives else self._setpoint + ahead / max(steps, 1.0)
        for control, value in zip(self._controls, self._setpoint):
            control[0] = value
        self._state.set_wrench(self._load)

    def _measure(self) -> dict[str, float | Array]:
        planar, goal = self.planar, self._goal
        if self._state is None:
            q, X = goal.solution.q, goal.solution.plate_pose
            place = goal.solution.pose2d if planar else np.concatenate([X[:3, 3], _quaternion(X[:3, :3])])
            speed, twist = np.zeros(len(q)), np.zeros(3 if planar else 6)
        else:
            q = np.array([p[0] for p in self._positions])
            speed = np.array([v[0] for v in self._velocities])
            twist = self._state.plate_twist()
            w, x, y, z = self._turn
            if planar:
                place = np.array([self._place[0], self._place[1], 2.0 * np.arctan2(z, w)])
                place[2] = (place[2] + np.pi) % (2.0 * np.pi) - np.pi
            else:
                place = np.array([*self._place, x, y, z, w])
        return {
            "joint_values": q,
            "joint_velocities": speed,
            "pose": place,
            "twist": twist,
            "wrench": self._flat(goal.applied if self._state is None else self._load),
            "stable": goal.stable,
            "deviation": 0.0 if self._state is None else math.dist(self._place, goal.place),
        }

    def plate_pose(self) -> Array:
        """Return where the plate is, shape (4, 4); the loop thread calls this."""
        return self._goal.solution.plate_pose if self._state is None else self._state.plate_pose()

    def centre_lines(self) -> Array:
        """Return where the rods are, shape (limbs, 101, 3) [m]; the loop thread calls this."""
        if self._lines is not None:
            return self._lines()
        goal = self._goal
        if goal.lines is None:
            self._goal = goal = replace(goal, lines=_lines(goal.solution))
        assert goal.lines is not None
        return goal.lines

    @property
    def equilibrium(self) -> Solution:
        """The equilibrium of the last command."""
        return self._goal.solution

    # -- any thread ---------------------------------------------------------------------------------------------

    def health(self) -> Mapping[str, object]:
        """Return the counters, with the commands without equilibrium, the changes of branch, and the last reasons."""
        return {
            **super().health(),
            "without_equilibrium": self._failed,
            "reason": self._reason,
            "branch_changes": self._changes,
            "note": self._note,
            "worst_solve": self._worst,
            "replaced": 0 if self._solver is None else self._solver.replaced,
        }

    def close(self) -> None:
        """End the thread that solves, where there is one; may be called twice."""
        if self._solver is not None:
            self._solver.close()

    # -- requests -----------------------------------------------------------------------------------------------

    @request
    def parameters_vector(self, given: Sequence[float] | None = None) -> list[float] | Future[list[float]]:
        """Return the unknowns as the original's service does: n0 and m0 of every limb, joint values, plate pose.

        The pose is x, y, z and the Euler angles of R = Rx Ry Rz, or x, y, theta; a planar limb has n0x, n0y, m0.

        Args:
            given: unknowns to start from: the robot goes to the plate pose in them (with fewer actuators than freedoms
                to the joint values), in the shape nearest to them. None or empty: only read.

        Returns:
            The unknowns of the equilibrium, or, where a thread of its own solves, a future with them.

        Raises:
            DeviceError: a wrong number of values, or no equilibrium is reached from them.
        """
        if given is None or len(given) == 0:
            return self._vector()
        values = self._numbers(given)
        self._vectors += 1
        kind = f"vector {self._vectors}"
        answer: Future[list[float]] = Future()
        self._answers[kind] = answer
        self._ask(kind, _Asked("parameters_vector", {"vector": values}))
        return answer.result() if self._solver is None else answer

    @request
    def margins(self) -> dict[str, float]:
        """Return stability index, smallest plate stiffness and smallest singular values of the last equilibrium."""
        s = self._goal.solution
        return {"index": s.morse_index, "stiffness": s.smallest_stiffness, **s.singular_values()}

    @request
    def home(self) -> list[float]:
        """Go back to where the simulation started; return the joint values."""
        before = self._setpoint, self._load, self._approached
        self._home()
        self._setpoint, self._load, self._approached = before  # the servos travel there as to any goal
        return self._goal.q.tolist()

    @request
    def remove(self) -> str:
        """Take the robot away: it keeps still and obeys nobody until the simulation is reset."""
        self._removed = True
        self._accept(())
        return f"{self.name} obeys nobody until the simulation is reset"

    # -- solving: in the loop's thread, or in the one of its own ------------------------------------------------

    def _answer(self, asked: _Asked, generation: int) -> _Outcome:
        began = time.perf_counter()
        goal, reason = None, ""
        try:
            # Absurd numbers overflow in the solver before it gives up; that is no news.
            with np.errstate(all="ignore"):
                goal = self._solve(asked, self._newest)
        except PliantError as error:
            reason = str(error)
        except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
            reason = f"{self._statics.name}: no equilibrium found, the numbers leave every range ({error})"
        with self._lock:
            if goal is not None and generation == self._generation:
                self._newest = goal
        if reason:
            reason = f"{asked.mode}: {reason}"
        return _Outcome(generation, goal, reason, time.perf_counter() - began)

    def _solve(self, asked: _Asked, base: _Goal) -> _Goal:
        values, robot, start = asked.values, self._robot, base.solution
        load = self._full(values["wrench"]) if "wrench" in values else base.load
        control = base.control
        # What the solver must balance beside the load.
        outside = np.zeros(6) if self.policy == "exert" else control
        if asked.mode == "controller_wrench":
            return self._solve_controller(asked, base)
        if asked.mode == "parameters_vector":
            load = base.load
            start, wanted, q = self._start_from(values["vector"], base)
            inverse = robot.actuator_count >= (3 if self.planar else 6)
            if inverse:
                solution = robot.solve_igm(wanted, load + outside, start=start, restarts=0)
            else:
                solution = robot.solve_dgm(self._inside(q), load + outside, start=start, restarts=0)
        elif not self.driven and (wanted := self._asked_pose(asked)) is not None:
            held = outside if self.policy == "hold" else np.zeros(6)
            solution = robot.solve_igm(wanted, load + held, start=start, restarts=0)
            if self.policy == "push" and control.any():
                self._inside(solution.q)
                solution = robot.solve_dgm(solution.q, load + control, start=solution, restarts=0)
        else:
            q = base.q
            if asked.mode == "dgm_parameters" and "joints_values" in values:
                q = np.array(values["joints_values"], dtype=float)
            solution = robot.solve_dgm(self._inside(q), load + outside, start=start, restarts=0)
        return self._goal_at(solution, load, control, load + outside, float(solution.stable))

    def _solve_controller(self, asked: _Asked, base: _Goal) -> _Goal:
        robot, start, load = self._robot, base.solution, base.load
        control = self._full(asked.values["wrench"]) if "wrench" in asked.values else base.control
        # A controller speaks a thousand times a second: whether it is stable is not asked each time.
        if self.policy == "hold":
            solution = robot.solve_igm(start.plate_pose, load + control, start=start, branch="smooth", restarts=0)
            return self._goal_at(solution, load, control, load + control, base.stable)
        if self.policy == "push":
            solution = robot.solve_dgm(base.q, load + control, start=start, branch="smooth", restarts=0)
            return self._goal_at(solution, load, control, load + control, base.stable)
        measured = start.plate_pose if asked.measured is None else asked.measured
        solution = robot.solve_igm(measured, load - control, start=start, branch="smooth", restarts=0)
        if self._mechanism is None:  # there is nothing that moves: the plate is where it comes to rest
            self._inside(solution.q)
            solution = robot.solve_dgm(solution.q, load, start=solution, branch="smooth", restarts=0)
        return self._goal_at(solution, load, control, load, base.stable)

    def _goal_at(self, solution: Solution, load: Array, control: Array, applied: Array, stable: float) -> _Goal:
        q = self._inside(solution.q.copy())
        if not (np.isfinite(q).all() and np.isfinite(solution.plate_pose).all()):
            raise DeviceError(f"{self._statics.name}: the equilibrium that was found is not finite", field="pose")
        lines = None
        if self._solver is not None:
            if self._mechanism is None:
                lines = _lines(solution)
            # The loop asks it for more, in the memory of its own robot.
            solution = solution.belonging_to(self._statics)
        return _Goal(solution, q, load, control, applied, stable, _origin(solution), lines)

    def _start_from(self, vector: Array, base: _Goal) -> tuple[Solution, Array, Array]:
        """Return a start with the unknowns of a vector, the plate pose and the joint values in it."""
        limbs, n = len(self._statics.description.limbs), self._statics.actuator_count
        planar = self.planar
        each = 3 if planar else 6
        wrenches = np.zeros((limbs, 6))
        wrenches[:, [0, 1, 5] if planar else slice(None)] = vector[: each * limbs].reshape(limbs, each)
        q = vector[each * limbs : each * limbs + n]
        tail = vector[each * limbs + n :]
        X = np.eye(4)
        if planar:
            c, s = np.cos(tail[2]), np.sin(tail[2])
            X[:2, :2], X[:2, 3] = [[c, -s], [s, c]], tail[:2]
        else:
            X[:3, 3] = tail[:3]
            X[:3, :3] = rotation_from_rpy(-tail[3:]).T  # Rx Ry Rz
        return base.solution.with_unknowns(wrenches, q, X), (tail if planar else X), q

    # -- inside -------------------------------------------------------------------------------------------------

    def _accept(self, modes: Sequence[str] | None) -> None:
        self.inbox.accept(modes)
        self.wrenches.accept(modes)

    def _vector(self) -> list[float]:
        s = self._goal.solution
        if self.planar:
            return [*s.base_wrenches[:, [0, 1, 5]].ravel().tolist(), *s.q.tolist(), *s.pose2d.tolist()]
        return [*s.base_wrenches.ravel().tolist(), *s.q.tolist(), *pose_angles(s.plate_pose).tolist()]

    def _numbers(self, given: Sequence[float]) -> Array:
        each = 3 if self.planar else 6
        limbs, n = len(self._statics.description.limbs), self._statics.actuator_count
        wanted = each * limbs + n + each
        values = np.asarray(given, dtype=float)
        if values.shape != (wanted,) or not np.isfinite(values).all():
            found = f"{values.size} numbers" if np.isfinite(values).all() else "numbers that are not finite"
            raise DeviceError(
                f"{self.name}: the parameters vector has {found}; must be {wanted} finite numbers, {each} for the base "
                f"of each of {limbs} rods, {n} joint values, {each} of the plate's pose",
                field="given_guess",
            )
        return values

    def _inside(self, q: Array) -> Array:
        """Return joint values that are within the joints' limits.

        Raises:
            DeviceError: one is beyond them.
        """
        refuse_beyond(self.joints, self._limits, q, DeviceError)
        return q

    def _full(self, wrench: ArrayLike) -> Array:
        w = np.asarray(wrench, dtype=float)
        return np.array([w[0], w[1], 0.0, 0.0, 0.0, w[2]]) if self.planar else w

    def _flat(self, wrench: Array) -> Array:
        return wrench[[0, 1, 5]] if self.planar else wrench

    def _asked_pose(self, asked: _Asked) -> Array | None:
        """Return the pose of a command as the solver takes it; None where there is none."""
        if asked.mode == "igm_parameters" and "pose" in asked.values:
            v = np.asarray(asked.values["pose"], dtype=float)
            return v if self.planar else pose_matrix(v, self.name)
        if asked.mode == "plate_pose" and "xyz_rpy" in asked.values:
            v = np.asarray(asked.values["xyz_rpy"], dtype=float)
            return pose(v[:3], rotation_from_rpy(v[3:]))
        return None


def pose_matrix(values: Array, name: str) -> Array:
    """Return the matrix of a pose (x, y, z, qx, qy, qz, qw), shape (4, 4).

    Raises:
        DeviceError: the quaternion is not of length 1.
    """
    size = float(np.linalg.norm(values[3:]))
    if abs(size - 1.0) > 1e-3:
        raise DeviceError(f"{name}: the quaternion of pose has length {size:.4g}; must be 1", field="pose")
    x, y, z, w = values[3:] / size
    X = np.eye(4)
    X[:3, 3] = values[:3]
    X[:3, :3] = rotation_from_quaternion((w, x, y, z))
    return X


def _origin(solution: Solution) -> tuple[float, float, float]:
    x, y, z = solution.plate_pose[:3, 3].tolist()
    return x, y, z


def _lines(solution: Solution) -> Array:
    return np.array([line.position for line in solution.centrelines(LINE_POINTS)])


def _quaternion(R: Array) -> Array:
    """Return (x, y, z, w) of a rotation matrix, w >= 0."""
    w, x, y, z = quaternion_from_rotation(R)
    return np.array([x, y, z, w]) if w >= 0.0 else np.array([-x, -y, -z, -w])
