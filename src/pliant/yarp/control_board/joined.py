"""Axes of several control boards as one part, in an order of their own.

A whole-body controller asks one group of ports for all axes of a robot, and a part that is called an arm may be two
boards, that of the arm and that of the hand. A joined board has the methods of a board that answer clients, and passes
each call to the boards that have the axes. It is no device: it has no firmware and no samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.base.errors import DeviceError
from pliant.yarp.control_board.device import Array, Axes, ControlBoardDevice, Numbers, chosen_axes, finite_values
from pliant.yarp.control_board.layout import ControlMode, InteractionMode

__all__ = ["JoinedBoard"]


class JoinedBoard:
    """Axes of one or several control boards in front of clients; all methods belong to the loop's thread.

    Axes are numbered from 0 in the order given. Numbers that are not finite, and lists of another length, are refused
    before a board is called. Otherwise every board is called, and the first refusal is raised at the end: a part with
    one fake board moves its other axes, and its client is told that not all of them did.

    Args:
        name: of the part, for messages.
        axes: board and index on it of each axis.

    Raises:
        DeviceError: there is no axis, an axis is named twice, or a board has no axis of that number.
    """

    def __init__(self, name: str, axes: Sequence[tuple[ControlBoardDevice, int]]) -> None:
        if not axes:
            raise DeviceError(f"{name} has no axes; must be at least one", field="axes")
        for board, i in axes:
            if not 0 <= i < len(board.axes):
                raise DeviceError(f"{name}: the axis {i} of {board.name!r}; must be 0 to {len(board.axes) - 1}")
        if len({(id(board), i) for board, i in axes}) != len(axes):
            raise DeviceError(f"{name} shows an axis twice; its axes must be different", field="axes")
        self.name = name
        self.axes: tuple[str, ...] = tuple([board.axes[i] for board, i in axes])
        """Names of the axes."""
        self.slides = [board.slides[i] for board, i in axes]
        """Whether each axis is prismatic."""
        self._axes = list(axes)

    # -- passing calls on ----------------------------------------------------------------------------------

    def _one(self, axis: int) -> tuple[ControlBoardDevice, int]:
        """Return the board that has an axis, and its index there."""
        return self._axes[int(chosen_axes(self.name, len(self.axes), axis)[0])]

    def _parts(self, axes: Axes) -> list[tuple[ControlBoardDevice, list[int], list[int]]]:
        """Return the boards of axes, with their own axes and the places of these in what was asked for."""
        found: dict[int, tuple[ControlBoardDevice, list[int], list[int]]] = {}
        for place, a in enumerate(chosen_axes(self.name, len(self.axes), axes)):
            board, i = self._axes[a]
            _, own, places = found.setdefault(id(board), (board, [], []))
            own.append(i)
            places.append(place)
        return list(found.values())

    def _each(self, axes: Axes, act: Callable[[ControlBoardDevice, list[int], list[int]], None]) -> None:
        """Call every board of axes, then raise the first refusal."""
        refused: list[DeviceError] = []
        for board, own, places in self._parts(axes):
            try:
                act(board, own, places)
            except DeviceError as fault:
                refused.append(fault)
        if refused:
            raise refused[0]

    def _gather(self, axes: Axes, read: Callable[[ControlBoardDevice, list[int]], Array]) -> Array:
        """Return one number an axis, in the order asked for."""
        parts = self._parts(axes)
        out = np.empty(sum([len(own) for _, own, _ in parts]))
        for board, own, places in parts:
            out[places] = read(board, own)
        return out

    def _give(
        self, axes: Axes, values: Numbers, what: str, give: Callable[[ControlBoardDevice, list[int], Array], None]
    ) -> None:
        """Give one finite number an axis."""
        count = len(chosen_axes(self.name, len(self.axes), axes))
        array = finite_values(self.name, values, count, what)
        self._each(axes, lambda board, own, places: give(board, own, array[places]))

    # -- what is read ----------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Time of the measurements [s]."""
        return self._axes[0][0].time

    def read_row(self, name: str, axes: Axes = None) -> Array:
        """Return one quantity of axes, as `ControlBoardDevice.read_row` does."""
        return self._gather(axes, lambda board, own: board.read_row(name, own))

    def motor(self, what: str, axes: Axes = None) -> Array:
        """Return a constant of motors."""
        return self._gather(axes, lambda board, own: board.motor(what, own))

    def supply_voltage(self, axes: Axes = None) -> Array:
        """Return the voltage that supplies the amplifier of axes [V]."""
        return self._gather(axes, lambda board, own: board.supply_voltage(own))

    def controller(self, row: str, loop: str, axes: Axes = None) -> Array:
        """Return one row of a controller's live state."""
        return self._gather(axes, lambda board, own: board.controller(row, loop, own))

    def controller_reference(self, loop: str, axes: Axes = None) -> Array:
        """Return what a controller of axes follows."""
        return self._gather(axes, lambda board, own: board.controller_reference(loop, own))

    def remote_variable(self, name: str) -> Array:
        """Return a remote variable, one number an axis, in SI."""
        return self._gather(None, lambda board, own: board.remote_variable(name)[own])

    def motion_done(self, axes: Axes = None) -> bool:
        """Return whether no trajectory of these axes is under way."""
        return all(board.motion_done(own) for board, own, _ in self._parts(axes))

    def mode_of(self, axis: int) -> ControlMode:
        """Return the control mode of an axis."""
        board, i = self._one(axis)
        return board.mode_of(i)

    def interaction_of(self, axis: int) -> InteractionMode:
        """Return the interaction mode of an axis."""
        board, i = self._one(axis)
        return board.interaction_of(i)

    def can(self, axis: int, mode: ControlMode) -> bool:
        """Return whether an axis can be in a mode."""
        board, i = self._one(axis)
        return board.can(i, mode)

    def is_fake(self, axis: int) -> bool:
        """Return whether an axis is on a board without joints."""
        board, i = self._one(axis)
        return board.is_fake(i)

    def impedance(self, axis: int) -> tuple[float, float]:
        """Return stiffness and damping of an axis."""
        board, i = self._one(axis)
        return board.impedance(i)

    def impedance_limits(self, axis: int) -> tuple[float, float, float, float]:
        """Return the smallest and largest stiffness and damping of an axis."""
        board, i = self._one(axis)
        return board.impedance_limits(i)

    def gains(self, loop: str, axis: int) -> dict[str, float]:
        """Return the parameters of a controller."""
        board, i = self._one(axis)
        return board.gains(loop, i)

    def motor_parameters(self, axis: int) -> tuple[float, ...]:
        """Return the nine parameters of a motor's torque model."""
        board, i = self._one(axis)
        return board.motor_parameters(i)

    def brake(self, axis: int) -> tuple[bool, bool]:
        """Return whether the brake of an axis is closed, and whether it closes by itself."""
        board, i = self._one(axis)
        return board.brake(i)

    def last_fault(self, axis: int) -> tuple[int, str]:
        """Return code and message of the last fault of an axis."""
        board, i = self._one(axis)
        return board.last_fault(i)

    # -- what is set -----------------------------------------------------------------------------------------

    def refer(self, kind: str, values: Numbers, axes: Axes = None) -> None:
        """Give references of a kind to axes."""
        self._give(axes, values, kind, lambda board, own, part: board.refer(kind, part, own))

    def move_relative(self, deltas: Numbers, axes: Axes = None) -> None:
        """Begin trajectories to targets relative to the measured positions [rad or m]."""
        self._give(axes, deltas, "deltas", lambda board, own, part: board.move_relative(part, own))

    def set_speed(self, values: Numbers, axes: Axes = None) -> None:
        """Set the speed of trajectories [rad/s or m/s]."""
        self._give(axes, values, "speed", lambda board, own, part: board.set_speed(part, own))

    def set_acceleration(self, values: Numbers, axes: Axes = None) -> None:
        """Set the acceleration of trajectories [rad/s^2 or m/s^2]."""
        self._give(axes, values, "acceleration", lambda board, own, part: board.set_acceleration(part, own))

    def set_encoder(self, values: Numbers, axes: Axes = None) -> None:
        """Let the encoders of axes read these positions now."""
        self._give(axes, values, "encoder", lambda board, own, part: board.set_encoder(part, own))

    def set_motor_encoder(self, values: Numbers, motors: Axes = None) -> None:
        """Let the encoders of motors read these positions now."""
        self._give(motors, values, "motor encoder", lambda board, own, part: board.set_motor_encoder(part, own))

    def set_controller(self, row: str, loop: str, values: Numbers, axes: Axes = None) -> None:
        """Set one row of controllers."""
        self._give(axes, values, row, lambda board, own, part: board.set_controller(row, loop, part, own))

    def set_controller_reference(self, loop: str, values: Numbers, axes: Axes = None) -> None:
        """Give controllers their references."""
        self._give(axes, values, "references", lambda board, own, part: board.set_controller_reference(loop, part, own))

    def set_remote_variable(self, name: str, values: Sequence[float]) -> None:
        """Set a remote variable, one number an axis, in SI; axes of a board that are not shown keep theirs."""

        def give(board: ControlBoardDevice, own: list[int], part: Array) -> None:
            whole = board.remote_variable(name)
            whole[own] = part
            board.set_remote_variable(name, whole.tolist())

        self._give(None, np.asarray(values, dtype=float), name, give)

    def _set_modes(self, mode: str | Sequence[str], axes: Axes, set_them: Callable[..., Any]) -> None:
        count = len(chosen_axes(self.name, len(self.axes), axes))
        modes = [mode] * count if isinstance(mode, str) else list(mode)
        if len(modes) != count:
            raise DeviceError(f"{self.name}: {len(modes)} modes for {count} axes", field="mode")
        self._each(axes, lambda board, own, places: set_them(board, [modes[k] for k in places], own))

    def set_control_mode(self, mode: str | Sequence[str], axes: Axes = None) -> None:
        """Switch the control mode of axes."""
        self._set_modes(mode, axes, lambda board, part, own: board.set_control_mode(part, own))

    def set_interaction_mode(self, mode: str | Sequence[str], axes: Axes = None) -> None:
        """Switch axes between ``stiff`` and ``compliant``."""
        self._set_modes(mode, axes, lambda board, part, own: board.set_interaction_mode(part, own))

    def stop(self, axes: Axes = None) -> None:
        """Stop axes."""
        self._each(axes, lambda board, own, _: board.stop(own))

    def reset_encoder(self, axes: Axes = None) -> None:
        """Let the encoders of axes read 0 now."""
        self._each(axes, lambda board, own, _: board.reset_encoder(own))

    def reset_motor_encoder(self, motors: Axes = None) -> None:
        """Let the encoders of motors read 0 now."""
        self._each(motors, lambda board, own, _: board.reset_motor_encoder(own))

    def reset_controller(self, axes: Axes = None) -> None:
        """Forget the integral parts of the controllers of axes."""
        self._each(axes, lambda board, own, _: board.reset_controller(own))

    def calibrate(self, axes: Axes = None) -> None:
        """Calibrate axes."""
        self._each(axes, lambda board, own, _: board.calibrate(own))

    def home(self, axes: Axes = None) -> None:
        """Move axes to their initial positions."""
        self._each(axes, lambda board, own, _: board.home(own))

    def set_position_limits(self, axis: int, low: float, high: float) -> None:
        """Set the limits of an axis [rad or m]."""
        board, i = self._one(axis)
        board.set_position_limits(i, low, high)

    def set_speed_limit(self, axis: int, high: float) -> None:
        """Set the largest speed of an axis [rad/s or m/s]."""
        board, i = self._one(axis)
        board.set_speed_limit(i, high)

    def set_impedance(self, axis: int, stiffness: float, damping: float) -> None:
        """Set stiffness and damping of an axis in compliant interaction."""
        board, i = self._one(axis)
        board.set_impedance(i, stiffness, damping)

    def set_torque_offset(self, axis: int, offset: float) -> None:
        """Set the torque that the impedance law of an axis adds [N m or N]."""
        board, i = self._one(axis)
        board.set_torque_offset(i, offset)

    def set_gains(self, loop: str, axes: Axes = None, **gains: float) -> None:
        """Set parameters of the controllers of axes, in SI."""
        self._each(axes, lambda board, own, _: board.set_gains(loop, own, **gains))

    def enable_amplifier(self, axis: int, on: bool = True) -> None:
        """Switch the amplifier of an axis."""
        board, i = self._one(axis)
        board.enable_amplifier(i, on)

    def set_motor(self, what: str, axis: int, value: float) -> None:
        """Set a constant of a motor."""
        board, i = self._one(axis)
        board.set_motor(what, i, value)

    def set_motor_parameters(self, axis: int, parameters: Sequence[float]) -> None:
        """Keep the nine parameters of a motor's torque model."""
        board, i = self._one(axis)
        board.set_motor_parameters(i, parameters)

    def set_brake(self, axis: int, on: bool, automatic: bool = False) -> None:
        """Close or open the brake of an axis."""
        board, i = self._one(axis)
        board.set_brake(i, on, automatic)
