"""Devices: samples, a mailbox for commands, requests and a sampling period of their own.

A device models a piece of the robot's electronics. It accesses the engine through ports only and exchanges data with
the outside through two objects: the immutable `Sample` that it returns and the `Mailbox` that receives commands.
The loop thread calls ``serve``, ``write`` and ``read``; every other thread may call only ``inbox.put`` and
``request``.

`DeviceBase` implements what all devices share: delay lines, noise, watchdog, request queue and period check.
A device is a subclass that overrides ``_connect``, ``_latch``, ``_firmware``, ``_measure`` and ``_restart``:

    class Thermometer(DeviceBase):
        def __init__(self, name="thermometer", **options):
            super().__init__(name, samples={"temperature": FieldInfo(unit="K")}, **options)

        def _connect(self, engine):
            self._port = engine.port(f"{self.name}/temperature")

        def _measure(self):
            return {"temperature": self._port.item()}

Conventions that scenario events and command files rely on: a joint device takes the field ``external_torque``
[N m] in every mode, and answers the requests ``set_mode(mode)`` and ``set_gains(...)``.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import DeviceError, nearest
from pliant.base.numerics import Array
from pliant.devices.contract import Device, Mount, Sample, SampleSource
from pliant.devices.fields import FieldInfo, Values, check_fields
from pliant.devices.mailbox import Command, Mailbox
from pliant.devices.perturbation import Perturbation
from pliant.devices.signatures import check_signatures
from pliant.devices.timing import step_ns, to_ns
from pliant.engine.base import Engine
from pliant.model.noise import Noise

__all__ = [
    "Command",
    "Device",
    "DeviceBase",
    "FieldInfo",
    "Mailbox",
    "Mount",
    "Noise",
    "Sample",
    "SampleSource",
    "request",
    "step_ns",
    "to_ns",
]

F = TypeVar("F", bound=Callable[..., object])


def request(method: F) -> F:
    """Mark a method of a device as a request, which clients call by name and the loop thread runs."""
    vars(method)["__pliant_request__"] = True
    return method


def button(method: F) -> F:
    """Mark a method of a device as a push button, or as a switch if the method has one argument of type bool.

    Buttons and switches are requests for a person to use. Bridges and the console of the command line offer them
    automatically.
    """
    vars(method)["__pliant_button__"] = True
    return request(method)


@dataclass(slots=True)
class _Counters:
    """Counters of a device for its health."""

    commands: int = 0
    stale_commands: int = 0
    watchdog_trips: int = 0
    requests: int = 0
    failed_requests: int = 0
    last_error: str = ""


class DeviceOptions(TypedDict, total=False):
    """Options of `DeviceBase` that devices pass on; its arguments are described there."""

    period: float | None
    sample_period: float | None
    latency: float
    command_latency: float
    watchdog: float | None
    noise: Mapping[str, Noise] | None
    stamp: str


class DeviceBase:
    """Base class of devices: period, mailbox, delay lines, noise, watchdog and requests.

    Args:
        name: name of the device, unique in a simulation.
        samples: field of a sample -> description of the field.
        commands: command mode -> field -> description of the field; empty for a sensor.
        period: period of the firmware [s]; None for every step of the engine.
        sample_period: time between two samples [s], a whole multiple of the period; None for the period.
        latency: age of a sample on arrival [s], rounded up to whole sample periods. Until this time has passed,
            ``read`` returns the first sample.
        command_latency: delay from the mailbox to the firmware [s], rounded up to whole periods.
        watchdog: longest time without a command, after the first one, before ``_trip`` is called [s]; None disables
            the watchdog.
        noise: field -> noise; all other fields are exact.
        stamp: time in ``Sample.stamp_ns``: ``"arrival"`` or ``"measurement"``. They differ by the latency.

    Raises:
        DeviceError: an option is out of range, noise is given for a field that does not exist, or a watchdog for a
            device that takes commands and has no ``_trip``.
    """

    def __init__(
        self,
        name: str,
        *,
        samples: Mapping[str, FieldInfo],
        commands: Mapping[str, Mapping[str, FieldInfo]] | None = None,
        period: float | None = None,
        sample_period: float | None = None,
        latency: float = 0.0,
        command_latency: float = 0.0,
        watchdog: float | None = None,
        noise: Mapping[str, Noise] | None = None,
        stamp: str = "arrival",
    ) -> None:
        if not name or not isinstance(name, str):
            raise DeviceError(f"the name of a device is {name!r}; must be a text that is not empty", field="name")
        self.name = name
        check_fields(self, name, samples, commands or {})
        check_signatures(self, name, samples)
        self.samples: Mapping[str, FieldInfo] = MappingProxyType(dict(samples))
        self.commands: Mapping[str, Mapping[str, FieldInfo]] = MappingProxyType(
            {mode: MappingProxyType(dict(fields)) for mode, fields in (commands or {}).items()}
        )
        if watchdog is not None and self.commands and type(self)._trip is DeviceBase._trip:
            raise DeviceError(
                f"{name}: watchdog is no option of this device: {type(self).__name__} defines no _trip, which stops it",
                field="watchdog",
            )
        self.inbox = Mailbox(name, self.commands)
        self.period_ns = 0 if period is None else to_ns(period, f"{name}: period")
        if period is not None and self.period_ns == 0:
            raise DeviceError(f"{name}: period is {period!r} s; must be at least 1 ns", field="period")
        self.sample_period_ns = 0 if sample_period is None else to_ns(sample_period, f"{name}: sample_period")
        self.latency_ns = to_ns(latency, f"{name}: latency")
        """Age of a sample on arrival [ns]."""
        self._command_latency_ns = to_ns(command_latency, f"{name}: command_latency")
        self._watchdog_ns = None if watchdog is None else to_ns(watchdog, f"{name}: watchdog")
        if stamp not in ("arrival", "measurement"):
            raise DeviceError(
                f"{name}: stamp is {stamp!r}; {nearest(stamp, ('arrival', 'measurement'))}", field="stamp"
            )
        self._stamp_measurement = stamp == "measurement"
        self.joints: tuple[str, ...] = ()
        self.frame = name
        self.topic = ""
        self.noise: Mapping[str, Noise] = dict(noise or {})
        self.mount: Mount | None = None
        self.metadata: Mapping[str, str] = {}
        self.written_ports: tuple[str, ...] = ()
        self._perturbations: list[Perturbation] = []
        if noise and self.noise_of_its_own:
            raise DeviceError(f"{name}: noise is no option of this device; {self.noise_of_its_own}", field="noise")
        for field_name, value in (noise or {}).items():
            if field_name not in self.samples:
                raise DeviceError(
                    f"{name}: noise is given for {field_name!r}, which no sample has; "
                    f"{nearest(field_name, self.samples)}",
                    field=field_name,
                )
            info = self.samples[field_name]
            value.check_size(info.size if info.shape else 0, f"{name}: {field_name}")
            self._perturbations.append(Perturbation(field_name, value, info.shape))
        self._arrays = tuple(key for key, info in self.samples.items() if info.shape)
        self._requests: dict[str, tuple[Callable[..., object], inspect.Signature]] = {}
        self._buttons: dict[str, str] = {}
        for key in dir(type(self)):
            if getattr(getattr(type(self), key, None), "__pliant_request__", False):
                method = getattr(self, key)
                self._requests[key] = (method, inspect.signature(method))
                if getattr(method, "__pliant_button__", False):
                    self._buttons[key] = next(iter(inspect.signature(method).parameters), "")
        self._queue: deque[tuple[Callable[..., object], dict[str, object], Future[object]]] = deque()
        self._counters = _Counters()
        self._rng = np.random.default_rng(0)
        self._seq = 0
        self.newest: Values | None = None
        """What was measured last, before the latency; None before the first measurement."""
        self._line: deque[tuple[int, Values]] = deque()
        self._command_line: deque[tuple[int, Command]] = deque()
        self._last_command_ns: int | None = None
        self._tripped = False
        self._checked = False

    command_ports: Mapping[str, str] = MappingProxyType({})
    """Command field -> engine port to which the device writes it unchanged; empty where a firmware computes with it."""
    signatures: tuple[str, ...] = ()
    """Signatures for bridges and panels (`pliant.devices.signatures`), the most specific first; () for its field
    table only."""
    noise_of_its_own: str = ""
    """Where the noise of this device is set, if it does not take the option ``noise``."""
    _engine: Engine
    """Set by ``attach``."""

    # ------------------------------------------------------------------ what a device fills in
    def _connect(self, engine: Engine) -> None:
        """Resolve the ports; called once by ``attach``."""

    def _restart(self, rng: np.random.Generator) -> None:
        """Set the firmware to its state at time 0; called by ``reset``, after the engine was reset."""

    def _latch(self, command: Command) -> None:
        """Take a new command; its mode is one that the device accepts."""

    def _firmware(self) -> None:
        """Run one period of the firmware: read ports, write ports."""

    def _measure(self) -> dict[str, float | np.ndarray]:
        """Return the true values of the present time, one for every field of ``samples``, in their order.

        Live views are welcome: arrays are copied before they go into a sample. A read-only float64 array is taken as
        it is: it must not be a view of anything that changes.
        """
        raise NotImplementedError(f"{type(self).__name__} must define _measure")

    def _trip(self) -> None:
        """Bring the device into its safe state: the watchdog found no command for too long."""

    # ------------------------------------------------------------------ the loop thread
    def attach(self, engine: Engine) -> None:
        """Resolve the period and the ports.

        Raises:
            DeviceError: the period is not a whole multiple of the time step of the engine.
            PortError: a port does not exist.
        """
        dt_ns = step_ns(engine)
        if self.period_ns == 0:
            self.period_ns = dt_ns
        self._check_multiple("period", self.period_ns, dt_ns, "the engine's step")
        if self.sample_period_ns == 0:
            self.sample_period_ns = self.period_ns
        self._check_multiple("sample_period", self.sample_period_ns, self.period_ns, "the device's period")
        self._engine = engine
        self._connect(engine)

    def _check_multiple(self, what: str, value_ns: int, unit_ns: int, of: str) -> None:
        if value_ns % unit_ns == 0:
            return
        below = value_ns // unit_ns * unit_ns
        valid = f"{below / 1e9:g} s or {(below + unit_ns) / 1e9:g} s" if below else f"{unit_ns / 1e9:g} s"
        raise DeviceError(
            f"{self.name}: the {what} is {value_ns / 1e9:g} s, no whole multiple of {of} of {unit_ns / 1e9:g} s; "
            f"nearest valid: {valid}",
            field=what,
        )

    def reset(self, rng: np.random.Generator) -> None:
        """Clear commands, delay lines and counters, draw the noise biases and restart the firmware."""
        self._rng = rng
        self._seq = 0
        self.newest = None
        self._line.clear()
        self._command_line.clear()
        self._last_command_ns = None
        self._tripped = False
        self._counters = _Counters()
        self.inbox.clear()
        for item in self._perturbations:
            if item.draws_bias:
                item.bias = rng.normal(0.0, item.noise.bias, item.shape or None)
        self._restart(rng)

    def serve(self) -> None:
        """Run the requests queued at the time of the call; later ones wait for the next step."""
        queue = self._queue
        for _ in range(len(queue)):
            method, args, future = queue.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            self._counters.requests += 1
            try:
                future.set_result(method(**args))
            except Exception as error:  # the asker gets it; a client's fault must not end the run
                self._counters.failed_requests += 1
                self._counters.last_error = str(error)
                future.set_exception(error)

    def write(self) -> None:
        """Latch the latest command that has arrived, check the watchdog and run the firmware."""
        command = self._delayed(self.inbox.take(), self._command_line)
        if command is not None:
            if command.mode in self.inbox.accepted:
                self._obey(command)
            else:
                self._counters.stale_commands += 1
        elif (
            self._last_command_ns is not None
            and not self._tripped
            and self._watchdog_ns is not None
            and self._engine.time_ns - self._last_command_ns > self._watchdog_ns
        ):
            self._tripped = True
            self._counters.watchdog_trips += 1
            self._trip()
        self._firmware()

    @property
    def queued(self) -> Collection[object] | None:
        """The requests that wait: while there are none, `serve` has nothing to do. None: it is always called."""
        return self._queue if self.serve == DeviceBase.serve.__get__(self) else None

    @property
    def fed(self) -> Mailbox | None:
        """The mailbox without whose command `write` has nothing to do. None: it is called in every period."""
        plain = self.write == DeviceBase.write.__get__(self) and self._firmware == DeviceBase._firmware.__get__(self)
        return self.inbox if plain and self._watchdog_ns is None and not self._command_latency_ns else None

    def read(self, stamp_ns: int) -> Sample:
        """Measure, add noise and latency; return the sample that arrives at ``stamp_ns`` [ns]."""
        values = self._measure()
        if not self._checked:
            self._check_measured(values)
        for name in self._arrays:
            array = np.array(values[name], dtype=np.float64)
            array.flags.writeable = False
            values[name] = array
        if self._perturbations:
            self._perturb(values)
        return self._arriving(stamp_ns, MappingProxyType(values))

    # ------------------------------------------------------------------ any thread
    def request(self, name: str, /, **args: object) -> Future[object]:
        """Queue a request; the loop runs it at the start of the next step.

        Args:
            name: name of the request, one of ``requests``.
            **args: arguments of the request.

        Returns:
            A future with the result, or with the error that the request raised.

        Raises:
            DeviceError: the request does not exist, or does not accept the arguments.
        """
        found = self._requests.get(name)
        if found is None:
            raise DeviceError(f"{self.name}: there is no request {name!r}; {nearest(name, self._requests)}", field=name)
        method, signature = found
        try:
            signature.bind(**args)
        except TypeError as error:
            raise DeviceError(
                f"{self.name}: request {name!r} was asked with {sorted(args) or 'no arguments'}: {error}; "
                f"call it as {name}{signature}",
                field=name,
            ) from None
        future: Future[object] = Future()
        self._queue.append((method, args, future))
        return future

    @property
    def requests(self) -> Mapping[str, str]:
        """Name of each request -> its call signature."""
        return {name: f"{name}{signature}" for name, (_, signature) in self._requests.items()}

    @property
    def buttons(self) -> Mapping[str, str]:
        """Name of each button or switch -> the name of its bool argument; "" for a button."""
        return self._buttons

    def held(self, field: str) -> Array:
        """Return the elements of a command's array that change nothing, such as the present goal; here zeros.

        Args:
            field: array field of a command.
        """
        return np.zeros(next(fields[field].shape for fields in self.commands.values() if field in fields))

    def verify(self, mode: str, values: Mapping[str, object]) -> None:
        """Check a command that is known before a run, beyond what the mailbox checks, without carrying it out.

        Raises:
            PliantError: the device would ignore the command.
        """

    def health(self) -> Mapping[str, object]:
        """Return counters since the last reset: samples, commands, stale commands, watchdog trips, requests."""
        counters = self._counters
        return {
            "samples": self._seq,
            "commands": counters.commands,
            "stale_commands": counters.stale_commands,
            "watchdog_tripped": self._tripped,
            "watchdog_trips": counters.watchdog_trips,
            "requests": counters.requests,
            "failed_requests": counters.failed_requests,
            "last_error": counters.last_error,
        }

    def stopped(self) -> str:
        """Return why the device carries out no commands any more, in words; "" while it does."""
        return "its watchdog has tripped" if self._tripped else ""

    def keep_pace(self) -> None:
        """Do nothing. A device whose firmware may take longer than a step overrides this and starts a thread."""

    def close(self) -> None:
        """Do nothing. A device with threads or libraries overrides this and releases them."""

    # ------------------------------------------------------------------ inside
    def _arriving(self, stamp_ns: int, values: Values) -> Sample:
        """Keep what is measured now as `newest`; return the sample that arrives now, which is as old as the latency."""
        self.newest = values
        if self.latency_ns:
            line = self._line
            line.append((stamp_ns, values))
            while len(line) > 1 and line[1][0] <= stamp_ns - self.latency_ns:
                line.popleft()
            measured_ns, values = line[0]
            if self._stamp_measurement:
                stamp_ns = measured_ns
        return self._sample(stamp_ns, values)

    def _sample(self, stamp_ns: int, values: Values) -> Sample:
        """Return the next sample."""
        seq = self._seq
        self._seq = seq + 1
        return Sample(self.name, seq, stamp_ns, values)

    def _obey(self, command: Command) -> None:
        """Latch a command, and count it for the watchdog too."""
        self._counters.commands += 1
        self._tripped = False
        if self._watchdog_ns is not None:
            self._last_command_ns = self._engine.time_ns
        self._latch(command)

    def _delayed(self, command: Command | None, line: deque[tuple[int, Command]]) -> Command | None:
        """Return the newest command of a mailbox that has been on its way for the command latency; None if none has.

        Args:
            command: what the mailbox gave now.
            line: what is on its way; a device with a second mailbox has a second line, which it clears in a restart.
        """
        if not self._command_latency_ns:
            return command
        now = self._engine.time_ns
        if command is not None:
            line.append((now + self._command_latency_ns, command))
        arrived = None
        while line and line[0][0] <= now:
            arrived = line.popleft()[1]
        return arrived

    def _perturb(self, values: dict[str, float | np.ndarray]) -> None:
        for item in self._perturbations:
            value: Any = values[item.name]
            if item.shifts:
                value = value + item.mean + item.bias
            if item.white:
                value = value + item.std * self._rng.standard_normal(item.shape or None)
            if item.steps is not None:
                value = item.rounded(value)
            if item.shape:
                value.flags.writeable = False
                values[item.name] = value
            else:
                values[item.name] = float(value)

    def _check_measured(self, values: Mapping[str, ArrayLike]) -> None:
        if list(values) != list(self.samples):
            raise DeviceError(
                f"{self.name}: {type(self).__name__}._measure gave the fields {list(values)}; "
                f"declared are {list(self.samples)}, in this order",
                field="samples",
            )
        frozen: set[str] = set()
        for name, info in self.samples.items():
            shape = np.shape(values[name])
            if shape != info.shape:
                raise DeviceError(
                    f"{self.name}: {type(self).__name__}._measure gave {name!r} with shape {shape}; "
                    f"declared is {info.shape}",
                    field=name,
                )
            array = values[name]
            if info.shape and isinstance(array, np.ndarray) and array.dtype == np.float64 and not array.flags.writeable:
                frozen.add(name)
        # What the device itself has frozen needs no copy.
        self._arrays = tuple(name for name in self._arrays if name not in frozen)
        self._checked = True
