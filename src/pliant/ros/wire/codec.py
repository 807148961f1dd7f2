"""Messages to bytes and back: the packed form of ROS 1 and CDR (XCDR1, little endian) of ROS 2.

Values are dictionaries: field -> number, text, integer nanoseconds for ``time`` and ``duration``, list or array,
dictionary. A message has a prefix of four bytes: its length (ROS 1), the encapsulation (CDR).
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from pliant.base.errors import WireError
from pliant.ros.wire.message import Message, MessageView
from pliant.ros.wire.types import PRIMITIVES, Field, MessageType, Registry, registry

CDR_LITTLE_ENDIAN = b"\x00\x01\x00\x00"
BILLION = 1_000_000_000
ITEM_LIMIT = 1 << 18
"""Most texts and inner messages in the arrays of a message that is read: each takes some hundred bytes of memory, and
as few as one on the wire."""
_SIZE = {letter: struct.calcsize("<" + letter) for letter in "?bBhHiIqQfd"}
_U32 = struct.Struct("<I")
_TIMES = {
    1: {"time": struct.Struct("<II"), "duration": struct.Struct("<ii")},
    2: dict.fromkeys(("time", "duration"), struct.Struct("<iI")),
}
"""Generation of ROS -> what writes seconds and nanoseconds."""
_EMPTY = Field("structure_needs_at_least_one_member", "uint8")


def _default(field: Field) -> object:
    one: object = "" if field.base == "string" else 0 if field.primitive else {}
    return one if field.size is None else [one] * field.size  # [] where the length, -1, is any


class Codec:
    """Encoder and decoder for one generation of ROS.

    Args:
        version: 1 or 2.
    """

    def __init__(self, version: int, types: Registry | None = None) -> None:
        self.version = version
        self.types = registry(version) if types is None else types

    def encode(
        self,
        name: str | MessageType,
        values: MessageView,
        places: dict[str, tuple[int, str]] | None = None,
    ) -> bytes:
        """Return a message with its prefix.

        Args:
            name: the type.
            values: field -> value; absent ones are zero or empty.
            places: filled with path -> (offset from the start of the prefix, `struct` format) of every number or
                array of numbers, such as ``"header.stamp"`` or ``"position"``.

        Raises:
            WireError: a value that does not fit its field, or a field that the type does not have.
        """
        message = name if isinstance(name, MessageType) else self.types.message(name)
        writer = _Writer(self, places)
        writer.message(message, values, "")
        out = writer.out
        out[:4] = CDR_LITTLE_ENDIAN if self.version == 2 else _U32.pack(len(out) - 4)
        return bytes(out)

    def decode(self, name: str | MessageType, data: bytes | bytearray | memoryview) -> Message:
        """Return the values of a message that has its prefix.

        Arrays of numbers come as numpy arrays, arrays of uint8 as bytes.

        Raises:
            WireError: the bytes end too early, go on after the end, or have another encapsulation.
        """
        message = name if isinstance(name, MessageType) else self.types.message(name)
        view = memoryview(data)
        if len(view) < 4:
            raise WireError(f"{message.name}: {len(view)} bytes; must be at least 4", field=message.name)
        order = "<"
        cdr = self.version == 2
        if cdr:
            if view[0] != 0 or view[1] not in (0, 1):
                raise WireError(
                    f"{message.name}: encapsulation {bytes(view[:2]).hex()}; must be 0000 or 0001 (plain CDR)",
                    field=message.name,
                )
            order = "<" if view[1] else ">"
        reader = _Reader(self, view, order)
        try:
            values = reader.message(message)
        except (struct.error, ValueError, IndexError) as error:
            raise WireError(
                f"{message.name}: the message ends at byte {len(view)}, in the middle of a field ({error})",
                field=message.name,
            ) from None
        left = len(view) - reader.at
        # CDR may be padded to a multiple of four.
        if left > (3 if cdr else 0):
            raise WireError(f"{message.name}: {left} bytes follow the end of the message", field=message.name)
        return values


class _Writer:
    """The bytes of one message; ``places`` gets where each number stands, if it is wanted."""

    __slots__ = ("_cdr", "_places", "_time", "_types", "out")

    def __init__(self, codec: Codec, places: dict[str, tuple[int, str]] | None) -> None:
        self._types, self._places = codec.types, places
        self._cdr = codec.version == 2
        self._time = _TIMES[codec.version]
        self.out = bytearray(4)

    def message(self, message: MessageType, values: MessageView, path: str) -> None:
        if len(values) > sum(field.name in values for field in message.fields):
            unknown = sorted(set(values) - {field.name for field in message.fields})
            raise WireError(f"{message.name} has no field {', '.join(map(repr, unknown))}", field=unknown[0])
        for field in message.fields or ((_EMPTY,) if self._cdr else ()):
            value = values[field.name] if field.name in values else _default(field)
            where = f"{path}{field.name}"
            try:
                self._field(field, value, where)
            except (struct.error, TypeError, ValueError, AttributeError, OverflowError) as error:
                raise WireError(
                    f"{message.name}: field {where!r} ({field.base}) cannot be {value!r}: {error}", field=where
                ) from None

    def _align(self, size: int, where: str = "", form: str = "") -> None:
        """Begin a value at a multiple of its size; note the place of one that has a path."""
        if self._cdr and size > 1:
            self.out += bytes(-(len(self.out) - 4) % size)
        if where and self._places is not None:
            self._places[where] = (len(self.out), form)

    def _field(self, field: Field, value: Any, where: str) -> None:
        if field.size is None:
            self._one(field.base, value, where)
            return
        letter, count = PRIMITIVES.get(field.base, ""), len(value)
        if field.size < 0:
            self._align(4)
            self.out += _U32.pack(count)
        elif count != field.size:
            raise ValueError(f"it has {count} elements, the type wants {field.size}")
        if not letter:
            for index, item in enumerate(value):
                self._one(field.base, item, f"{where}[{index}]")
            return
        size, form = _SIZE[letter], f"<{count}{letter}"
        self._align(size if count or field.size >= 0 else 1, where, form)
        plain = size == 1 and isinstance(value, bytes | bytearray | memoryview)
        self.out += value if plain else struct.pack(form, *value)

    def _one(self, base: str, value: Any, where: str) -> None:
        letter = PRIMITIVES.get(base)
        if letter is None:
            self.message(self._types.message(base), value, f"{where}.")
        elif letter:
            form = f"<{letter}"
            self._align(_SIZE[letter], where, form)
            self.out += struct.pack(form, value)
        elif base == "string":
            text = value if isinstance(value, bytes) else value.encode()
            self._align(4)
            if self._cdr:
                text += b"\0"
            self.out += _U32.pack(len(text)) + text
        else:
            pack = self._time[base]
            self._align(4, where, pack.format)
            self.out += pack.pack(*divmod(int(value), BILLION))


class _Reader:
    __slots__ = ("_cdr", "_items", "_order", "_types", "_view", "at")

    def __init__(self, codec: Codec, view: memoryview, order: str) -> None:
        self._types = codec.types
        self._cdr = codec.version == 2
        self._view = view
        self._order = order
        self._items = 0
        self.at = 4

    def _unpack(self, letter: str, count: int = 1) -> tuple[Any, ...]:
        size = _SIZE[letter]
        if self._cdr and count:
            self.at += -(self.at - 4) % size
        end = self.at + size * count
        if end > len(self._view):
            raise ValueError(f"{count} x {size} bytes wanted at {self.at}")
        found = struct.unpack_from(f"{self._order}{count}{letter}", self._view, self.at)
        self.at = end
        return found

    def message(self, message: MessageType) -> Message:
        if self._cdr and not message.fields:
            self.at = min(self.at + 1, len(self._view))
        return {field.name: self._field(field) for field in message.fields}

    def _field(self, field: Field) -> Any:
        if field.size is None:
            return self._one(field.base)
        count = field.size if field.size >= 0 else self._unpack("I")[0]
        left = len(self._view) - self.at
        letter = PRIMITIVES.get(field.base, "")
        if letter:
            size = _SIZE[letter]
            if count * size > left:
                raise ValueError(f"an array of {count} in {left} bytes")
            if letter == "B":
                data = bytes(self._view[self.at : self.at + count])
                self.at += count
                return data
            if self._cdr and count:
                self.at += -(self.at - 4) % size
            if self.at + count * size > len(self._view):
                raise ValueError(f"an array of {count} in {left} bytes")
            array = np.frombuffer(self._view, dtype=np.dtype(self._order + letter), count=count, offset=self.at).copy()
            self.at += count * size
            return array
        if count > left:
            raise ValueError(f"an array of {count} in {left} bytes")
        self._items += count
        if self._items > ITEM_LIMIT:
            raise WireError(f"arrays of {self._items} texts and inner messages; must be at most {ITEM_LIMIT} together")
        return [self._one(field.base) for _ in range(count)]

    def _one(self, base: str) -> Any:
        letter = PRIMITIVES.get(base)
        if letter is None:
            return self.message(self._types.message(base))
        if letter:
            return self._unpack(letter)[0]
        if base == "string":
            count = self._unpack("I")[0]
            end = self.at + count
            if end > len(self._view):
                raise ValueError(f"a text of {count} bytes")
            text = bytes(self._view[self.at : end])
            self.at = end
            if self._cdr:
                text = text.removesuffix(b"\0")
            return text.decode("utf-8", "replace")
        sec = self._unpack("i" if self._cdr or base == "duration" else "I")[0]
        nanosec = self._unpack("i" if base == "duration" and not self._cdr else "I")[0]
        return sec * BILLION + nanosec


class Template:
    """A message of fixed length that is filled in place: for what is sent a thousand times a second.

    ROS 1 numbers the messages of a topic: each ``header.seq`` that is none of the paths counts them from 0 on.

    Args:
        codec: the wire.
        name: the type.
        values: the first content; array lengths and texts stay as they are here.
        paths: the numbers, arrays of numbers, times and durations that change, in the order of `fill`'s arguments.
        until: array with which `fill` ends, itself left out: whoever sends the message appends it; "" for no such.
        numbers: counts the messages of the topic, where several templates fill one; None for a count of its own.

    Example:
        >>> template = Template(Codec(1), "std_msgs/Float64", {"data": 0.0}, ["data"])
        >>> data = template.fill(0.8)
    """

    def __init__(
        self,
        codec: Codec,
        name: str,
        values: MessageView,
        paths: Iterable[str],
        *,
        until: str = "",
        numbers: Iterator[int] | None = None,
    ) -> None:
        places: dict[str, tuple[int, str]] = {}
        self._data = bytearray(codec.encode(name, values, places))
        if until:
            del self._data[self._place(places, until, name)[0] :]
        changing = list(paths)
        self._set: list[Callable[[Any], None]] = [self._setter(*self._place(places, p, name)) for p in changing]
        numbered = [path for path in places if f".{path}".endswith(".header.seq") and path not in changing]
        self._numbered = [places[path][0] for path in numbered]
        self._numbers = itertools.count() if numbers is None else numbers

    @staticmethod
    def _place(places: Mapping[str, tuple[int, str]], path: str, name: str) -> tuple[int, str]:
        if path not in places:
            raise WireError(f"{name} has no number {path!r}; valid names: {', '.join(places)}", field=path)
        return places[path]

    def _setter(self, offset: int, letters: str) -> Callable[[Any], None]:
        data = self._data
        pack = struct.Struct(letters)
        if letters in ("<II", "<iI", "<ii"):  # a time
            return lambda ns: pack.pack_into(data, offset, *divmod(ns, BILLION))
        if letters[1].isdigit():
            target = np.frombuffer(data, dtype=f"<{letters[-1]}", count=int(letters[1:-1]), offset=offset)

            def set_array(value: Any) -> None:
                target[:] = value

            return set_array

        def set_one(value: Any) -> None:
            try:
                pack.pack_into(data, offset, value)
            except OverflowError:  # float32 has no such number, which some command has caused: as numpy casts it
                pack.pack_into(data, offset, math.copysign(math.inf, value))

        return set_one

    def fill(self, *values: object) -> bytes:
        """Return the message with these values, its prefix included."""
        return self.fill_from(values)

    def fill_from(self, values: Iterable[object]) -> bytes:
        """Return the message with values that are given as one sequence, its prefix included."""
        for put, value in zip(self._set, values, strict=True):
            put(value)
        if self._numbered:
            number = next(self._numbers) & 0xFFFFFFFF
            for offset in self._numbered:
                _U32.pack_into(self._data, offset, number)
        return bytes(self._data)
