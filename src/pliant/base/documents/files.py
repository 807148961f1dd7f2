"""The bytes of a file, within limits."""

from __future__ import annotations

from pathlib import Path

from pliant.base.errors import ModelError, PliantError

__all__ = ["MAX_BYTES", "read_file"]

MAX_BYTES = 64 * 2**20
"""Largest file that is read [bytes]."""


def read_file(path: Path, error: type[PliantError] = ModelError) -> bytes:
    """Return the bytes of a file.

    Args:
        path: the file.
        error: the exception to raise.

    Raises:
        PliantError: of the class ``error``: it is not a file, cannot be read, is empty, or is larger than MAX_BYTES.
    """
    try:
        if path.is_dir():
            raise error("this is a folder; name the file", file=path)
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as fault:
        raise error(f"the file cannot be read: {fault.strerror or fault}", file=path) from fault
    if len(data) > MAX_BYTES:
        raise error(f"the file is larger than {MAX_BYTES} bytes", file=path)
    if not data.strip():
        raise error("the file is empty", file=path)
    return data
