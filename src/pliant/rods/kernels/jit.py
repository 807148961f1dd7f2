"""How the kernels of rods are compiled.

numba compiles a function anew for each literal integer or truth value that it is called with. Where a literal is
meant as a plain argument, it is therefore passed as ``np.int64(...)`` or ``np.bool_(...)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pliant.base import codecache

FAST = {"contract", "nsz", "arcp", "reassoc"}
"""Permitted floating-point optimisations in the inner loops; infinity and NaN keep their meaning."""
INNER = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of functions that only compiled code calls: without wrappers the first compilation takes half the time."""
INLINED = {**INNER, "forceinline": True}
"""Options of parts of a function, called at one place: passing the arrays of `Model` and `Work` costs 0.2 us a call."""


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls, cached on disk."""
    return codecache.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)
