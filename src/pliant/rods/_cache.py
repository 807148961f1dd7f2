"""What is kept on disk of the compiled solver."""

from __future__ import annotations

import functools
import logging

from pliant.codecache import code_files
from pliant.rods import _kernels

__all__ = ["is_compiled", "warn_if_compiling"]

log = logging.getLogger("pliant")
COMPILING = "compiling the equations of rods (about a minute, once; later runs load them)"


def is_compiled() -> bool:
    """Return whether an earlier process has compiled the solver; else its first use takes about a minute."""
    files = [code_files(function) for function in (_kernels.solve, _kernels.survey)]
    return all(found is not None and found.exist() for found in files)


@functools.cache
def warn_if_compiling() -> None:
    """Log, once a process, that the first solve will compile for long."""
    if not is_compiled():
        log.warning(COMPILING)
