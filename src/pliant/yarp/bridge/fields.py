"""Devices without ports of their own kind: one port for their field table, one for commands, one for requests."""

from __future__ import annotations

import numpy as np

from pliant.base.errors import WireError
from pliant.devices.base import Device, Sample, SampleSource
from pliant.yarp.bridge.messages import Answer, Arrival
from pliant.yarp.bridge.requests import RequestQueue
from pliant.yarp.bridge.served import Served
from pliant.yarp.wire import Bottle, Dialect, Value, Vocab, bottle, encode_bottle
from pliant.yarp.wire.objects import properties
from pliant.yarp.wire.values import FAIL, FALSE, OK, TRUE, Int64, plain_value, text


def yarp_value(value: object) -> Value:
    """Return what a request gave as a value: numbers, truths, texts, lists of these; all else is its text."""
    if isinstance(value, bool | np.bool_):
        return TRUE if value else FALSE
    if isinstance(value, np.ndarray):
        return yarp_value(value.tolist())
    if isinstance(value, np.generic):
        return yarp_value(value.item())
    if isinstance(value, int):
        return value if -(1 << 31) <= value < 1 << 31 else Int64(value) if abs(value) < 1 << 62 else float(value)
    if isinstance(value, float | str | bytes):
        return value
    if isinstance(value, dict):
        return Bottle(tuple([Bottle((str(k), yarp_value(v))) for k, v in value.items()]))
    if isinstance(value, list | tuple):
        return Bottle(tuple([yarp_value(item) for item in value]))
    return str(value)


def serve_fields(served: Served, name: str, device: SampleSource) -> None:
    """Serve a device by its field table.

    | port | content |
    |---|---|
    | ``/robot/device/state:o`` | ``(field value) (field (values))...``, in SI |
    | ``/robot/device/command:i`` | the same form; ``(mode NAME)`` names the command mode |
    | ``/robot/device/rpc:i`` | ``help``, or a request: ``NAME (argument value)...`` |
    """
    keys = [key for key, info in device.samples.items() if info.size <= 1 << 16]

    def encode(sample: Sample, dialect: Dialect) -> bytes:
        values = sample.values
        rows = []
        for key in keys:
            value = values[key]
            if isinstance(value, np.ndarray):
                value = Bottle(tuple(np.asarray(value, dtype=float).ravel().tolist()), layout="")
            rows.append(Bottle((key, value)))
        return encode_bottle(Bottle(tuple(rows)), dialect)

    served.publish(served.full_name(name, "state:o"), "Property", device, encode)
    if not isinstance(device, Device):  # of a recording
        return
    if device.commands:
        served.input(served.full_name(name, "command:i"), "Property", on_data=lambda a: _command(device, a))
    if device.requests:
        requests = RequestQueue(device)
        port = served.full_name(name, "rpc:i")
        served.input(port, "Bottle", is_rpc=True, on_data=lambda a: _request(device, requests, a))


def _command(device: Device, arrival: Arrival) -> Answer:
    values = {key: plain_value(value) for key, value in properties(arrival.bottle()).items()}
    mode = values.pop("mode", None)
    if mode is not None and not isinstance(mode, str):
        raise WireError("the mode of a command must be a name", field="mode")
    device.inbox.put(values, mode=mode)
    return bottle(OK)


def _request(device: Device, requests: RequestQueue, arrival: Arrival) -> Answer:
    words = arrival.bottle().items
    name = text(words[0]) if words else ""
    if name in ("", "help"):
        rows = [bottle(key, usage) for key, usage in device.requests.items()]
        return Bottle((Vocab.of("many"), *rows))
    arguments = {key: plain_value(value) for key, value in properties(Bottle(words[1:])).items()}
    return requests.ask(
        name,
        arguments,
        lambda value: bottle(OK) if value is None else Bottle((OK, yarp_value(value))),
        lambda why: bottle(FAIL, why),
    )
