"""A port: what it sends and takes, its connections, and what it answers to administrators."""

from __future__ import annotations

import os
import platform
import socket
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import KW_ONLY, dataclass
from typing import Protocol

from pliant.base.errors import PliantError, WireError
from pliant.yarp.bridge.messages import Answer, Arrival, Publication, answered
from pliant.yarp.bridge.reactor import Reactor
from pliant.yarp.wire import Bottle, Contact, Dialect, Value, Vocab, bottle, encode_bottle
from pliant.yarp.wire.values import FAIL, OK, text

SMALL_MESSAGE = 1 << 20
"""Longest message that a port takes unless it is told otherwise [bytes]."""
MAX_AT_ONCE = 32
"""Receivers of a message that are served before other sockets have their turn."""


class Incoming(Protocol):
    """A connection into a port, as the port sees it: `pliant.yarp.bridge.inputs.Input`."""

    sender: str
    carrier: str
    greeted: bool
    heard: float

    @property
    def rooted(self) -> bool:
        """Whether the sender is a port, which is not anonymous."""
        ...

    @property
    def is_udp(self) -> bool:
        """Whether messages come as datagrams."""
        ...

    def hold(self, until: Future[None]) -> None:
        """Handle no message before something is done."""
        ...

    def close(self) -> None:
        """End the connection."""
        ...


class Outgoing(Protocol):
    """A connection out of a port, as the port sees it: `pliant.yarp.bridge.outputs.Output`."""

    target: str
    carrier: str
    dropped: int
    seen: int

    def start(self) -> None:
        """Begin to send."""
        ...

    def send(self, publication: Publication) -> None:
        """Send a message, queue it, or drop it where too many wait."""
        ...

    def close(self, *, quit: bool = False) -> None:
        """End the connection."""
        ...


