"""Calls of clients: their names, the requests of devices that they become, and the answers that follow."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from pliant.base.errors import DeviceError, PliantError
from pliant.devices.base import Device
from pliant.simulation.bridge import SimulationControl
from pliant.yarp.bridge.messages import answered
from pliant.yarp.wire import Bottle, Value, Vocab
from pliant.yarp.wire.values import text

MAX_WAITING = 1000
"""Most requests of one port that wait for the loop; a further one is refused."""
T = TypeVar("T")


def words_of(items: Sequence[Value], most: int = 3) -> list[str]:
    """Return the words among the first elements of a request; a word is a vocabulary or a text."""
    return [text(item) for item in items[:most] if isinstance(item, Vocab | str)]


def help_reply(names: Iterable[str]) -> Bottle:
    """Return the reply to ``help``: the names of the calls."""
    return Bottle((Vocab.of("many"), "*** Available commands:", *names, "help"))


class RequestQueue:
    """Gives requests to a device, at most `MAX_WAITING` at once.

    Args:
        device: who is asked.
        simulation: what runs the calls; None where the device itself queues them.
    """

    def __init__(self, device: Device, simulation: SimulationControl | None = None) -> None:
        self._device = device
        self._simulation = simulation
        self._waiting: deque[Future[Any]] = deque()

    def put(self, name: str, /, **arguments: object) -> Future[Any]:
        """Queue a request.

        Raises:
            DeviceError: there is no such request, or too many wait because the simulation stands still.
        """
        self._make_room()
        future = self._device.request(name, **arguments)
        self._waiting.append(future)
        return future

    def ask(
        self,
        name: str,
        arguments: Mapping[str, object],
        reply: Callable[[Any], Bottle | bytes],
        refused: Callable[[str], Bottle | bytes],
    ) -> Bottle | bytes | Future[Bottle | bytes]:
        """Queue a request, and return the answer that follows from its result or from the reason of its refusal."""
        try:
            future = self.put(name, **arguments)
        except (PliantError, TypeError) as fault:
            return refused(str(fault))
        return answered(future, reply, refused)

    def call(self, function: Callable[[], T]) -> Future[T]:
        """Queue a function that reads or changes the device; it runs in the loop's thread, between two steps.

        Raises:
            DeviceError: too many wait because the simulation stands still.
        """
        self._make_room()
        if self._simulation is None:
            future = self._device.request("call", function=lambda _: function())
        else:
            future = self._simulation.submit(function)
        self._waiting.append(future)
        return future

    def _make_room(self) -> None:
        while self._waiting and self._waiting[0].done():
            self._waiting.popleft()
        if len(self._waiting) >= MAX_WAITING:
            raise DeviceError(f"{self._device.name}: more than {MAX_WAITING} requests wait; is the simulation running?")
