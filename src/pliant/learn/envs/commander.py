"""Commanders: what holds the commands of a device as a program on the real robot does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from pliant.base.errors import PortError
from pliant.base.numerics import Array
from pliant.base.wing import offer
from pliant.simulation.channels import Channel

if TYPE_CHECKING:
    from pliant.devices.base import DeviceBase
    from pliant.simulation import Simulation


class Commander(Protocol):
    """Holds the commands of a device, as the program on the real robot does."""

    drives: bool
    """Whether `advance` steps the simulation; else its owner does."""
    cycle: int
    """Steps of which `advance` takes whole multiples."""

    def start(self) -> None:
        """Make the device ready for commands, after each reset of the simulation."""
        ...

    def hold(self, values: Array) -> None:
        """Hold new values from now on, one for each channel, in their units."""
        ...

    def advance(self, steps: int) -> None:
        """Advance the simulation by steps of the engine, while the values are held.

        Raises:
            DeviceError: the device has ended the motion.
        """
        ...


class MailboxCommander:
    """Puts the values into the mailbox of a device; elements of an array without a channel are those that it holds.

    Args:
        device: the device.
        channels: its channels, all of one mode.
    """

    drives = False
    cycle = 1

    def __init__(self, device: DeviceBase, channels: Sequence[Channel]) -> None:
        self._device, self._channels = device, tuple(channels)
        # A joint finds the mode of its references by itself: it may change while it runs.
        self._mode = None if all(channel.port for channel in channels) else channels[0].mode
        self._arrays: dict[str, Array] = {}
        self.start()

    def start(self) -> None:
        """Take what the device holds now; its mailbox is always open."""
        fields = dict.fromkeys(channel.field for channel in self._channels if channel.index is not None)
        self._arrays = {field: self._device.held(field) for field in fields}

    def hold(self, values: Array) -> None:
        """Send the values."""
        fields: dict[str, object] = {}
        for channel, value in zip(self._channels, values.tolist(), strict=True):
            if channel.index is None:
                fields[channel.field] = value
            else:
                self._arrays[channel.field].flat[channel.index] = value
        fields |= {name: array.copy() for name, array in self._arrays.items()}
        self._device.inbox.put(fields, mode=self._mode)

    def advance(self, steps: int) -> None:
        """Do nothing."""


def commander_of(simulation: Simulation, device: DeviceBase, channels: Sequence[Channel]) -> Commander:
    """Return what holds the commands of a device: what a wing declares for its signature, or its mailbox.

    Raises:
        PortError: no command mode of the device has all fields.
    """
    fields = {channel.field for channel in channels}
    modes = sorted((len(own), mode) for mode, own in device.commands.items() if fields <= own.keys())
    if not modes:
        raise PortError(f"no command mode of {device.name} has all of {', '.join(sorted(fields))}", field="mode")
    channels = [replace(channel, mode=modes[0][1]) for channel in channels]
    for signature in device.signatures:
        found = offer("commanders", signature)
        if found is not None:
            return found.load()(simulation, device, channels)
    return MailboxCommander(device, channels)
