"""Read and write YARP's ``.ini`` files: keys with values, groups, lists, includes and variables.

::

    [include "robotname.ini"]                  # the keys of another file
    [include CAMERA "camera.ini"]              # the keys of another file as a group
    name /${robotName}/left_leg                # ${key}: the value of an earlier key
    jointNames hip knee ankle

    [LIMITS]
    jntPosMax 30.0 100.0 20.0
    networks (left right)
    cells ((0.1 0.0)
           (0.2 0.0))                          # goes on until the parentheses close

Values are YARP's own text: words, numbers, quoted strings and lists in parentheses. ``#`` begins a comment, and so does
``//`` in front of which stands a blank or nothing. A key that is given twice has its last value, as in YARP.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pliant.base.documents.files import decode_text, is_file, read_file
from pliant.base.documents.includes import MAX_INCLUDE_DEPTH, entered, missing, through
from pliant.base.errors import ModelError, WireError, nearest
from pliant.base.options import parse_bool, parse_number
from pliant.yarp.wire.text import parse_bottle
from pliant.yarp.wire.values import plain_value

MAX_INCLUDES = 200
"""Most files that one file includes, directly or not. # assumed: the largest real robot has about 30"""
MAX_LOGICAL_LINE = 1 << 16
"""Longest line after its continuations and variables [characters]. # assumed"""
MAX_FILE = 1 << 22
"""Largest file [bytes]. # assumed"""
MAX_LINES = 100_000
"""Most lines of all files together. # assumed"""

Item = int | float | bool | str | tuple[Any, ...]
"""A value: a number, a truth value, a text, or a list of values."""

_HEADING = re.compile(r"\[(?P<inside>[^\[\]]*)\]\s*\Z")
_VARIABLE = re.compile(r"\$\{(?P<braced>[^${}]*)\}|\$(?P<plain>[A-Za-z_][A-Za-z0-9_]*)")


@dataclass(slots=True)
class Entry:
    """The values of one key."""

    values: tuple[Item, ...]
    """The values behind the key."""
    file: str | Path | None = None
    """File that it stands in."""
    line: int | None = None
    """Line in that file."""