@dataclass(eq=False, repr=False)
class Port:
    """One port. `write` may be used by one thread, which never waits; everything else runs in the reactor's thread."""

    name: str
    """Its name, with a slash in front."""
    reactor: Reactor
    """Serves its sockets."""
    listener: socket.socket
    """Socket that it accepts connections with."""
    _: KW_ONLY
    on_data: Callable[[Arrival], Answer] | None = None
    """Answers messages of data; it runs in the reactor's thread and must not wait. None for an output."""
    is_rpc: bool = False
    """Whether it is there for calls."""
    type_name: str = ""
    """Type of its messages, as administrators are told; "" for any."""
    dialect: Dialect = 3
    """How floats are written, where the connection does not say."""
    dialect_of: Callable[[str], Dialect] | None = None
    """The dialect for a receiver or a caller by its name; None for `dialect` always."""
    adapt: Callable[[str, bytes], bytes] | None = None
    """The bytes of an object as a receiver, by its name, reads them; None for the same bytes for all."""
    meet: Callable[[str, Contact], None] | None = None
    """Asks a receiver what it reads, before it is connected; runs in a thread that may wait."""
    meet_caller: Callable[[str], Future[None]] | None = None
    """Asks a caller, by its name, what it reads; its calls wait for the end of that."""
    limit: int = SMALL_MESSAGE
    """Longest message that it takes [bytes]."""
    max_inputs: int = 0
    """Most connections into it at once; 0 for `pliant.yarp.bridge.inputs.MAX_INPUTS`."""
    latch: bool = False
    """Whether a new receiver gets the newest message at once."""
    queue: int = 100
    """Most messages that wait for one receiver; a further one is dropped and counted."""
    dial: Callable[[Port, str, str], Future[str]] | None = None
    """Connects an output: ``dial(port, target, carrier)`` gives the text for the administrator later."""
    undial: Callable[[Port, Contact], None] | None = None
    """Tells a receiver that a connection without a stream has ended: ``undial(port, contact)``."""
    administer: Callable[[Bottle], Bottle | str | None] | None = None
    """Further administrative commands: returns None for those that it does not know."""

    def __post_init__(self) -> None:
        self.host, self.number = self.listener.getsockname()[:2]
        self.answer_names: Callable[[str, str], bytes] | None = None
        """Answers a line of a name server's text from an address; None for every port but a name server's."""
        self.inputs: dict[int, Incoming] = {}
        self.outputs: dict[str, Outgoing] = {}
        self.properties: dict[str, Value] = {}
        self.closed = False
        self.active = False
        """Whether anybody is connected to what it sends; any thread may read it."""
        self.listening_to: Callable[[str, bool], None] = lambda sender, connected: None
        """Called when a sender has connected or left."""
        self.watchers: set[Callable[[], None]] = set()
        """Called after each message of data, in the reactor's thread."""
        self.complain: Callable[[str], None] = lambda text: None
        """Called with each fault of the other side."""
        self.received = 0
        self.sent = 0
        self.dropped = 0
        self.rejected = 0
        self.refused = 0
        self._posted = 0
        self._taken = 0
        self._newest: Publication | None = None

    @property
    def contact(self) -> Contact:
        """Where the port is."""
        return Contact(name=self.name, host=self.host, port=self.number)

    # ------------------------------------------------------------------ the writer's thread
    def write(self, encode: Callable[[Dialect], bytes], envelope: str | None = None) -> None:
        """Send an object to everybody that is connected; returns at once.

        Args:
            encode: returns the bytes in a dialect; called later, in the reactor's thread, at most once per dialect.
            envelope: what goes with it.
        """
        if self.latch:  # kept first: a receiver that becomes active now gets it from `add_output`
            number = 1 if self._newest is None else self._newest.number + 1
            self._newest = publication = Publication(encode, envelope, number)
        else:
            publication = Publication(encode, envelope, self._posted + 1)
        if not self.active:
            return
        if self._posted - self._taken >= self.queue:  # the reactor does not come to it
            self.dropped += 1
            return
        self._posted += 1
        self.reactor.call(lambda: self._publish(publication))

    def write_bottle(self, content: Bottle, envelope: str | None = None) -> None:
        """Send a Bottle to everybody that is connected; returns at once."""
        self.write(lambda dialect: encode_bottle(content, dialect), envelope)

    # ------------------------------------------------------------------ the reactor's thread
    def _publish(self, publication: Publication) -> None:
        self._taken += 1
        self._send(publication, list(self.outputs.values()))

    def _send(self, publication: Publication, outputs: list[Outgoing]) -> None:
        """Send to some receivers, and to the others when calls of others have had their turn."""
        for output in outputs[:MAX_AT_ONCE]:
            output.send(publication)
        rest = outputs[MAX_AT_ONCE:]
        if rest:
            self.reactor.call(lambda: self._send(publication, rest))

    def dialect_for(self, receiver: str) -> Dialect:
        """Return the dialect in which a receiver is written to."""
        return self.dialect if self.dialect_of is None else self.dialect_of(receiver)

    def adapted(self, receiver: str, payload: bytes) -> bytes:
        """Return the bytes of an object as a receiver reads them."""
        return payload if self.adapt is None else self.adapt(receiver, payload)

    def add_output(self, output: Outgoing) -> None:
        """Send to one more receiver; it replaces a connection to the same name."""
        if self.closed or self.reactor.closed:
            output.close()
            return
        former = self.outputs.pop(output.target, None)
        if former is not None:
            former.close()
        self.outputs[output.target] = output
        self.active = True
        output.start()
        if self._newest is not None:
            newest = self._newest
            output.send(newest)
            output.seen = newest.number

    def drop_output(self, output: Outgoing) -> None:
        """Send to a receiver no longer, because its connection has ended."""
        if self.outputs.get(output.target) is output:
            del self.outputs[output.target]
        self.active = bool(self.outputs)
        self.dropped += output.dropped
        output.dropped = 0

    def drop_input(self, connection: Incoming) -> None:
        """Forget a connection that has ended."""
        if self.inputs.pop(id(connection), None) is not None:
            self.reactor.connections -= 1
        if connection.greeted and connection.rooted:
            self.listening_to(connection.sender, False)

    def greeted(self, connection: Incoming) -> None:
        """Take note of the name of a new sender; an earlier connection of the same name ends."""
        if not connection.rooted:
            return
        for other in list(self.inputs.values()):
            if other is not connection and other.greeted and other.sender == connection.sender:
                other.close()
        self.listening_to(connection.sender, True)
        if self.meet_caller is not None:
            connection.hold(self.meet_caller(connection.sender))

    def deliver(self, arrival: Arrival) -> Answer:
        """Return the answer to a message of data."""
        self.received += 1
        if self.on_data is None:
            return None
        try:
            return self.on_data(arrival)
        except PliantError as fault:
            self.reject(f"a message from {arrival.sender[:80]}: {fault}")
            return bottle(FAIL) if arrival.wants_reply else None
        finally:
            for watcher in tuple(self.watchers):
                watcher()

    def reject(self, why: str) -> None:
        """Count and tell what the other side did wrong."""
        self.rejected += 1
        self.complain(f"{self.name}: {why}")

    def close(self) -> None:
        """Close every connection and stop accepting."""
        if self.closed:
            return
        self.closed = True
        self.active = False
        self.reactor.forget(self.listener)
        self.listener.close()
        for output in list(self.outputs.values()):
            output.close(quit=True)
        for connection in list(self.inputs.values()):
            connection.close()

    # ------------------------------------------------------------------ administration
    def describe(self) -> list[str]:
        """Return the lines by which a port describes itself to ``*``."""
        lines = [f"This is {self.name} at tcp://{self.host}:{self.number}/"]
        for output in self.outputs.values():
            lines.append(f"There is an output connection from {self.name} to {output.target} using {output.carrier}")
        if not self.outputs:
            lines.append("There are no outgoing connections")
        inputs = [c for c in self.inputs.values() if c.greeted]
        for c in inputs:
            lines.append(f"There is an input connection from {c.sender} to {self.name} using {c.carrier}")
        if not inputs:
            lines.append("There are no incoming connections")
        return lines

    def add(self, target: str, carrier: str = "") -> Future[str]:
        """Connect to a receiver; the future holds what the administrator is told."""
        if self.dial is None:
            done: Future[str] = Future()
            done.set_exception(WireError(f"{self.name} only takes connections"))
            return done
        return self.dial(self, target, carrier)

    def remove(self, name: str) -> str | None:
        """Remove the connections to and from a port; return what the administrator is told, None without any."""
        output = self.outputs.get(name)
        if output is not None:
            output.close(quit=True)
            return f"Removed connection from {self.name} to {name}"
        return self.remove_input(name)

    def remove_input(self, name: str) -> str | None:
        """Remove the connections from a port."""
        found = [c for c in self.inputs.values() if c.greeted and c.sender == name]
        for connection in found:
            connection.close()
        return f"Removing connection from {name} to {self.name}" if found else None

    def answer_administrator(self, command: Bottle) -> Bottle | str | Future[Bottle]:
        """Return the reply to an administrative command."""
        if self.administer is not None and (special := self.administer(command)) is not None:
            return special
        words = [item for item in command if isinstance(item, Vocab | str)]
        first = text(words[0]) if words and words[0] is command[0] else ""
        rest = command.items[1:]
        try:
            answer = _ADMINISTRATION.get(first)
            if answer is not None:
                return answer(self, rest)
        except (IndexError, WireError):
            return bottle(FAIL)
        return bottle(FAIL, "send [help] for list of valid commands")

    def _admin_add(self, rest: tuple[Value, ...]) -> Future[Bottle]:
        target = text(rest[0])
        carrier = text(rest[1]) if len(rest) > 1 else ""
        return answered(
            self.add(target, carrier),
            lambda said: bottle(0, f"{said}\r\n"),
            lambda _: bottle(-1, f"Do not know how to connect to {target}\r\n"),
        )

    def _admin_del(self, rest: tuple[Value, ...]) -> Bottle:
        name = text(rest[0])
        removed = self.remove(name)
        if removed is None:
            return bottle(
                -1,
                f"Could not find an outgoing connection to {name}\r\n"
                f"Could not find an incoming connection from {name}\r\n",
            )
        return bottle(0, f"{removed}\r\n")

    def _admin_list(self, rest: tuple[Value, ...]) -> Bottle:
        out = text(rest[0]) == "out" if rest else False
        if len(rest) > 1:
            return self._route(text(rest[1]), out)
        if out:
            return Bottle(tuple(self.outputs))
        return Bottle(tuple([c.sender for c in self.inputs.values() if c.greeted]))

    def _route(self, name: str, out: bool) -> Bottle:
        if out:
            output = self.outputs.get(name)
            if output is None:
                return Bottle()
            source, target, carrier = self.name, name, output.carrier
        else:
            found = next((c for c in self.inputs.values() if c.greeted and c.sender == name), None)
            if found is None:
                return Bottle()
            source, target, carrier = name, self.name, found.carrier
        entries: list[Bottle] = [bottle("from", source), bottle("to", target), bottle("carrier", carrier)]
        if carrier in ("udp", "mcast"):
            entries.append(bottle("connectionless", 1))
        return Bottle(tuple(entries))

    def _admin_prop(self, rest: tuple[Value, ...]) -> Bottle:
        what = text(rest[0])
        if what == "get":
            key = text(rest[1]) if len(rest) > 1 else ""
            if key == self.name:
                return self._own_properties()
            if not key:
                return Bottle(tuple([Bottle((k, v)) for k, v in self.properties.items()]))
            value = self.properties.get(key)
            return Bottle() if value is None else bottle(value)
        if what == "set" and len(rest) > 2:
            if text(rest[1]) not in self.properties and len(self.properties) >= 100:
                return bottle(FAIL)
            self.properties[text(rest[1])[:200]] = rest[2]
            return bottle(OK)
        # Scheduling, quality of service and process priorities are not changed: there is nothing to run them on.
        return bottle(OK if what == "set" and len(rest) > 1 and isinstance(rest[1], Bottle) else FAIL)

    def _own_properties(self) -> Bottle:
        flags = (("is_input", self.on_data is not None), ("is_output", self.dial is not None), ("is_rpc", self.is_rpc))
        # A program started from a text has "-c" for a name.
        name = sys.argv[0] if sys.argv and sys.argv[0] else "python"
        process = (
            ("pid", os.getpid()), ("name", name), ("arguments", ""), ("priority", 0), ("policy", 0),
        )  # fmt: skip
        return bottle(
            ("sched", (("tid", 0), ("priority", 0), ("policy", 0))),
            ("process", process),
            ("platform", (("os", platform.system()), ("hostname", platform.node()))),
            ("port", (*[(key, int(value)) for key, value in flags], ("type", self.type_name))),
        )

    def _admin_get(self, rest: tuple[Value, ...]) -> Bottle:
        direction, name = text(rest[0]), text(rest[1])
        known = name in self.outputs if direction == "out" else any(c.sender == name for c in self.inputs.values())
        return Bottle() if known else self._no_connection(rest)

    @staticmethod
    def _no_connection(rest: tuple[Value, ...]) -> Bottle:
        which = "outgoing connection to" if text(rest[0]) == "out" else "incoming connection from"
        return bottle(-1, f"Could not find an {which} {text(rest[1])}\r\n")


