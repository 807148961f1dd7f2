"""What a bridge is: an adapter between the devices and a wire, driven by the loop."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Protocol, TypedDict, runtime_checkable

from pliant.devices.base import Sample, SampleSource
from pliant.engine.base import Engine
from pliant.threads import Threads

__all__ = ["Bridge", "BridgeBase", "LockstepBridge", "SimulationControl", "TopicReport"]


class SimulationControl(Protocol):
    """What a bridge may ask of the simulation that it serves. Any thread may call everything but ``step`` and
    ``serve``."""

    engine: Engine
    """The physics, for ports that are resolved in ``start`` and read in the loop thread."""

    @property
    def time_ns(self) -> int:
        """Simulation time [ns]."""
        ...

    @property
    def time(self) -> float:
        """Simulation time [s]."""
        ...

    @property
    def paused(self) -> bool:
        """Whether it is paused."""
        ...

    def pause(self) -> None:
        """Wait before the next step."""
        ...

    def resume(self) -> None:
        """End a pause."""
        ...

    def stop(self) -> None:
        """End the run after the present step."""
        ...

    def step(self, n: int = 1) -> None:
        """Advance by ``n`` steps; only what `submit` runs may call this."""
        ...

    @property
    def recording(self) -> Path | None:
        """The file that is written, None where nothing is recorded."""
        ...

    def record(self, path: Path, metadata: Mapping[str, str] | None = None) -> None:
        """Record from the next step on, with texts about the run; only what `submit` runs may call this."""
        ...

    def stop_recording(self) -> None:
        """End the recording; only what `submit` runs may call this."""
        ...

    @property
    def paced(self) -> bool:
        """Whether the run keeps a pace, which ``set_speed`` can change."""
        ...

    def set_speed(self, rtf: float) -> None:
        """Change the real-time factor of a run that keeps a pace; only what `submit` runs may call this."""
        ...

    def submit(self, action: Callable[[], Any]) -> Future[Any]:
        """Let the loop thread call ``action()`` at the start of the next step."""
        ...

    def request(self, target: str, name: str, /, **args: Any) -> Future[Any]:
        """Ask a device, or ``"simulation"``, for something by name."""
        ...

    def serve(self, timeout: float) -> bool:
        """Run what was submitted and requested, then wait up to a time [s] for more; False if the run ends.

        For `LockstepBridge.wait`, so that clients are answered while the loop waits; no other may call this.
        """
        ...


class TopicReport(TypedDict):
    """One row of the table that a run prints for a bridge at its end."""

    topic: str
    """Name of the topic, socket or service."""
    type: str
    """Type of its messages."""
    direction: str
    """``"out"`` for what is published, ``"in"`` for what is received."""
    count: int
    """Messages."""
    rate: float
    """Messages a second of the wall time in which somebody listened, or in which messages came [Hz]."""
    peers: Sequence[str]
    """Who listened or sent, as far as it is known."""


@runtime_checkable
class Bridge(Protocol):
    """Carries samples to the outside and commands to the mailboxes.

    The loop thread calls every method. A bridge may have threads of its own; they touch nothing of the simulation but
    ``device.inbox.put``, ``device.request`` and what `Simulation` allows any thread. A wire that is lost raises
    `BridgeError` from ``publish`` or ``tick``, which ends the run. `BridgeBase` has defaults for all but ``publish``.

    Threads are started by ``threads.start``: whoever drives the bridge hears of each that dies, and the simulation ends
    the run then (its option ``on_dead_thread``).
    """

    name: str
    """How messages, tables and the health of a run call it."""
    lockstep: bool
    """True if the loop waits, after each step, until the other side has answered; then see `LockstepBridge`."""
    paced: bool
    """True if a run with this bridge keeps real time unless it is asked for another speed."""
    own_timeout: str
    """Name of the bridge's option that limits the wait of a step; "" where the simulation's ``sync_timeout`` does."""

    @property
    def threads(self) -> Threads:
        """The bridge's threads; one that dies is told."""
        ...

    @property
    def addresses(self) -> Mapping[str, str]:
        """What is served -> where clients connect, as the user is told; known once it has started."""
        ...

    @property
    def awaited(self) -> Sequence[str]:
        """Names of the messages that each step waits for, without a limit for the first; () where nobody is awaited."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """Sentences that the user is told at the start, such as what sets the pace; known once it has started."""
        ...

    def bind(self, simulation: SimulationControl) -> None:
        """Take the simulation that it serves, for services that pause, step or reset it; called before ``start``.

        A replay has no simulation and does not call this.
        """
        ...

    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Open the wire.

        Args:
            devices: name -> device, attached and reset; in a replay, name -> recorded device.

        Raises:
            BridgeError: the wire cannot be opened.
            MissingDependency: a package is not installed.
        """
        ...

    def publish(self, sample: Sample) -> None:
        """Send one sample; returns without waiting for the receiver."""
        ...

    def tick(self, stamp_ns: int) -> None:
        """Send the simulation time [ns]; called once a step, before the samples of that step."""
        ...

    def stop(self) -> None:
        """Close the wire and join every thread. May be called twice, and after a failed ``start``."""
        ...

    def health(self) -> Mapping[str, Any]:
        """Return counters and the last fault, as plain numbers and text."""
        ...

    def report(self) -> Sequence[TopicReport]:
        """Return one row for everything that was served."""
        ...


@runtime_checkable
class LockstepBridge(Bridge, Protocol):
    """A bridge whose other side answers samples."""

    def wait(self, timeout: float) -> bool:
        """Wait until every sample that needs an answer has one.

        ``device.inbox.wait_for(seq, timeout)`` does this for one device.

        Args:
            timeout: longest wait [s] of wall time.

        Returns:
            True at once if nothing is open, True when all is answered, False if the time ran out.
        """
        ...

    def release(self) -> None:
        """Let `wait` return, now and from now on, because the run ends; any thread may call this."""
        ...


class BridgeBase:
    """Defaults for everything of a `Bridge`; a bridge overrides what it needs, at least ``publish``.

    Example:
        >>> class Printer(BridgeBase):
        ...     name = "printer"
        ...
        ...     def publish(self, sample):
        ...         print(sample.device, dict(sample.values))
    """

    name = ""
    """Empty for the name of the class in small letters."""
    lockstep = False
    paced = True
    own_timeout = ""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.name = cls.name or cls.__name__.lower()

    @functools.cached_property
    def threads(self) -> Threads:
        """The bridge's threads; start one by ``self.threads.start(name, work)``."""
        return Threads()

    @property
    def addresses(self) -> Mapping[str, str]:
        """Nothing: clients connect nowhere."""
        return {}

    @property
    def awaited(self) -> Sequence[str]:
        """Nothing: nobody is awaited."""
        return ()

    @property
    def notes(self) -> Sequence[str]:
        """Nothing: there is nothing to say."""
        return ()

    def bind(self, simulation: SimulationControl) -> None:
        """Do nothing: it has no services."""

    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Do nothing: there is no wire to open."""

    def publish(self, sample: Sample) -> None:
        """Do nothing with the sample."""

    def tick(self, stamp_ns: int) -> None:
        """Do nothing with the time."""

    def stop(self) -> None:
        """Do nothing: there is no wire to close."""

    def health(self) -> Mapping[str, Any]:
        """Return nothing: nothing is counted."""
        return {}

    def release(self) -> None:
        """Do nothing: no wait is without an end."""

    def report(self) -> Sequence[TopicReport]:
        """Return nothing: nothing is counted."""
        return ()