@dataclass(slots=True)
class Group:
    """Keys and groups of a file or of a ``[GROUP]``, in their order; lookups say where a value is wrong."""

    name: str = ""
    """Name of the group; "" for the file itself."""
    file: str | Path | None = None
    """File that it begins in."""
    line: int | None = None
    """Line of its heading."""
    entries: dict[str, Entry] = field(default_factory=dict)
    """Values by key."""
    groups: dict[str, Group] = field(default_factory=dict)
    """Groups in this one, by name."""
    who: str = ""
    """Prefix of messages, such as "control board 'leg'"."""

    def fault(self, message: str, key: str | None = None) -> ModelError:
        """Return an error at a key of this group, or at the group."""
        entry = self.entries.get(key) if key is not None else None
        where = f"[{self.name}] " if self.name else ""
        text = f"{self.who}: {where}{message}" if self.who else f"{where}{message}"
        if entry is not None:
            return ModelError(text, file=entry.file, line=entry.line, field=key)
        return ModelError(text, file=self.file, line=self.line, field=key or self.name or None)

    def has(self, key: str) -> bool:
        """Return whether a key is given, with or without values."""
        return key in self.entries

    def group(self, name: str) -> Group | None:
        """Return a group: ``[NAME]``, or the key NAME with ``(key values)`` lists."""
        if name in self.groups:
            return self.groups[name]
        entry = self.entries.get(name)
        if entry is None or not entry.values or not all(isinstance(v, tuple) for v in entry.values):
            return None
        found = Group(name=name, file=entry.file, line=entry.line, who=self.who)
        for item in entry.values:
            if not isinstance(item, tuple) or not item or not isinstance(item[0], str):
                return None
            found.entries[item[0]] = Entry(tuple(item[1:]), entry.file, entry.line)
        return found

    def required(self, key: str, what: str = "") -> Entry:
        """Return the entry of a key that must be given with values."""
        entry = self.entries.get(key)
        if entry is None:
            valid = nearest(key, self.entries) if self.entries else "the group is empty"
            raise self.fault(f"the key {key!r} is missing{f'; it is {what}' if what else ''} ({valid})", None)
        if not entry.values:
            raise self.fault(f"the key {key!r} has no value{f'; it is {what}' if what else ''}", key)
        return entry

    def text(self, key: str, default: str | None = None) -> str:
        """Return a single value as text; without a default the key must be given."""
        if default is not None and key not in self.entries:
            return default
        values = self.required(key).values
        if len(values) != 1 or isinstance(values[0], tuple):
            raise self.fault(f"{key} has {_shown(values)}; must be one word", key)
        return _text(values[0])

    def number(
        self,
        key: str,
        default: float | None = None,
        *,
        least: float = -math.inf,
        most: float = math.inf,
        whole: bool = False,
    ) -> float:
        """Return a single finite number within bounds; without a default the key must be given."""
        if default is not None and key not in self.entries:
            return default
        values = self.required(key).values
        if len(values) != 1:
            raise self.fault(f"{key} has {_shown(values)}; must be one number", key)
        return self._number(values[0], key, least, most, whole)

    def flag(self, key: str, default: bool = False) -> bool:
        """Return whether a switch is on: a key alone is, one with a value is as the value says."""
        entry = self.entries.get(key)
        if entry is None:
            return default
        if not entry.values:
            return True
        try:
            return parse_bool(_text(entry.values[0]), key)
        except ModelError as error:
            raise self.fault(error.message, key) from error

    def numbers(
        self, key: str, count: int | None = None, *, least: float = -math.inf, what: str = "values"
    ) -> tuple[float, ...] | None:
        """Return the finite numbers of a key, as ``key 1 2`` or ``key (1 2)``; None without the key.

        Args:
            key: the key.
            count: how many there must be.
            least: the lowest that each may be.
            what: what there must be that many of, for messages.
        """
        entry = self.entries.get(key)
        if entry is None:
            return None
        values = self._flat(entry)
        if count is not None and len(values) != count:
            raise self.fault(f"{key} has {len(values)} values; must be {count}, one for each of {what}", key)
        return tuple(self._number(value, key, least) for value in values)

    def words(self, key: str) -> tuple[str, ...]:
        """Return the words of a key, as ``key a b`` or ``key (a b)``; none without the key."""
        entry = self.entries.get(key)
        if entry is None:
            return ()
        values = self._flat(entry)
        if any(isinstance(value, tuple) for value in values):
            raise self.fault(f"{key} holds a list in a list; must be words", key)
        return tuple(_text(value) for value in values)

    def choice(self, key: str, valid: Iterable[str], default: str | None = None) -> str:
        """Return one of several words; without a default the key must be given."""
        value = self.text(key, default)
        names = list(valid)
        if value not in names:
            raise self.fault(f"{key} is {value!r}; {nearest(value, names)}", key)
        return value

    def _flat(self, entry: Entry) -> tuple[Item, ...]:
        values = entry.values
        return values[0] if len(values) == 1 and isinstance(values[0], tuple) else values

    def _number(
        self, value: Item, key: str, least: float = -math.inf, most: float = math.inf, whole: bool = False
    ) -> float:
        try:
            if isinstance(value, tuple):
                raise ModelError(f"{key} holds a list; must be numbers")
            number = parse_number(_text(value), key, integer=whole)
        except ModelError as error:
            raise self.fault(error.message, key) from error
        if not (math.isfinite(number) and least <= number <= most):
            low = "" if math.isinf(least) else f" >= {least:g}"
            top = "" if math.isinf(most) else f"{' and' if low else ''} <= {most:g}"
            raise self.fault(f"{key} is {number:g}; must be a finite number{low}{top}", key)
        return number


