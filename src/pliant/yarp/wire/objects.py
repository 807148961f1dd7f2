"""Small objects that YARP's ports carry: vectors, stamps, properties.

All are Bottles on the wire, so each is turned into a `Bottle` and back; the bytes of either dialect follow from that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import WireError
from pliant.yarp.wire.values import Bottle, Float32, Value, number, text


def vector(values: ArrayLike, *, single: bool = False) -> Bottle:
    """Return the Bottle of a vector of floats, shape (n,), in double or single precision."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise WireError(f"a vector of shape {numbers.shape}; must have one dimension")
    items = tuple(numbers.tolist())
    if single:
        return Bottle(tuple([Float32(n) for n in items]), layout="" if items else "float32")
    return Bottle(items, layout="" if items else "float64")


def floats(value: Value, what: str = "vector") -> NDArray[np.float64]:
    """Return the numbers of a list, shape (n,).

    Raises:
        WireError: the value is no list of numbers.
    """
    if not isinstance(value, Bottle):
        raise WireError(f"the {what} must be a list of numbers", field=what)
    return np.array([number(item) for item in value.items], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Stamp:
    """Count and time of a message: the envelope of a port."""

    count: int
    """Number of the message, 0 to 2**31 - 1."""
    time: float
    """The publisher's time [s]; simulated time where it runs on it."""

    @property
    def envelope(self) -> str:
        """Text of the command header, the time with 15 significant digits: ``280 1795221787.22998``."""
        return f"{self.count} {self.time:.15g}"

    @classmethod
    def of_envelope(cls, envelope: str) -> Stamp:
        """Return the stamp of an envelope; what stands behind the time is ignored.

        Raises:
            WireError: the envelope holds no count and time.
        """
        words = envelope.split(None, 2)
        try:
            return cls(int(words[0][:20]), float(words[1][:40]))
        except (IndexError, ValueError):
            raise WireError(f"envelope {envelope[:80]!r} must hold a count and a time") from None


def properties(data: Bottle) -> dict[str, Value]:
    """Return the values of a Property by their keys; several values behind a key become a Bottle.

    Raises:
        WireError: an element is no list that begins with a key.
    """
    found: dict[str, Value] = {}
    for item in data.items:
        if not isinstance(item, Bottle) or not item.items:
            raise WireError("each element of a Property must be a list of a key and a value")
        rest = item.items[1:]
        found[text(item.items[0])] = rest[0] if len(rest) == 1 else Bottle(rest)
    return found
