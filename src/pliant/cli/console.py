"""Requests to devices that a person types while a run goes on."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, TextIO

from pliant.base.errors import DeviceError, PliantError, nearest

if TYPE_CHECKING:
    from pliant.devices import Device
    from pliant.simulation import Simulation

MAX_LINE = 4096
"""Longest line [bytes]."""
SWITCH = {"on": True, "off": False, "true": True, "false": False, "1": True, "0": False}


def parse_line(line: str, devices: Mapping[str, Device]) -> tuple[str, str, dict[str, object]]:
    """Return device, request and arguments of a line.

    Examples: ``franka.user_stop on``, ``guide off``, ``gripper_move width=0.04 speed=0.1``.

    Args:
        line: ``[DEVICE.]REQUEST [on|off] [NAME=NUMBER[,NUMBER...] ...]``. The device may be left out where only one has
            such a request.
        devices: those of the simulation.

    Raises:
        DeviceError: no such request, or a value that is no number.
    """
    head, *words = line.split()
    device, dot, name = head.rpartition(".")
    if not dot:
        owners = [key for key, value in devices.items() if name in value.requests]
        if len(owners) > 1:
            raise DeviceError(f"{name} is a request of {', '.join(owners)}; write for example {owners[0]}.{name}")
        if not owners:
            valid = [f"{key}.{request}" for key, value in devices.items() for request in value.requests]
            raise DeviceError(f"there is no request {name!r}; {nearest(name, valid)}", field=name)
        device = owners[0]
    if device not in devices:
        raise DeviceError(f"there is no device {device!r}; {nearest(device, devices)}", field=device)
    if name not in devices[device].requests:
        raise DeviceError(f"{device} has no request {name!r}; {nearest(name, devices[device].requests)}", field=name)
    values: dict[str, object] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals:
            key, text = devices[device].buttons.get(name, ""), word
            if not key or text.lower() not in SWITCH:
                raise DeviceError(
                    f"{word!r} is not understood; must be NAME=VALUE, or on or off for a switch", field=name
                )
        values[key] = _value(text)
    return device, name, values


def list_requests(devices: Mapping[str, Device]) -> list[str]:
    """Return a line for each request of the devices, as it is typed: ``franka.gripper_move width= speed=``."""
    lines: list[str] = []
    for key, device in devices.items():
        for name, call in device.requests.items():
            switch = device.buttons.get(name, "")
            words = [f"{argument}=" for argument in _arguments(call) if argument not in (switch, "answered")]
            lines.append(" ".join([f"{key}.{name}", *["on|off"] * bool(switch), *words]))
    return lines


def _arguments(call: str) -> list[str]:
    """Return the names of the arguments of ``name(width: float, speed: float = 0.1) -> str``."""
    depth, part, names = 0, "", []
    for character in call.partition("(")[2] + ",":
        depth += (character in "[({") - (character in "])}")
        if depth < 0 or (character == "," and depth == 0):
            name = part.strip().partition(":")[0].partition("=")[0].strip()
            if name.isidentifier():
                names.append(name)
            part = ""
            if depth < 0:
                break
        else:
            part += character
    return names


def _value(text: str) -> bool | float | int | tuple[float, ...]:
    if text.lower() in ("on", "off", "true", "false"):
        return SWITCH[text.lower()]
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise DeviceError(f"{text!r} is not a number; must be one number, or several with commas") from None
    if len(numbers) > 1:
        return tuple(numbers)
    return int(text) if text.lstrip("+-").isdigit() else numbers[0]


class RequestConsole:
    """Reads lines from a stream in a thread of its own and gives them to the devices as requests.

    Args:
        simulation: whose devices are asked.
        stream: where lines come from, such as ``sys.stdin``.
        say: prints a line.
    """

    def __init__(self, simulation: Simulation, stream: TextIO, say: Callable[[str], None]) -> None:
        self._simulation, self._stream, self._say = simulation, stream, say
        self._wake_reader, self._wake_writer = os.pipe()
        self._thread = threading.Thread(target=self._read, name="pliant-console", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def close(self) -> None:
        """Stop reading and join the thread."""
        os.write(self._wake_writer, b"x")
        self._thread.join()
        os.close(self._wake_reader)
        os.close(self._wake_writer)

    def _read(self) -> None:
        poll, source = select.poll(), self._stream.fileno()
        poll.register(source, select.POLLIN)
        poll.register(self._wake_reader, select.POLLIN)
        pending = b""
        while True:
            ready = {fd for fd, _ in poll.poll()}
            if self._wake_reader in ready:
                return
            data = os.read(source, 65536)
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                self.enter(line.decode(errors="replace"))
            if not data:
                poll.unregister(source)  # the end of the input; the run goes on
            elif len(pending) > MAX_LINE:
                self._say(f"a line is longer than {MAX_LINE} bytes and is dropped")
                pending = b""

    def enter(self, line: str) -> None:
        """Give the request of one line; what it returns or refuses is printed."""
        if not line.strip():
            return
        if line.strip() == "help":
            for text in list_requests(self._simulation.devices):
                self._say(text)
            return
        try:
            device, name, values = parse_line(line, self._simulation.devices)
            future = self._simulation.request(device, name, **values)
        except PliantError as error:
            self._say(str(error))
            return

        def done(future: Future[object]) -> None:
            error = None if future.cancelled() else future.exception()
            self._say(f"{device}.{name}: {error or 'done'}")

        future.add_done_callback(done)


@contextlib.contextmanager
def listening(simulation: Simulation, stream: TextIO, say: Callable[[str], None]) -> Iterator[None]:
    """Take requests from a stream while the block runs, and say first what can be typed.

    Args:
        simulation: whose devices are asked.
        stream: where lines come from, such as ``sys.stdin``.
        say: prints a line.
    """
    buttons = [f"{device.name}.{name}" for device in simulation.devices.values() for name in device.buttons]
    shown = f"{', '.join(buttons)}; " if buttons else ""
    count = sum(len(device.requests) for device in simulation.devices.values())
    say(f"console: {shown}help lists all {count} requests")
    reader = RequestConsole(simulation, stream, say)
    reader.start()
    try:
        yield
    finally:
        reader.close()