def _text(value: Item) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _shown(values: tuple[Item, ...]) -> str:
    if not values:
        return "no value"
    return f"the list {values[0]!r}" if len(values) == 1 else f"{len(values)} values"


def read_ini(path: str | Path, variables: Mapping[str, str] | None = None) -> Group:
    """Read a YARP ``.ini`` file and the files that it includes.

    Args:
        path: the file.
        variables: values of ``${key}`` that the file need not define.

    Raises:
        ModelError: a file cannot be read, or a line is wrong; the message has file and line, and for an included file
            the chain of includes.
    """
    path = Path(path)
    reader = _Reader(variables or {})
    reader.read(path, ())
    return reader.root


def parse_ini(text: str, file: str | Path | None = None, variables: Mapping[str, str] | None = None) -> Group:
    """Read the text of a YARP ``.ini`` file; see `read_ini`. Includes are relative to the folder of ``file``.

    Args:
        text: the text.
        file: name of the file, for messages and includes.
        variables: values of ``${key}`` that the text need not define.
    """
    reader = _Reader(variables or {})
    reader.root.file = file
    reader.parse(text, _Source(file, (), reader.root))
    return reader.root


def parse_list(text: str) -> tuple[Item, ...]:
    """Return the values of a text, such as the parameter of a robot interface.

    Raises:
        WireError: a bracket or quote is not closed, or a number is too large.
    """
    return tuple(plain_value(value) for value in parse_bottle(text).items)


@dataclass(frozen=True, slots=True)
class _Source:
    """One text that is read."""

    file: str | Path | None
    """Its file."""
    chain: tuple[str, ...]
    """The files that include it."""
    top: Group
    """Group that its first keys belong to."""

    def fault(self, message: str, line: int, field: str | None = None) -> ModelError:
        """Return an error in a line of it."""
        return ModelError(message, file=self.file, line=line, field=field)


