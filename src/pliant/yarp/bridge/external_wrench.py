"""The port by which programs push links."""

from __future__ import annotations

from pliant.base.errors import WireError
from pliant.devices.base import Device, SampleSource
from pliant.yarp.bridge.messages import Answer, Arrival
from pliant.yarp.bridge.requests import RequestQueue
from pliant.yarp.bridge.served import Served
from pliant.yarp.wire import Bottle, Vocab, bottle
from pliant.yarp.wire.records import call_of
from pliant.yarp.wire.values import number, text

HELP = (
    "LINK fx fy fz tx ty tz duration: push a link, N and N m in world axes, s",
    "single: a new push ends the one before",
    "multiple: pushes add up",
)
"""Reply to ``help``: one text for each call."""


def read_push(request: Bottle) -> tuple[str, dict[str, object]]:
    """Return the name and the arguments of the device's request that a call means.

    Raises:
        WireError: the call is none of those of `HELP`.
    """
    words = request.items
    first = text(words[0]) if words else ""
    if first in ("single", "multiple") and len(words) == 1:
        return "allow_several", {"on": first == "multiple"}
    if len(words) != 8:
        raise WireError(f"a push of {len(words)} words; must be LINK fx fy fz tx ty tz duration", field="push")
    numbers = [number(word) for word in words[1:]]
    return "push", {"link": first, "force": numbers[:3], "torque": numbers[3:6], "duration": numbers[6]}


def serve_external_wrench(served: Served, name: str, device: SampleSource) -> None:
    """Serve pushes at the port of the device: by default ``/robot/applyExternalWrench/rpc:i``."""
    if not isinstance(device, Device):  # of a recording
        return
    requests = RequestQueue(device)
    port = device.metadata.get("port") or served.full_name("applyExternalWrench", "rpc:i")
    served.input(port, "Bottle", is_rpc=True, on_data=lambda arrival: _answer(requests, arrival))


def _answer(requests: RequestQueue, arrival: Arrival) -> Answer:
    request = arrival.bottle()
    if call_of(request)[0] == "help":
        return bottle(Vocab.of("many"), *HELP)
    try:
        what, arguments = read_push(request)
    except WireError as error:
        return _refused(str(error))
    return requests.ask(what, arguments, lambda _: bottle(f"[ACK] {text(request[0])}"), _refused)


def _refused(why: str) -> Bottle:
    return bottle(f"[ERROR] {why}")
