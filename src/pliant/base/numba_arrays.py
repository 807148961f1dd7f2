"""numba's functions of arrays, imported at a lower price."""

from __future__ import annotations

import functools
import importlib
import importlib.util


@functools.cache
def register_arrays() -> None:
    """Import numba's functions of arrays without scipy.linalg, a fifth of the start of a program.

    numba imports scipy.linalg there only to learn that it is installed. Code that calls it imports it by itself, and so
    does the compilation of such code.
    """
    from numba.np import linalg

    if importlib.util.find_spec("scipy") is None:
        return
    check = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = check