class _Reader:
    """Read one file and what it includes into one root."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables = variables
        self.root = Group()
        self.files = 0
        self.lines = 0

    def read(self, path: Path, chain: tuple[str, ...], top: Group | None = None) -> None:
        self.files += 1
        if self.files > MAX_INCLUDES:
            raise ModelError(f"more than {MAX_INCLUDES} files are included{through(chain)}", file=path)
        data = read_file(path)
        if len(data) > MAX_FILE:
            raise ModelError(f"the file has {len(data)} bytes; must be at most {MAX_FILE}", file=path)
        text = decode_text(data, path)
        if self.root.file is None:
            self.root.file = path
        self.parse(text, _Source(path, chain, self.root if top is None else top))

    def parse(self, text: str, source: _Source) -> None:
        group = source.top
        for number, line in self._logical_lines(text, source):
            heading = _HEADING.match(line)
            if heading is not None:
                group = self._heading(heading["inside"], group, source, number)
                continue
            values = self._values(line, group, source, number)
            key = values[0]
            if isinstance(key, tuple):
                raise source.fault(f"a line begins with the list {line[:60]!r}; must be a key", number)
            rest = tuple(values[1:])
            if rest[:1] == ("=",):
                rest = rest[1:]
            group.entries[_text(key)] = Entry(rest, source.file, number)

    def _logical_lines(self, text: str, source: _Source) -> Iterable[tuple[int, str]]:
        """Yield (number, line) without comments; a line goes on while a parenthesis is open or it ends in a ``\\``."""
        held, first, depth = "", 0, 0
        for number, raw in enumerate(text.split("\n"), 1):
            self.lines += 1
            if self.lines > MAX_LINES:
                raise source.fault(f"more than {MAX_LINES} lines in all", number)
            line, change, quoted, foreign = _scan(raw.rstrip("\r"))
            if foreign:
                raise source.fault(f"the control character {foreign!r} is not allowed", number)
            if quoted:
                raise source.fault("a quote is not closed in its line", number)
            first = first if held else number
            goes_on = line.endswith("\\")
            held = f"{held} {line.removesuffix(chr(92))}" if held else line.removesuffix("\\")
            depth += change
            if len(held) > MAX_LOGICAL_LINE:
                raise source.fault(f"a line has more than {MAX_LOGICAL_LINE} characters", first)
            if depth <= 0 and not goes_on:
                if held.strip():
                    yield first, held.strip()
                held, depth = "", 0
        if held.strip():
            raise source.fault("a '(' is not closed before the end of the file", first)

    def _values(self, line: str, group: Group, source: _Source, number: int) -> tuple[Item, ...]:
        try:
            return parse_list(self._expand(line, group, source, number))
        except WireError as error:
            raise source.fault(error.message, number) from error

    def _expand(self, line: str, group: Group, source: _Source, number: int) -> str:
        def value(match: re.Match[str]) -> str:
            name = match["braced"] if match["braced"] is not None else match["plain"]
            places = (group.entries, source.top.entries, self.root.entries)
            for entries in places:
                if name in entries:
                    return " ".join(_text(v) for v in entries[name].values if not isinstance(v, tuple))
            if name in self.variables:
                return self.variables[name]
            known = {*(key for entries in places for key in entries), *self.variables}
            raise source.fault(f"${{{name}}} is not defined above; {nearest(name, known)}", number, name)

        expanded = _VARIABLE.sub(value, line)
        if len(expanded) > MAX_LOGICAL_LINE:
            raise source.fault(f"a line has more than {MAX_LOGICAL_LINE} characters after its variables", number)
        return expanded

    def _heading(self, inside: str, group: Group, source: _Source, number: int) -> Group:
        words = [_text(v) for v in self._values(inside, group, source, number)]
        if not words:
            raise source.fault("the heading [] is empty; must be [GROUP] or [include FILE]", number)
        if words[0] == "include":
            self._include(words[1:], source, number)
            return group
        if len(words) > 2:
            why = f"the heading [{inside[:60]}] has {len(words)} words; must be [GROUP] or [LIST GROUP]"
            raise source.fault(why, number)
        return self._group(source, words, number)

    def _group(self, source: _Source, words: list[str], number: int) -> Group:
        """Return the group of ``[GROUP]`` or ``[LIST GROUP]``, whose name the list gets then."""
        if len(words) == 2:
            listed = source.top.entries.setdefault(words[0], Entry((), source.file, number))
            listed.values = (*listed.values, words[1])
        return source.top.groups.setdefault(words[-1], Group(name=words[-1], file=source.file, line=number))

    def _include(self, words: list[str], source: _Source, number: int) -> None:
        if not 1 <= len(words) <= 3:
            raise source.fault(
                f"[include] has {len(words)} words; must be [include FILE], [include GROUP FILE] or "
                "[include LIST GROUP FILE]",
                number,
            )
        file, chain = source.file, source.chain
        target = (Path(file).parent if file is not None else Path()) / words[-1]
        if len(chain) >= MAX_INCLUDE_DEPTH:
            raise source.fault(f"includes are nested more than {MAX_INCLUDE_DEPTH} deep{through(chain)}", number)
        places = entered(target, file, number, chain)
        if not is_file(target):
            raise missing(target, file, number, chain, "include")
        self.read(target, places, self._group(source, words[:-1], number) if len(words) >= 2 else source.top)


def _scan(line: str) -> tuple[str, int, bool, str]:
    """Return a line without its comment, the change of depth of parentheses, whether a quote stays open, and a control
    character that it holds."""
    quoted = escaped = False
    depth = 0
    for at, c in enumerate(line):
        if c < " " and c != "\t":
            return line, depth, False, c
        if escaped:
            escaped = False
        elif c == "\\":
            escaped = True
        elif c == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif c in "()":
            depth += 1 if c == "(" else -1
        elif c == "#" or (c == "/" and line[at : at + 2] == "//" and (at == 0 or line[at - 1] in " \t")):
            return line[:at].rstrip(), depth, False, ""
    return line.rstrip(), depth, quoted, ""
