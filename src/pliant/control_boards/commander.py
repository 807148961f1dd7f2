"""Commands of actions on the axes of a control board: their control mode, and references for them alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import PortError

if TYPE_CHECKING:
    from pliant.devices.base import DeviceBase
    from pliant.simulation import Simulation
    from pliant.simulation.channels import Channel


class BoardCommander:
    """Holds references of some axes of a board, in the control mode of that name; other axes keep theirs.

    Args:
        simulation: the simulation.
        device: the board.
        channels: elements of one field of its commands, such as ``position_direct``.

    Raises:
        PortError: the channels are of several fields.
    """

    drives = False
    cycle = 1

    def __init__(self, simulation: Simulation, device: DeviceBase, channels: Sequence[Channel]) -> None:
        self._device = device
        self._field = channels[0].field
        if any(channel.field != self._field for channel in channels):
            raise PortError(f"the actions command {device.name} in several control modes; must be one", field="actions")
        self._axes = [channel.index or 0 for channel in channels]
        self._values = np.zeros(device.commands[channels[0].mode][self._field].shape)

    def start(self) -> None:
        """Switch the axes to the control mode, at the start of the next step."""
        self._device.request("set_control_mode", mode=self._field, axes=self._axes)

    def hold(self, values: NDArray[np.float64]) -> None:
        """Send new references; the board takes those of axes in this control mode."""
        self._values[self._axes] = values
        self._device.inbox.put({self._field: self._values.copy()}, mode=self._field)

    def advance(self, steps: int) -> None:
        """Do nothing."""
