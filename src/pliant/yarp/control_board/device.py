"""The control board as a device: control modes, trajectories, controllers, limits, faults, encoders.

Inside, positions are in radians or metres, and torques in N m or N. The mailbox takes references for all axes at once;
requests take them for some axes, and do everything else that a client of such a board can ask for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import DeviceError, nearest
from pliant.devices.base import Command, DeviceBase, FieldInfo, request
from pliant.devices.kinds import device_for
from pliant.engine.base import Engine, mujoco_state
from pliant.model.robot import Robot
from pliant.yarp.control_board import layout as at
from pliant.yarp.control_board.drives import Drive, find_drive
from pliant.yarp.control_board.layout import ControlMode, InteractionMode, Loop
from pliant.yarp.model.control_board import TRAJECTORIES, ControlBoard

__all__ = ["REFERENCES", "REMOTE_VARIABLES", "REQUESTED_MODES", "ControlBoardDevice", "chosen_axes", "finite_values"]

Array = NDArray[np.float64]
Axes = int | Sequence[int] | None
Numbers = float | Sequence[float] | Array

DEGREE = math.pi / 180.0
REQUESTED_MODES: dict[str, ControlMode] = {
    "idle": ControlMode.IDLE,
    "force_idle": ControlMode.IDLE,
    "position": ControlMode.POSITION,
    "position_direct": ControlMode.POSITION_DIRECT,
    "velocity": ControlMode.VELOCITY,
    "velocity_direct": ControlMode.VELOCITY_DIRECT,
    "mixed": ControlMode.MIXED,
    "torque": ControlMode.TORQUE,
    "current": ControlMode.CURRENT,
    "pwm": ControlMode.PWM,
}
"""Name of a control mode that can be asked for -> the mode; ``force_idle`` also ends a hardware fault."""

REFERENCES: dict[str, tuple[str, str, tuple[ControlMode, ...]]] = {
    "position": ("{}", "target of a trajectory", (ControlMode.POSITION, ControlMode.MIXED)),
    "position_direct": ("{}", "reference of the position controller", (ControlMode.POSITION_DIRECT,)),
    "velocity": ("{}/s", "speed that a ramp leads to", (ControlMode.VELOCITY, ControlMode.MIXED)),
    "velocity_direct": ("{}/s", "speed without a ramp", (ControlMode.VELOCITY_DIRECT,)),
    "torque": ("torque", "torque", (ControlMode.TORQUE,)),
    "current": ("A", "current of the motor", (ControlMode.CURRENT,)),
    "pwm": ("", "duty cycle [%]", (ControlMode.PWM,)),
}
"""Command mode -> unit of its reference, what it is, and the control modes of the axes that take it."""

REMOTE_VARIABLES = (
    "hardwareDamping",
    "hardwareFriction",
    "hardwareEffortLimit",
    "hardwareVelocityLimit",
    "hardwareHiStop",
    "hardwareLowStop",
    "yarp_jntMaxVel",
    "yarp_jntMaxPos",
    "yarp_jntMinPos",
    "yarp_kPWM",
    "SHORTCUT_all_pos_kp",
    "SHORTCUT_all_pos_kd",
    "SHORTCUT_all_pos_ki",
    "VelocityTimeout",
    "stiffness",
    "stiffness_preset",
    "equilibrium",
)
"""Names of the remote variables; the last three are those of compliant joints."""
_READ_ONLY = ("equilibrium",)
SPRING_GRID = 600
"""Presets at which the stiffness of a compliant joint is computed, to invert it."""
MOTOR_PARAMETERS = 9


def chosen_axes(name: str, count: int, axes: Axes) -> np.ndarray:
    """Return the numbers of axes: None for all, a number, or a list of different numbers from 0.

    Raises:
        DeviceError: the board `name`, which has `count` axes, has no such axis, or one is named twice.
    """
    if axes is None:
        return np.arange(count)
    given = [axes] if isinstance(axes, int | np.integer) else list(axes)
    for a in given:
        if isinstance(a, bool) or not isinstance(a, int | np.integer) or not 0 <= a < count:
            raise DeviceError(f"{name}: the axis is {a!r}; must be 0 to {count - 1}", field="axes")
    if len(set(given)) != len(given):
        raise DeviceError(f"{name}: the axes are {given}; must be different", field="axes")
    return np.array(given, dtype=int)


def finite_values(name: str, values: Numbers, count: int, what: str) -> Array:
    """Return one finite number for each of `count` axes of the board `name`; a single number is that of all.

    Raises:
        DeviceError: another count, or a number that is not finite.
    """
    try:
        array = np.atleast_1d(np.asarray(values, dtype=float))
    except (TypeError, ValueError):
        array = np.full(1, np.nan)
    if array.shape == (1,) and count != 1 and np.isscalar(values):
        array = np.full(count, array[0])
    if array.shape != (count,):
        raise DeviceError(f"{name}: {what} has {array.size} values for {count} axes; must be one for each", field=what)
    if not np.isfinite(array).all():
        raise DeviceError(f"{name}: {what} is {array.tolist()}; must be finite numbers", field=what)
    return array


@device_for(ControlBoard)
class ControlBoardDevice(DeviceBase):
    """A control board: one control mode and one interaction mode an axis, and what they need.

    The firmware runs at every step, in this order: measure, look for faults, watchdogs and ramps, trajectories,
    controllers, drives. Before the first command every axis is in position mode and holds its initial position.

    Requests take ``axes``: None for all, a number, or a list of numbers from 0; values are one for each of these axes.
    What is not finite is refused, and changes nothing.

    Args:
        description: the board.
        robot: the robot that it is described on.
        options: of `DeviceBase`: latency, command_latency, noise.
    """

    signatures = ("control_board", "joint_states")

    def __init__(self, description: ControlBoard, robot: Robot, **options: Any) -> None:
        names = description.axis_names
        self.description = description
        self.axes: tuple[str, ...] = names
        """Names of the axes."""
        self.slides = [_is_slide(robot, joint) for joint in self._lead_joints(description)]
        """Whether each axis is prismatic."""
        lengths = at.length_unit(self.slides).split(" or ")
        torque = " or ".join([{"rad": "N m", "m": "N"}[u] for u in lengths])
        commands: dict[str, dict[str, FieldInfo]] = {}
        for mode, (unit, text, _) in REFERENCES.items():
            unit = (
                torque if unit == "torque" else " or ".join([unit.format(u) for u in lengths]) if "{" in unit else unit
            )
            commands[mode] = {mode: FieldInfo((len(names),), unit, f"{text}, for the axes in this control mode")}
        rate, dt = description.sample_rate, float(robot.spec.option.timestep)
        period = None if not rate else max(1, round(1.0 / (rate * dt))) * dt
        super().__init__(
            description.name,
            samples=at.samples_of(self.slides),
            commands=commands,
            sample_period=options.pop("sample_period", period),
            **options,
        )
        self.joints = names
        self._actuators = dict(robot.actuators)
        n, m = len(names), len(description.joint_names)
        self._A = np.zeros((at.AXIS_ROWS, n))
        self._J = np.zeros((at.JOINT_ROWS, m))
        self._C = np.zeros((2, m, 0))
        self._drives: list[Drive] = []
        self._groups = self._find_groups()
        self._parameters = np.zeros((MOTOR_PARAMETERS, n))
        self._static = np.zeros((6, n))
        self.metadata = {"axes": ",".join(names)}

    @staticmethod
    def _lead_joints(description: ControlBoard) -> list[str]:
        """Return for each axis a joint that it moves; for a fake axis an empty name."""
        coupled = {axis: c.joints[i] for c in description.couplings for i, axis in enumerate(c.axes)}
        free = iter(description.free_joints)
        return [coupled[axis] if axis in coupled else next(free, "") for axis in description.axis_names]

    def _find_groups(self) -> list[tuple[int, ...]]:
        """Return for each axis the axes that change their modes together."""
        groups = [(a,) for a in range(len(self.axes))]
        for coupling in self.description.couplings:
            members = tuple(self.axes.index(axis) for axis in coupling.axes)
            for a in members:
                groups[a] = members
        return groups

    # -- the loop thread ---------------------------------------------------------------------------------

    def _connect(self, engine: Engine) -> None:
        from pliant.yarp.control_board import kernels

        state = mujoco_state(engine, self.name)
        description = self.description
        self._step, self._plan = kernels.step, kernels.plan
        self._drives = [
            find_drive(self.name, joint, engine, state, self._actuators) for joint in description.joint_names
        ]
        self._model = state.model
        data = state.data
        self._buffers = (data.qpos, data.qvel, data.qfrc_actuator, data.ctrl, state.observed)
        self._dt = self.period_ns * 1e-9
        lead = self._lead_joints(description)
        index = {joint: i for i, joint in enumerate(description.joint_names)}
        n, m = len(self.axes), len(index)
        self._lead = [index.get(joint, -1) for joint in lead]
        if description.couplings:
            to_joints = np.zeros((m, n))
            coupled = {axis for c in description.couplings for axis in c.axes}
            for a, axis in enumerate(self.axes):
                if axis not in coupled:
                    to_joints[self._lead[a], a] = 1.0
            for c in description.couplings:
                rows = np.array([index[joint] for joint in c.joints])
                columns = np.array([self.axes.index(axis) for axis in c.axes])
                to_joints[np.ix_(rows, columns)] = c.rows()
            if np.linalg.matrix_rank(to_joints) < n:
                raise DeviceError(f"{self.name}: the couplings cannot be inverted", field="couplings")
            self._C = np.ascontiguousarray(np.stack([to_joints, np.linalg.pinv(to_joints).T]))
        self._J[:] = 0.0
        self._J[at.MOTOR_AXIS] = -1.0
        for i, drive in enumerate(self._drives):
            drive.write(self._J, i)
            a = i if not description.couplings else int(np.argmax(np.abs(self._C[0, i])))
            if not description.couplings:
                a = self._lead.index(i)
            self._J[at.AXIS, i] = a
        for a, i in enumerate(self._lead):
            if i >= 0:
                self._J[at.MOTOR_AXIS, i] = a
        if not description.couplings and m:
            # Without couplings, joint i is that of axis i.
            assert self._lead == list(range(m))
        self._springs = [a for a, i in enumerate(self._lead) if i >= 0 and self._drives[i].kind == at.SPRING]
        self._stiffness_of = {a: self._tabulate(self._drives[self._lead[a]]) for a in self._springs}

    def _tabulate(self, drive: Drive) -> tuple[Array, Array] | None:
        """Return presets and the stiffness that they give at the equilibrium; None where it is fixed."""
        bounds, actuator = drive.preset_range, drive.actuator
        if bounds is None or actuator is None:
            return None
        presets = np.linspace(*bounds, SPRING_GRID)
        with np.errstate(all="ignore"):
            if actuator.law.second_input == "lever":
                stiffness = actuator.law.evaluate(np.zeros(SPRING_GRID), np.zeros(SPRING_GRID), presets).stiffness
            else:
                stiffness = actuator.law.evaluate(np.zeros(SPRING_GRID), presets, -presets).stiffness
        values = np.asarray(stiffness, dtype=float)
        good = np.isfinite(values) & (values > 0.0)
        last = int(np.argmin(good)) if not good.all() else SPRING_GRID
        presets, values = presets[:last], values[:last]
        rising = np.flatnonzero(np.diff(values) <= 0.0)
        end = int(rising[0]) + 1 if rising.size and actuator.law.second_input != "lever" else len(values)
        return (presets[:end], values[:end]) if end > 1 else None

    def _per_axis(self, values: Sequence[float], default: Sequence[float] | float) -> Array:
        if len(values):
            return np.broadcast_to(np.asarray(values, dtype=float), len(self.axes)).copy()
        return np.broadcast_to(np.asarray(default, dtype=float), len(self.axes)).copy()

    def _restart(self, rng: np.random.Generator) -> None:
        d, A, J = self.description, self._A, self._J
        n = len(self.axes)
        slide = np.array(self.slides)
        A[:] = 0.0
        lows = [self._drives[i].low if i >= 0 else -np.inf for i in self._lead]
        highs = [self._drives[i].high if i >= 0 else np.inf for i in self._lead]
        for c in d.couplings:
            for axis in c.axes:
                a = self.axes.index(axis)
                weights = self._C[1, :, a]
                ends = [(w * self._drives[i].low, w * self._drives[i].high) for i, w in enumerate(weights) if w]
                lows[a], highs[a] = sum(min(e) for e in ends), sum(max(e) for e in ends)
        A[at.LOW], A[at.HIGH] = self._per_axis(d.position_min, lows), self._per_axis(d.position_max, highs)
        wrong = np.flatnonzero(A[at.LOW] > A[at.HIGH])
        if wrong.size:
            a = int(wrong[0])
            raise DeviceError(
                f"{self.name}: position_min of {self.axes[a]!r} is {A[at.LOW, a]:g}, above position_max "
                f"{A[at.HIGH, a]:g}",
                field="position_min",
            )
        A[at.MAX_SPEED] = self._per_axis(d.velocity_max, np.where(slide, 10.0, 100.0))
        A[at.SPEED] = np.minimum(self._per_axis(d.speed, np.where(slide, 0.010, 10.0 * DEGREE)), A[at.MAX_SPEED])
        A[at.SLOPE] = self._per_axis(d.acceleration, np.where(slide, 0.010, 10.0 * DEGREE))
        A[at.MAX_TORQUE] = self._per_axis(d.max_torque, 0.0)
        A[at.STIFFNESS], A[at.DAMPING] = self._per_axis(d.stiffness, 0.0), self._per_axis(d.damping, 0.0)
        A[at.TORQUE_PER_DUTY] = self._per_axis(d.torque_per_duty, 1.0)
        A[at.GEAR] = self._per_axis(d.gear_ratio, 1.0)
        A[at.TIMEOUT] = d.velocity_timeout
        A[at.KIND] = float(TRAJECTORIES.index(d.trajectory))
        A[at.DIRECT] = float(d.velocity_control == "direct")
        A[at.TEMPERATURE] = d.temperature
        A[at.MAX_DUTY] = 100.0
        A[at.MAX_CURRENT] = A[at.MAX_TORQUE] / A[at.TORQUE_PER_DUTY]
        for loop in Loop:
            g = self._loop(loop)
            A[g + at.ENABLED] = 1.0
            A[g + at.MAX_OUTPUT] = A[at.MAX_TORQUE]
        g = self._loop(Loop.POSITION)
        A[g + at.KP] = self._per_axis(d.position_kp, 500.0)
        A[g + at.KI], A[g + at.KD] = self._per_axis(d.position_ki, 0.0), self._per_axis(d.position_kd, 0.0)
        A[g + at.MAX_INTEGRAL] = self._per_axis(d.position_max_integral, 0.0)
        if d.position_max_output:
            A[g + at.MAX_OUTPUT] = self._per_axis(d.position_max_output, 0.0)
        g = self._loop(Loop.VELOCITY)
        A[g + at.KP], A[g + at.KI] = self._per_axis(d.velocity_kp, 0.0), self._per_axis(d.velocity_ki, 0.0)
        A[g + at.KD] = self._per_axis(d.velocity_kd, 0.0)
        A[g + at.MAX_INTEGRAL] = self._per_axis(d.velocity_max_integral, 0.0)
        # the joints
        J[at.J_POSITION :] = 0.0
        J[at.J_FRESH] = 1.0
        qpos, _, _, control, _ = self._buffers
        for i, drive in enumerate(self._drives):
            own_law = drive.kind == at.SERVO and not d.position_kp
            J[at.DRIVE, i] = drive.kind if own_law or drive.kind == at.SPRING else at.FORCE
            a = int(J[at.AXIS, i])
            if own_law:
                A[self._loop(Loop.POSITION) + at.KP, a] = -drive.bias[1] * drive.gear**2
                A[self._loop(Loop.POSITION) + at.KD, a] = -drive.bias[2] * drive.gear**2
                A[self._loop(Loop.POSITION) + at.KI, a] = 0.0
            if drive.second >= 0:
                J[at.PRESET, i] = control[drive.second]
            J[at.J_POSITION, i] = qpos[drive.q]
        if d.fake:
            A[at.CONTROL_MODE] = ControlMode.NOT_CONFIGURED
            A[at.MOTION_DONE] = 1.0
        else:
            A[at.POSITION] = self._measured()
            A[at.POSITION_REFERENCE] = self._per_axis(d.initial_positions, A[at.POSITION])
            A[at.CONTROL_MODE] = ControlMode.POSITION
            A[at.AMPLIFIER] = 1.0
            for a in range(n):
                self._hold(a, A[at.POSITION_REFERENCE, a])
            for a in self._springs:
                A[at.INTERACTION_MODE, a] = InteractionMode.COMPLIANT
        self._parameters[:] = 0.0
        peak = A[at.MAX_CURRENT]
        self._static[:] = [peak, peak, np.full(n, 373.15), np.full(n, 360.0), np.zeros(n), np.zeros(n)]
        self._fault_count = 0
        self._load_kernels()

    def _load_kernels(self) -> None:
        """Call the kernels once on copies: reading them from the cache takes 0.3 s, which no step and no call may."""
        A, J, control = self._A.copy(), self._J.copy(), self._buffers[3].copy()
        self._step(A, J, self._C, *self._buffers, 0.0, self._dt)
        self._plan(A, 0, float(A[at.POSITION_REFERENCE, 0]), 0.0, self._dt)
        self._buffers[3][:] = control

    def _measured(self) -> Array:
        qpos = self._buffers[0]
        q = np.array([qpos[drive.q] for drive in self._drives])
        return self._C[1].T @ q if self._C.shape[2] else q

    def _latch(self, command: Command) -> None:
        for name, values in command.values.items():
            self._refer(name, np.arange(len(self.axes)), np.asarray(values), strict=False)

    def _firmware(self) -> None:
        faults = self._step(self._A, self._J, self._C, *self._buffers, self._engine.time_ns * 1e-9, self._dt)
        if faults:
            self._fault_count += faults
            a = int(np.flatnonzero(self._A[at.FAULT])[0])
            self._counters.last_error = f"{self.axes[a]}: {at.FAULTS[int(self._A[at.FAULT, a])]}"

    def _measure(self) -> dict[str, float | np.ndarray]:
        table = self._A[: at.SAMPLED].copy()
        table.flags.writeable = False
        return dict(zip(at.SAMPLE_NAMES, table, strict=True))

    def health(self) -> Mapping[str, Any]:
        """Return the counters of the device and the number of hardware faults."""
        return {**super().health(), "faults": self._fault_count}

    # -- choosing axes, checking values --------------------------------------------------------------------

    @staticmethod
    def _loop(loop: Loop | str | int) -> int:
        if isinstance(loop, str):
            if loop.upper() not in Loop.__members__:
                raise DeviceError(
                    f"the controller is {loop!r}; {nearest(loop, [m.name.lower() for m in Loop])}", field="loop"
                )
            loop = Loop[loop.upper()]
        return at.END + int(loop) * at.GAINS

    def _select(self, axes: Axes, *, works: bool = False) -> np.ndarray:
        chosen = chosen_axes(self.name, len(self.axes), axes)
        if works and self.description.fake:
            raise DeviceError(f"{self.name} is a fake board: its axes cannot be moved", field="fake")
        return chosen

    def _values(self, values: Numbers, count: int, what: str) -> Array:
        return finite_values(self.name, values, count, what)

    # -- modes ---------------------------------------------------------------------------------------------

    def _hold(self, a: int, reference: float) -> None:
        """Let the reference of an axis rest."""
        A = self._A
        A[at.POSITION_REFERENCE, a] = A[at.POSITION_TARGET, a] = A[at.GOAL, a] = A[at.GENERATED, a] = reference
        A[at.MOVING, a] = A[at.GENERATED_SPEED, a] = A[at.VELOCITY_REFERENCE, a] = 0.0
        A[at.VELOCITY_TARGET, a] = A[at.RAMP, a] = 0.0
        A[at.MOTION_DONE, a] = 1.0

    def _here(self, a: int) -> float:
        """Return the position of an axis inside its limits; on a compliant joint that of the equilibrium."""
        A = self._A
        x = A[at.POSITION, a]
        i = self._lead[a]
        if i >= 0 and self._drives[i].kind == at.SPRING:
            x = self._buffers[3][self._drives[i].control] - A[at.ZERO, a]
        return float(min(max(x, A[at.LOW, a]), A[at.HIGH, a]))

    def _enter(self, a: int, mode: ControlMode) -> None:
        """Reset the controllers and references of an axis for a mode."""
        A = self._A
        self._forget(a)
        self._hold(a, self._here(a))
        A[at.COMMAND_TIME, a] = self._engine.time_ns * 1e-9
        torque = mode in (ControlMode.TORQUE, ControlMode.PWM, ControlMode.CURRENT)
        A[at.TORQUE_REFERENCE, a] = A[at.TORQUE, a] if torque else 0.0
        unit = A[at.TORQUE_PER_DUTY, a]
        A[at.COMMANDED_DUTY, a] = A[at.COMMANDED_CURRENT, a] = A[at.TORQUE_REFERENCE, a] / unit
        A[at.CONTROL_MODE, a] = mode
        A[at.AMPLIFIER, a] = 0.0 if mode == ControlMode.IDLE else 1.0

    def _forget(self, a: int) -> None:
        self._J[at.J_INTEGRAL, self._J[at.AXIS] == a] = 0.0

    @request
    def set_control_mode(self, mode: str | Sequence[str], axes: Axes = None) -> None:
        """Switch the control mode of axes; the axes of a coupling switch together.

        In a hardware fault only ``force_idle`` has an effect; other modes are ignored, as on the real board.

        Raises:
            DeviceError: a mode that cannot be asked for, or that a joint cannot take.
        """
        chosen = self._select(axes, works=True)
        modes = [mode] * len(chosen) if isinstance(mode, str) else list(mode)
        if len(modes) != len(chosen):
            raise DeviceError(f"{self.name}: {len(modes)} modes for {len(chosen)} axes", field="mode")
        for a, name in zip(chosen, modes):
            if name not in REQUESTED_MODES:
                raise DeviceError(f"{self.name}: the mode is {name!r}; {nearest(name, REQUESTED_MODES)}", field="mode")
            if not self.can(int(a), REQUESTED_MODES[name]):
                raise DeviceError(
                    f"{self.name}: the axis {self.axes[a]!r} cannot be in mode {name!r}: its compliant joint follows "
                    "positions only",
                    field="mode",
                )
        A = self._A
        for first, name in zip(chosen, modes):
            new = REQUESTED_MODES[name]
            for a in self._groups[first]:
                old = int(A[at.CONTROL_MODE, a])
                if old == ControlMode.HARDWARE_FAULT and name != "force_idle":
                    continue
                if old != new:
                    self._enter(a, new)
                if name == "force_idle":
                    A[at.FAULT, a] = at.FAULT_NONE

    def can(self, axis: int, mode: ControlMode) -> bool:
        """Return whether an axis can be in a mode: a joint that follows positions only takes no torque."""
        if mode not in (ControlMode.TORQUE, ControlMode.CURRENT, ControlMode.PWM):
            return True
        return self._lead[axis] < 0 or self._drives[self._lead[axis]].gives_torque

    @request
    def set_interaction_mode(self, mode: str | Sequence[str], axes: Axes = None) -> None:
        """Switch axes between ``stiff`` and ``compliant``; those of compliant joints are compliant for good.

        Raises:
            DeviceError: another mode, or ``stiff`` on a compliant joint.
        """
        chosen = self._select(axes, works=True)
        modes = [mode] * len(chosen) if isinstance(mode, str) else list(mode)
        if len(modes) != len(chosen):
            raise DeviceError(f"{self.name}: {len(modes)} modes for {len(chosen)} axes", field="mode")
        for a, name in zip(chosen, modes):
            if name not in ("stiff", "compliant"):
                raise DeviceError(
                    f"{self.name}: the interaction mode is {name!r}; must be stiff or compliant", field="mode"
                )
            if name == "stiff" and a in self._springs:
                raise DeviceError(
                    f"{self.name}: the axis {self.axes[a]!r} has a compliant joint, which cannot be stiff; raise its "
                    "stiffness with set_impedance",
                    field="mode",
                )
        for first, name in zip(chosen, modes):
            new = InteractionMode[name.upper()]
            for a in self._groups[first]:
                if self._A[at.INTERACTION_MODE, a] == new:
                    continue
                self._A[at.INTERACTION_MODE, a] = new
                mode_now = ControlMode(int(self._A[at.CONTROL_MODE, a]))
                if mode_now != ControlMode.HARDWARE_FAULT:
                    self._enter(a, mode_now)

    # -- references ----------------------------------------------------------------------------------------

    def _refer(self, kind: str, chosen: np.ndarray, values: Array, *, strict: bool) -> None:
        """Take references; with ``strict`` refuse them where an axis is in another control mode."""
        A = self._A
        modes = REFERENCES[kind][2]
        for a in chosen:
            if int(A[at.CONTROL_MODE, a]) not in modes and strict:
                names = " or ".join([m.name.lower() for m in modes])
                now = ControlMode(int(A[at.CONTROL_MODE, a])).name.lower()
                raise DeviceError(
                    f"{self.name}: a {kind} reference arrived for the axis {self.axes[a]!r} in mode {now}; must be in "
                    f"mode {names}",
                    field="mode",
                )
        taken = False
        now_s = self._engine.time_ns * 1e-9
        for a, value in zip(chosen, values):
            mode = int(A[at.CONTROL_MODE, a])
            if mode not in modes:
                continue
            taken = True
            if kind == "position":
                self._begin(int(a), float(value))
            elif kind == "position_direct":
                goal = min(max(value, A[at.LOW, a]), A[at.HIGH, a])
                A[at.POSITION_REFERENCE, a] = A[at.POSITION_TARGET, a] = goal
            elif kind in ("velocity", "velocity_direct"):
                most = A[at.MAX_SPEED, a]
                A[at.VELOCITY_TARGET, a] = min(max(value, -most), most)
                A[at.COMMAND_TIME, a] = now_s
            elif kind == "torque":
                A[at.TORQUE_REFERENCE, a] = value
            elif kind == "current":
                A[at.COMMANDED_CURRENT, a] = min(max(value, -A[at.MAX_CURRENT, a]), A[at.MAX_CURRENT, a])
                A[at.TORQUE_REFERENCE, a] = A[at.COMMANDED_CURRENT, a] * A[at.TORQUE_PER_DUTY, a]
            else:
                A[at.COMMANDED_DUTY, a] = min(max(value, -A[at.MAX_DUTY, a]), A[at.MAX_DUTY, a])
                A[at.TORQUE_REFERENCE, a] = A[at.COMMANDED_DUTY, a] * A[at.TORQUE_PER_DUTY, a]
        if not taken and not strict:
            self._counters.stale_commands += 1
            self._counters.last_error = f"a {kind} reference came while none of its axes is in such a control mode"

    def _begin(self, a: int, target: float) -> None:
        A = self._A
        if A[at.SPEED, a] <= 0.0 or A[at.SLOPE, a] <= 0.0:
            raise DeviceError(
                f"{self.name}: the trajectory speed of {self.axes[a]!r} is {A[at.SPEED, a]:g}; must be > 0",
                field="speed",
            )
        goal = min(max(target, A[at.LOW, a]), A[at.HIGH, a])
        speed = A[at.GENERATED_SPEED, a] if A[at.MOVING, a] else 0.0
        self._plan(A, a, goal, speed, self._dt)

    @request
    def refer(self, kind: str, values: Numbers, axes: Axes = None) -> None:
        """Give references of a kind of `REFERENCES` to axes, all of which must be in a control mode that takes them.

        Torques, currents and duty cycles are exceptions: they are taken in every mode, and have no effect in others.

        Raises:
            DeviceError: an unknown kind, an axis in another mode, or numbers that are not finite.
        """
        if kind not in REFERENCES:
            raise DeviceError(f"{self.name}: the reference is {kind!r}; {nearest(kind, REFERENCES)}", field="kind")
        chosen = self._select(axes, works=True)
        array = self._values(values, len(chosen), kind)
        self._counters.commands += 1
        self._refer(kind, chosen, array, strict=kind not in ("torque", "current", "pwm"))

    @request
    def move(self, targets: Numbers, axes: Axes = None) -> None:
        """Begin trajectories to targets [rad or m], which are brought inside the limits."""
        self.refer("position", targets, axes)

    @request
    def move_relative(self, deltas: Numbers, axes: Axes = None) -> None:
        """Begin trajectories to targets relative to the measured positions [rad or m]."""
        chosen = self._select(axes, works=True)
        array = self._values(deltas, len(chosen), "deltas")
        self.refer("position", self._A[at.POSITION, chosen] + array, [int(a) for a in chosen])

    @request
    def stop(self, axes: Axes = None) -> None:
        """Stop axes: the target becomes the present position, the speed 0."""
        A = self._A
        for a in self._select(axes, works=True):
            mode = int(A[at.CONTROL_MODE, a])
            if mode in (ControlMode.POSITION, ControlMode.POSITION_DIRECT, ControlMode.MIXED):
                self._hold(int(a), self._here(int(a)))
            elif mode in at.WATCHED:
                A[at.VELOCITY_TARGET, a] = A[at.RAMP, a] = 0.0

    @request
    def motion_done(self, axes: Axes = None) -> bool:
        """Return whether no trajectory of these axes is under way."""
        return bool((self._A[at.MOTION_DONE, self._select(axes)] > 0.5).all())

    def _set_row(self, row: int, values: Numbers, axes: Axes, what: str, *, above: float | None = None) -> None:
        chosen = self._select(axes)
        array = self._values(values, len(chosen), what)
        if above is not None and (array <= above).any():
            raise DeviceError(f"{self.name}: {what} is {array.tolist()}; must be > {above:g}", field=what)
        self._A[row, chosen] = array

    @request
    def set_speed(self, values: Numbers, axes: Axes = None) -> None:
        """Set the speed of trajectories [rad/s or m/s], at most the speed limit."""
        self._set_row(at.SPEED, values, axes, "speed", above=0.0)
        np.minimum(self._A[at.SPEED], self._A[at.MAX_SPEED], out=self._A[at.SPEED])

    @request
    def set_acceleration(self, values: Numbers, axes: Axes = None) -> None:
        """Set the acceleration of trajectories and of the ramps of speed [rad/s^2 or m/s^2]."""
        self._set_row(at.SLOPE, values, axes, "acceleration", above=0.0)

    @request
    def set_trajectory(self, kind: str, axes: Axes = None) -> None:
        """Choose how axes move to their targets: minimum_jerk, constant_speed, trapezoidal_speed."""
        if kind not in TRAJECTORIES:
            raise DeviceError(f"{self.name}: the trajectory is {kind!r}; {nearest(kind, TRAJECTORIES)}", field="kind")
        chosen = self._select(axes)
        if not self.motion_done([int(a) for a in chosen]):
            raise DeviceError(f"{self.name}: the trajectory cannot change while an axis moves", field="kind")
        self._A[at.KIND, chosen] = float(TRAJECTORIES.index(kind))

    # -- limits --------------------------------------------------------------------------------------------

    @request
    def set_position_limits(self, axis: int, low: float, high: float) -> None:
        """Set the limits of an axis [rad or m]."""
        chosen = self._select(axis)
        low, high = self._values([low, high], 2, "limits")
        if low > high:
            raise DeviceError(f"{self.name}: the limits are {low:g} to {high:g}; must be in order", field="limits")
        self._A[at.LOW, chosen], self._A[at.HIGH, chosen] = low, high

    @request
    def set_speed_limit(self, axis: int, high: float) -> None:
        """Set the largest speed of an axis [rad/s or m/s]."""
        self._set_row(at.MAX_SPEED, high, axis, "speed limit", above=0.0)
        np.minimum(self._A[at.SPEED], self._A[at.MAX_SPEED], out=self._A[at.SPEED])

    # -- encoders ------------------------------------------------------------------------------------------

    def _shift(self, a: int, by: float) -> None:
        """Count positions of an axis from another zero; what it does and where it may be stay the same."""
        A = self._A
        A[at.ZERO, a] += by
        A[_POSITION_ROWS, a] -= by

    @request
    def set_encoder(self, values: Numbers, axes: Axes = None) -> None:
        """Let the encoders of axes read these positions [rad or m] now; the axes do not move."""
        chosen = self._select(axes, works=True)
        array = self._values(values, len(chosen), "encoder")
        for a, value in zip(chosen, array):
            self._shift(int(a), float(self._A[at.POSITION, a] - value))

    @request
    def reset_encoder(self, axes: Axes = None) -> None:
        """Let the encoders of axes read 0 now."""
        chosen = self._select(axes, works=True)
        self.set_encoder(np.zeros(len(chosen)), [int(a) for a in chosen])

    @request
    def set_motor_encoder(self, values: Numbers, motors: Axes = None) -> None:
        """Let the encoders of motors read these positions [rad or m] now."""
        chosen = self._select(motors, works=True)
        array = self._values(values, len(chosen), "motor encoder")
        self._A[at.MOTOR_ZERO, chosen] += self._A[at.MOTOR_POSITION, chosen] - array
        self._A[at.MOTOR_POSITION, chosen] = array

    @request
    def reset_motor_encoder(self, motors: Axes = None) -> None:
        """Let the encoders of motors read 0 now."""
        chosen = self._select(motors, works=True)
        self.set_motor_encoder(np.zeros(len(chosen)), [int(a) for a in chosen])

    # -- impedance -----------------------------------------------------------------------------------------

    @request
    def set_impedance(self, axis: int, stiffness: float, damping: float) -> None:
        """Set stiffness [N m/rad or N/m] and damping [N m s/rad or N s/m] of an axis in compliant interaction.

        On a compliant joint the stiffness is that of its springs, set through the preset of its motors; the damping has
        no effect there.

        Raises:
            DeviceError: a value outside `impedance_limits`, or a compliant joint whose stiffness is fixed.
        """
        (a,) = self._select(axis)
        k, d = self._impedance_within(int(a), stiffness, damping)
        if a in self._springs:
            table = self._stiffness_of[int(a)]
            if table is not None:
                presets, values = table
                order = np.argsort(values)
                self._J[at.PRESET, self._lead[a]] = float(np.interp(k, values[order], presets[order]))
        self._A[at.STIFFNESS, a], self._A[at.DAMPING, a] = k, d

    def _impedance_within(self, a: int, stiffness: float, damping: float) -> tuple[float, float]:
        """Return stiffness and damping of an axis, or raise where they are outside its limits."""
        k, d = self._values([stiffness, damping], 2, "impedance")
        low, high, least, most = self.impedance_limits(a)
        slack = 1e-9 * max(1.0, high)
        if not (low - slack <= k <= high + slack and least <= d <= most):
            raise DeviceError(
                f"{self.name}: the impedance of {self.axes[a]!r} is {k:g}, {d:g}; stiffness must be {low:g} to "
                f"{high:g}, damping {least:g} to {most:g}",
                field="impedance",
            )
        return float(k), float(d)

    def impedance(self, axis: int) -> tuple[float, float]:
        """Return stiffness and damping of an axis; on a compliant joint its stiffness of now."""
        (a,) = self._select(axis)
        if a in self._springs:
            return float(self._shown("stiffness")[a]), float(self._A[at.DAMPING, a])
        return float(self._A[at.STIFFNESS, a]), float(self._A[at.DAMPING, a])

    def impedance_limits(self, axis: int) -> tuple[float, float, float, float]:
        """Return the smallest and largest stiffness and damping of an axis."""
        (a,) = self._select(axis)
        d = self.description
        each = [self._per_axis(v, 0.0)[a] for v in (d.min_stiffness, d.max_stiffness, d.min_damping, d.max_damping)]
        if a in self._springs:
            table = self._stiffness_of[int(a)]
            if table is None:
                now = float(self._shown("stiffness")[a])
                each[:2] = [now, now]
            else:
                each[:2] = [float(table[1].min()), float(table[1].max())]
        return tuple(float(v) for v in each)  # type: ignore[return-value]

    @request
    def set_torque_offset(self, axis: int, offset: float) -> None:
        """Set the torque that the impedance law of an axis adds [N m or N]."""
        self._set_row(at.TORQUE_OFFSET, offset, axis, "offset")

    def _shown(self, field: str) -> Array:
        """Return a quantity of the compliant joints at each axis, NaN elsewhere."""
        from pliant.laws.layout import OUT

        out = np.full(len(self.axes), np.nan)
        for a, i in enumerate(self._lead):
            if i >= 0 and self._drives[i].row >= 0:
                out[a] = self._buffers[4][self._drives[i].row, OUT[field]]
        return out

    # -- controllers ---------------------------------------------------------------------------------------

    @request
    def set_gains(self, loop: str, axes: Axes = None, **gains: float) -> None:
        """Set parameters of a controller: kp, kd, ki, max_integral, max_output, offset and so on, in SI.

        Raises:
            DeviceError: an unknown controller or parameter, a limit that is negative, or a number that is not finite.
        """
        g, chosen = self._loop(loop), self._select(axes)
        names = at.gain_names()
        for name, value in gains.items():
            if name not in names:
                raise DeviceError(f"{self.name}: no gain {name!r}; {nearest(name, names)}", field=name)
            self._values([value], 1, name)
            if name.startswith("max_") and value < 0.0:
                raise DeviceError(f"{self.name}: {name} is {value:g}; must be >= 0", field=name)
        for name, value in gains.items():
            self._A[g + names.index(name), chosen] = float(value)
        for i, drive in enumerate(self._drives):
            # A servo of the model follows its own law until a client gives it other gains.
            other = bool({"kp", "kd", "ki"} & set(gains))
            if g == self._loop(Loop.POSITION) and drive.kind == at.SERVO and other and self._J[at.AXIS, i] in chosen:
                self._J[at.DRIVE, i] = at.FORCE

    def gains(self, loop: str, axis: int) -> dict[str, float]:
        """Return the parameters of a controller."""
        g, (a,) = self._loop(loop), self._select(axis)
        return {name: float(self._A[g + k, a]) for k, name in enumerate(at.gain_names())}

    def controller(self, row: str, loop: str, axes: Axes = None) -> Array:
        """Return one row of a controller's live state: error, output, feedforward, error_limit, enabled."""
        g, chosen = self._loop(loop), self._select(axes)
        rows = {
            "error": at.ERROR,
            "output": at.OUTPUT,
            "feedforward": at.FEEDFORWARD,
            "error_limit": at.ERROR_LIMIT,
            "enabled": at.ENABLED,
            "offset": at.OFFSET,
        }
        return self._A[g + rows[row], chosen].copy()

    @request
    def set_controller(self, row: str, loop: str, values: Numbers, axes: Axes = None) -> None:
        """Set one row of controllers: offset or feedforward [N m], error_limit (0 for none), enabled (0 or 1)."""
        rows = {
            "feedforward": at.FEEDFORWARD,
            "error_limit": at.ERROR_LIMIT,
            "enabled": at.ENABLED,
            "offset": at.OFFSET,
        }
        if row not in rows:
            raise DeviceError(f"{self.name}: a controller has no {row!r}; {nearest(row, rows)}", field=row)
        chosen = self._select(axes)
        array = self._values(values, len(chosen), row)
        if row == "error_limit" and (array < 0.0).any():
            raise DeviceError(f"{self.name}: the error limit is {array.tolist()}; must be >= 0", field=row)
        self._A[self._loop(loop) + rows[row], chosen] = array

    @request
    def reset_controller(self, axes: Axes = None) -> None:
        """Forget the integral parts of the controllers of axes."""
        for a in self._select(axes):
            self._forget(int(a))

    def controller_reference(self, loop: str, axes: Axes = None) -> Array:
        """Return what a controller of axes follows, in its units: rad or m, rad/s or m/s, N m, A."""
        chosen = self._select(axes)
        self._loop(loop)
        row = {
            "position": at.POSITION_REFERENCE,
            "velocity": at.VELOCITY_REFERENCE,
            "torque": at.TORQUE_REFERENCE,
            "current": at.COMMANDED_CURRENT,
        }[loop]
        return self._A[row, chosen].copy()

    @request
    def set_controller_reference(self, loop: str, values: Numbers, axes: Axes = None) -> None:
        """Give a controller its reference; it has an effect where the control mode follows references of its kind.

        An axis in position mode ends its trajectory and follows a reference of position at once.
        """
        kinds = {"position": "position_direct", "velocity": "velocity", "torque": "torque", "current": "current"}
        self._loop(loop)
        chosen = self._select(axes, works=True)
        array = self._values(values, len(chosen), "references")
        if loop == "position":
            for a, value in zip(chosen, array):
                if self._A[at.CONTROL_MODE, a] == ControlMode.POSITION:
                    self._hold(int(a), float(min(max(value, self._A[at.LOW, a]), self._A[at.HIGH, a])))
        self._refer(kinds[loop], chosen, array, strict=False)

    # -- motors --------------------------------------------------------------------------------------------

    @request
    def enable_amplifier(self, axis: int, on: bool = True) -> None:
        """Switch the amplifier of an axis on, which leads to position mode, or off, which leads to idle."""
        self.set_control_mode("position" if on else "idle", axis)

    @request
    def set_motor(self, what: str, axis: int, value: float) -> None:
        """Set a constant of a motor: max_current, nominal_current, peak_current, max_duty, temperature_limit,
        counts_per_revolution, gear_ratio, torque_per_duty.

        Raises:
            DeviceError: no such constant, or a value that is not above 0.
        """
        if what not in _MOTOR:
            raise DeviceError(f"{self.name}: a motor has no {what!r}; {nearest(what, _MOTOR)}", field=what)
        (a,) = self._select(axis)
        (number,) = self._values([value], 1, what)
        if number <= 0.0:
            raise DeviceError(f"{self.name}: {what} is {number:g}; must be > 0", field=what)
        if what == "max_duty" and number > 100.0:
            raise DeviceError(f"{self.name}: {what} is {number:g}; must be <= 100 %", field=what)
        array, row = self._motor_row(what)
        array[row, a] = number

    def motor(self, what: str, axes: Axes = None) -> Array:
        """Return a constant of motors, by the names of `set_motor`."""
        chosen = self._select(axes)
        array, row = self._motor_row(what)
        return array[row, chosen].copy()

    def _motor_row(self, what: str) -> tuple[Array, int]:
        row = _MOTOR[what]
        return (self._A, row) if row >= 0 else (self._static, -row - 1)

    @request
    def set_motor_parameters(self, axis: int, parameters: Sequence[float]) -> None:
        """Keep the nine parameters of a motor's torque model, which an ideal source of torque does not need."""
        (a,) = self._select(axis)
        self._parameters[:, a] = self._values(parameters, MOTOR_PARAMETERS, "motor parameters")

    def motor_parameters(self, axis: int) -> tuple[float, ...]:
        """Return the nine parameters of a motor's torque model."""
        (a,) = self._select(axis)
        return tuple(self._parameters[:, a].tolist())

    @request
    def set_brake(self, axis: int, on: bool, automatic: bool = False) -> None:
        """Close or open the brake of an axis, or let it close by itself while the axis has no torque."""
        (a,) = self._select(axis, works=True)
        self._A[at.BRAKE_AUTO if automatic else at.BRAKE_MANUAL, a] = float(bool(on))

    def brake(self, axis: int) -> tuple[bool, bool]:
        """Return whether the brake of an axis is closed, and whether it closes by itself."""
        (a,) = self._select(axis)
        A = self._A
        off = A[at.CONTROL_MODE, a] in (ControlMode.IDLE, ControlMode.HARDWARE_FAULT)
        auto = bool(A[at.BRAKE_AUTO, a])
        return bool(A[at.BRAKE_MANUAL, a]) or (auto and bool(off)), auto

    # -- calibration ---------------------------------------------------------------------------------------

    @request
    def calibrate(self, axes: Axes = None) -> None:
        """Calibrate axes: a simulated encoder knows its zero, so this only checks that the axes exist."""
        self._select(axes)

    @request
    def home(self, axes: Axes = None) -> None:
        """Move axes to their initial positions."""
        chosen = [int(a) for a in self._select(axes, works=True)]
        self.set_control_mode("position", chosen)
        start = self._per_axis(self.description.initial_positions, 0.0)
        self.refer("position", start[chosen] - self._A[at.ZERO, chosen], chosen)

    # -- remote variables ----------------------------------------------------------------------------------

    def remote_variable(self, name: str) -> Array:
        """Return a remote variable, one number an axis, in SI.

        Raises:
            DeviceError: there is no such variable.
        """
        if name in _VARIABLE_ROWS:
            return self._A[_VARIABLE_ROWS[name]].copy()
        if name in ("stiffness", "equilibrium"):
            return np.nan_to_num(self._shown(name))
        if name == "stiffness_preset":
            return self._each_joint(lambda i, _: float(self._J[at.PRESET, i]))
        if name not in _HARDWARE:
            raise DeviceError(
                f"{self.name}: there is no remote variable {name!r}; {nearest(name, REMOTE_VARIABLES)}", field="name"
            )
        return self._each_joint(_HARDWARE[name][0](self._model))

    def _each_joint(self, read: Callable[[int, Drive], float]) -> Array:
        return np.array([read(i, self._drives[i]) if i >= 0 else 0.0 for i in self._lead])

    @request
    def set_remote_variable(self, name: str, values: Sequence[float]) -> None:
        """Set a remote variable, one number an axis, in SI; the hardware's are those of the model.

        Raises:
            DeviceError: there is no such variable, it is read only, or a number does not fit.
        """
        if name not in REMOTE_VARIABLES or name in _READ_ONLY:
            known = [v for v in REMOTE_VARIABLES if v not in _READ_ONLY]
            raise DeviceError(
                f"{self.name}: no remote variable {name!r} can be set; {nearest(name, known)}", field="name"
            )
        array = self._values(values, len(self.axes), name)
        signed = name in ("hardwareHiStop", "hardwareLowStop", "yarp_jntMaxPos", "yarp_jntMinPos", "VelocityTimeout")
        if not signed and (array < 0.0).any():
            raise DeviceError(f"{self.name}: {name} is {array.tolist()}; must be >= 0", field=name)
        if name in ("yarp_kPWM", "yarp_jntMaxVel") and (array <= 0.0).any():
            raise DeviceError(f"{self.name}: {name} is {array.tolist()}; must be > 0", field=name)
        self._select(None, works=True)
        if name == "stiffness":
            for a in self._springs:  # all of them before the first is changed
                self._impedance_within(a, float(array[a]), float(self._A[at.DAMPING, a]))
            for a in self._springs:
                self.set_impedance(a, float(array[a]), float(self._A[at.DAMPING, a]))
        elif name == "stiffness_preset":
            for a in self._springs:
                bounds = self._drives[self._lead[a]].preset_range
                if bounds is not None:
                    self._J[at.PRESET, self._lead[a]] = min(max(array[a], bounds[0]), bounds[1])
        elif name in _VARIABLE_ROWS:
            if name == "yarp_jntMaxPos" and (array < self._A[at.LOW]).any():
                raise DeviceError(f"{self.name}: {name} is below yarp_jntMinPos", field=name)
            if name == "yarp_jntMinPos" and (array > self._A[at.HIGH]).any():
                raise DeviceError(f"{self.name}: {name} is above yarp_jntMaxPos", field=name)
            self._A[_VARIABLE_ROWS[name]] = array
            for loop, gain in (("kp", "kp"), ("kd", "kd"), ("ki", "ki")):
                if name.endswith(f"pos_{loop}"):
                    for a in range(len(self.axes)):
                        self.set_gains("position", a, **{gain: float(array[a])})
        else:
            write = _HARDWARE[name][1](self._model)
            for a, i in enumerate(self._lead):
                if i >= 0:
                    write(self._drives[i], float(array[a]))

    # -- what bridges read ---------------------------------------------------------------------------------

    def read_row(self, name: str, axes: Axes = None) -> Array:
        """Return one quantity of axes as it is now; the loop thread calls this.

        Args:
            name: a field of the samples, or one of speed, acceleration_limit, low, high, max_speed, max_torque,
                torque_offset, velocity_target, duty_reference, current_reference, amplifier.
            axes: which axes.
        """
        return self._A[_ROWS[name], self._select(axes)].copy()

    @property
    def time(self) -> float:
        """Time of the measurements [s]."""
        return self._engine.time_ns / 1e9

    def mode_of(self, axis: int) -> ControlMode:
        """Return the control mode of an axis."""
        (a,) = self._select(axis)
        return ControlMode(int(self._A[at.CONTROL_MODE, a]))

    def interaction_of(self, axis: int) -> InteractionMode:
        """Return the interaction mode of an axis."""
        (a,) = self._select(axis)
        return InteractionMode(int(self._A[at.INTERACTION_MODE, a]))

    def last_fault(self, axis: int) -> tuple[int, str]:
        """Return code and message of the last fault of an axis."""
        (a,) = self._select(axis)
        code = int(self._A[at.FAULT, a])
        return code, at.FAULTS[code]

    def is_fake(self, axis: int) -> bool:
        """Return whether an axis is on a board without joints."""
        self._select(axis)
        return self.description.fake

    def supply_voltage(self, axes: Axes = None) -> Array:
        """Return the voltage that supplies the amplifier of axes [V]."""
        return np.full(len(self._select(axes)), self.description.supply_voltage)

    @request
    def call(self, function: Callable[[ControlBoardDevice], Any]) -> Any:
        """Run a function on the board in the loop's thread: how a bridge answers what its clients ask.

        Args:
            function: takes the board; what it returns or raises is given to the caller.
        """
        return function(self)


