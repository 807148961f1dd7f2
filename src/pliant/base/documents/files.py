"""The gate for files: regular files only, within limits, and errors that name the file."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from pliant.base.errors import ModelError, PliantError

MAX_BYTES = 64 * 2**20
"""Largest file that is read as a whole [bytes]."""


def exists(path: Path) -> bool:
    """Return whether there is a file or folder; False for a name that no file can have, such as one too long."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def is_file(path: Path) -> bool:
    """Return whether there is a regular file; False for a name that no file can have, such as one too long."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def check_file(path: Path, error: type[PliantError] = ModelError, *, max_bytes: int | None = MAX_BYTES) -> None:
    """Refuse a path that is not a readable regular file, for files that another library opens.

    Args:
        path: the file.
        error: the exception to raise.
        max_bytes: largest size [bytes]; None for no limit.

    Raises:
        PliantError: of the class ``error``; see `open_file`.
    """
    open_file(path, error, max_bytes=max_bytes).close()


def open_file(path: Path, error: type[PliantError] = ModelError, *, max_bytes: int | None = MAX_BYTES) -> BinaryIO:
    """Open a regular file for reading.

    A named pipe without a writer would block, and a device such as /dev/zero has no end, so both are refused. The file
    is checked after it was opened, without blocking, so that it cannot be exchanged between check and use.

    Args:
        path: the file.
        error: the exception to raise.
        max_bytes: largest size [bytes]; None for no limit.

    Raises:
        PliantError: of the class ``error``: there is no such file, it is a folder or no regular file, it cannot be
            read, or it is larger than ``max_bytes``.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise error("there is no such file", file=path) from None
    except (OSError, ValueError) as fault:
        if isinstance(fault, PermissionError) and path.is_dir():  # Windows
            raise error("this is a folder; name the file", file=path) from None
        if getattr(fault, "errno", None) == errno.ENXIO:  # a socket
            raise error(_NOT_REGULAR, file=path) from None
        raise error(f"the file cannot be read: {getattr(fault, 'strerror', None) or fault}", file=path) from fault
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise error("this is a folder; name the file", file=path)
        if not stat.S_ISREG(found.st_mode):
            raise error(_NOT_REGULAR, file=path)
        if max_bytes is not None and found.st_size > max_bytes:
            raise error(f"the file is larger than {max_bytes} bytes", file=path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


_NOT_REGULAR = "this is not a regular file (a pipe, socket or device is not read); name a file on disk"


def read_file(
    path: Path,
    error: type[PliantError] = ModelError,
    *,
    max_bytes: int = MAX_BYTES,
    allow_empty: bool = False,
) -> bytes:
    """Return the bytes of a file.

    Args:
        path: the file.
        error: the exception to raise.
        max_bytes: largest size [bytes].
        allow_empty: whether a file without content is accepted.

    Raises:
        PliantError: of the class ``error``: it is no regular file, cannot be read, is empty, or is larger than
            ``max_bytes``.
    """
    with open_file(path, error, max_bytes=max_bytes) as stream:
        try:
            data = stream.read(max_bytes + 1)
        except OSError as fault:
            raise error(f"the file cannot be read: {fault.strerror or fault}", file=path) from fault
    if len(data) > max_bytes:
        raise error(f"the file is larger than {max_bytes} bytes", file=path)
    if not allow_empty and not data.strip():
        raise error("the file is empty", file=path)
    return data


def read_text(
    path: Path,
    error: type[PliantError] = ModelError,
    *,
    max_bytes: int = MAX_BYTES,
    allow_empty: bool = False,
) -> str:
    """Return the text of a UTF-8 file, without a byte order mark; see `read_file`."""
    return decode_text(read_file(path, error, max_bytes=max_bytes, allow_empty=allow_empty), path, error)


def decode_text(data: bytes, file: str | Path | None = None, error: type[PliantError] = ModelError) -> str:
    """Return UTF-8 text without a byte order mark.

    Args:
        data: the content of a file.
        file: name of the file, for messages.
        error: the exception to raise.

    Raises:
        PliantError: of the class ``error``: it is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise error(f"the file is not UTF-8 text: {fault.reason} at byte {fault.start}", file=file) from None


def writable_folder(path: str | Path) -> Path:
    """Return a writable folder, created if it does not exist.

    Raises:
        PliantError: the folder cannot be created, is a file, or cannot be written to. The message names it.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".pliant-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
    except FileExistsError:
        raise PliantError(
            f"the output folder {str(folder)!r} is a file; give another --output", field="output"
        ) from None
    except OSError as error:
        raise PliantError(
            f"the output folder {str(folder)!r} cannot be written: {error.strerror}; give another --output",
            field="output",
        ) from None
    return folder


def write_files(
    folder: Path,
    files: Mapping[str, bytes],
    what: str,
    error: type[PliantError] = ModelError,
    *,
    overwrite: bool = False,
    make_folder: bool = False,
) -> list[Path]:
    """Write files that belong together, and folders below the given one; return their paths.

    Args:
        folder: where they go.
        files: path below the folder -> content.
        what: what they are, for the message.
        error: error to raise.
        overwrite: replace files that exist and hold something else.
        make_folder: whether the folder itself may be missing.

    Raises:
        PliantError: of the given type: a file exists and differs, and then nothing is written, or one cannot be
            written.
    """
    paths = {folder / name: data for name, data in files.items()}
    try:
        for path, data in paths.items():
            if not overwrite and path.exists() and (not path.is_file() or path.read_bytes() != data):
                raise error(
                    "the file exists and holds something else; must be another folder or name; overwrite=True or "
                    "--overwrite replaces it",
                    file=path,
                )
        for path, data in paths.items():
            if make_folder or path.parent != folder:
                path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as fault:
        raise error(f"{what} cannot be written: {fault.strerror}", file=str(fault.filename or folder)) from None
    return list(paths)
