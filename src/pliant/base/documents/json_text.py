"""JSON as plain values, within limits."""

from __future__ import annotations

import json
from pathlib import Path

from pliant.base.documents.files import decode_text, read_file
from pliant.base.errors import ModelError, PliantError

MAX_VALUES = 4_000_000
"""Most values of a text: commas and opening brackets; four million lists take 2 s and 400 MB."""

MAX_INTEGER = 2**64 - 1
"""Largest magnitude of an integer; beyond it no number of a file is meant, and conversion to float may fail."""


def read_json(path: str | Path, error: type[PliantError] = ModelError) -> object:
    """Read a JSON file; see `parse_json`."""
    path = Path(path)
    return parse_json(read_file(path, error), path, error)


def parse_json(data: bytes, file: str | Path | None = None, error: type[PliantError] = ModelError) -> object:
    """Return the value of a JSON text.

    Args:
        data: the text, in UTF-8.
        file: name of the file, for messages.
        error: the exception to raise.

    Raises:
        PliantError: of the class ``error``: it is not JSON, with the line; an integer is too large; it is nested too
            deeply, or has too many values.
    """

    def integer(text: str) -> int:
        if len(text) > 21 or abs(int(text)) > MAX_INTEGER:
            raise error(f"the integer {text[:40]} ({len(text)} characters) is too large", file=file)
        return int(text)

    values = data.count(b",") + data.count(b"[") + data.count(b"{")
    if values > MAX_VALUES:
        raise error(f"the file has {values} values; must be at most {MAX_VALUES}", file=file)
    try:
        return json.loads(decode_text(data, file, error), parse_int=integer)
    except json.JSONDecodeError as fault:
        raise error(
            f"the file is not JSON: {fault.msg} in column {fault.colno}", file=file, line=fault.lineno
        ) from None
    except RecursionError:
        raise error("the file is not JSON: nested too deeply", file=file) from None
