"""Bridges: adapters between the devices and a network protocol, driven by the loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, TypedDict, runtime_checkable

from pliant.base.errors import BridgeError
from pliant.base.threads import Threads
from pliant.devices.base import Sample, SampleSource
from pliant.engine.base import Engine


class SimulationControl(Protocol):
    """Interface of a simulation for its bridges.

    Any thread may call these methods, except those whose docstring says otherwise.
    """

    engine: Engine
    """Physics engine, for ports that are resolved in ``start`` and read in the loop thread."""

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
        """Whether the simulation is paused."""
        ...

    def pause(self) -> None:
        """Pause before the next step."""
        ...

    def resume(self) -> None:
        """End a pause."""
        ...

    def stop(self) -> None:
        """End the run after the current step."""
        ...

    def step(self, n: int = 1) -> None:
        """Advance by ``n`` steps; may only be called by an action passed to `submit`."""
        ...

    @property
    def recording(self) -> Path | None:
        """Path of the current recording; None if nothing is recorded."""
        ...

    def record(self, path: Path, metadata: Mapping[str, str] | None = None, *, contacts: bool = False) -> None:
        """Record from the next step on, with texts about the run.

        May only be called by an action passed to `submit`.
        """
        ...

    def stop_recording(self) -> None:
        """End the recording; may only be called by an action passed to `submit`."""
        ...

    @property
    def paced(self) -> bool:
        """Whether the run keeps a real-time factor, which ``set_speed`` can change."""
        ...

    @property
    def lost_time(self) -> float:
        """Wall time by which a paced run fell behind and that it does not catch up [s]."""
        ...

    def set_speed(self, rtf: float) -> None:
        """Change the real-time factor of a paced run; may only be called by an action passed to `submit`."""
        ...

    def submit(self, action: Callable[[], object]) -> Future[object]:
        """Run ``action()`` in the loop thread at the start of the next step; the future receives its result."""
        ...

    def request(self, target: str, name: str, /, **args: object) -> Future[object]:
        """Send a request to a device, or to ``"simulation"``, by name."""
        ...

    def serve(self, timeout: float) -> bool:
        """Run submitted actions and requests, then wait up to ``timeout`` [s of wall time] for more.

        Only `LockstepBridge.wait` may call this; it keeps clients served while the loop waits.

        Returns:
            False if the run ends, else True.
        """
        ...


def bound(simulation: SimulationControl | None) -> SimulationControl:
    """Return the simulation of a bridge.

    Raises:
        BridgeError: nobody bound one.
    """
    if simulation is None:
        raise BridgeError("no simulation is bound to this bridge: there is nothing to pause, step or reset")
    return simulation


class TopicReport(TypedDict):
    """Row of the table that the command line prints for a bridge at the end of a run."""

    topic: str
    """Name of the topic, socket or service."""
    type: str
    """Type of its messages."""
    direction: str
    """``"out"`` for published messages, ``"in"`` for received messages."""
    count: int
    """Number of messages."""
    rate: float
    """Message rate [Hz], over the wall time during which there were subscribers or messages arrived."""
    peers: Sequence[str]
    """Subscribers or publishers, as far as they are known."""


@runtime_checkable
class Bridge(Protocol):
    """Interface of a bridge, which publishes samples and puts received commands into the mailboxes.

    The loop thread calls every method. A bridge may have its own threads. They may only use ``device.inbox.put``,
    ``device.request`` and the methods of `Simulation` that any thread may call. A lost connection raises `BridgeError`
    from ``publish`` or ``tick``, which ends the run. `BridgeBase` has defaults for all methods except ``publish``.

    Threads must be started with ``threads.start``, so that the simulation detects a thread that dies and can end the
    run (see its argument ``on_dead_thread``).
    """

    name: str
    """Name of the bridge in messages, tables and ``health()``."""
    lockstep: bool
    """Whether the loop waits for an answer of the client after each step; see `LockstepBridge`."""
    paced: bool
    """Whether a run with this bridge keeps real time unless another speed is requested."""
    own_timeout: str
    """Name of the bridge option that limits the wait in a step; "" if ``sync_timeout`` of the simulation does."""

    @property
    def threads(self) -> Threads:
        """Threads of the bridge, monitored by the simulation."""
        ...

    @property
    def addresses(self) -> Mapping[str, str]:
        """Name of each service -> address for clients, as shown to the user; available after ``start``."""
        ...

    @property
    def awaited(self) -> Sequence[str]:
        """Names of the messages that each step waits for; () if none.

        There is no time limit for the first message.
        """
        ...

    @property
    def notes(self) -> Sequence[str]:
        """Messages shown to the user at the start, such as what sets the pace; available after ``start``."""
        ...

    def bind(self, simulation: SimulationControl) -> None:
        """Store the simulation, for services that pause, step or reset it; called before ``start``.

        Not called in a replay, which has no simulation.
        """
        ...

    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Open the connection.

        Args:
            devices: name -> device, attached and reset; in a replay, name -> recorded device.

        Raises:
            BridgeError: the connection cannot be opened.
            MissingDependency: a required package is not installed.
        """
        ...

    def publish(self, sample: Sample) -> None:
        """Publish one sample without waiting for the receiver."""
        ...

    def tick(self, stamp_ns: int) -> None:
        """Publish the simulation time [ns]; called once per step, before the samples of that step."""
        ...

    def stop(self) -> None:
        """Close the connection and join all threads. May be called twice, and after a failed ``start``."""
        ...

    def health(self) -> Mapping[str, object]:
        """Return counters and the last error, as numbers and strings."""
        ...

    def report(self) -> Sequence[TopicReport]:
        """Return one row for each topic, socket or service."""
        ...


