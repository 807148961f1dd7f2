"""Control boards described: which joints a board moves, with which gains, limits and trajectories.

A control board is the motor electronics of one part of a humanoid (an arm, a leg, the torso): it has axes, each with a
control mode, and moves the joints behind them. The device is `pliant.control_boards.ControlBoardDevice`.

Source: behaviour and defaults are those of the simulated control boards that robots of the iCub class are used with.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import mujoco

from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import DEGREE
from pliant.base.options import check_values, describe, option, parse
from pliant.formats.source import Block
from pliant.model.interface import PartDefaults
from pliant.model.problem import Problem, Problems
from pliant.model.robot import Robot
from pliant.model.wanted import check_robot

Numbers = tuple[float, ...]
TRAJECTORIES = ("minimum_jerk", "constant_speed", "trapezoidal_speed")

COUPLINGS = {
    "eyes_vergence_control": "axes: sum and difference of the two eyes; a joint is half the sum or the difference",
    "fingers_abduction_control": "one axis spreads four fingers: at 0 they stand at -20, 0, 20, 20 deg, at 60 deg at 0",
    "thumb_control": "each axis but the last is a joint; the last is the sum of the other joints, shared equally",
    "index_control": "each axis but the last is a joint; the last is the sum of the other joints, shared equally",
    "middle_control": "each axis but the last is a joint; the last is the sum of the other joints, shared equally",
    "pinky_control": "one axis closes fingers of three joints each; a joint is a third of it",
    "linear": "joints = matrix times axes",
}
"""Kind of a coupling -> how its axes and joints depend on each other, as in gazebo-yarp-plugins."""
SPREAD = 20.0 * DEGREE
"""Angle of a finger that is spread: the axis of ``fingers_abduction_control`` is 3 (20 deg - finger)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coupling:
    """Axes that move other joints than one each: joints = matrix times axes + origin.

    The position of the axes is the pseudo-inverse of the matrix times joints - origin, and a torque of the axes acts
    on the joints by virtual power, so that no coupling creates energy.

    Raises:
        ModelError: an unknown kind, or numbers of axes and joints that do not fit it.
    """

    kind: str
    """A key of `COUPLINGS`."""
    axes: tuple[str, ...]
    """Names of its axes."""
    joints: tuple[str, ...]
    """Names of its joints."""
    matrix: tuple[Numbers, ...] = ()
    """A row for each joint, a number for each axis; only for ``linear``, the other kinds have their own."""

    def __post_init__(self) -> None:
        if self.kind not in COUPLINGS:
            raise ModelError(f"coupling is {self.kind!r}; {nearest(self.kind, COUPLINGS)}", field="couplings")
        n, m = len(self.axes), len(self.joints)
        wrong = ""
        if n < 1 or m < n:
            wrong = "must have at least one axis and at least as many joints as axes"
        elif self.kind == "eyes_vergence_control" and (n, m) != (2, 2):
            wrong = "must have two axes and two joints"
        elif self.kind == "fingers_abduction_control" and (n, m) != (1, 4):
            wrong = "must have one axis and four joints"
        elif self.kind == "pinky_control" and (n != 1 or m % 3):
            wrong = "must have one axis, and three joints for each finger"
        elif self.kind == "linear" and (len(self.matrix) != m or any(len(row) != n for row in self.matrix)):
            wrong = f"must have a matrix of {m} rows of {n} numbers"
        elif not all(math.isfinite(x) for row in self.matrix for x in row):
            wrong = "must have finite numbers in its matrix"
        elif self.kind != "linear" and self.matrix:
            wrong = "has a matrix of its own; only linear takes one"
        if wrong:
            raise ModelError(f"coupling {self.kind} of {n} axes and {m} joints {wrong}", field="couplings")

    def rows(self) -> list[list[float]]:
        """Return the matrix that gives the joints from the axes: a row for each joint."""
        n, m = len(self.axes), len(self.joints)
        if self.kind == "linear":
            return [list(map(float, row)) for row in self.matrix]
        if self.kind == "eyes_vergence_control":
            return [[0.5, 0.5], [0.5, -0.5]]
        if self.kind == "fingers_abduction_control":
            return [[1.0 / 3.0], [0.0], [-1.0 / 3.0], [-1.0 / 3.0]]
        if self.kind == "pinky_control":
            return [[1.0 / 3.0]] * m
        # The last axis is shared by the joints that are left.
        share = 1.0 / (m - n + 1)
        rows = [[float(i == j) for j in range(n)] for i in range(n - 1)]
        return rows + [[0.0] * (n - 1) + [share]] * (m - n + 1)

    def origin(self) -> list[float]:
        """Return the positions of the joints where all axes are at 0 [rad]."""
        if self.kind == "fingers_abduction_control":
            return [-SPREAD, 0.0, SPREAD, SPREAD]
        return [0.0] * len(self.joints)

    def prefixed(self, prefix: str) -> Coupling:
        """Return the coupling of joints that have a prefix; the axes keep their names."""
        return dataclasses.replace(self, joints=tuple(prefix + j for j in self.joints))


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlBoard(PartDefaults):
    """A control board: the axes of one part of a robot.

    Every list of numbers has one number for all axes, or one for each axis; an empty one takes the default. Angles are
    in radians, of prismatic axes lengths in metres.

    A joint with an actuator is moved through it, whatever it is: a motor, a servo, a compliant actuator of pliant. A
    joint without one gets an ideal motor of its name. A board without joints is a fake one: its axes are there, are
    never configured, and move nothing.

    Example:
        >>> robot.devices.append(ControlBoard(name="left_arm", joints=("l_shoulder_pitch", "l_elbow")))
    """

    name: str
    """Name of the device: the part, such as ``left_arm``."""
    joints: tuple[str, ...] = ()
    """Joints of the model that it moves, in the order of the axes; those of couplings are named there as well."""
    axes: tuple[str, ...] = ()
    """Names of the axes; empty takes those of the joints."""
    couplings: tuple[Coupling, ...] = ()
    """Axes that move other joints than one each."""
    sample_rate: float = option(100.0, unit="Hz", low=0.0)
    """Samples a second of simulation time; 0 for one each step."""
    trajectory: str = option("minimum_jerk", choices=TRAJECTORIES)
    """How an axis moves to its target in the modes position and mixed."""
    speed: Numbers = ()
    """Speed of trajectories at start [rad/s, m/s]; default 10 deg/s, 10 mm/s."""
    acceleration: Numbers = ()
    """Acceleration of trajectories and of the ramps of speed [rad/s^2, m/s^2]; default 10 deg/s^2, 10 mm/s^2."""
    position_kp: Numbers = ()
    """Position controller: proportional gain [N m/rad, N/m]. Empty on a servo of the model: the servo's own law holds
    the position; empty on another actuator: 500."""
    position_ki: Numbers = (0.1,)
    """Position controller: integral gain [N m/(rad s)]; it acts where ``position_max_integral`` is above 0."""
    position_kd: Numbers = (1.0,)
    """Position controller: derivative gain [N m s/rad]."""
    position_max_integral: Numbers = (0.0,)
    """Position controller: largest integral part of the torque [N m]."""
    position_max_output: Numbers = ()
    """Position controller: largest torque [N m]; default the largest torque of the axis."""
    position_offset: Numbers = ()
    """Position controller: torque that is added to its output [N m, N]; default 0."""
    position_stiction_up: Numbers = ()
    """Position controller: compensation of stiction upwards, which clients are told; it has no effect [N m, N]."""
    position_stiction_down: Numbers = ()
    """Position controller: compensation of stiction downwards, which clients are told; it has no effect [N m, N]."""
    velocity_control: str = option("integrator", choices=("integrator", "direct"))
    """Velocity mode: ``integrator`` moves the reference of the position controller, ``direct`` has its own gains."""
    velocity_kp: Numbers = (0.0,)
    """Velocity controller: proportional gain [N m s/rad]."""
    velocity_ki: Numbers = (0.0,)
    """Velocity controller: integral gain [N m/rad]."""
    velocity_kd: Numbers = (0.0,)
    """Velocity controller: derivative gain [N m s^2/rad]."""
    velocity_max_integral: Numbers = (0.0,)
    """Velocity controller: largest integral part of the torque [N m]."""
    velocity_timeout: float = option(0.2, unit="s")
    """Watchdog of the velocity modes: an axis stops this long after its last command; negative for none."""
    stiffness: Numbers = (0.0,)
    """Stiffness in the interaction mode compliant [N m/rad]."""
    damping: Numbers = (0.0,)
    """Damping in the interaction mode compliant [N m s/rad]."""
    min_stiffness: Numbers = (0.0,)
    """Smallest stiffness that a client is told [N m/rad]."""
    max_stiffness: Numbers = (1000.0 / DEGREE,)
    """Largest stiffness that a client is told [N m/rad]."""
    min_damping: Numbers = (0.0,)
    """Smallest damping that a client is told [N m s/rad]."""
    max_damping: Numbers = (100.0 / DEGREE,)
    """Largest damping that a client is told [N m s/rad]."""
    max_torque: Numbers = (2000.0,)
    """A measured torque beyond this is a hardware fault [N m]."""
    position_min: Numbers = ()
    """Smallest position [rad, m]; default the limit of the joint."""
    position_max: Numbers = ()
    """Largest position [rad, m]; default the limit of the joint."""
    velocity_max: Numbers = ()
    """Largest speed [rad/s, m/s]; default 100 rad/s, 10 m/s."""
    torque_per_duty: Numbers = (1.0,)
    """Torque at a duty cycle of 1 % [N m], and at a current of 1 A."""
    initial_positions: Numbers = ()
    """Targets at start [rad, m]; default the positions that the axes have then."""
    gear_ratio: Numbers = (1.0,)
    """Revolutions of the motor for one of the joint."""
    temperature: float = option(298.15, unit="K", low=0.0)
    """Temperature that the motors report; it is constant."""  # assumed
    supply_voltage: float = option(40.0, unit="V", low=0.0)
    """Voltage that the amplifiers report."""  # assumed

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise self.fault(f"the name is {self.name!r}; must be a text that is not empty", "name")
        for info in describe(type(self)):
            value = getattr(self, info.name)
            if info.type == Numbers:
                object.__setattr__(self, info.name, self._numbers(info.name, value))
            elif isinstance(value, list):
                object.__setattr__(self, info.name, tuple(value))
        names = self.axis_names
        check_values(self, lambda message, field: self.fault(message, field), names=str)
        coupled = [axis for c in self.couplings for axis in c.axes]
        for what, items in (("axis", names), ("joint", self.joint_names), ("coupled axis", coupled)):
            twice = next((item for item in items if items.count(item) > 1), None)
            if twice is not None:
                raise self.fault(f"the {what} {twice!r} is there twice", "axes")
        missing = next((axis for axis in coupled if axis not in names), None)
        if missing is not None:
            raise self.fault(f"a coupling has the axis {missing!r}; {nearest(missing, names)}", "couplings")
        free = [axis for axis in names if axis not in coupled]
        if not self.fake and len(free) != len(self.free_joints):
            raise self.fault(
                f"{len(free)} axes ({', '.join(free)}) for {len(self.free_joints)} joints "
                f"({', '.join(self.free_joints)}) without a coupling; must be as many",
                "axes",
            )
        if not names:
            raise self.fault("it has no axis; name joints, or the axes of a fake board", "joints")
        for info in describe(type(self)):
            value = getattr(self, info.name)
            if info.type == Numbers and len(value) not in (0, 1, len(names)):
                raise self.fault(
                    f"{info.name} has {len(value)} numbers; must be 1, or {len(names)}, one for each axis", info.name
                )

    def _numbers(self, field: str, value: Any) -> Numbers:
        try:
            numbers = (float(value),) if isinstance(value, int | float) else tuple([float(v) for v in value])
        except (TypeError, ValueError):
            numbers = (math.nan,)
        signed = field.startswith(("position_m", "initial", "position_offset", "position_stiction"))
        if any(math.isnan(v) or (v < 0.0 and not (signed and field != "position_max_output")) for v in numbers):
            at_least = "" if signed else " >= 0"
            raise self.fault(f"{field} is {value!r}; must be numbers{at_least}, one for all axes or one each", field)
        return numbers

    def fault(self, message: str, field: str) -> ModelError:
        """Return an error about this board."""
        return ModelError(f"ControlBoard {self.name!r}: {message}", field=field)

    @property
    def fake(self) -> bool:
        """Whether it has axes, but no joints."""
        return not self.joints and not self.couplings

    @property
    def axis_names(self) -> tuple[str, ...]:
        """Names of its axes."""
        return self.axes or self.joints

    @property
    def free_joints(self) -> tuple[str, ...]:
        """Joints that no coupling moves."""
        coupled = {joint for c in self.couplings for joint in c.joints}
        return tuple(joint for joint in self.joints if joint not in coupled)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """All joints that it moves: those without a coupling first."""
        return (*self.free_joints, *(joint for c in self.couplings for joint in c.joints))

    def prefixed(self, prefix: str) -> Self:
        """Return the description of the same board under a prefix; the axes keep their names."""
        return dataclasses.replace(
            self,
            name=prefix + self.name,
            joints=tuple(prefix + joint for joint in self.joints),
            axes=self.axis_names,
            couplings=tuple(c.prefixed(prefix) for c in self.couplings),
        )

    def position_gains(self) -> dict[str, tuple[float, float]]:
        """Return proportional and derivative gain of position by joint; those of coupled joints and defaults are left
        out."""
        if not self.position_kp or self.fake:
            return {}
        axes = self.axis_names
        coupled = {axis for c in self.couplings for axis in c.axes}
        free = iter(self.free_joints)
        gains = {}
        for i, axis in enumerate(axes):
            if axis not in coupled:
                kp, kd = (v[i] if len(v) > 1 else v[0] if v else 0.0 for v in (self.position_kp, self.position_kd))
                gains[next(free)] = (kp, kd)
        return gains

    # -- its part of the model ---------------------------------------------------------------------------

    def install(self, spec: mujoco.MjSpec, original: mujoco.MjSpec) -> None:
        """Add an ideal motor to every joint that has no actuator.

        Raises:
            ModelError: a joint does not exist.
        """
        known = {joint.name for joint in original.joints}
        driven = {a.target for a in spec.actuators if a.trntype == mujoco.mjtTrn.mjTRN_JOINT}
        taken = {a.name for a in spec.actuators}
        for joint in self.joint_names:
            if joint not in known:
                raise self.fault(f"there is no joint {joint!r}; {nearest(joint, filter(None, known))}", "joints")
            if joint in driven:
                continue
            name = joint if joint not in taken else f"{self.name}/{joint}"
            motor = spec.add_actuator(name=name)
            motor.target = joint
            motor.trntype = mujoco.mjtTrn.mjTRN_JOINT
            motor.gainprm[0] = 1.0

    def finish(self, model: mujoco.MjModel) -> None:
        """Add nothing: the motors are in the spec."""

    def check(self, spec: mujoco.MjSpec) -> list[Problem]:
        """Return the joints that do not exist or are neither hinges nor slides."""
        joints = {joint.name: joint for joint in spec.joints}
        problems = Problems()
        for name in self.joint_names:
            joint = joints.get(name)
            if joint is None:
                hint = nearest(name, filter(None, joints))
                problems.error(self.name, f"the board moves the joint {name!r}, which is not there", hint)
            elif joint.type not in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
                problems.error(self.name, f"the joint {name!r} is neither hinge nor slide", "leave it out")
        return problems


