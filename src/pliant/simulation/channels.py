"""Channels of commands: which field of which device an action gives.

The same names are used by everything that commands a robot: environments, policies, and what drives a real one:
``<device>/<field>``, or ``<device>/<field>[<i>]`` for one element of an array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.base.errors import PortError, nearest
from pliant.engine.base import PortInfo

if TYPE_CHECKING:
    from pliant.devices.base import DeviceBase
    from pliant.devices.fields import FieldInfo

PORTS = ("reference_1", "reference_2", "control", "external_torque")
"""Last part of the names of ports that an action can write; positions and velocities are the state itself."""


@dataclass(frozen=True, slots=True)
class Channel:
    """One number of a command: a field of a device, an engine port, or a field that is such a port."""

    device: str
    """Name of the device; "" for a port that no device takes as a command."""
    mode: str
    """Command mode of the device."""
    field: str
    """Field of the command."""
    index: int | None
    """Element of an array field; None for a field of one number."""
    port: str
    """Engine port to which the device writes the number unchanged; "" if its firmware computes with it."""

    @property
    def name(self) -> str:
        """Return the name of the command, ``<device>/<field>`` or ``<device>/<field>[<i>]``."""
        if not self.device:
            return self.port
        return f"{self.device}/{self.field}" + ("" if self.index is None else f"[{self.index}]")


def find_channels(names: Sequence[str], ports: Mapping[str, PortInfo], devices: Sequence[DeviceBase]) -> list[Channel]:
    """Return the channels of commands by name: fields of devices, or ports such as ``joint/reference_1``.

    Args:
        names: names of the commands.
        ports: ports of the engine.
        devices: devices of the robot that take part.

    Raises:
        PortError: a name does not exist, is read-only, is an array, is a position or a velocity, is written by a
            device in every step, or two of them are the same number.
    """
    fields = _fields(devices)
    by_port = {channel.port: channel for channel, _ in fields.values() if channel.port}
    written = {port: device for device in devices for port in device.written_ports}
    found: dict[tuple[str, str, int | None, str], str] = {}
    channels = []
    for name in names:
        channel = _field_channel(name, fields) or by_port.get(name) or _port_channel(name, ports, written, fields)
        if channel.port:
            _check_port(channel.port, ports)
        key = (channel.device, channel.field, channel.index, channel.port)
        if key in found:
            raise PortError(f"two actions write {name!r}; every command must differ", field="actions")
        found[key] = name
        channels.append(channel)
    return channels


def _fields(devices: Sequence[DeviceBase]) -> dict[str, tuple[Channel, FieldInfo]]:
    """Return every command that a device takes, by name without an index; the smallest mode that has the field."""
    found: dict[str, tuple[Channel, FieldInfo]] = {}
    for device in devices:
        direct = device.command_ports
        for mode, fields in sorted(device.commands.items(), key=lambda item: len(item[1])):
            for field, info in fields.items():
                if field in direct or not direct:
                    channel = Channel(device.name, mode, field, None, direct.get(field, ""))
                    found.setdefault(f"{device.name}/{field}", (channel, info))
    return found


def _field_channel(name: str, fields: Mapping[str, tuple[Channel, FieldInfo]]) -> Channel | None:
    """Return the channel of a device's field, None if there is no such field."""
    base, bracket, rest = name.partition("[")
    if base not in fields:
        return None
    channel, info = fields[base]
    digits = rest[:-1] if rest.endswith("]") else ""
    if not info.shape and not bracket:
        return channel
    if info.shape and digits.isascii() and digits.isdigit() and int(digits) < info.size:
        return Channel(channel.device, channel.mode, channel.field, int(digits), channel.port)
    valid = f"one number of it, {base}[0] to {base}[{info.size - 1}]" if info.shape else base
    raise PortError(f"the action {name!r} is not one number; must be {valid}", field="actions")


def _port_channel(
    name: str,
    ports: Mapping[str, PortInfo],
    written: Mapping[str, DeviceBase],
    fields: Mapping[str, tuple[Channel, FieldInfo]],
) -> Channel:
    """Return the channel of a port that is no command of a device."""
    writable = [
        port
        for port, info in ports.items()
        if info.writable and info.shape == (1,) and port.rpartition("/")[2] in PORTS and port not in written
    ]
    info = ports.get(name)
    if info is None:
        commands = [key + ("[0]" if of.shape else "") for key, (_, of) in fields.items()]
        raise PortError(
            f"the action has no port {name!r}, nor has a device such a command; "
            f"{nearest(name, [*writable, *commands])}",
            field="actions",
        )
    _check_port(name, ports)
    if name in written:
        device = written[name].name
        own = [key + ("[0]" if of.shape else "") for key, (channel, of) in fields.items() if channel.device == device]
        command = f"command the device itself, {_some(own, '')}, " if own else ""
        raise PortError(
            f"the port {name!r} is written by the device {device!r} in every step, so that an action on it has no "
            f"effect; {command}leave the device out with Task(detach=({device!r},)), or write a port that no device "
            f"writes, {_some(writable, name)}",
            field="actions",
        )
    return Channel("", "", "", None, name)


def _check_port(name: str, ports: Mapping[str, PortInfo]) -> None:
    info = ports.get(name)
    if info is None:
        raise PortError(f"the action has no port {name!r}; {nearest(name, ports)}", field="actions")
    if not info.writable or info.shape != (1,):
        why = f"has shape {info.shape}" if info.writable else "is a result"
        raise PortError(
            f"the port {name!r} {why}; an action must write one number, such as a reference or a control",
            field="actions",
        )
    if name.rpartition("/")[2] not in PORTS:
        raise PortError(
            f"the port {name!r} is the state of the robot, which an action cannot set; must be a reference, a control "
            "or an external torque",
            field="actions",
        )


def _some(names: Sequence[str], wanted: str) -> str:
    """Return some of many names in words, those of the wanted port's joint first."""
    first = sorted(names, key=lambda name: name.rpartition("/")[0] != wanted.rpartition("/")[0])[:3]
    if not first:
        return "of which this robot has none"
    more = f" and {len(names) - len(first)} others" if len(names) > len(first) else ""
    return f"such as {', '.join(map(repr, first))}{more}"