_ROWS = {
    **{name: k for k, name in enumerate(at.SAMPLE_NAMES)},
    "speed": at.SPEED,
    "acceleration_limit": at.SLOPE,
    "low": at.LOW,
    "high": at.HIGH,
    "max_speed": at.MAX_SPEED,
    "max_torque": at.MAX_TORQUE,
    "torque_offset": at.TORQUE_OFFSET,
    "velocity_target": at.VELOCITY_TARGET,
    "duty_reference": at.COMMANDED_DUTY,
    "current_reference": at.COMMANDED_CURRENT,
    "amplifier": at.AMPLIFIER,
}
_POSITION_ROWS = [
    at.POSITION,
    at.POSITION_REFERENCE,
    at.POSITION_TARGET,
    at.START,
    at.GOAL,
    at.GENERATED,
    at.LOW,
    at.HIGH,
    at.BRAKE_POSITION,
]
"""Positions, which count from the zero of the encoder."""
_MOTOR = {
    "max_current": at.MAX_CURRENT,
    "max_duty": at.MAX_DUTY,
    "gear_ratio": at.GEAR,
    "torque_per_duty": at.TORQUE_PER_DUTY,
    "nominal_current": -1,
    "peak_current": -2,
    "temperature_limit": -3,
    "counts_per_revolution": -4,
}
"""Constant of a motor -> row of the axes, or -1 - row of what is only kept."""
_POSITION_LOOP = at.END + int(Loop.POSITION) * at.GAINS
_VARIABLE_ROWS = {
    "hardwareEffortLimit": at.MAX_TORQUE,
    "hardwareVelocityLimit": at.MAX_SPEED,
    "yarp_jntMaxVel": at.MAX_SPEED,
    "yarp_jntMaxPos": at.HIGH,
    "yarp_jntMinPos": at.LOW,
    "yarp_kPWM": at.TORQUE_PER_DUTY,
    "SHORTCUT_all_pos_kp": _POSITION_LOOP + at.KP,
    "SHORTCUT_all_pos_kd": _POSITION_LOOP + at.KD,
    "SHORTCUT_all_pos_ki": _POSITION_LOOP + at.KI,
    "VelocityTimeout": at.TIMEOUT,
}
Reader = Callable[[Any], Callable[[int, Drive], float]]
Writer = Callable[[Any], Callable[[Drive, float], None]]


