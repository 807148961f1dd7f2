"""What is kept on disk of the compiled solver."""

from __future__ import annotations

import functools
import logging
from pathlib import Path

from pliant.rods import _kernels

__all__ = ["is_compiled", "warn_if_compiling"]

log = logging.getLogger("pliant")
COMPILING = "compiling the equations of rods (about a minute, once; later runs load them)"


def is_compiled() -> bool:
    """Return whether an earlier process has compiled the solver; else its first use takes about a minute.

    It is a guess by the names of numba's files: an edit of the kernels that moves no function goes unseen.
    """
    return all(_has_index(function) for function in (_kernels.solve, _kernels.survey))


@functools.cache
def warn_if_compiling() -> None:
    """Log, once a process, that the first solve will compile for long."""
    if not is_compiled():
        log.warning(COMPILING)


def _has_index(function) -> bool:
    folder = function.stats.cache_path
    if folder is None:  # there is no place for a cache
        return False
    code = function.py_func.__code__
    return any(Path(folder).glob(f"{Path(code.co_filename).stem}.{code.co_name}-{code.co_firstlineno}.*.nbi"))