def add_control_boards(robot: Robot, parts: Mapping[str, Sequence[str]], **options: Any) -> Robot:
    """Give a robot a control board for each of its parts.

    Args:
        robot: the robot; it is changed.
        parts: name of the part -> its joints, in the order of the axes.
        options: further fields of `ControlBoard`, the same for all parts.

    Returns:
        The robot.

    Raises:
        ModelError: a joint that the robot does not have, or an option that does not exist or fit.

    Example:
        >>> add_control_boards(robot, {"torso": ["torso_pitch", "torso_yaw"], "head": ["neck_pitch"]})
    """
    check_robot(robot, "add_control_boards", compiled=False)
    boards = [board_from_mapping(name, {"joints": list(joints), **options}) for name, joints in parts.items()]
    names = [joint for joint in robot.joints if joint]
    for board in boards:
        for joint in board.joint_names:
            if joint not in names:
                raise board.fault(f"there is no joint {joint!r}; {nearest(joint, names)}", "joints")
    robot.devices.extend(boards)
    return robot


def board_from_mapping(name: str, tree: Mapping[str, Any], where: str = "") -> ControlBoard:
    """Return a control board from a mapping, as pliant's own YAML has it.

    Args:
        name: name of the board.
        tree: its fields; ``couplings`` is a list of mappings with kind, axes, joints and matrix.
        where: put in front of messages.

    Raises:
        ModelError: an unknown field, or a value that does not fit.
    """
    given = tree.get("couplings") or ()
    if not isinstance(given, list | tuple):
        raise ModelError(f"{where}couplings is {given!r}; must be a list of mappings", field="couplings")
    couplings = tuple([_coupling(item, where) for item in given])
    return parse(ControlBoard, {"name": name, **tree, "couplings": couplings}, where=where, error=ModelError)