@runtime_checkable
class LockstepBridge(Bridge, Protocol):
    """A bridge whose client must answer samples."""

    def wait(self, timeout: float) -> bool:
        """Wait until every sample that needs an answer has been answered.

        ``device.inbox.wait_for(seq, timeout)`` does this for one device.

        Args:
            timeout: longest wait [s of wall time].

        Returns:
            True when all samples are answered, at once if none needs an answer; False on timeout.
        """
        ...

    def release(self) -> None:
        """Make this and all later calls of `wait` return at once, because the run ends. Any thread may call this."""
        ...


class BridgeBase:
    """Default implementation of `Bridge`; a bridge overrides the methods that it needs.

    Example:
        >>> class Printer(BridgeBase):
        ...     name = "printer"
        ...
        ...     def publish(self, sample):
        ...         print(sample.device, dict(sample.values))
    """

    name = ""
    """Name of the bridge; empty for the lower-case name of the class."""
    lockstep = False
    paced = True
    own_timeout = ""
    _simulation: SimulationControl | None = None
    """The simulation, once it is bound."""
    _where: Mapping[str, str] = MappingProxyType({})
    """Served item -> address."""
    _notes: Sequence[str] = ()
    """Messages for the user."""
    _threads: Threads | None = None

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        cls.name = cls.name or cls.__name__.lower()

    @property
    def threads(self) -> Threads:
        """Threads of the bridge; start one with ``self.threads.start(name, work)``."""
        if self._threads is None:
            self._threads = Threads()
        return self._threads

    @property
    def addresses(self) -> Mapping[str, str]:
        """Addresses for clients, by what is served there; none before the start."""
        return dict(self._where)

    @property
    def awaited(self) -> Sequence[str]:
        """Empty: a step waits for no message."""
        return ()

    @property
    def notes(self) -> Sequence[str]:
        """Messages for the user about what was started or written."""
        return tuple(self._notes)

    def bind(self, simulation: SimulationControl) -> None:
        """Keep the simulation, for a bridge with services."""
        self._simulation = simulation

    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Do nothing: there is no connection to open."""

    def publish(self, sample: Sample) -> None:
        """Do nothing with the sample."""

    def tick(self, stamp_ns: int) -> None:
        """Do nothing with the time."""

    def stop(self) -> None:
        """Do nothing: there is no connection to close."""

    def health(self) -> Mapping[str, object]:
        """Return an empty mapping: there are no counters."""
        return {}

    def release(self) -> None:
        """Do nothing: there is no wait to end."""

    def report(self) -> Sequence[TopicReport]:
        """Return no rows: there are no counters."""
        return ()
