"""Messages that clients publish: commands to devices, as JSON on ``/<device>/command``, and calls of services."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np

from pliant.base.errors import BridgeError, DeviceError, PliantError, nearest
from pliant.devices.base import Command, Device, SampleSource
from pliant.recording.sample_message import sample_topic
from pliant.simulation.answers import answered
from pliant.simulation.bridge import SimulationControl
from pliant.simulation.commands import command_mode

MAX_COMMAND_BYTES = 65536
"""Longest command [bytes]."""
MAX_CHANNELS = 1024
"""Most channels of clients that are remembered; the oldest are forgotten."""
Decoded = dict[str, float | str | list[float]]
_DECODER = msgspec.json.Decoder(Decoded)


class CommandTopics:
    """The topics on which clients send commands, and which channel of which client is which topic.

    Any thread may call its methods.

    Args:
        devices: name -> device; those that take commands have a topic.
    """

    def __init__(self, devices: Mapping[str, SampleSource]) -> None:
        self.topics = {f"{sample_topic(n)}/command": d for n, d in devices.items() if d.commands}
        self.counts = dict.fromkeys(self.topics, 0)
        self._channels: OrderedDict[tuple[int, int], str] = OrderedDict()
        self._lock = threading.Lock()

    def advertise(self, client: int, channel: int, topic: str, encoding: str) -> None:
        """Remember a client's channel.

        Raises:
            BridgeError: no such topic, or an encoding that is not JSON.
        """
        if topic not in self.topics:
            raise BridgeError(f"{topic!r} takes no commands; {nearest(topic, self.topics)}", field="topic")
        if encoding != "json":
            raise BridgeError(f"{topic}: the encoding is {encoding!r}; must be json", field="encoding")
        with self._lock:
            self._channels[client, channel] = topic
            if len(self._channels) > MAX_CHANNELS:
                self._channels.popitem(last=False)

    def unadvertise(self, client: int, channel: int) -> None:
        """Forget a client's channel."""
        with self._lock:
            self._channels.pop((client, channel), None)

    def put(self, client: int, channel: int, data: bytes) -> None:
        """Put a command into the mailbox of its device.

        Raises:
            BridgeError: no such channel, too long, or no JSON of the right kind.
            DeviceError: values that the device does not take.
        """
        topic = self._channels.get((client, channel))
        if topic is None:
            raise BridgeError("a command arrived on a channel that accepts none", field="channel")
        if len(data) > MAX_COMMAND_BYTES:
            raise BridgeError(f"{topic}: a command of {len(data)} bytes; must be at most {MAX_COMMAND_BYTES}")
        try:
            values = _DECODER.decode(data)
        except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
            raise BridgeError(f"{topic}: must be one JSON object of numbers and lists of numbers: {error}") from None
        mode = values.pop("mode", None)
        device = self.topics[topic]
        if mode is not None and not isinstance(mode, str):
            raise BridgeError(f"{topic}: mode is {mode!r}; must be a text", field="mode")
        if not values:
            fields = sorted({field for infos in device.commands.values() for field in infos})
            raise BridgeError(f"{topic}: no values; must be some of {', '.join(fields)}", field=device.name)
        device.inbox.put(values, mode=command_mode(device, values) if mode is None else mode)
        self.counts[topic] += 1


def command_schema(device: SampleSource) -> dict[str, object]:
    """Return the JSON schema of a device's commands: the fields of all its modes."""
    properties: dict[str, object] = {}
    if len(device.commands) > 1:
        properties["mode"] = {"type": "string", "enum": list(device.commands)}
    for fields in device.commands.values():
        for name, info in fields.items():
            kind: dict[str, object] = {"type": "number"}
            if info.shape:
                kind = {"type": "array", "items": kind, "minItems": info.size, "maxItems": info.size}
            properties[name] = {**kind, "description": f"{info.description} [{info.unit or '-'}]"}
    return {"title": f"pliant.{device.name}.command", "type": "object", "properties": properties}


def command_json(command: Command) -> bytes:
    """Return a command as clients would publish it."""
    values = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in command.values.items()}
    return json.dumps({"mode": command.mode, **values}).encode()


def service_actions(
    simulation: SimulationControl, devices: Mapping[str, SampleSource]
) -> dict[str, Callable[[Mapping[str, object]], str]]:
    """Return what each service does: name -> function of the request, which returns a text and runs in any thread.

    ``/pause``, ``/resume``, ``/step``, ``/reset``, and each button of a device as ``/<device>/<button>``.
    """

    def pause(_: Mapping[str, object]) -> str:
        simulation.pause()
        return "paused"

    def resume(_: Mapping[str, object]) -> str:
        simulation.resume()
        return "running"

    def step(_: Mapping[str, object]) -> str:
        if not simulation.paused:
            raise BridgeError("single steps need a paused simulation; call /pause first")
        answered(simulation.submit(simulation.step))
        return f"time is {simulation.time:.9g} s"

    def reset(_: Mapping[str, object]) -> str:
        answered(simulation.request("simulation", "reset"))
        return "time is 0"

    actions: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "/pause": pause, "/resume": resume, "/step": step, "/reset": reset,
    }  # fmt: skip
    for name, device in devices.items():
        if isinstance(device, Device):
            for button, argument in device.buttons.items():
                actions[f"{sample_topic(name)}/{button}"] = _press(device, button, argument)
    return actions


def _press(device: Device, button: str, argument: str) -> Callable[[Mapping[str, object]], str]:
    def press(request: Mapping[str, object]) -> str:
        if argument and not isinstance(request.get(argument), bool):
            raise DeviceError(f"{button}: the request must have {argument}: true or false", field=argument)
        answered(device.request(button, **({argument: request[argument]} if argument else {})))
        return button

    return press


def answer_call(action: Callable[[Mapping[str, object]], str], payload: bytes) -> bytes:
    """Return the answer of a service in JSON: ``success`` and ``message``."""
    try:
        if len(payload) > MAX_COMMAND_BYTES:
            raise BridgeError(f"a request of {len(payload)} bytes; must be at most {MAX_COMMAND_BYTES}")
        try:
            asked = msgspec.json.decode(payload or b"{}", type=dict[str, bool | float | str])
        except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
            raise BridgeError(f"the request must be one JSON object: {error}") from None
        return json.dumps({"success": True, "message": action(asked)}).encode()
    except PliantError as error:
        return json.dumps({"success": False, "message": str(error)}).encode()
