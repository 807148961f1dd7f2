"""The control board as a device: its tables, its firmware, and its requests by subject.

Inside, positions are in radians or metres, and torques in N m or N. The mailbox takes references for all axes at once;
requests take them for some axes, and do everything else that a client of such a board can ask for. They are functions
of the board in modules of their own: `modes`, `references`, `stiffness`, `controllers`, `variables`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from pliant.base.errors import DeviceError
from pliant.base.numerics import DEGREE
from pliant.control_boards import controllers, modes, references, stiffness, variables
from pliant.control_boards import layout as at
from pliant.control_boards.description import TRAJECTORIES, ControlBoard
from pliant.control_boards.drives import find_drive
from pliant.control_boards.layout import ControlMode, InteractionMode, Loop, loop_row
from pliant.control_boards.state import Array, BoardState, Buffers
from pliant.devices.base import Command, request
from pliant.devices.kinds import device_for
from pliant.engine.base import Engine, mujoco_state

T = TypeVar("T")


@device_for(ControlBoard)
class ControlBoardDevice(BoardState):
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

    # -- the loop thread ---------------------------------------------------------------------------------

    def _connect(self, engine: Engine) -> None:
        from pliant.control_boards import kernels

        state = mujoco_state(engine, self.name)
        description = self.description
        self._step, self.plan = kernels.step, kernels.plan
        self.drives = [
            find_drive(self.name, joint, engine, state, self._actuators) for joint in description.joint_names
        ]
        self.model = state.model
        data = state.data
        self.buffers = Buffers(data.qpos, data.qvel, data.qfrc_actuator, data.ctrl, state.observed)
        self.step_s = self.period_ns * 1e-9
        index = {joint: i for i, joint in enumerate(description.joint_names)}
        self.lead_joints = [index.get(joint, -1) for joint in self._lead_names()]
        self._origins = np.zeros(len(index))
        self._coupled_axes: dict[int, int] = {}
        if description.couplings:
            self.coupling_maps = self._couple(index)
        self._connect_joints()
        self.springs = [a for a, i in enumerate(self.lead_joints) if i >= 0 and self.drives[i].kind == at.SPRING]
        self.stiffness_tables = {
            a: stiffness.tabulate_stiffness(self.drives[self.lead_joints[a]]) for a in self.springs
        }

    def _couple(self, index: Mapping[str, int]) -> Array:
        """Return the maps of the couplings, by the index of each joint; keep origins, and an axis of each joint."""
        couplings = self.description.couplings
        to_joints = np.zeros((len(index), len(self.axes)))
        coupled = {axis for c in couplings for axis in c.axes}
        for a, axis in enumerate(self.axes):
            if axis not in coupled:
                to_joints[self.lead_joints[a], a] = 1.0
        for c in couplings:
            rows = np.array([index[joint] for joint in c.joints])
            columns = np.array([self.axes.index(axis) for axis in c.axes])
            to_joints[np.ix_(rows, columns)] = c.rows()
            self._origins[rows] = c.origin()
            # A joint that stands still belongs to an axis too, whose mode and gains it has.
            self._coupled_axes |= zip(rows.tolist(), columns[np.argmax(np.abs(c.rows()), axis=1)].tolist(), strict=True)
        if np.linalg.matrix_rank(to_joints) < len(self.axes):
            raise DeviceError(f"{self.name}: the couplings cannot be inverted", field="couplings")
        return np.array([to_joints, np.linalg.pinv(to_joints).T], dtype=np.float64)

    def _connect_joints(self) -> None:
        """Write the constants of the joints: their drives, and the axes that they take gains from and show."""
        table = self.joint_table
        table[:] = 0.0
        table[at.MOTOR_AXIS] = -1.0
        for i, drive in enumerate(self.drives):
            drive.write(table, i)
            table[at.AXIS, i] = self._coupled_axes.get(i, -1)
            if table[at.AXIS, i] < 0:
                table[at.AXIS, i] = self.lead_joints.index(i)
        table[at.ORIGIN] = self._origins
        for a, i in enumerate(self.lead_joints):
            if i >= 0:
                table[at.MOTOR_AXIS, i] = a

    def _restart(self, rng: np.random.Generator) -> None:
        d, table = self.description, self.axis_table
        table[:] = 0.0
        self._restart_limits()
        self._restart_controllers()
        self._restart_joints()
        if d.fake:
            table[at.CONTROL_MODE] = ControlMode.NOT_CONFIGURED
            table[at.MOTION_DONE] = 1.0
        else:
            table[at.POSITION] = self._measured()
            table[at.POSITION_REFERENCE] = self.per_axis(d.initial_positions, table[at.POSITION])
            table[at.CONTROL_MODE] = ControlMode.POSITION
            table[at.AMPLIFIER] = 1.0
            for a in range(len(self.axes)):
                modes.hold(self, a, table[at.POSITION_REFERENCE, a])
            table[at.INTERACTION_MODE, self.springs] = InteractionMode.COMPLIANT
        self._fault_count = 0
        self._load_kernels()

    def _restart_limits(self) -> None:
        """Write limits, speeds and the constants of motors as they are described."""
        d, table = self.description, self.axis_table
        slide = np.array(self.slides)
        table[at.LOW], table[at.HIGH] = self._described_limits()
        wrong = np.flatnonzero(table[at.LOW] > table[at.HIGH])
        if wrong.size:
            a = int(wrong[0])
            raise DeviceError(
                f"{self.name}: position_min of {self.axes[a]!r} is {table[at.LOW, a]:g}, above position_max "
                f"{table[at.HIGH, a]:g}",
                field="position_min",
            )
        usual = np.where(slide, 0.010, 10.0 * DEGREE)
        table[at.MAX_SPEED] = self.per_axis(d.velocity_max, np.where(slide, 10.0, 100.0))
        table[at.SPEED] = np.minimum(self.per_axis(d.speed, usual), table[at.MAX_SPEED])
        table[at.SLOPE] = self.per_axis(d.acceleration, usual)
        table[at.MAX_TORQUE] = self.per_axis(d.max_torque, 0.0)
        table[at.STIFFNESS], table[at.DAMPING] = self.per_axis(d.stiffness, 0.0), self.per_axis(d.damping, 0.0)
        table[at.TORQUE_PER_DUTY] = self.per_axis(d.torque_per_duty, 1.0)
        table[at.GEAR] = self.per_axis(d.gear_ratio, 1.0)
        table[at.TIMEOUT] = d.velocity_timeout
        table[at.KIND] = float(TRAJECTORIES.index(d.trajectory))
        table[at.DIRECT] = float(d.velocity_control == "direct")
        table[at.TEMPERATURE] = d.temperature
        table[at.MAX_DUTY] = 100.0
        table[at.MAX_CURRENT] = table[at.MAX_TORQUE] / table[at.TORQUE_PER_DUTY]
        table[at.NOMINAL_CURRENT] = table[at.PEAK_CURRENT] = table[at.MAX_CURRENT]
        table[at.TEMPERATURE_LIMIT], table[at.COUNTS_PER_REVOLUTION] = 373.15, 360.0

    def _described_limits(self) -> tuple[Array, Array]:
        """Return the limits of positions: those of the description, else those of the joints."""
        d = self.description
        drives = [self.lead_drive(a) for a in range(len(self.axes))]
        lows = [drive.low if drive else -np.inf for drive in drives]
        highs = [drive.high if drive else np.inf for drive in drives]
        for axis in [axis for c in d.couplings for axis in c.axes]:
            a = self.axes.index(axis)
            weights = self.coupling_maps[1, :, a]
            moved = [(w, self.drives[i], self._origins[i]) for i, w in enumerate(weights) if w]
            ends = [(w * (drive.low - origin), w * (drive.high - origin)) for w, drive, origin in moved]
            lows[a], highs[a] = sum(min(e) for e in ends), sum(max(e) for e in ends)
        return self.per_axis(d.position_min, lows), self.per_axis(d.position_max, highs)

    def _restart_controllers(self) -> None:
        d, table = self.description, self.axis_table
        for loop in Loop:
            table[loop_row(loop) + at.ENABLED] = 1.0
            table[loop_row(loop) + at.MAX_OUTPUT] = table[at.MAX_TORQUE]
        for loop in (Loop.POSITION, Loop.VELOCITY):
            for k, name in enumerate(at.GAIN_NAMES):
                given = getattr(d, f"{loop.name.lower()}_{name}", ())
                if given:
                    table[loop_row(loop) + k] = self.per_axis(given, 0.0)
        if not d.position_kp:
            table[loop_row(Loop.POSITION) + at.KP] = 500.0

    def _restart_joints(self) -> None:
        joints, g = self.joint_table, loop_row(Loop.POSITION)
        joints[at.J_POSITION :] = 0.0
        joints[at.J_FRESH] = 1.0
        for i, drive in enumerate(self.drives):
            own_law = drive.kind == at.SERVO and not self.description.position_kp
            joints[at.DRIVE, i] = drive.kind if own_law or drive.kind == at.SPRING else at.FORCE
            a = int(joints[at.AXIS, i])
            if own_law:
                self.axis_table[g + at.KP, a] = -drive.bias[1] * drive.gear**2
                self.axis_table[g + at.KD, a] = -drive.bias[2] * drive.gear**2
                self.axis_table[g + at.KI, a] = 0.0
            if drive.second >= 0:
                joints[at.PRESET, i] = self.buffers.control[drive.second]
            joints[at.J_POSITION, i] = self.buffers.position[drive.q]

    def _load_kernels(self) -> None:
        """Call the kernels once on copies: reading them from the cache takes 0.3 s, which no step and no call may."""
        axes, joints, control = self.axis_table.copy(), self.joint_table.copy(), self.buffers.control.copy()
        self._step(axes, joints, self.coupling_maps, *self.buffers, 0.0, self.step_s)
        self.plan(axes, 0, float(axes[at.POSITION_REFERENCE, 0]), 0.0, self.step_s)
        self.buffers.control[:] = control

    def _measured(self) -> Array:
        q = np.array([self.buffers.position[drive.q] for drive in self.drives])
        return self.coupling_maps[1].T @ (q - self._origins) if self.coupling_maps.shape[2] else q

    def _latch(self, command: Command) -> None:
        for name, values in command.values.items():
            references.take_references(self, name, np.arange(len(self.axes)), np.asarray(values), strict=False)

    def _trip(self) -> None:
        """Let every axis that works hold its place, in position mode."""
        if not self.description.fake:
            idle = (ControlMode.IDLE, ControlMode.HARDWARE_FAULT)
            working = [a for a in range(len(self.axes)) if self.axis_table[at.CONTROL_MODE, a] not in idle]
            modes.set_control_mode(self, "position", working)
            references.stop(self, working)

    def _firmware(self) -> None:
        faults = self._step(self.axis_table, self.joint_table, self.coupling_maps, *self.buffers, self.now, self.step_s)
        if faults:
            self._fault_count += faults
            a = int(np.flatnonzero(self.axis_table[at.FAULT])[0])
            self._counters.last_error = f"{self.axes[a]}: {self.last_fault(a)[1]}"

    def _measure(self) -> dict[str, float | np.ndarray]:
        table = self.axis_table[: at.SAMPLED].copy()
        table.flags.writeable = False
        return dict(zip(at.SAMPLE_NAMES, table, strict=True))

    def health(self) -> Mapping[str, object]:
        """Return the counters of the device and the number of hardware faults."""
        return {**super().health(), "faults": self._fault_count}

    # -- requests and what they show, by subject -----------------------------------------------------------

    set_control_mode = modes.set_control_mode
    set_interaction_mode = modes.set_interaction_mode
    enable_amplifier = modes.enable_amplifier
    can = modes.can
    mode_of = modes.mode_of
    modes_now = modes.modes_now
    interaction_of = modes.interaction_of

    refer = references.refer
    move = references.move
    move_relative = references.move_relative
    stop = references.stop
    home = references.home
    motion_done = references.motion_done
    set_speed = references.set_speed
    set_acceleration = references.set_acceleration
    set_trajectory = references.set_trajectory
    set_position_limits = references.set_position_limits
    set_speed_limit = references.set_speed_limit
    set_encoder = references.set_encoder
    reset_encoder = references.reset_encoder
    set_motor_encoder = references.set_motor_encoder
    reset_motor_encoder = references.reset_motor_encoder
    calibrate = references.calibrate

    impedance = stiffness.impedance
    impedance_limits = stiffness.impedance_limits
    set_impedance = stiffness.set_impedance
    set_torque_offset = stiffness.set_torque_offset

    gains = controllers.gains
    set_gains = controllers.set_gains
    controller = controllers.controller
    set_controller = controllers.set_controller
    reset_controller = controllers.reset_controller
    controller_reference = controllers.controller_reference
    set_controller_reference = controllers.set_controller_reference
    set_motor = controllers.set_motor
    motor_parameters = controllers.motor_parameters
    set_motor_parameters = controllers.set_motor_parameters
    supply_voltage = controllers.supply_voltage
    brake = controllers.brake
    set_brake = controllers.set_brake

    remote_variable = variables.remote_variable
    set_remote_variable = variables.set_remote_variable

    def last_fault(self, axis: int) -> tuple[int, str]:
        """Return code and message of the last fault of an axis."""
        code = int(self.read_row("fault", axis)[0])
        return code, at.FAULTS[code]

    def is_fake(self, axis: int) -> bool:
        """Return whether an axis is on a board without joints."""
        self.select(axis)
        return self.description.fake

    @request
    def call(self, function: Callable[[ControlBoardDevice], T]) -> T:
        """Run a function on the board in the loop's thread: how a bridge answers what its clients ask.

        Args:
            function: takes the board; what it returns or raises is given to the caller.
        """
        return function(self)
