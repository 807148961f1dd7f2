"""The newest picture of a camera of a simulation in another process of this machine."""

from __future__ import annotations

import mmap
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pliant.base.documents.files import exists, open_file
from pliant.base.errors import BridgeError, WireError
from pliant.vision.wire.pictures import COUNTER, HEADER_BYTES, STAMP, decode_header

PATIENCE_S = 1.0
"""How long a picture that is being written is read again [s]: its writer may lose its core in the middle."""
PAUSE_S = 1e-4
"""Time between two of these tries [s]."""


class SharedPictures:
    """Reads the file of ``--bridge pictures``.

    Args:
        path: file of the camera.

    Raises:
        BridgeError: no such file, or it is not one of pictures.

    Example:
        >>> eye = SharedPictures("/tmp/cell/franka_camera")
        >>> stamp_ns, image = eye.latest()
    """

    def __init__(self, path: str | Path) -> None:
        path = Path(path)
        if not exists(path):
            raise BridgeError(f"no pictures at {path}; is the simulation running with --bridge pictures?", file=path)
        try:
            with open_file(path, BridgeError, max_bytes=None) as file:
                header = decode_header(file.read(HEADER_BYTES))
                file.seek(0, 2)
                if file.tell() != header.file_bytes:
                    raise WireError(
                        f"the file has {file.tell()} bytes; must be {header.file_bytes} for {header.width} x "
                        f"{header.height} pixels"
                    )
                self._map = mmap.mmap(file.fileno(), header.file_bytes, access=mmap.ACCESS_READ)
        except (OSError, WireError) as fault:
            raise BridgeError(f"{path} cannot be read: {fault}", file=path) from None
        found = np.frombuffer(self._map, dtype=np.uint8)
        self._counter, self._stamp = found[COUNTER].view(np.int64), found[STAMP].view(np.int64)
        self._pixels = found[HEADER_BYTES:].reshape(header.height, header.width, 3)

    def latest(self) -> tuple[int, NDArray[np.uint8]]:
        """Return the stamp [ns] and the newest picture, shape (height, width, 3), RGB.

        Raises:
            BridgeError: there is none yet, or it is being written all the time.
        """
        end = 0.0
        while True:
            before = int(self._counter[0])
            if before % 2 == 0:
                stamp, image = int(self._stamp[0]), np.array(self._pixels)
                if int(self._counter[0]) == before:
                    if stamp < 0:
                        raise BridgeError("the camera has no picture yet", field="pictures")
                    return stamp, image
            now = time.monotonic()
            end = end or now + PATIENCE_S
            if now > end:
                raise BridgeError(
                    f"no whole picture within {PATIENCE_S:g} s, it is always being written; was the simulation killed, "
                    "or is it too fast?",
                    field="pictures",
                )
            time.sleep(PAUSE_S)

    def close(self) -> None:
        """Let go of the file."""
        del self._counter, self._stamp, self._pixels
        self._map.close()
