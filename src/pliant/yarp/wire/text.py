r"""Bottles as text, as YARP's text carriers, its tools and its name server write them.

Values are separated by spaces: ``1 2.5 hello [set] ("a b" 3) {4 5 6} true``. Floats always have a point or an exponent,
vocabularies stand in brackets, lists in parentheses, blobs as byte numbers in braces. A string is quoted unless it has
only letters, digits, ``_``, ``.`` and ``-``, begins with a letter or ``_``, and is neither ``true`` nor ``false``.

Text keeps neither the sizes of numbers nor the flag of dictionaries: an integer is read back as int32 where it fits and
else as int64, a float as float64.
"""

from __future__ import annotations

import math
import re

from pliant.base.errors import WireError
from pliant.yarp.wire.binary import MAX_DEPTH
from pliant.yarp.wire.values import (
    FALSE,
    TRUE,
    Bottle,
    Float32,
    Int64,
    SizedInteger,
    Value,
    Vocab,
    Vocab64,
    Vocabulary,
    integer,
    kind_of,
)

MAX_TEXT = 1 << 20
"""Longest text of a Bottle that is read [characters]. # assumed: a list of 1000 ports takes 60,000"""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*\Z")
_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z")
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]{1,16}\Z")
_SPECIAL_FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_TOKEN = re.compile(r"""[ \t\r\n,]+|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<quote>")|(?P<word>[^ \t\r\n,()\[\]{}"]+)""")
_ESCAPES = {"n": "\n", "r": "\r", "0": "\0"}
_ESCAPED = {"\n": "\\n", "\r": "\\r", "\0": "\\0", '"': '\\"', "\\": "\\\\"}


def format_bottle(bottle: Bottle) -> str:
    """Return the text of a Bottle, without parentheses around the whole."""
    return " ".join([format_value(item) for item in bottle.items])


def format_value(value: Value, depth: int = MAX_DEPTH) -> str:
    """Return the text of one value.

    Raises:
        WireError: the object is no value of YARP, or lists are nested too deeply.
    """
    if isinstance(value, Bottle):
        if depth <= 1:
            raise WireError(f"lists are nested more than {MAX_DEPTH} deep")
        return "(" + " ".join([format_value(item, depth - 1) for item in value.items]) + ")"
    kind = kind_of(value)
    if isinstance(value, str):
        return _format_string(value)
    if isinstance(value, float):
        return _format_float(value)
    if isinstance(value, Float32):
        return _format_float(value.value)
    if isinstance(value, Vocabulary):
        return {0: "false", ord("1"): "true"}.get(value.code) or f"[{value.name}]"
    if isinstance(value, bytes):
        return "{" + " ".join(map(str, value)) + "}"
    if isinstance(value, int | SizedInteger):
        return str(integer(value))
    raise WireError(f"a {kind} has no text")


def _format_float(value: float) -> str:
    if not math.isfinite(value):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    return repr(value)


def _format_string(value: str) -> str:
    if _PLAIN.match(value) and value not in ("true", "false", *_SPECIAL_FLOATS):
        return value
    return '"' + "".join([_ESCAPED.get(c, c) for c in value]) + '"'


def parse_bottle(text: str) -> Bottle:
    """Return the Bottle that a text stands for.

    Raises:
        WireError: a bracket or quote is not closed or closes another, an integer needs more than 64 bits, or the text
            exceeds a limit; the message says at which character.
    """
    if len(text) > MAX_TEXT:
        raise WireError(f"a Bottle of {len(text)} characters; must be at most {MAX_TEXT}")
    stack: list[list[Value]] = [[]]
    opened: list[tuple[str, int]] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:  # the pattern covers every character
            raise WireError(f"character {text[at]!r} at {at} begins no value")
        end = match.end()
        if match["open"] == "(":
            if len(stack) >= MAX_DEPTH:
                raise WireError(f"lists are nested more than {MAX_DEPTH} deep at character {at}")
            opened.append(("(", at))
            stack.append([])
        elif match["open"]:
            close = "]" if match["open"] == "[" else "}"
            end = text.find(close, at)
            if end < 0:
                raise WireError(f"{match['open']!r} at character {at} is not closed")
            inner = text[at + 1 : end]
            stack[-1].append(_parse_vocabulary(inner, at) if close == "]" else _parse_blob(inner, at))
            end += 1
        elif match["close"]:
            if match["close"] != ")" or not opened:
                raise WireError(f"{match['close']!r} at character {at} closes nothing")
            opened.pop()
            items = stack.pop()
            stack[-1].append(Bottle(tuple(items)))
        elif match["quote"]:
            value, end = _parse_quoted(text, at)
            stack[-1].append(value)
        elif match["word"]:
            stack[-1].append(_parse_word(match["word"], at))
        at = end
    if opened:
        raise WireError(f"'(' at character {opened[-1][1]} is not closed")
    return Bottle(tuple(stack[0]))


def is_open(text: str) -> bool:
    """Return whether a line of a text carrier goes on in the next: a quote or bracket is open, or it ends in ``\\``."""
    quoted = escaped = False
    depth = 0
    for c in text:
        if escaped:
            escaped = False
        elif c == "\\":
            escaped = True
        elif c == '"':
            quoted = not quoted
        elif not quoted:
            depth += (c in "([{") - (c in ")]}")
    return quoted or escaped or depth > 0


def _parse_word(word: str, at: int) -> Value:
    if word in ("true", "false"):
        return TRUE if word == "true" else FALSE
    if word in _SPECIAL_FLOATS:
        return _SPECIAL_FLOATS[word]
    if _HEXADECIMAL.match(word):
        return _sized(int(word, 16), word, at)
    match = _NUMBER.match(word)
    if match is None:
        return _unescaped(word)
    if match[2] is None and "." not in match[1]:
        return _sized(int(word), word, at) if len(word) <= 20 else _sized(1 << 64, word, at)
    return float(word)


def _sized(value: int, word: str, at: int) -> Value:
    if -(1 << 31) <= value < 1 << 31:
        return value
    if -(1 << 63) <= value < 1 << 63:
        return Int64(value)
    raise WireError(f"integer {word[:40]} at character {at} needs more than 64 bits")


def _parse_quoted(text: str, at: int) -> tuple[str, int]:
    end = at + 1
    while end < len(text) and text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    if end >= len(text):
        raise WireError(f"the quote at character {at} is not closed")
    return _unescaped(text[at + 1 : end]), end + 1


def _unescaped(raw: str) -> str:
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), raw, flags=re.DOTALL) if "\\" in raw else raw


def _parse_vocabulary(name: str, at: int) -> Value:
    try:
        if len(name) <= 4:
            return Vocab.of(name)
        return Vocab64.of(name)
    except WireError as fault:
        raise WireError(f"{fault.message} (at character {at})") from None


def _parse_blob(inner: str, at: int) -> bytes:
    try:
        return bytes([int(word) for word in inner.split()])
    except ValueError:
        raise WireError(f"the blob at character {at} must hold numbers of 0 to 255 only") from None
