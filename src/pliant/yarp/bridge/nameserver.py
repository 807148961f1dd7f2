"""A name server of YARP: what `yarpserver` is, for people without YARP.

It listens on one TCP port, as the port ``/root``, and answers the text of clients (``NAME_SERVER register ...``) and
the connections of YARP's own carriers, by which programs subscribe to connections that outlive both ends.

Discovery by multicast (``yarp detect``) and port monitors are not served; the entry ``fallback`` exists because
programs list it.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pliant.base.errors import PliantError, WireError
from pliant.base.listening import listen, listening_address
from pliant.base.threads import Threads, WorkerPool
from pliant.yarp.bridge import inputs
from pliant.yarp.bridge.calls import NameClient, ask_administration, connect_ports
from pliant.yarp.bridge.configuration import DEFAULT_PORT, ServerAddress
from pliant.yarp.bridge.messages import Arrival
from pliant.yarp.bridge.network import JOIN_TIMEOUT_S
from pliant.yarp.bridge.port import Port
from pliant.yarp.bridge.reactor import Reactor
from pliant.yarp.wire import Bottle, Contact, Query, Vocab, bottle, format_bottle, parse_bottle
from pliant.yarp.wire.nameserver import ANY, NO_SUCH_PORT, Answer, encode_answer, parse_contact
from pliant.yarp.wire.values import FAIL, OK, Value, text

LAST_FIRST_PORT = 30_000
"""Largest number of the first TCP port that is given to a client, below those that Linux gives to connections."""
MAX_CLIENTS = 400
"""Most connections to the server at once; a further one is closed. Queries last for some milliseconds."""
MAX_CONTACTS = 10_000
"""Most ports that are registered at once. # assumed: a robot has some hundred"""
MAX_PROPERTIES = 64
"""Most properties of one port. # assumed: ports set four"""
MAX_VALUES = 256
"""Most values of one property. # assumed"""
MAX_SUBSCRIPTIONS = 4096
"""Most connections that are kept for programs. # assumed"""
CONNECT_WORKERS = 4
"""Threads that connect subscribed ports; each waits for the ports that it asks."""
THREAD = "pliant-yarp-server"
"""Name of the thread that answers."""

_HELP = (
    "Here are some ways to use the name server:",
    "+ help",
    "+ list [$prefix]",
    "+ register $portname",
    "+ register $portname $carrier $ipAddress $portNumber",
    "  (if you want a field set automatically, write '...')",
    "+ unregister $portname",
    "+ query $portname",
    "+ set $portname $property $value",
    "+ get $portname $property",
    "+ check $portname $property",
    "+ route $port1 $port2",
    "+ runners",
    "  (to get a list of the yarprun ports)",
)


@dataclass(frozen=True, slots=True)
class Subscription:
    """A connection that is made whenever both of its ports are there."""

    source: str
    """Name of the port that sends."""
    target: str
    """Name of the port that receives."""
    carrier: str
    """Carrier of the connection."""

    @property
    def entry(self) -> Bottle:
        """Reply to a client that ends the subscription."""
        return bottle(("from", self.source), ("to", self.target), ("carrier", self.carrier))

    @property
    def row(self) -> Bottle:
        """Entry in the reply to a client that lists the subscriptions."""
        return bottle("subscription", ("src", self.source), ("dest", self.target), ("mode", self.carrier))


def first_client_port(own: int) -> int:
    """Return the first TCP port that a name server gives to its clients: two above its own, as yarpserver does.

    Between the answer and the moment at which the client listens, nothing reserves a port. So servers of one machine
    begin at different numbers, and none among those that Linux gives to connections.

    Args:
        own: port of the server.
    """
    return own + 2 if own + 2 <= LAST_FIRST_PORT else 10_000 + 64 * (own % 312)


