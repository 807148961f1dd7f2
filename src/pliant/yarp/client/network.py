"""Access of a program to a YARP network: the names of YARP's `Network`, in Python."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pliant.base.errors import BridgeError, WireError
from pliant.yarp.bridge.calls import (
    CALL_TIMEOUT_S,
    NameClient,
    RpcConnection,
    ask_administration,
    connect_ports,
    disconnect_ports,
)
from pliant.yarp.bridge.configuration import find_server
from pliant.yarp.bridge.messages import Arrival
from pliant.yarp.bridge.network import Network
from pliant.yarp.bridge.port import Port
from pliant.yarp.bridge.recognition import Receivers
from pliant.yarp.wire import Bottle, Contact, Dialect, Stamp, Vocab, bottle
from pliant.yarp.wire.binary import MAX_BYTES


@dataclass(frozen=True, slots=True)
class Received:
    """One message that an input port received."""

    content: Bottle
    """The object."""
    stamp: Stamp | None
    """Count and time that came with it; None without an envelope."""
    sender: str
    """Name of the port that sent it."""
    dialect: Dialect
    """Dialect that its bytes fit."""


class InputPort:
    """A port that receives.

    Args:
        network: whose it is.
        name: its name; ``...`` lets the name server choose.
        strict: keep every message up to ``limit``; else the newest only.
        limit: most messages that wait to be read, where it is strict.
    """

    def __init__(self, network: Network, name: str, *, strict: bool = True, limit: int = 1000) -> None:
        self._queue: queue.Queue[Received] = queue.Queue(limit if strict else 1)
        self._strict = strict
        self._network = network
        self.dropped = 0
        """Messages that were not read in time."""
        self.port: Port = network.open(name, on_data=self._arrived, output=False, limit=MAX_BYTES)

    @property
    def name(self) -> str:
        """Its name."""
        return self.port.name

    def _arrived(self, arrival: Arrival) -> None:
        content, dialect = arrival.bottle_and_dialect()
        stamp = None
        if arrival.envelope is not None:
            try:
                stamp = Stamp.of_envelope(arrival.envelope)
            except WireError:  # an envelope may hold anything
                stamp = None
        received = Received(content, stamp, arrival.sender, dialect)
        while True:
            try:
                self._queue.put_nowait(received)
                return
            except queue.Full:
                self.dropped += 1
                if self._strict:
                    return
                try:
                    self._queue.get_nowait()
                except queue.Empty:
                    continue

    def read(self, timeout: float = CALL_TIMEOUT_S) -> Received:
        """Return the next message.

        Args:
            timeout: longest wait [s].

        Raises:
            BridgeError: none came in time.
        """
        try:
            return self._queue.get(timeout=timeout)
        except queue.Empty:
            raise BridgeError(f"nothing arrived at {self.name} within {timeout:g} s", field=self.name) from None

    def close(self) -> None:
        """Close the port."""
        self._network.shut(self.port)


def _answers(contact: Contact, timeout: float) -> bool:
    """Return whether a port answers an administrator in time [s]."""
    try:
        ask_administration(contact, bottle(Vocab.of("ver")), timeout)
    except (BridgeError, WireError):
        return False
    return True


class YarpNetwork:
    """The ports and connections of one program.

    Args:
        server: address ``HOST:PORT`` of the name server; "" for the configured one.
        host: address that ports listen on.
        dialect: 3 or 4: how floats are written to a port that does not say which YARP it belongs to; what is read may
            be of either.
        timeout: longest wait for an answer [s].

    Raises:
        BridgeError: the address is not valid, or no name server answers there.

    Example:
        >>> with YarpNetwork() as yarp:  # doctest: +SKIP
        ...     print(yarp.rpc("/clock/rpc", bottle("getSimulationTime")))
    """

    def __init__(
        self, server: str = "", *, host: str = "127.0.0.1", dialect: Dialect = 3, timeout: float = CALL_TIMEOUT_S
    ) -> None:
        self.names = NameClient(find_server(server), timeout)
        self.names.advice = "; start a name server: pliant yarpserver --write, or pliant run ROBOT --bridge yarp"
        self.receivers = Receivers(dialect)
        """What the ports read to which it writes."""
        self.timeout = timeout
        self._host = host
        self._network: Network | None = None

    def __enter__(self) -> YarpNetwork:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every port that was opened; may be called twice."""
        if self._network is not None:
            self._network.close()
            self._network = None

    @property
    def network(self) -> Network:
        """The ports, whose threads start with the first of them."""
        if self._network is None:
            self._network = Network(self.names, host=self._host)
            self._network.start()
        return self._network

    # ------------------------------------------------------------------ names
    def list(self, prefix: str = "") -> list[Contact]:
        """Return every registered port, or those below a prefix."""
        return self.names.list(prefix)

    def query(self, name: str) -> Contact:
        """Return where a port is.

        Raises:
            BridgeError: it is not registered.
        """
        return self.names.find(name)

    def exists(self, name: str) -> bool:
        """Return whether a port is registered and answers."""
        contact = self.names.query(name)
        return contact is not None and _answers(contact, 1.0)

    def clean(self, prefix: str = "", timeout: float = 1.0) -> list[str]:
        """Remove the registered ports that do not answer, and return their names.

        Args:
            prefix: of the names of the ports that are asked; "" for all.
            timeout: longest wait for an answer [s].
        """
        own = (self.names.address.host, self.names.address.port)
        ports = [c for c in self.list(prefix) if c.carrier != "mcast" and c.port > 0 and (c.host, c.port) != own]
        silent = [contact.name for contact in ports if not _answers(contact, timeout)]
        for name in silent:
            self.names.unregister(name)
        return silent

    # ------------------------------------------------------------------ connections
    def connect(self, source: str, target: str, carrier: str = "") -> str:
        """Connect an output to an input and return what the output says; carrier "" is that of the URI, else tcp.

        Raises:
            BridgeError: a port does not exist, or they cannot be connected.
        """
        return connect_ports(self.names, source, target, carrier)

    def disconnect(self, source: str, target: str) -> str:
        """Disconnect an output from an input and return what the output says.

        Raises:
            BridgeError: a port does not exist, or they are not connected.
        """
        return disconnect_ports(self.names, source, target)

    def is_connected(self, source: str, target: str) -> bool:
        """Return whether an output is connected to an input."""
        reply = self.administer(source, bottle(Vocab.of("list"), Vocab.of("out"), target))
        return bool(reply.items)

    def administer(self, name: str, command: Bottle) -> Bottle:
        """Return the reply of a port to an administrative command."""
        return ask_administration(self.names.find(name), command, self.timeout)

    # ------------------------------------------------------------------ data
    def open_input(self, name: str = "...", *, strict: bool = True) -> InputPort:
        """Open a port that receives."""
        return InputPort(self.network, name, strict=strict)

    def open_output(self, name: str = "...", *, dialect: Dialect | None = None, **options: Any) -> Port:
        """Open a port that sends, by `Port.write_bottle`.

        Args:
            name: of the port.
            dialect: of its floats; None for that of each receiver, which is asked when it is connected.
            options: of the port.
        """
        if dialect is None:
            options = {"meet": self.receivers.meet, "dialect_of": self.receivers.dialect_of, **options}
        return self.network.open(name, dialect=dialect or self.receivers.dialect, **options)

    def read(self, name: str = "...", source: str = "", carrier: str = "") -> Iterator[Received]:
        """Open a port, connect a source to it, and yield what arrives, until the network is closed."""
        reader = self.open_input(name)
        if source:
            self.connect(source, reader.name, carrier)
        while not self.network.reactor.closed:
            try:
                yield reader.read(0.5)
            except BridgeError:
                continue

    def open_rpc(self, name: str, sender: str = "anon_rpc") -> RpcConnection:
        """Return a connection for calls to a port, in the dialect of the port, which is asked first.

        Raises:
            BridgeError: the port does not exist or does not answer.
        """
        contact = self.names.find(name)
        self.receivers.meet(contact.name, contact)
        return RpcConnection(contact, sender, self.receivers.dialect_of(contact.name), self.timeout)

    def rpc(self, name: str, request: Bottle) -> Bottle:
        """Return the reply of a port to one call."""
        with self.open_rpc(name) as connection:
            return connection.call(request)
