r"""The text of YARP's name server: one line for a query, lines and a terminator for an answer.

A connection begins with ``NAME_SERVER`` and each command is one line: ``NAME_SERVER query /clock``. Its answer consists
of lines that end in ``\r\n``; the last is ``*** end of message``, except for ``bot ...`` and ``announce``, whose answer
is one line of Bottle text. So a client reads until a line that begins with ``*`` or ``[``, or one line for ``bot``.

Source: recorded traffic of the name servers of YARP 3.12.3 and 4.0.0, which are the same here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pliant.base.errors import WireError
from pliant.yarp.wire.connection import MAX_NAME
from pliant.yarp.wire.text import MAX_TEXT
from pliant.yarp.wire.values import Bottle, bottle

END = "*** end of message"
"""Last line of an answer."""
ANY = "..."
"""Field of a query that the server chooses."""
MAX_QUERY = 1 << 16
"""Longest line of a query [characters]. # assumed: a port sends its properties in lines of 100"""
NO_SUCH_PORT = bottle("port", ("error", -2, "port not known"))
"""Answer to ``bot query`` for a name that is not registered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """Where a port is: what a name server keeps."""

    name: str
    """Name of the port, ``/clock``."""
    host: str
    """IP address that others connect to."""
    port: int
    """TCP port, 1 to 65535; for mcast the port of the group."""
    carrier: str = "tcp"
    """Carrier by which the port is reached first."""

    def __post_init__(self) -> None:
        for value in (self.name, self.host, self.carrier):
            if not value or len(value) > MAX_NAME or any(c.isspace() for c in value):
                raise WireError(f"{value[:80]!r} in a contact must be a word of at most {MAX_NAME} characters")
        if not 0 <= self.port <= 65535:
            raise WireError(f"TCP port {self.port} of {self.name}; must be 0 to 65535", field="port")

    @property
    def line(self) -> str:
        """The registration line."""
        return f"registration name {self.name} ip {self.host} port {self.port} type {self.carrier}"

    @property
    def entry(self) -> Bottle:
        """The list that ``bot list`` and ``bot query`` show: ``port (name "/a") (ip "127.0.0.1") ...``."""
        return bottle(
            "port", ("name", self.name), ("ip", self.host), ("port_number", self.port), ("carrier", self.carrier)
        )


@dataclass(frozen=True, slots=True)
class Query:
    """One command to a name server."""

    words: tuple[str, ...]
    """The command and its arguments."""
    line_end: str = field(default="\r\n", compare=False)
    r"""``\r\n`` or ``\n``; servers take both."""

    @property
    def command(self) -> str:
        """The first word."""
        return self.words[0] if self.words else ""

    @property
    def answered_by_bottle(self) -> bool:
        """Whether the answer is one line of Bottle text without a terminator."""
        return self.command in ("bot", "announce")

    def encode(self) -> bytes:
        """Return the line.

        Raises:
            WireError: a word is empty or holds a space, or the line is too long.
        """
        if any(not w or any(c.isspace() for c in w) for w in self.words):
            raise WireError(f"the words of a query must not be empty nor hold spaces: {self.words!r}")
        line = " ".join(("NAME_SERVER", *self.words))
        if len(line) > MAX_QUERY:
            raise WireError(f"a query of {len(line)} characters; must be at most {MAX_QUERY}")
        return (line + self.line_end).encode("utf-8", "surrogateescape")

    @classmethod
    def decode(cls, data: bytes) -> Query:
        """Return the query of a line with its end.

        Raises:
            WireError: the line is no query, is too long, or has no end.
        """
        if len(data) > MAX_QUERY:
            raise WireError(f"a query of {len(data)} bytes; must be at most {MAX_QUERY}")
        line = data.decode("utf-8", "surrogateescape")
        end = "\r\n" if line.endswith("\r\n") else "\n"
        if not line.endswith("\n") or line.count("\n") > 1:
            raise WireError(f"{line[:80]!r} must be one line")
        words = line.split()
        if words[:1] != ["NAME_SERVER"]:
            raise WireError(f"{line[:80]!r} must begin with NAME_SERVER")
        return cls(tuple(words[1:]), end)


Answer: TypeAlias = Contact | str
"""One line of an answer; what is no registration stays text."""

_REGISTRATION = re.compile(r"registration name (\S+) ip (\S+) port (\d{1,5}) type (\S+)\Z")


def encode_answer(lines: Sequence[Answer]) -> bytes:
    """Return an answer with its terminator."""
    shown = [line if isinstance(line, str) else line.line for line in lines]
    return "".join([line + "\r\n" for line in (*shown, END)]).encode("utf-8", "surrogateescape")


def decode_answer(data: bytes) -> list[Answer]:
    """Return the lines of an answer, its terminator taken off.

    Raises:
        WireError: the answer is too long or does not end in the terminator, or a registration names no valid contact.
    """
    if len(data) > MAX_TEXT:
        raise WireError(f"an answer of {len(data)} bytes; must be at most {MAX_TEXT}")
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    lines = [line.removesuffix("\r") for line in lines]
    if lines[-2:] != [END, ""]:
        raise WireError(f"an answer of the name server must end in {END!r}")
    return [_decode_line(line) for line in lines[:-2]]


def _decode_line(line: str) -> Answer:
    match = _REGISTRATION.match(line)
    return line if match is None else Contact(name=match[1], host=match[2], port=int(match[3]), carrier=match[4])


def is_complete(data: bytes, query: Query) -> bool:
    """Return whether the answer to a query is complete.

    Raises:
        WireError: the answer exceeds the limit and is not complete.
    """
    if query.answered_by_bottle:
        complete = b"\n" in data
    else:
        complete = re.search(rb"(?:\A|\n)\*\*\* [^\n]*\n\Z", data) is not None
    if not complete and len(data) > MAX_TEXT:
        raise WireError(f"an answer of more than {MAX_TEXT} bytes")
    return complete


def parse_contact(target: str) -> tuple[str, str]:
    """Return the carrier and the name or address that a connect command names.

    ``fast_tcp://a/b:i`` and ``fast_tcp:/a/b:i`` are port ``/a/b:i``; a name alone has carrier "". ``host:port`` behind
    a carrier is an address that needs no name server.

    Raises:
        WireError: the target is empty, too long, or names neither a port nor an address.
    """
    match = re.match(r"(?:([A-Za-z_][\w+.]*):/)?(/?\S+)\Z", target)
    if match is None or match[2] == "/" or len(target) > MAX_NAME:
        raise WireError(
            f"{target[:80]!r} is not the name of a port; must be /name, carrier://name or carrier://host:port"
        )
    carrier, rest = match[1] or "", match[2]
    if re.match(r"/[\w.\-]+:\d{1,5}\Z", rest) and carrier:
        return carrier, rest[1:]
    return carrier, rest if rest.startswith("/") else "/" + rest