def _coupling(item: object, where: str) -> Coupling:
    if isinstance(item, Coupling):
        return item
    if not isinstance(item, Mapping) or not {"kind", "axes", "joints"} <= set(item):
        raise ModelError(
            f"{where}a coupling is {item!r}; must be a mapping with kind, axes, joints and for linear a matrix",
            field="couplings",
        )
    try:
        return parse(Coupling, item, where=f"{where}couplings: ", error=ModelError)
    except ModelError as error:
        raise ModelError(error.message, field="couplings") from error


def add_boards(robot: Robot, boards: Mapping[str, object]) -> None:
    """Add the control boards of the block ``boards`` of a robot file.

    Args:
        robot: the robot.
        boards: a mapping of fields, or a list of joints, by the name of the board.

    Raises:
        ModelError: a field is unknown or not valid; the field is named with its path, "boards.NAME.FIELD".
    """
    for name, tree in boards.items():
        try:
            if any(device.name == name for device in robot.devices):
                raise ModelError(f"boards.{name}: the model has a device of this name")
            fields = dict(tree) if isinstance(tree, Mapping) else {"joints": tree}
            board = board_from_mapping(name, fields, f"boards.{name}: ")
            for problem in board.check(robot.spec):
                raise ModelError(f"boards.{name}: {problem.message}; {problem.hint}", field="joints")
            robot.devices.append(board)
        except ModelError as error:
            inner = f".{error.field}" if error.field else ""
            raise ModelError(error.message, field=f"boards.{name}{inner}") from error


BOARDS = Block(apply=add_boards, type=dict[str, dict[str, Any] | list[str]])
"""The block ``boards`` of a robot file."""
