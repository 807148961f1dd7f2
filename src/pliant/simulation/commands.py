"""Commands of a run: constant ones, and what plays them over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

import numpy as np

from pliant.base.errors import PliantError, nearest
from pliant.devices.base import Device, DeviceBase, SampleSource
from pliant.model.robot import actuator_hint


class Player(Protocol):
    """Puts commands into the mailboxes of devices at their times."""

    def restart(self) -> None:
        """Begin again, after a reset has emptied the mailboxes."""
        ...

    def __call__(self, elapsed_ns: int) -> None:
        """Put what is due at this run time [ns]; called by the loop thread at every step."""
        ...


P = TypeVar("P", bound=Player, covariant=True)


class Commands(Protocol[P]):
    """Commands over time, such as a table."""

    def player(self, devices: Mapping[str, Device], start_ns: int) -> P:
        """Return a player for some devices by name; ``start_ns`` is the run time of time 0 of the commands [ns].

        Raises:
            DeviceError: a command is of a device or a field that does not exist.
        """
        ...


def put_constants(devices: Mapping[str, Device], constants: Mapping[str, object], where: str = "") -> None:
    """Give the devices constant commands, all fields of a device at once.

    Args:
        devices: the devices by name.
        constants: DEVICE/FIELD -> a number, an array, or text of one or several numbers with commas.
        where: what the names are of, for messages: "--reference ".

    Raises:
        PliantError: no such command, or text that is no number.
        DeviceError: values that the device does not take.
    """
    asked: dict[str, dict[str, float | list[float]]] = {}
    for name, value in constants.items():
        device, slash, field = name.rpartition("/")
        found = devices.get(device) if slash else None
        infos = (
            [] if found is None else [found.commands[m][field] for m in found.commands if field in found.commands[m]]
        )
        if not infos:
            valid = [f"{d.name}/{f}" for d in devices.values() for m in d.inbox.accepted for f in d.commands[m]]
            if not valid:
                raise PliantError(f"{where}{name}: {_no_commands(devices, device)}", field=name)
            raise PliantError(f"{where}{name}: no such command; {nearest(name, valid)}", field=name)
        try:
            numbers = value.tolist() if isinstance(value, np.ndarray) else [float(v) for v in str(value).split(",")]
        except ValueError:
            raise PliantError(
                f"{where}{name}={value}: must be one number, or several with commas", field=name
            ) from None
        single = len(numbers) == 1 and not any(info.shape for info in infos)
        asked.setdefault(device, {})[field] = numbers[0] if single else numbers
    for device, values in asked.items():
        found = devices[device]
        mode = command_mode(found, values)
        found.inbox.put(values, mode=mode)
        if isinstance(found, DeviceBase):
            try:
                found.verify(mode or "", values)
            except PliantError as error:
                raise PliantError(f"{where}{device}/...: {error}", field=error.field or device) from None


def _no_commands(devices: Mapping[str, Device], asked: str) -> str:
    """Return why no device takes a constant command, and what moves the robot."""
    own = [device.name for device in devices.values() if device.commands]
    if not own:
        hint = actuator_hint(asked or "JOINT")
        return f"the robot has no compliant actuator and no other device that takes commands; {hint}"
    takes = "takes no constant commands: a bridge, a scenario or requests (--console) command it"
    if len(own) > 1:
        takes = "take no constant commands: bridges, scenarios or requests (--console) command them"
    return f"{' and '.join(own)} {takes}"


def command_mode(device: SampleSource, values: Mapping[str, object]) -> str | None:
    """Return the command mode to use for some values.

    Returns:
        None if the device accepts one mode only, or if no accepted mode has all the fields; otherwise the first
        accepted mode that has all the fields.
    """
    accepted = device.inbox.accepted
    if len(accepted) == 1:
        return None
    return next(
        (mode for mode, fields in device.commands.items() if mode in accepted and all(v in fields for v in values)),
        None,
    )