_HELP = (
    "[help]                  # give this help",
    "[ver]                   # report protocol version information",
    "[add] $portname         # add an output connection",
    "[add] $portname $car    # add an output with a given protocol",
    "[del] $portname         # remove an input or output connection",
    "[list] [in]             # list input connections",
    "[list] [out]            # list output connections",
    "[list] [in]  $portname  # give details for input",
    "[list] [out] $portname  # give details for output",
    "[prop] [get]            # get all user-defined port properties",
    "[prop] [get] $prop      # get a user-defined port property (prop, val)",
    "[prop] [set] $prop $val # set a user-defined port property (prop, val)",
    "[prop] [get] $portname  # get the process, platform and port itself",
)
_NO_MONITORS = bottle(FAIL, "port monitors are not served")
_ADMINISTRATION: Mapping[str, Callable[[Port, tuple[Value, ...]], Bottle | Future[Bottle]]] = {
    "help": lambda port, rest: bottle(Vocab.of("many"), *_HELP),
    "ver": lambda port, rest: bottle(Vocab.of("ver"), 1, 2, 3),
    # YARP 3 has an empty text here, and YARP 4 no such command: a port of pliant reads both (`recognition`).
    "pid": lambda port, rest: bottle(1, "pliant", os.getpid()),
    "pray": lambda port, rest: bottle(f"This is {port.name}; it has no further version than [ver]."),
    "add": Port._admin_add,
    "del": Port._admin_del,
    "list": Port._admin_list,
    "prop": Port._admin_prop,
    "get": Port._admin_get,
    "set": lambda port, rest: Port._no_connection(rest),
    "atch": lambda port, rest: _NO_MONITORS,
    "dtch": lambda port, rest: _NO_MONITORS,
}
"""Administrative command -> the answer of a port to it and what stands behind it."""
