"""The state of a control board: its tables, and the axes and numbers that a request is for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Unpack

import mujoco
import numpy as np

from pliant.base.errors import DeviceError
from pliant.base.numerics import Array
from pliant.control_boards import layout as at
from pliant.control_boards.description import ControlBoard
from pliant.control_boards.drives import Drive
from pliant.devices.base import DeviceBase, DeviceOptions
from pliant.model.robot import Robot

Axes = int | Sequence[int] | None
Numbers = float | Sequence[float] | Array


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


class Buffers(NamedTuple):
    """Arrays of the engine that the firmware reads and writes."""

    position: Array
    """Positions of the joints, `qpos`."""
    velocity: Array
    """Speeds of the joints, `qvel`."""
    force: Array
    """Forces of the actuators on the joints, `qfrc_actuator`."""
    control: Array
    """Controls of the actuators, `ctrl`."""
    observed: Array
    """Observations of the compliant joints, one row each."""


class BoardState(DeviceBase):
    """The tables of a control board, and what its requests have in common.

    Args:
        description: the board.
        robot: the robot that it is described on.
        options: of `DeviceBase`: latency, command_latency, noise.
    """

    model: mujoco.MjModel
    """The model that the engine runs."""
    buffers: Buffers
    """Arrays of the engine."""
    step_s: float
    """Period of the firmware [s]."""
    plan: Callable[..., None]
    """Kernel that begins a trajectory of an axis."""

    def __init__(self, description: ControlBoard, robot: Robot, **options: Unpack[DeviceOptions]) -> None:
        names = description.axis_names
        self.description = description
        self.axes: tuple[str, ...] = names
        """Names of the axes."""
        self.slides = [_is_slide(robot, joint) for joint in self._lead_names()]
        """Whether each axis is prismatic."""
        rate, dt = description.sample_rate, float(robot.spec.option.timestep)
        period = None if not rate else max(1, round(1.0 / (rate * dt))) * dt
        options.setdefault("sample_period", period)
        super().__init__(
            description.name,
            samples=at.samples_of(self.slides),
            commands=at.commands_of(self.slides),
            **options,
        )
        self.joints = names
        self._actuators = dict(robot.actuators)
        self.written_ports = () if description.fake else _commanded_ports(description.joint_names, robot)
        n, m = len(names), len(description.joint_names)
        self.axis_table = np.zeros((at.AXIS_ROWS, n))
        """State and settings of the axes, one column each; the rows are those of `layout`."""
        self.joint_table = np.zeros((at.JOINT_ROWS, m))
        """State of the joints and of their drives, one column each."""
        self.coupling_maps = np.zeros((2, m, 0))
        """Joints from axes, and joints' weights of each axis; without columns where no axes are coupled."""
        self.drives: list[Drive] = []
        """Drives of the joints, one each."""
        self.lead_joints: list[int] = []
        """Index of a joint that each axis moves, -1 for none."""
        self.springs: list[int] = []
        """Axes whose joint is compliant."""
        self.stiffness_tables: dict[int, tuple[Array, Array] | None] = {}
        """Presets and stiffness of these axes; None where the stiffness is fixed."""
        self.groups: list[tuple[int, ...]] = [(a,) for a in range(n)]
        """Axes that change their modes together, of each axis."""
        for coupling in description.couplings:
            members = tuple(names.index(axis) for axis in coupling.axes)
            for a in members:
                self.groups[a] = members
        self.metadata = {"axes": ",".join(names), "slides": ",".join(str(int(slide)) for slide in self.slides)}

    def _lead_names(self) -> list[str]:
        """Return for each axis a joint that it moves; for a fake axis an empty name."""
        coupled = {axis: c.joints[i] for c in self.description.couplings for i, axis in enumerate(c.axes)}
        free = iter(self.description.free_joints)
        return [coupled[axis] if axis in coupled else next(free, "") for axis in self.axes]

    def select(self, axes: Axes, *, works: bool = False) -> np.ndarray:
        """Return the numbers of axes; with `works` refuse those of a fake board, which cannot be moved.

        Raises:
            DeviceError: there is no such axis, or the board is fake.
        """
        chosen = chosen_axes(self.name, len(self.axes), axes)
        if works and self.description.fake:
            raise DeviceError(f"{self.name} is a fake board: its axes cannot be moved", field="fake")
        return chosen

    def values_of(self, values: Numbers, count: int, what: str) -> Array:
        """Return `finite_values` for this board."""
        return finite_values(self.name, values, count, what)

    def set_row(self, row: int, values: Numbers, axes: Axes, what: str, *, above: float | None = None) -> None:
        """Set a row of the axis table for axes.

        Raises:
            DeviceError: a number is not finite, or not above the bound.
        """
        chosen = self.select(axes)
        array = self.values_of(values, len(chosen), what)
        if above is not None and (array <= above).any():
            raise DeviceError(f"{self.name}: {what} is {array.tolist()}; must be > {above:g}", field=what)
        self.axis_table[row, chosen] = array

    def lead_drive(self, a: int) -> Drive | None:
        """Return the drive of the joint that leads an axis, None for an axis without joints."""
        i = self.lead_joints[a]
        return self.drives[i] if i >= 0 else None

    def per_axis(self, values: Sequence[float], default: Sequence[float] | float | Array) -> Array:
        """Return one number for each axis: those of a description, or a default where it gives none."""
        given = values if len(values) else default
        return np.broadcast_to(np.asarray(given, dtype=float), len(self.axes)).copy()

    def count_command(self) -> None:
        """Count a command that arrived as a request."""
        self._counters.commands += 1

    def count_stale(self, why: str) -> None:
        """Count a command without effect, and keep the reason."""
        self._counters.stale_commands += 1
        self._counters.last_error = why

    def read_row(self, name: str, axes: Axes = None) -> Array:
        """Return one quantity of axes as it is now, by the names of `layout.QUANTITIES`; for the loop thread."""
        return self.axis_table[at.QUANTITIES[name], self.select(axes)].copy()

    @property
    def now(self) -> float:
        """Time of the engine [s], of watchdogs and trajectories."""
        return self._engine.time_ns * 1e-9

    @property
    def time(self) -> float:
        """Time of the measurements [s]."""
        return self._engine.time_ns / 1e9


def _commanded_ports(joints: Sequence[str], robot: Robot) -> tuple[str, ...]:
    """Return the ports through which a board drives joints: references, or the control that `find_drive` chooses."""
    ports = []
    for joint in joints:
        compliant = robot.actuators.get(joint)
        if compliant is not None:
            ports += [f"{joint}/reference_{i}" for i in range(1, compliant.commands + 1)]
            continue
        own = [a for a in robot.spec.actuators if a.trntype == mujoco.mjtTrn.mjTRN_JOINT and a.target == joint]
        # a motor comes before a servo
        own.sort(key=lambda a: a.biastype == mujoco.mjtBias.mjBIAS_AFFINE and float(a.biasprm[1]) != 0.0)
        ports += [f"{a.name}/control" for a in own[:1]]
    return tuple(ports)


def _is_slide(robot: Robot, joint: str) -> bool:
    found = next((j for j in robot.spec.joints if j.name == joint), None)
    return found is not None and found.type == mujoco.mjtJoint.mjJNT_SLIDE
