"""Ports of a bridge on a YARP network, by name, and the actions of each sample and step."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from pliant.base.errors import BridgeError
from pliant.devices.base import Sample, SampleSource
from pliant.model.interface import DEFAULT_NAMESPACE
from pliant.model.robot import Robot
from pliant.simulation.bridge import SimulationControl
from pliant.simulation.rate_timer import RateTimer
from pliant.yarp.bridge.network import Network
from pliant.yarp.bridge.options import YarpOptions
from pliant.yarp.bridge.port import Port
from pliant.yarp.bridge.recognition import Receivers
from pliant.yarp.bridge.step_gate import StepGate
from pliant.yarp.model.services import YarpInterface, yarp_interface
from pliant.yarp.wire import Bottle, Dialect, encode_bottle
from pliant.yarp.wire.values import Value

if TYPE_CHECKING:
    from pliant.simulation.replayed import Replayed

Encoder = Callable[[Sample, Dialect], bytes]


class StampedOutput:
    """An output whose messages carry a count and the time of what they hold.

    Args:
        port: the port.
        encode: returns the bytes of a sample in a dialect; runs in the thread of the ports, not in the step.
        every: when a sample is sent.
    """

    __slots__ = ("count", "encode", "every", "port")

    def __init__(self, port: Port, encode: Callable[[Any, Dialect], bytes], every: RateTimer) -> None:
        self.port = port
        self.encode = encode
        self.every = every
        self.count = 0

    def __call__(self, sample: Sample) -> None:
        """Send a sample if its time has come; the loop thread calls this."""
        self.send(sample.stamp_ns, sample)

    def send(self, stamp_ns: int, content: object) -> None:
        """Send what the encoder takes, a sample or several, if its time [ns] has come; for the loop thread."""
        if not self.every.due(stamp_ns):
            return
        self.count = (self.count + 1) & 0x7FFFFFFF
        if self.port.active:
            encode = self.encode
            self.port.write(lambda dialect: encode(content, dialect), f"{self.count} {stamp_ns * 1e-9:.15g}")


class Served:
    """The ports of one bridge; the interfaces fill it.

    Args:
        robot: the robot, or what is replayed; None where there is neither.
        network: where ports are opened.
        options: what is asked for.
    """

    def __init__(self, robot: Robot | Replayed | None, network: Network, options: YarpOptions) -> None:
        self.robot = robot
        self.network = network
        self.options = options
        self.dialect: Dialect = 4 if options.dialect == 4 else 3
        self.receivers = Receivers(self.dialect)
        """What the receivers of the streams read."""
        interface = None if robot is None else robot.interface
        self.interface: YarpInterface = yarp_interface(interface) or YarpInterface()
        """Network description of the robot; empty where it describes nothing."""
        described = self.interface.robot or None
        space = "" if interface is None or interface.namespace == DEFAULT_NAMESPACE else interface.namespace
        own = robot.name if isinstance(robot, Robot) else ""
        self.name = (options.name or described or space or own or "robot").strip("/").replace(" ", "_")
        self._renamed = (f"/{described}", f"/{self.name}") if options.name and described else None
        self.simulation: SimulationControl | None = None
        self.gate: StepGate | None = None
        """Holds the simulation between the steps that clients ask for; None where it is not in lock-step."""
        self.devices: dict[str, SampleSource] = {}
        self.ports: list[tuple[Port, str, str]] = []
        """Ports, the type of their messages, and ``in`` or ``out``."""
        self.writers: dict[str, list[Callable[[Sample], None]]] = {}
        self.ticks: list[Callable[[int], None]] = []

    def full_name(self, *parts: str) -> str:
        """Return the name of a port below the robot's."""
        return "/" + "/".join([part.strip("/").replace(" ", "_") for part in (self.name, *parts)])

    def _own_name(self, name: str) -> str:
        """Return the name of a port, in which the option ``name`` has replaced the robot's name in its files."""
        if self._renamed is not None:
            old, new = self._renamed
            if name == old or name.startswith(old + "/"):
                return new + name[len(old) :]
        return name

    def every(self, device: SampleSource, period: float | None = None) -> RateTimer:
        """Return the times of a period [s], at least that of the device's samples."""
        wanted = self.options.period if period is None else period
        return RateTimer(0.0 if wanted * 1e9 <= device.sample_period_ns else 1.0 / wanted)

    def output(
        self,
        name: str,
        type_name: str,
        *,
        dialect_of: Callable[[str], Dialect] | None = None,
        recognise: bool = True,
        **options: Any,
    ) -> Port:
        """Open a port that sends.

        Args:
            name: of the port.
            type_name: type of its messages.
            dialect_of: the dialect for a receiver that does not say; None for the bridge's.
            recognise: whether receivers are asked what they read; not needed where a message has no floats.
            options: of the port.
        """
        told, otherwise = self.receivers.told_dialect, dialect_of or self.receivers.dialect_of
        if recognise:
            options["meet"] = self.receivers.meet
        port = self.network.open(
            self._own_name(name),
            dialect=self.dialect,
            dialect_of=lambda receiver: told(receiver) or otherwise(receiver),
            type_name=type_name,
            **{"queue": self.options.queue, **options},
        )
        self.ports.append((port, type_name, "out"))
        return port

    def input(self, name: str, type_name: str, *, recognise: bool = True, **options: Any) -> Port:
        """Open a port that takes messages or calls.

        Args:
            name: of the port.
            type_name: type of its messages.
            recognise: whether callers are asked what they read; not needed where no reply has floats, or the port says.
            options: of the port.
        """
        if recognise and options.get("is_rpc"):
            options["meet_caller"] = lambda caller: self.network.meet(caller, self.receivers.meet)
            options["dialect_of"] = self.receivers.dialect_of
        port = self.network.open(
            self._own_name(name), output=False, dialect=self.dialect, type_name=type_name, **options
        )
        self.ports.append((port, type_name, "in"))
        return port

    def publish(
        self,
        name: str,
        type_name: str,
        device: SampleSource,
        encode: Encoder,
        *,
        period: float | None = None,
        **options: Any,
    ) -> Port:
        """Open a port that sends the samples of a device."""
        port = self.output(name, type_name, **options)
        self.writers[device.name].append(StampedOutput(port, encode, self.every(device, period)))
        return port

    def publish_together(
        self,
        port: Port,
        devices: Iterable[str],
        encode: Callable[[dict[str, Sample], Dialect], bytes],
        every: RateTimer,
    ) -> None:
        """Send the newest samples of several devices, by their names, after each step that gave one of them."""
        names = set(devices)
        output, latest, sent_ns = StampedOutput(port, encode, every), self.collect(names), -1

        def tick(_: int) -> None:
            nonlocal sent_ns
            newest = max([sample.stamp_ns for sample in latest.values()], default=-1)
            if len(latest) == len(names) and newest != sent_ns:
                sent_ns = newest
                output.send(newest, dict(latest))

        self.ticks.append(tick)

    def collect(self, names: Iterable[str]) -> dict[str, Sample]:
        """Return a table that holds the newest sample of each of these devices, once it has been sampled."""
        latest: dict[str, Sample] = {}
        for name in dict.fromkeys(names):
            self.writers[name].append(lambda sample: latest.__setitem__(sample.device, sample))
        return latest


