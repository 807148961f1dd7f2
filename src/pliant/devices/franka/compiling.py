"""Compiled functions, kept on disk where any folder for them can be written.

numba keeps compiled functions beside their source, or in the user's cache folder. Where it may write neither, as for a
package that an administrator installed and a user without a home, it refuses to compile; here it takes a temporary
folder instead, which only costs the time of a compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core import config

from pliant.laws.compile import temporary_cache

__all__ = ["njit"]


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator as `numba.njit` with these options and a cache.

    Args:
        options: of `numba.njit`; ``cache`` is True already.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # numba found no place for a cache
            # For all that follow, too: numba asks for this folder first.
            config.CACHE_DIR = str(temporary_cache() / "numba")
            return numba.njit(cache=True, **options)(function)

    return decorate
