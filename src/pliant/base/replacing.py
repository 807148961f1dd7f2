"""Replacing a file in one step: another process sees the old one or the whole new one."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path beside a file; what is written there takes its place when the block ends, and is removed if it fails.

    Args:
        path: the file that is replaced.

    Raises:
        OSError: the file system refuses.
    """
    beside = path.with_name(f".{path.name[:200]}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        yield beside
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
