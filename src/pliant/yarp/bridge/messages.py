"""Messages that a port receives, sends and answers, independent of the carrier."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from pliant.base.errors import PliantError, WireError
from pliant.yarp.wire import Bottle, Dialect, decode_either, parse_bottle


@dataclass(frozen=True, slots=True)
class Arrival:
    """One message that a port has received."""

    payload: bytes
    """Bytes of the object; empty for a message of a text carrier."""
    text: str | None
    """Text of the object, from a text carrier; else None."""
    envelope: str | None
    """Envelope received with it, usually a stamp."""
    sender: str
    """Name of the sending port; without a slash in front it is anonymous."""
    wants_reply: bool
    """Whether the sender waits for an answer."""

    def bottle(self, first: Dialect = 4) -> Bottle:
        """Return the object as a Bottle, in the dialect that its bytes fit.

        Args:
            first: the dialect that is tried first.

        Raises:
            WireError: it is no Bottle.
        """
        return self.bottle_and_dialect(first)[0]

    def bottle_and_dialect(self, first: Dialect = 4) -> tuple[Bottle, Dialect]:
        """Return the object as a Bottle, and the dialect that its bytes fit."""
        if self.text is not None:
            return parse_bottle(self.text), first
        return decode_either(self.payload, first)


Answer: TypeAlias = "Bottle | bytes | str | Future[Any] | None"
"""Answer of a port: an object, bytes of one, lines of text as they are, nothing, or one of these later."""


T = TypeVar("T")
Reply = TypeVar("Reply")
ENDED = "the run ended before this was done"


def answered(
    future: Future[T], reply: Callable[[T], Reply], refused: Callable[[str], Reply] | None = None
) -> Future[Reply]:
    """Return the answer that follows from a result.

    Args:
        future: of the result.
        reply: returns the answer for a result.
        refused: returns the answer for the reason why there is no result; None passes the exception on.
    """
    answer: Future[Reply] = Future()

    def done(future: Future[T]) -> None:
        fault = WireError(ENDED) if future.cancelled() else future.exception()
        with contextlib.suppress(InvalidStateError):  # whoever asked has given up
            try:
                if fault is None:
                    answer.set_result(reply(future.result()))
                elif refused is not None:
                    answer.set_result(refused(str(fault)))
                else:
                    answer.set_exception(fault)
            except PliantError as wrong:  # there is a result, and no answer that the wire has
                answer.set_exception(wrong)

    future.add_done_callback(done)
    return answer


@dataclass(slots=True)
class Publication:
    """One message for every connection of a port; encoded at most once for each dialect, where it is sent."""

    encode: Callable[[Dialect], bytes]
    """Returns the bytes of the object."""
    envelope: str | None = None
    """Envelope sent with it."""
    number: int = 0
    """Running number at its port."""
    encoded: dict[int, bytes] = field(default_factory=dict)
    """Dialect -> bytes of the object, once they were needed."""
    framed: dict[tuple[bytes, bool], bytes] = field(default_factory=dict)
    """Bytes of the object, and whether the carrier is text -> the whole message, once it was needed."""

    def payload(self, dialect: Dialect) -> bytes:
        """Return the bytes of the object in a dialect."""
        data = self.encoded.get(dialect)
        if data is None:
            data = self.encoded[dialect] = self.encode(dialect)
        return data