class NameServer:
    """A name server.

    Args:
        port: TCP port; 0 takes a free one.
        host: address to listen on.
        name: name of its own port, which is the name space.
        first_port: first TCP port that is given to a client; 0 for the one of `first_client_port`.
        threads: whose threads they are; None for new ones.

    Example:
        >>> with NameServer(port=0) as server:  # doctest: +SKIP
        ...     print(server.address)
    """

    def __init__(
        self,
        port: int = DEFAULT_PORT,
        host: str = "127.0.0.1",
        *,
        name: str = "/root",
        first_port: int = 0,
        threads: Threads | None = None,
    ) -> None:
        self.host = listening_address(host, "ip")
        self.name = name
        self._own_names = (name, "fallback")
        self.threads = threads or Threads()
        self.contacts: dict[str, Contact] = {}
        self.properties: dict[str, dict[str, tuple[str, ...]]] = {}
        self.subscriptions: list[Subscription] = []
        self.on_complaint: Callable[[str], None] = lambda text: None
        """Called, in any thread, with each fault of the other side."""
        self._number = port
        self._announced: set[str] = set()
        self._temporary = 0
        self._groups = 0
        self._first_port = self._next_port = first_port
        self._port: Port | None = None
        self._reactor: Reactor | None = None
        self._pool: WorkerPool | None = None
        self.queries = 0
        """Commands that were answered."""

    # ------------------------------------------------------------------ life
    @property
    def address(self) -> ServerAddress:
        """Where it listens."""
        return ServerAddress(self.host, self._number)

    @property
    def port(self) -> Port:
        """Its own port.

        Raises:
            RuntimeError: it was not started.
        """
        if self._port is None:
            raise RuntimeError("the name server was not started")
        return self._port

    @property
    def dead(self) -> bool:
        """Whether its thread has died, so that nobody answers."""
        return THREAD in self.threads.dead

    @property
    def health(self) -> dict[str, int | str]:
        """Counts of its work, and the faults of this program."""
        port, reactor = self._port, self._reactor
        return {
            "queries": self.queries,
            "ports": len(self.contacts),
            "rejected": 0 if port is None else port.rejected,
            "internal_faults": 0 if reactor is None else reactor.internal_faults,
            "last_faults": "" if reactor is None else reactor.last_fault,
        }

    def start(self) -> None:
        """Listen and serve.

        Raises:
            BridgeError: the port is in use, or the address is not of this machine.
        """
        listener = listen(self.host, self._number, "the name server")
        self._number = listener.getsockname()[1]
        self._first_port = self._next_port = self._first_port or first_client_port(self._number)
        self._reactor = Reactor(self.threads, THREAD)
        port = Port(
            self.name,
            self._reactor,
            listener,
            on_data=self._on_data,
            administer=self._administer,
            max_inputs=MAX_CLIENTS,
        )
        port.complain = lambda text: self.on_complaint(text)
        port.answer_names = self.answer
        self._port = port
        self._keep(Contact(name=self.name, host=self.host, port=self._number))
        self._keep(Contact(name="fallback", host="224.2.1.1", port=DEFAULT_PORT, carrier="mcast"))
        self._reactor.start()
        self._pool = WorkerPool(self.threads, "pliant-yarp-connect", workers=CONNECT_WORKERS, limit=MAX_SUBSCRIPTIONS)
        self._reactor.call(lambda: inputs.listen(port))

    def close(self) -> None:
        """Stop and join the threads; may be called twice."""
        self.release()
        self.threads.join(JOIN_TIMEOUT_S)
        self.free()

    def release(self) -> None:
        """Let the threads end; `Threads.join` waits for them, and `free` follows."""
        self.threads.close()
        if self._reactor is not None and self._port is not None:
            self._reactor.call(self._port.close)
            self._reactor.close()
        if self._pool is not None:
            self._pool.close()

    def free(self) -> None:
        """Close what a thread that died has left open."""
        if self._port is not None:
            self._port.close()

    def __enter__(self) -> NameServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------ entries
    def answer(self, line: str, peer: str) -> bytes:
        """Return the answer to one line of text from an address."""
        try:
            reply = self._reply(Query.decode(line.encode("utf-8", "surrogateescape") + b"\n").words, peer)
        except WireError as fault:
            self.on_complaint(f"the name server refused {line[:120]!r}: {fault.message}")
            return encode_answer(())
        return reply if isinstance(reply, bytes) else f"{format_bottle(reply)}\r\n".encode("utf-8", "surrogateescape")

    def _on_data(self, arrival: Arrival) -> Bottle | str:
        """Answer a command that comes by a carrier of YARP."""
        words = list(arrival.bottle().items)
        if words and words[0] == "NAME_SERVER":
            words = words[1:]
        names = [text(w) if isinstance(w, str | Vocab) else format_bottle(Bottle((w,))) for w in words]
        reply = self._reply(names, self.host)
        return reply.decode("utf-8", "surrogateescape") if isinstance(reply, bytes) else reply

    def _reply(self, words: Sequence[str], peer: str) -> Bottle | bytes:
        """Return the reply to a command: a Bottle, or lines with their terminator."""
        self.queries += 1
        command = words[0] if words else ""
        if command == "announce":
            self._announce(words[1:])
            return bottle(OK)
        if command in ("subscribe", "unsubscribe"):
            return self._subscriber(words)
        found = self._bot(words[1:], peer) if command == "bot" else None
        return encode_answer(self._lines(words, peer)) if found is None else found

    def _administer(self, command: Bottle) -> Bottle | str | None:
        """Answer the commands of a name server that come as administrative ones."""
        first = command.items[0] if command.items else None
        if isinstance(first, str) and first in ("subscribe", "unsubscribe", "announce", "bot"):
            return self._on_data(Arrival(b"", format_bottle(command), None, "admin", True))
        return None

    # ------------------------------------------------------------------ commands
    def _lines(self, words: Sequence[str], peer: str) -> list[Answer]:
        command, rest = (words[0], list(words[1:])) if words else ("", [])
        if command == "register":
            return [self._register(rest, peer)]
        if command == "unregister":
            return self._unregister(rest)
        if command == "query":
            return self._query(rest)
        if command in ("set", "get", "check"):
            return self._property(command, rest)
        if command == "route" and len(rest) >= 2:
            return [f"port {rest[0]} route {rest[1]} = tcp:/{rest[1]}"]
        if command == "list":
            return [*self._list(rest[0] if rest else "")]
        if command == "runners":
            return [c for name, c in sorted(self.contacts.items()) if "yarprun" in self._property_of(name, "offers")]
        if command == "gc":
            return ["garbage collection done."]
        if command == "help":
            return [*_HELP]
        return []

    def _bot(self, words: Sequence[str], peer: str) -> Bottle | None:
        command = words[0] if words else ""
        if command == "list":
            entries: list[Value] = ["ports", *[c.entry for c in self._list(words[1] if len(words) > 1 else "")]]
            return Bottle(tuple(entries))
        if command == "query" and len(words) > 1:
            contact = self.contacts.get(words[1])
            return NO_SUCH_PORT if contact is None else contact.entry
        if command == "get" and len(words) > 2:
            return parse_bottle(" ".join(self._property_of(words[1], words[2])))
        if command == "register":
            try:
                return self._register(list(words[1:]), peer).entry
            except WireError as fault:
                return bottle("port", ("error", -1, fault.message))
        if command == "unregister" and len(words) > 1:
            self._forget(words[1])
            return NO_SUCH_PORT
        if command == "set" and len(words) > 2:
            self._property("set", list(words[1:]))
            return parse_bottle(" ".join(words[3:]))
        if command in ("subscribe", "unsubscribe"):
            return self._subscriber(words)
        return None

    def _list(self, prefix: str) -> list[Contact]:
        prefix = prefix.rstrip("/")
        return [
            contact
            for name, contact in sorted(self.contacts.items())
            if not prefix or name == prefix or name.startswith(f"{prefix}/")
        ]

    def _query(self, rest: list[str]) -> list[Answer]:
        if not rest:
            return []
        name, prefix = rest[0], ""
        found = re.match(r"/net=([\d.]+)(/.+)\Z", name)
        if found:
            prefix, name = found[1], found[2]
        contact = self.contacts.get(name)
        if contact is None:
            return []
        host = next((ip for ip in self._property_of(name, "ips") if prefix and ip.startswith(prefix)), contact.host)
        return [Contact(name=contact.name, host=host, port=contact.port, carrier=contact.carrier)]

    # ------------------------------------------------------------------ registration
    def _register(self, rest: list[str], peer: str) -> Contact:
        fields = [*rest, *[ANY] * (5 - len(rest))][:5]
        name, carrier, host, number = (f or ANY for f in fields[:4])
        if len(self.contacts) >= MAX_CONTACTS and name not in self.contacts:
            raise WireError(f"more than {MAX_CONTACTS} ports")
        if name == ANY or name.startswith("="):
            self._temporary += 1
            name = f"/tmp/port/{self._temporary}{name if name != ANY else ''}"
        if name in self._own_names:
            raise WireError(f"{name} is an entry of the name server itself; must be another name", field="name")
        carrier = "tcp" if carrier == ANY else carrier
        wanted = int(number) if re.fullmatch(r"\d{1,5}", number) else 0
        if carrier == "mcast":
            if host == ANY:
                self._groups = self._groups % 254 + 1
                host = f"224.1.1.{self._groups}"
        elif host == ANY:
            host = peer or self.host
        try:
            ipaddress.ip_address(host)
        except ValueError:
            raise WireError(f"the address {host[:80]!r} of {name[:80]}; must be an IP address", field="ip") from None
        if not wanted:
            former = self.contacts.get(name)
            keep = former is not None and former.host == host and former.carrier == carrier and self._is_free(former)
            wanted = former.port if keep and former is not None else self._allocate(host, carrier)
        contact = Contact(name=name, host=host, port=wanted, carrier=carrier)
        self._keep(contact)
        return contact

    def _keep(self, contact: Contact) -> None:
        self.contacts[contact.name] = contact
        self.properties[contact.name] = {}
        self._announced.discard(contact.name)

    def _allocate(self, host: str, carrier: str) -> int:
        used = {c.port for c in self.contacts.values() if c.host == host} | {self._number}
        for _ in range(65536 - self._first_port):
            number, self._next_port = self._next_port, self._next_port + 1
            if self._next_port > 65535:
                self._next_port = self._first_port
            if number not in used and (carrier == "mcast" or self._can_bind(host, number)):
                return number
        raise WireError(f"no TCP port of {host} is free")

    def _is_free(self, contact: Contact) -> bool:
        return self._can_bind(contact.host, contact.port)

    @staticmethod
    def _can_bind(host: str, number: int) -> bool:
        """Return False where another program of this machine has the port at any address.

        Programs of YARP register one address and listen on all.
        """
        for address in (host, "0.0.0.0"):
            with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind((address, number))
                except OSError as fault:
                    return fault.errno != errno.EADDRINUSE  # an address of another machine cannot be tried
        return True

    def _unregister(self, rest: list[str]) -> list[Answer]:
        if rest:
            for owned in self._property_of(rest[0], "owns"):
                self._forget(owned)
            self._forget(rest[0])
        return []

    def _forget(self, name: str) -> None:
        if name in self._own_names:
            return
        self.contacts.pop(name, None)
        self.properties.pop(name, None)
        self._announced.discard(name)

    # ------------------------------------------------------------------ properties
    def _property_of(self, name: str, key: str) -> tuple[str, ...]:
        return self.properties.get(name, {}).get(key, ())

    def _property(self, command: str, rest: list[str]) -> list[Answer]:
        if len(rest) < 2 or rest[0] not in self.properties:
            return []
        name, key, values = rest[0], rest[1], tuple(rest[2:])
        known = self.properties[name]
        if command == "set":
            if len(values) > MAX_VALUES or (len(known) >= MAX_PROPERTIES and key not in known):
                raise WireError(f"more than {MAX_PROPERTIES} properties or {MAX_VALUES} values", field=key)
            known[key] = tuple(sorted(set(values))) if key in ("offers", "accepts") else values
        if command == "check":
            present = "true" if values[:1] and values[0] in known.get(key, ()) else "false"
            return [f"port {name} property {key} value {value} present {present}" for value in values[:1]]
        return [" ".join(("port", name, "property", key, "=", *known.get(key, ())))]

    # ------------------------------------------------------------------ connections that are kept
    def _subscriber(self, words: Sequence[str]) -> Bottle:
        if len(words) < 3:
            return Bottle(("subscriptions", *[s.row for s in self.subscriptions]))
        asked, source = parse_contact(words[1])
        carrier, target = parse_contact(words[2])
        carrier = (words[3] if len(words) > 3 else "") or carrier or asked or "tcp"
        subscription = Subscription(source, target, carrier)
        kept = [s for s in self.subscriptions if (s.source, s.target) != (source, target)]
        if words[0] == "unsubscribe":
            self.subscriptions = kept
            if source not in self.contacts or target not in self.contacts:
                return bottle(OK)
            self._submit(lambda: self._disconnect(subscription))
            return subscription.entry
        if len(kept) >= MAX_SUBSCRIPTIONS:
            return bottle(FAIL)
        self.subscriptions = [*kept, subscription]
        if source in self.contacts and target in self.contacts:
            self._submit(lambda: self._connect(subscription))
        return bottle(OK)

    def _announce(self, words: Sequence[str]) -> None:
        if not words or words[0] not in self.contacts:
            return
        name = words[0]
        self._announced.add(name)
        for subscription in self.subscriptions:
            if name in (subscription.source, subscription.target):
                ends = (subscription.source, subscription.target)
                if all(end in self.contacts for end in ends):
                    self._submit(lambda s=subscription: self._connect(s))

    def _submit(self, job: Callable[[], None]) -> None:
        def guarded() -> None:
            try:
                job()
            except (PliantError, OSError) as fault:
                self.on_complaint(f"the name server: {fault}")

        if self._pool is None or not self._pool.submit(guarded):
            self.on_complaint("the name server: too many connections wait to be made")

    def _connect(self, subscription: Subscription) -> None:
        names = NameClient(self.address)
        connect_ports(names, subscription.source, subscription.target, subscription.carrier)

    def _disconnect(self, subscription: Subscription) -> None:
        contact = self.contacts.get(subscription.source)
        if contact is not None:
            ask_administration(contact, bottle(Vocab.of("del"), subscription.target))
