"""The port whose images a visual shows."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future

import numpy as np

from pliant.base.errors import PliantError, WireError
from pliant.devices.base import Device, SampleSource
from pliant.yarp.bridge.calls import connect_ports
from pliant.yarp.bridge.messages import Answer, Arrival
from pliant.yarp.bridge.reactor import Reactor
from pliant.yarp.bridge.requests import RequestQueue
from pliant.yarp.bridge.served import Served
from pliant.yarp.wire.images import Image

LIMIT = 64 << 20
"""Longest image that is taken [bytes]."""
RETRY_S = 2.0
"""Time between two attempts to connect the source [s]."""
POLL_S = 0.1
"""How often the thread looks whether it is to stop [s]."""
ORDERS = {"rgb": (0, 1, 2), "bgr": (2, 1, 0), "rgba": (0, 1, 2), "bgra": (2, 1, 0), "mono": (0, 0, 0)}
"""Pixel code -> which channels are red, green, blue."""


def rgb_of(image: Image) -> np.ndarray:
    """Return the pixels of an image as RGB.

    Raises:
        WireError: a pixel code without colours of 8 bits.
    """
    order = ORDERS.get(image.code)
    if order is None:
        raise WireError(f"images of pixel code {image.code!r} are not shown; must be one of {', '.join(ORDERS)}")
    pixels = image.pixels if image.pixels.ndim == 3 else image.pixels[..., None]
    return np.ascontiguousarray(pixels[..., list(order)], np.uint8)


class _Screen:
    """Gives the newest image to the device; one that comes before the last is shown takes its place."""

    def __init__(self, device: Device, reactor: Reactor) -> None:
        self._reactor = reactor
        self._requests = RequestQueue(device)
        self._newest: np.ndarray | None = None
        self._waiting = False

    def take(self, arrival: Arrival) -> Answer:
        self._newest = rgb_of(Image.decode(arrival.bottle()))
        if not self._waiting:
            self._next()
        return None

    def _next(self) -> None:
        pixels, self._newest = self._newest, None
        if pixels is None:
            return
        self._waiting = True
        self._requests.put("show", pixels=pixels).add_done_callback(self._done)

    def _done(self, _: Future[None]) -> None:
        """Go on in the thread of the ports; the loop thread calls this."""
        self._reactor.call(self._resume)

    def _resume(self) -> None:
        self._waiting = False
        self._next()


def serve_video_texture(served: Served, name: str, device: SampleSource) -> None:
    """Take images at the port of the device, ``/model::link::visual``, and connect its source as soon as it exists."""
    if not isinstance(device, Device):  # of a recording
        return
    port = device.metadata.get("port") or served.full_name(name)
    served.input(port, "Image", limit=LIMIT, on_data=_Screen(device, served.network.reactor).take)
    source = device.metadata.get("source", "")
    if source:
        served.network.threads.start(f"pliant-yarp-{name}"[:60], lambda: _connect(served, source, port))


def _connect(served: Served, source: str, port: str) -> None:
    threads, pause = served.network.threads, threading.Event()
    told, connected, next_attempt = False, False, 0.0
    while not threads.closing:
        if not connected and time.monotonic() >= next_attempt:
            next_attempt = time.monotonic() + RETRY_S
            try:
                connect_ports(served.network.names, source, port)
                connected = True
            except PliantError as fault:
                if not told and not threads.closing:
                    served.network.on_complaint(f"{port}: {fault}; it is tried again every {RETRY_S:g} s")
                told = True
        pause.wait(POLL_S)