class BottleTemplate:
    """Writes a Bottle whose layout stays the same and whose floats change; much faster than encoding it anew.

    Args:
        content: the Bottle; its float64 are the places of the numbers, in their order.

    Example:
        >>> from pliant.yarp.wire import bottle
        >>> BottleTemplate(bottle("x", 0.0)).fill([1.5], 3) == encode_bottle(bottle("x", 1.5), 3)
        True
    """

    def __init__(self, content: Bottle) -> None:
        self._parts: dict[int, list[bytes]] = {}
        self._content = content

    def _cut(self, dialect: Dialect) -> list[bytes]:
        """Return the bytes between the numbers."""
        count = 0

        def marked(value: Value) -> Value:
            nonlocal count
            if isinstance(value, Bottle):
                items = tuple([marked(item) for item in value.items])
                return Bottle(items, layout=value.layout, dictionary=value.dictionary)
            if isinstance(value, float):
                count += 1
                return _mark(count)
            return value

        data = encode_bottle(marked(self._content), dialect)  # type: ignore[arg-type]
        parts, at = [], 0
        for k in range(1, count + 1):
            found = data.index(struct.pack("<d", _mark(k)), at)
            parts.append(data[at:found])
            at = found + 8
        return [*parts, data[at:]]

    def fill(self, numbers: list[float], dialect: Dialect) -> bytes:
        """Return the bytes with these numbers."""
        parts = self._parts.get(dialect)
        if parts is None:
            parts = self._parts[dialect] = self._cut(dialect)
        if len(numbers) != len(parts) - 1:
            raise BridgeError(f"{len(numbers)} numbers for {len(parts) - 1} places")
        raw = struct.pack(f"<{len(numbers)}d", *numbers)
        joined = [parts[0]]
        for k in range(len(numbers)):
            joined.append(raw[8 * k : 8 * k + 8])
            joined.append(parts[k + 1])
        return b"".join(joined)


def _mark(k: int) -> float:
    """Return a number whose bytes are found nowhere else."""
    return 1.2345678912345e300 * (1.0 + k * 2.0**-30)
