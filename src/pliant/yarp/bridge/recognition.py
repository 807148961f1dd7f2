"""Which YARP a receiver belongs to: its port is asked when a stream is connected to it.

Neither a handshake nor ``[ver]`` tells the version, but two answers differ:

| question | YARP 3 | YARP 4 |
|---|---|---|
| administrative command ``[pid]`` | ``1 "" PID`` | ``[fail] "send [help] ..."``: the commands of ROS were removed |

| a message that ends behind the header of a list | of 10 | of 12 |
|---|---|---|
| sensor client of YARP 3.5 to 3.10 | waits for the lists | refuses and acknowledges it |
| sensor client of YARP 3.11 and later | refuses and acknowledges it | waits for the lists |

Both messages are sent over connections of their own, which end with the first acknowledgement. The client takes
neither for a measurement, because neither is complete.

Source: ``PortCore.cpp`` and ``multipleAnalogSensorsSerializations.thrift`` of the tags 3.5.0, 3.10.1, 3.11.0, 3.12.3
and 4.0.0.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import time
from dataclasses import dataclass

from pliant.base.errors import BridgeError, WireError
from pliant.yarp.bridge.calls import ask_administration, greet
from pliant.yarp.wire import ACKNOWLEDGEMENT, Bottle, Command, Contact, Dialect, Hello, Message, Vocab, bottle
from pliant.yarp.wire.sensors import EARLY_GROUPS, SENSOR_GROUPS
from pliant.yarp.wire.values import FAIL

RECOGNITION_TIMEOUT_S = 1.0
"""Longest wait for each of the two answers [s]; a receiver that gives none is served as if it had not been asked."""
MAX_RECEIVERS = 1000
"""Receivers that are remembered; the oldest is forgotten first."""
SENSOR_CLIENT = "/measures:i"
"""End of the name of the port at which YARP's client of multiple analog sensors reads."""
SENSOR_CALLER = "/rpc:i"
"""End of the name of the port from which the same client calls."""
ASKER = "pliant_recognition"
"""Name of the sender of questions; without a slash in front, so that it replaces no connection."""
_PID = bottle(Vocab.of("pid"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """Content that the receiver of a stream reads."""

    dialect: Dialect | None = None
    """Encoding of its floats; None where it does not say."""
    sensor_groups: int = len(SENSOR_GROUPS)
    """Lists in a message of multiple analog sensors: 10 or 12."""


class Receivers:
    """The receivers that a bridge's streams were connected to, by name.

    `meet` waits for answers, so it belongs in a thread that may wait; the rest is for any thread.

    Args:
        dialect: for receivers that do not say.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.dialect: Dialect = dialect
        self._known: dict[str, Receiver] = {}

    def meet(self, name: str, contact: Contact) -> None:
        """Ask a receiver what it reads, each time it is connected: a program of another version may have its name."""
        receiver = recognise(name, contact)
        self._known.pop(name, None)
        self._known[name] = receiver
        while len(self._known) > MAX_RECEIVERS:
            self._known.pop(next(iter(self._known)), None)

    def told_dialect(self, name: str) -> Dialect | None:
        """Return the dialect of a receiver, or None where it did not say."""
        receiver = self._known.get(name)
        return None if receiver is None else receiver.dialect

    def dialect_of(self, name: str) -> Dialect:
        """Return the dialect of a receiver: its own, else that of a port above it, else the default.

        A port of YARP answers no question while it waits for the reply to a call, which a client may make as soon as it
        is connected; the port of its stream has answered before, and the port of its calls has a name below it.
        """
        while name:
            told = self.told_dialect(name)
            if told is not None:
                return told
            name = name.rpartition("/")[0]
        return self.dialect

    def sensor_groups_of(self, name: str) -> int:
        """Return the lists that a reader of sensors, or the same client's caller, takes in a message."""
        if name.endswith(SENSOR_CALLER):
            name = name.removesuffix(SENSOR_CALLER) + SENSOR_CLIENT
        return self._known.get(name, Receiver()).sensor_groups


def recognise(name: str, contact: Contact, timeout: float = RECOGNITION_TIMEOUT_S) -> Receiver:
    """Return what a receiver reads; what it does not say has the value of `Receiver`.

    Args:
        name: of its port.
        contact: where the port is.
        timeout: longest wait for each answer [s].
    """
    dialect: Dialect | None = None
    groups = len(SENSOR_GROUPS)
    with contextlib.suppress(BridgeError, WireError, OSError):
        dialect = _dialect(ask_administration(contact, _PID, timeout))
    if dialect == 3 and name.endswith(SENSOR_CLIENT):  # YARP 4 has twelve
        with contextlib.suppress(BridgeError, WireError, OSError):
            groups = _sensor_groups(contact, timeout)
    return Receiver(dialect=dialect, sensor_groups=groups)


def _dialect(reply: Bottle) -> Dialect | None:
    """Return the dialect of the port that has given this reply to ``[pid]``; None for ports of pliant and others."""
    items = reply.items
    if len(items) == 3 and items[0] == 1 and items[1] == "":
        return 3
    if len(items) == 2 and items[0] == FAIL and isinstance(items[1], str) and items[1].startswith("send [help]"):
        return 4
    return None


def _sensor_groups(contact: Contact, timeout: float) -> int:
    """Return how many lists a sensor client of YARP 3 reads; it refuses the header of another count."""
    refused_by = {EARLY_GROUPS: len(SENSOR_GROUPS), len(SENSOR_GROUPS): EARLY_GROUPS}
    end = time.monotonic() + timeout
    with contextlib.ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for count, reads in refused_by.items():
            sock = stack.enter_context(contextlib.closing(_send_header(contact, count, timeout)))
            selector.register(sock, selectors.EVENT_READ, (sock, reads))
        while selector.get_map() and (left := end - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                sock, reads = key.data
                if sock.recv(len(ACKNOWLEDGEMENT)) == ACKNOWLEDGEMENT:
                    return reads
                selector.unregister(sock)
    return len(SENSOR_GROUPS)


def _send_header(contact: Contact, count: int, timeout: float) -> socket.socket:
    """Return a connection over which the header of a list of so many elements was sent, without elements."""
    stream, _ = greet(contact, Hello(carrier="tcp", sender=ASKER), timeout)
    try:
        stream.send(Message(Command("D"), struct.pack("<2i", 256, count)).encode())
    except BaseException:
        stream.sock.close()
        raise
    return stream.sock
