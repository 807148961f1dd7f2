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
import math
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np

from pliant.base.errors import DeviceError, nearest
from pliant.base.options import check_unit, place_of
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

F = TypeVar("F", bound=Callable[..., Any])
Values = Mapping[str, "float | np.ndarray"]
EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """Shape, unit and range of a field of a sample or a command."""

    shape: tuple[int, ...] = ()
    """Shape: () for a number, (n,) for an array of length n, (height, width) or (height, width, 3) for an image."""
    unit: str = ""
    """Unit of every element, one of `pliant.base.options.UNITS`, such as "rad"; "" for none, "m, rad" for a pose."""
    description: str = ""
    """One sentence: the quantity and its sign convention."""
    low: float = -math.inf
    """Lower limit of a command, inclusive; not used for samples."""
    high: float = math.inf
    """Upper limit of a command, inclusive; not used for samples."""
    dtype: str = "float64"
    """Type of the elements: "float64", or "uint8" and "float32" for camera images."""

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One immutable set of measured values, shared by reference with every bridge and the recorder."""

    device: str
    """Name of the device that took the sample."""
    seq: int
    """Sequence number since the last reset, from 0."""
    stamp_ns: int
    """Simulation time [ns] of arrival, or of measurement if the device has ``stamp="measurement"``."""
    values: Values
    """Field -> float, or read-only array with the shape and type given in ``Device.samples``."""


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """One immutable set of commanded values."""

    seq: int
    """Sequence number of the sample that the command answers, if the sender knows it; otherwise a counter."""
    mode: str
    """Command mode of the values, a key of ``Device.commands``."""
    values: Values
    """Field -> float, or read-only float64 array; fields of the mode that were never set are absent."""
    stamp_ns: int = 0
    """Time stamp of the sender [ns]; 0 if there is none."""


def to_ns(seconds: float, what: str) -> int:
    """Convert a duration to a whole number of nanoseconds.

    Args:
        seconds: the duration [s], >= 0.
        what: name of the duration in error messages, such as ``"elbow: period"``.

    Returns:
        The duration, rounded to the nearest nanosecond [ns].

    Raises:
        DeviceError: the duration is not a finite number >= 0.
    """
    try:
        value = float(seconds)
    except (TypeError, ValueError):
        value = math.nan
    if isinstance(seconds, str) or not math.isfinite(value) or value < 0.0:
        raise DeviceError(f"{what} is {seconds!r}; must be a finite number of seconds >= 0", field=what)
    return round(value * 1e9)


def step_ns(engine: Engine) -> int:
    """Return the time step of an engine as a whole number of nanoseconds [ns].

    Raises:
        DeviceError: the time step is not positive, or not a whole number of nanoseconds.
    """
    dt = float(engine.dt)
    result = round(dt * 1e9) if math.isfinite(dt) else 0
    if result <= 0 or abs(dt * 1e9 - result) > 1e-3:
        raise DeviceError(
            f"the engine's step dt is {dt!r} s; must be a whole number of nanoseconds above 0", field="dt"
        )
    return result


def request(method: F) -> F:
    """Mark a method of a device as a request, which clients call by name and the loop thread runs."""
    method.__pliant_request__ = True  # type: ignore[attr-defined]
    return method


def button(method: F) -> F:
    """Mark a method of a device as a push button, or as a switch if the method has one argument of type bool.

    Buttons and switches are requests for a person to use. Bridges and the console of the command line offer them
    automatically.
    """
    method.__pliant_button__ = True  # type: ignore[attr-defined]
    return request(method)


class Mailbox:
    """Mailbox that keeps the latest command; the only object of the loop that other threads write to.

    `put` may set some fields of a mode only. The other fields keep their last values, so that two clients can each
    send one reference. A field that several modes have in common, such as ``external_torque``, keeps its value when
    the mode is switched.

    Args:
        device: name of the device, used in error messages.
        commands: command mode -> field -> description of the field.
    """

    __slots__ = ("_accepted", "_commands", "_condition", "_count", "_held", "_latest", "_shared", "_taken", "device")

    def __init__(self, device: str, commands: Mapping[str, Mapping[str, FieldInfo]]) -> None:
        self.device = device
        self._commands = commands
        self._accepted: frozenset[str] = frozenset(commands)
        self._shared = {
            mode: tuple(
                other
                for other in commands
                if other != mode and any(commands[other].get(name) == info for name, info in fields.items())
            )
            for mode, fields in commands.items()
        }
        self._condition = threading.Condition()
        self._held: dict[str, dict[str, float | np.ndarray]] = {}
        self._count = 0
        self._latest: Command | None = None
        self._taken: Command | None = None

    @property
    def accepted(self) -> frozenset[str]:
        """The command modes that the device currently accepts."""
        return self._accepted

    def accept(self, modes: Iterable[str] | None = None) -> None:
        """Accept commands of these modes only, until the next call. Called by the loop thread.

        Args:
            modes: command modes; None accepts all modes.

        Raises:
            DeviceError: one of the modes does not exist.
        """
        chosen = frozenset(self._commands if modes is None else modes)
        for mode in chosen - frozenset(self._commands):
            raise DeviceError(
                f"{self.device}: there is no command mode {mode!r}; {nearest(mode, self._commands)}",
                field="mode",
            )
        self._accepted = chosen

    def put(
        self,
        values: Mapping[str, Any],
        *,
        mode: str | None = None,
        seq: int | None = None,
        stamp_ns: int = 0,
    ) -> Command:
        """Check a command and store it for the device, replacing a command that has not been taken yet.

        Args:
            values: field -> number or sequence of numbers, in the units of the fields.
            mode: the command mode; None for the only mode that the device currently accepts.
            seq: sequence number of the sample that this command answers; None for a counter.
            stamp_ns: time stamp of the sender [ns].

        Returns:
            The complete command, including the fields set by earlier calls.

        Raises:
            DeviceError: the mode or a field is unknown or inactive, or a value has the wrong length, is out of range,
                or is not a finite number.
        """
        mode = self._choose(mode)
        fields = self._commands[mode]
        fresh: dict[str, float | np.ndarray] = {}
        for name, value in values.items():
            info = fields.get(name)
            if info is None:
                raise DeviceError(
                    f"{self.device}: mode {mode!r} has no command field {name!r}; {nearest(name, fields)}",
                    field=str(name),
                )
            fresh[name] = self._check(name, value, info)
        with self._condition:
            held = self._held.setdefault(mode, {})
            held.update(fresh)
            for other in self._shared.get(mode, ()):
                known = self._commands[other]
                common = {name: fresh[name] for name in fresh if known.get(name) == fields[name]}
                if common:
                    self._held.setdefault(other, {}).update(common)
            number = self._count if seq is None else int(seq)
            self._count = number + 1
            command = Command(number, mode, MappingProxyType(dict(held)), stamp_ns)
            self._latest = command
            self._condition.notify_all()
        return command

    def post(self, command: Command) -> None:
        """Store a command that the sender has already checked, such as one decoded from a datagram.

        Arrays must be read-only; nothing is copied. The command replaces all earlier values of its mode.

        Raises:
            DeviceError: the device does not accept the mode.
        """
        mode = command.mode
        if mode not in self._accepted:
            self._choose(mode)
        with self._condition:
            self._held.pop(mode, None)
            self._count = command.seq + 1
            self._latest = command
            self._condition.notify_all()

    def take(self) -> Command | None:
        """Return the latest command if it has not been taken yet, else None. Called by the loop thread."""
        latest = self._latest
        if latest is self._taken:
            return None
        self._taken = latest
        return latest

    def peek(self) -> Command | None:
        """Return the latest command, taken or not; None if there was none since the last `clear`."""
        return self._latest

    def wait_for(self, seq: int, timeout: float) -> bool:
        """Wait for a command with this sequence number or a later one.

        Args:
            seq: sequence number of the sample that must be answered.
            timeout: longest wait [s of wall time].

        Returns:
            True if the command has arrived, False on timeout.
        """

        def answered() -> bool:
            return self._latest is not None and self._latest.seq >= seq

        with self._condition:
            return self._condition.wait_for(answered, timeout)

    def clear(self) -> None:
        """Remove all commands and restart the sequence numbers at 0."""
        with self._condition:
            self._held.clear()
            self._count = 0
            self._latest = self._taken = None

    def _choose(self, mode: str | None) -> str:
        if mode is None:
            if len(self._accepted) == 1:
                return next(iter(self._accepted))
            found = "takes no commands" if not self._accepted else "takes several command modes: name one"
            raise DeviceError(f"{self.device}: {found}; {nearest('', self._accepted or self._commands)}", field="mode")
        if mode not in self._commands:
            raise DeviceError(
                f"{self.device}: there is no command mode {mode!r}; {nearest(mode, self._commands)}",
                field="mode",
            )
        if mode not in self._accepted:
            raise DeviceError(
                f"{self.device}: a command of mode {mode!r} came while the device takes "
                f"{', '.join(map(repr, sorted(self._accepted))) or 'none'}; switch the mode first",
                field="mode",
            )
        return mode

    def _check(self, name: str, value: Any, info: FieldInfo) -> float | np.ndarray:
        unit = f" [{info.unit}]" if info.unit else ""
        wanted = f"a finite number{unit}" if not info.shape else f"an array of {info.size} finite numbers{unit}"
        if isinstance(value, str | bytes | bool) or value is None:
            raise DeviceError(f"{self.device}: field {name!r} is {value!r}; must be {wanted}", field=str(name))
        if not info.shape:
            try:
                number = float(value)
            except (TypeError, ValueError):
                raise DeviceError(f"{self.device}: field {name!r} is {value!r}; must be {wanted}", field=name) from None
            if not info.low <= number <= info.high or not math.isfinite(number):
                limits = (
                    "" if info.low == -math.inf and info.high == math.inf else f" from {info.low:g} to {info.high:g}"
                )
                raise DeviceError(f"{self.device}: field {name!r} is {number!r}; must be {wanted}{limits}", field=name)
            return number
        try:
            array = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise DeviceError(f"{self.device}: field {name!r} is {value!r}; must be {wanted}", field=name) from None
        if array.shape != info.shape:
            raise DeviceError(
                f"{self.device}: field {name!r} has shape {array.shape}; must be {wanted}, shape {info.shape}",
                field=name,
            )
        wrong = np.flatnonzero(~(np.isfinite(array) & (array >= info.low) & (array <= info.high)))
        if wrong.size:
            limits = "" if info.low == -math.inf and info.high == math.inf else f" from {info.low:g} to {info.high:g}"
            raise DeviceError(
                f"{self.device}: field {name!r} has {float(array[wrong[0]])!r} at index {wrong[0]}; "
                f"must be {wanted}{limits}",
                field=name,
            )
        array.flags.writeable = False
        return array


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """Pose of the frame of a device on a body of the robot."""

    body: str
    """Name of the body."""
    position: tuple[float, float, float]
    """Origin of the device frame, expressed in the body frame, (x, y, z) [m]."""
    orientation: tuple[float, float, float, float]
    """Orientation of the device frame in the body frame, unit quaternion (w, x, y, z)."""


@runtime_checkable
class SampleSource(Protocol):
    """Source of samples that bridges publish: a device of a simulation or of a recording."""

    name: str
    """Name, unique in a simulation."""
    period_ns: int
    """Period of the firmware [ns], a whole multiple of the time step of the engine. Set by ``attach``."""
    sample_period_ns: int
    """Time between two samples [ns], a whole multiple of ``period_ns``. Set by ``attach``."""
    inbox: Mailbox
    """Mailbox that receives commands."""
    commands: Mapping[str, Mapping[str, FieldInfo]]
    """Command mode -> field -> description of the field; empty for a sensor."""
    samples: Mapping[str, FieldInfo]
    """Field -> description of the field; every sample has exactly these fields, in this order."""
    joints: tuple[str, ...]
    """Names of the joints that the elements of array fields belong to; () if they do not belong to joints."""
    frame: str
    """Frame in which samples are expressed, the ``frame_id`` of messages; by default the name of the device."""
    topic: str
    """Topic of its messages, absolute if it begins with "/"; "" for a topic named after the device."""
    noise: Mapping[str, Noise]
    """Field -> noise, from which covariances in messages are computed; fields without noise are absent."""
    mount: Mount | None
    """Pose of ``frame`` on the robot; None if ``frame`` is not a frame of the device itself."""
    metadata: Mapping[str, str]
    """Constant properties that recordings store with the samples, as text."""


@runtime_checkable
class Device(SampleSource, Protocol):
    """Interface of a device, as used by the loop, the bridges and the recorder."""

    @property
    def requests(self) -> Mapping[str, str]:
        """Name of each request -> its call signature."""
        ...

    @property
    def buttons(self) -> Mapping[str, str]:
        """Name of each button or switch -> the name of its bool argument; "" for a button."""
        ...

    def attach(self, engine: Engine) -> None:
        """Resolve all ports and the period; called once, before the first reset."""
        ...

    def reset(self, rng: np.random.Generator) -> None:
        """Restart at time 0, after the engine was reset; ``rng`` is the random generator of the device."""
        ...

    def serve(self) -> None:
        """Run the queued requests; called by the loop thread at the start of every step."""
        ...

    def write(self) -> None:
        """Latch the mailbox and run the firmware; called by the loop thread once per firmware period."""
        ...

    def read(self, stamp_ns: int) -> Sample:
        """Return the sample at this simulation time [ns]; called by the loop thread once per sample period."""
        ...

    def request(self, name: str, /, **args: Any) -> Future[Any]:
        """Queue a request from any thread; the future receives the result or the error."""
        ...

    def health(self) -> Mapping[str, Any]:
        """Return counters and the last fault, as plain numbers and text."""
        ...

    def keep_pace(self) -> None:
        """Move work that takes longer than a step to another thread; called before a run that keeps a pace."""
        ...

    def close(self) -> None:
        """Release threads and libraries; called when the simulation is closed. May be called twice."""
        ...


@dataclass(slots=True)
class _Counters:
    """What a device counts for its health."""

    commands: int = 0
    stale_commands: int = 0
    watchdog_trips: int = 0
    requests: int = 0
    failed_requests: int = 0
    last_error: str = ""


@dataclass(slots=True)
class _Perturbation:
    """The noise of one field with the bias of the present run."""

    name: str
    noise: Noise
    shape: tuple[int, ...]
    bias: Any = field(default=0.0)
    draws_bias: bool = field(init=False)
    shifts: bool = field(init=False)
    white: bool = field(init=False)
    std: Any = field(init=False)
    steps: Any = field(init=False)
    """Width of the quantisation, None where no element has one."""
    mean: Any = field(init=False)

    def __post_init__(self) -> None:
        noise = self.noise
        self.draws_bias = bool(np.any(np.asarray(noise.bias)))
        self.shifts = self.draws_bias or bool(np.any(np.asarray(noise.mean)))
        self.std = np.asarray(noise.std, dtype=float) if isinstance(noise.std, tuple) else noise.std
        self.white = bool(np.any(np.asarray(noise.std)))
        steps = np.asarray(noise.resolution, dtype=float)
        self.steps = None if not steps.any() else (steps if steps.ndim else noise.resolution)
        self.mean = np.asarray(noise.mean, dtype=float) if isinstance(noise.mean, tuple) else noise.mean

    def rounded(self, value: Any) -> Any:
        """Return the nearest whole multiple of the resolution, where there is one."""
        if isinstance(self.steps, np.ndarray):
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(self.steps > 0.0, np.round(value / self.steps) * self.steps, value)
        return np.round(value / self.steps) * self.steps


DTYPES = ("float64", "float32", "int32", "uint8")


def _check_fields(
    device: object, device_name: str, samples: Mapping[str, FieldInfo], commands: Mapping[str, Mapping[str, FieldInfo]]
) -> None:
    """Refuse a field table that is wrong, or commands that declare one field with two units."""
    where = f"{place_of(type(device))}: {device_name}"
    known: dict[str, tuple[FieldInfo, str]] = {}
    tables = {"samples": samples, **{f"commands of mode {mode!r}": fields for mode, fields in commands.items()}}
    for table, fields in tables.items():
        for name, info in fields.items():
            what = f"{where}: field {name!r} of its {table}"
            check_unit(info.unit, f"{where}: the unit of the field {name!r}", DeviceError)
            if info.dtype not in DTYPES:
                raise DeviceError(f"{what} has the type {info.dtype!r}; {nearest(info.dtype, DTYPES)}", field=name)
            if not info.low <= info.high:
                raise DeviceError(
                    f"{what} has the limits {info.low:g} to {info.high:g}; must be low <= high", field=name
                )
            if table == "samples":
                continue  # a reference is sampled in the unit of the mode that is in force
            other, place = known.setdefault(name, (info, table))
            if other.unit != info.unit and other.unit and info.unit:
                raise DeviceError(
                    f"{what} has the unit {info.unit!r}, and the field of its {place} has {other.unit!r}; one name "
                    "must have one unit",
                    field=name,
                )


class DeviceBase:
    """Base class of devices: period, mailbox, delay lines, noise, watchdog and requests.

    Args:
        name: name of the device, unique in a simulation.
        samples: field of a sample -> description of the field.
        commands: command mode -> field -> description of the field; empty for a sensor.
        period: period of the firmware [s]; None for every step of the engine.
        sample_period: time between two samples [s], a whole multiple of the period; None for the period.
        latency: age of a sample on arrival [s]. Until this time has passed, ``read`` returns the first sample.
        command_latency: delay from the mailbox to the firmware [s].
        watchdog: longest time without a command, after the first one, before ``_trip`` is called [s]; None disables
            the watchdog.
        noise: field -> noise; all other fields are exact.
        stamp: time in ``Sample.stamp_ns``: ``"arrival"`` or ``"measurement"``. They differ by the latency.

    Raises:
        DeviceError: an option is out of range, or noise is given for a field that does not exist.
    """

    shows_contacts: ClassVar[bool] = False
    """Whether a page of its robot shows contact forces from the start."""

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
        _check_fields(self, name, samples, commands or {})
        self.samples: Mapping[str, FieldInfo] = MappingProxyType(dict(samples))
        self.commands: Mapping[str, Mapping[str, FieldInfo]] = MappingProxyType(
            {mode: MappingProxyType(dict(fields)) for mode, fields in (commands or {}).items()}
        )
        self.inbox = Mailbox(name, self.commands)
        self.period_ns = 0 if period is None else to_ns(period, f"{name}: period")
        if period is not None and self.period_ns == 0:
            raise DeviceError(f"{name}: period is {period!r} s; must be at least 1 ns", field="period")
        self.sample_period_ns = 0 if sample_period is None else to_ns(sample_period, f"{name}: sample_period")
        self._latency_ns = to_ns(latency, f"{name}: latency")
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
        self._perturbations: list[_Perturbation] = []
        for field_name, value in (noise or {}).items():
            if field_name not in self.samples:
                raise DeviceError(
                    f"{name}: noise is given for {field_name!r}, which no sample has; "
                    f"{nearest(field_name, self.samples)}",
                    field=field_name,
                )
            info = self.samples[field_name]
            value.check_size(info.size if info.shape else 0, f"{name}: {field_name}")
            self._perturbations.append(_Perturbation(field_name, value, info.shape))
        self._arrays = tuple(key for key, info in self.samples.items() if info.shape)
        self._requests: dict[str, tuple[Callable[..., Any], inspect.Signature]] = {}
        self._buttons: dict[str, str] = {}
        for key in dir(type(self)):
            if getattr(getattr(type(self), key, None), "__pliant_request__", False):
                method = getattr(self, key)
                self._requests[key] = (method, inspect.signature(method))
                if getattr(method, "__pliant_button__", False):
                    self._buttons[key] = next(iter(inspect.signature(method).parameters), "")
        self._queue: deque[tuple[Callable[..., Any], dict[str, Any], Future[Any]]] = deque()
        self._counters = _Counters()
        self._rng = np.random.default_rng(0)
        self._seq = 0
        self._line: deque[tuple[int, Values]] = deque()
        self._command_line: deque[tuple[int, Command]] = deque()
        self._last_command_ns: int | None = None
        self._tripped = False
        self._checked = False

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
        command = self.inbox.take()
        if self._command_latency_ns:
            command = self._delay_command(command)
        if command is not None:
            if command.mode in self.inbox.accepted:
                self._counters.commands += 1
                self._tripped = False
                if self._watchdog_ns is not None:
                    self._last_command_ns = self._engine.time_ns
                self._latch(command)
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
        if self._latency_ns:
            line = self._line
            line.append((stamp_ns, values))  # type: ignore[arg-type]
            while len(line) > 1 and line[1][0] <= stamp_ns - self._latency_ns:
                line.popleft()
            measured_ns, values = line[0]  # type: ignore[assignment]
            if self._stamp_measurement:
                stamp_ns = measured_ns
        seq = self._seq
        self._seq = seq + 1
        return Sample(self.name, seq, stamp_ns, MappingProxyType(values))

    # ------------------------------------------------------------------ any thread
    def request(self, name: str, /, **args: Any) -> Future[Any]:
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
        future: Future[Any] = Future()
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

    def verify(self, mode: str, values: Mapping[str, Any]) -> None:
        """Check a command that is known before a run, beyond what the mailbox checks, without carrying it out.

        Raises:
            PliantError: the device would ignore the command.
        """

    def health(self) -> Mapping[str, Any]:
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

    def keep_pace(self) -> None:
        """Do nothing. A device whose firmware may take longer than a step overrides this and starts a thread."""

    def close(self) -> None:
        """Do nothing. A device with threads or libraries overrides this and releases them."""

    # ------------------------------------------------------------------ inside
    def _delay_command(self, command: Command | None) -> Command | None:
        now = self._engine.time_ns
        line = self._command_line
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

    def _check_measured(self, values: Mapping[str, Any]) -> None:
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