def _range_reader(end: int) -> Reader:
    return lambda model: lambda i, drive: (drive.low, drive.high)[end] if math.isfinite(drive.low) else 0.0


def _dof_reader(field: str) -> Reader:
    return lambda model: lambda i, drive: float(np.ravel(getattr(model, field)[drive.v])[0])


def _dof_writer(field: str) -> Writer:
    def write(model: Any) -> Callable[[Drive, float], None]:
        def put(drive: Drive, value: float) -> None:
            array = getattr(model, field)
            array[drive.v] = value if array.ndim == 1 else (value, *array[drive.v][1:])

        return put

    return write


def _refuse_writer(model: Any) -> Callable[[Drive, float], None]:
    def put(drive: Drive, value: float) -> None:
        raise DeviceError("the stops of the hardware are part of the model; set yarp_jntMaxPos, yarp_jntMinPos")

    return put


_HARDWARE: dict[str, tuple[Reader, Writer]] = {
    "hardwareDamping": (_dof_reader("dof_damping"), _dof_writer("dof_damping")),
    "hardwareFriction": (_dof_reader("dof_frictionloss"), _dof_writer("dof_frictionloss")),
    "hardwareHiStop": (_range_reader(1), _refuse_writer),
    "hardwareLowStop": (_range_reader(0), _refuse_writer),
}


def _is_slide(robot: Robot, joint: str) -> bool:
    import mujoco

    found = next((j for j in robot.spec.joints if j.name == joint), None)
    return found is not None and found.type == mujoco.mjtJoint.mjJNT_SLIDE
