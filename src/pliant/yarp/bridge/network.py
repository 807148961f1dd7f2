"""The ports of one program: opening, registering, dialling, and registering again after the name server was away."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from pliant.base.errors import BridgeError, PliantError, WireError, printable
from pliant.base.listening import listen, listening_address
from pliant.base.threads import Threads, WorkerPool
from pliant.yarp.bridge import inputs
from pliant.yarp.bridge.calls import NameClient, tell_removed
from pliant.yarp.bridge.outputs import OUTPUT_CARRIERS, Output, dial
from pliant.yarp.bridge.port import Port
from pliant.yarp.bridge.reactor import Reactor
from pliant.yarp.wire import Contact
from pliant.yarp.wire.connection import MAX_NAME
from pliant.yarp.wire.nameserver import parse_contact

WATCH_PERIOD_S = 2.0
"""How often the name server is asked whether it still knows the ports [s]."""
JOIN_TIMEOUT_S = 5.0
"""Longest wait for the threads at the end [s]."""
WORKERS = 2
"""Threads that dial receivers; each waits for at most a time limit."""
MAX_JOBS = 1000
"""Most connections that wait to be dialled."""
_log = logging.getLogger("pliant.yarp.bridge")


class Network:
    """The ports of one program on a network of YARP.

    Args:
        names: the name server.
        host: address that the ports listen on.
        threads: whose threads they are; None for new ones.
        watch: whether ports are registered again when the name server has forgotten them.

    Example:
        >>> with Network(NameClient(address)) as network:  # doctest: +SKIP
        ...     port = network.open("/pliant/state:o")
        ...     port.write_bottle(bottle(1, 2.5))
    """

    def __init__(
        self, names: NameClient, *, host: str = "127.0.0.1", threads: Threads | None = None, watch: bool = True
    ) -> None:
        self.names = names
        self.host = listening_address(host, "host")
        self.threads = threads or Threads()
        self.reactor = Reactor(self.threads)
        self.ports: list[Port] = []
        self.on_complaint: Callable[[str], None] = lambda text: None
        """Called, in any thread, with each fault of the other side."""
        self.advice = "use another name"
        """Alternative to stopping a program that has the name of a port already, for the message."""
        self.lost = ""
        """Why the name server cannot be reached; "" if it can."""
        self.registrations = 0
        """How often ports were registered again."""
        self._watches = watch
        self._pool: WorkerPool | None = None
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._started = False
        self._released: list[Port] = []
        self._addresses = (self.host,)

    # ------------------------------------------------------------------ life
    def start(self) -> None:
        """Start the threads."""
        self._started = True
        self.reactor.start()
        self._pool = WorkerPool(self.threads, "pliant-yarp-dial", workers=WORKERS, limit=MAX_JOBS)
        if self._watches:
            self.threads.start("pliant-yarp-names", self._watch)

    def __enter__(self) -> Network:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Unregister and close every port, and join the threads; may be called twice."""
        self.release()
        self.threads.join(JOIN_TIMEOUT_S)
        self.free()

    def release(self) -> None:
        """Unregister every port and let the threads end; `Threads.join` waits for them, and `free` follows."""
        self.threads.close()
        self._closing.set()
        with self._lock:
            ports, self.ports = self.ports, []
        self._released += ports
        for port in ports:
            try:
                if not self.lost:
                    self.names.unregister(port.name)
            except (BridgeError, WireError) as fault:
                self.lost = str(fault)  # the others need not try
            self.reactor.call(port.close)
        self.reactor.close()
        if self._pool is not None:
            self._pool.close()

    def free(self) -> None:
        """Close what a thread that died has left open."""
        for port in self._released:
            port.close()
        self._released.clear()

    # ------------------------------------------------------------------ ports
    def open(self, name: str, *, output: bool = True, register: bool = True, **options: Any) -> Port:
        """Open a port and register it; it blocks while the name server is asked.

        Args:
            name: with a slash in front; ``...`` lets the name server choose.
            output: whether it may connect to receivers.
            register: whether the name server is told; else the port has any free number.
            options: of `Port`.

        Raises:
            BridgeError: the name is not valid or taken by a port that answers, or the name server cannot be reached.
        """
        self._check_name(name)
        listener, contact = self._listen(name, register)
        options = {"dial": self.dial if output else None, "undial": self._undial, **options}
        try:
            port = Port(contact.name, self.reactor, listener, **options)
        except BaseException:
            listener.close()
            raise
        port.complain = self._complain
        with self._lock:
            self.ports.append(port)
        self.reactor.call(lambda: inputs.listen(port))
        if register:
            self.names.describe(port.name, self._addresses)
        return port

    def shut(self, port: Port) -> None:
        """Unregister and close one port; it blocks while the name server is asked."""
        with self._lock:
            if port not in self.ports:
                return
            self.ports.remove(port)
        with contextlib.suppress(BridgeError, WireError):
            self.names.unregister(port.name)
        self.reactor.call(port.close)

    @staticmethod
    def _check_name(name: str) -> None:
        valid = name == "..." or name.startswith(("/", "="))
        if not valid or len(name) > MAX_NAME // 2 or name == "/" or any(c.isspace() for c in name):
            raise BridgeError(
                f"the port name {name[:80]!r} must begin with a slash and hold no spaces, such as /robot/state:o",
                field="name",
            )

    def _listen(self, name: str, register: bool) -> tuple[socket.socket, Contact]:
        if not register:
            listener = listen(self.host, 0, name)
            return listener, Contact(name=name, host=self.host, port=listener.getsockname()[1])
        known = None if name.startswith((".", "=")) else self.names.query(name)
        if known is not None and self._answers(known):
            raise BridgeError(
                f"port {name} is open already, at {known.host}:{known.port}: another program serves it. Stop it, or "
                + self.advice,
                field="name",
            )
        contact = self.names.register(name, host=self.host)
        try:
            return listen(self.host, contact.port, name), contact
        except BridgeError:  # a program that asked no name server has the number
            listener = listen(self.host, 0, name)
        try:
            number = listener.getsockname()[1]
            return listener, self.names.register(contact.name, "tcp", self.host, number)
        except BaseException:
            listener.close()
            raise

    @staticmethod
    def _answers(contact: Contact) -> bool:
        try:
            with socket.create_connection((contact.host, contact.port), timeout=1.0):
                return True
        except OSError:
            return False

    def _complain(self, text: str) -> None:
        text = printable(text)  # it quotes what peers sent
        _log.debug("%s", text)
        self.on_complaint(text)

    # ------------------------------------------------------------------ dialling
    def dial(self, port: Port, target: str, carrier: str = "") -> Future[str]:
        """Connect a port to a receiver, in a thread that may wait; the future holds what administrators are told."""
        result: Future[str] = Future()

        def job() -> None:
            try:
                result.set_result(self.connect(port, target, carrier))
            except (PliantError, OSError) as fault:
                self._complain(f"{port.name}: no connection to {target[:200]}: {fault}")
                result.set_exception(fault)

        if self._pool is None or not self._pool.submit(job):
            result.set_exception(BridgeError(f"{port.name}: too many connections wait to be made", field=port.name))
        return result

    def connect(self, port: Port, target: str, carrier: str = "") -> str:
        """Connect a port to a receiver and return what administrators are told; it blocks.

        Raises:
            BridgeError: the receiver does not exist or cannot be reached, or the carrier is not served.
            WireError: the target names no port, or does not answer as one.
        """
        asked, name = parse_contact(target)
        carrier = carrier or asked or "tcp"
        contact = self.names.find(target)
        if contact.name.startswith("/") and not name.startswith("/"):
            name = contact.name
        if port.meet is not None and carrier in OUTPUT_CARRIERS:
            port.meet(name, contact)
        sock = dial(port.name, contact, carrier)
        output = Output(port, name, contact, carrier, sock)
        connected: Future[None] = Future()

        def add() -> None:
            port.add_output(output)
            connected.set_result(None)

        if self.reactor.closed:
            sock.close()
            raise BridgeError("the ports are closed", field=port.name)
        self.reactor.call(add)
        connected.result(5.0)
        return f"Added connection from {port.name} to {carrier}:/{name}"

    def meet(self, name: str, ask: Callable[[str, Contact], None]) -> Future[None]:
        """Call ``ask(name, contact)`` for a port in a thread that may wait; the future is done when it has ended."""
        met: Future[None] = Future()

        def job() -> None:
            with contextlib.suppress(PliantError, OSError):
                ask(name, self.names.find(name))
            met.set_result(None)

        if self._pool is None or not self._pool.submit(job):
            met.set_result(None)
        return met

    def _undial(self, port: Port, contact: Contact) -> None:
        def job() -> None:
            with contextlib.suppress(PliantError, OSError):
                tell_removed(contact, port.name, 1.0)

        if self._pool is not None:
            self._pool.submit(job)

    # ------------------------------------------------------------------ the name server
    def _watch(self) -> None:
        """Register the ports again when the name server has lost them: it was restarted."""
        while not self._closing.wait(0.1):
            for _ in range(round(WATCH_PERIOD_S / 0.1)):
                if self._closing.wait(0.1):
                    return
            with self._lock:
                ports = list(self.ports)
            try:
                if ports and self.names.query(ports[0].name) != ports[0].contact:
                    self._register_again(ports)
                self.lost = ""
            except (BridgeError, WireError) as fault:
                if not self.lost:
                    self._complain(f"{fault}; what is connected stays connected")
                self.lost = str(fault)

    def _register_again(self, ports: list[Port]) -> None:
        for port in ports:
            if port.closed or self._closing.is_set():
                continue
            known = self.names.query(port.name)
            if known == port.contact:
                continue
            if known is not None and self._answers(known):
                self._complain(f"port {port.name} was taken over by another program at {known.host}:{known.port}")
                continue
            self.names.register(port.name, "tcp", port.host, port.number)
            self.names.describe(port.name, self._addresses)
            self.registrations += 1
        _log.debug("process %d registered its ports again", os.getpid())

    def health(self) -> dict[str, int | str]:
        """Return what the ports have sent, received and dropped."""
        with self._lock:
            ports = list(self.ports)
        return {
            "name_server": str(self.names.address),
            "name_server_lost": self.lost,
            "ports": len(ports),
            "inputs": sum(len(p.inputs) for p in ports),
            "outputs": sum(len(p.outputs) for p in ports),
            "sent": sum(p.sent for p in ports),
            "received": sum(p.received for p in ports),
            "dropped": sum(p.dropped + sum(o.dropped for o in list(p.outputs.values())) for p in ports),
            "rejected": sum(p.rejected for p in ports),
            "refused_connections": sum(p.refused for p in ports),
            "registered_again": self.registrations,
            "internal_faults": self.reactor.internal_faults,
            "last_faults": self.reactor.last_fault,
        }
