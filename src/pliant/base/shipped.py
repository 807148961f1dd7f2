"""Machine code that comes with the installed package, so that the first run of a robot compiles nothing.

A wheel is built with the code of everything that the robots of the catalogue run (``hatch_build.py``). It lies in
``pliant/_compiled``, in a folder named after Python, system and processor family. The names of its files have the
digests of `pliant.base.codecache` over the same code and constants, and each file has a digest of its contents. A
file of another version of pliant, numba or NumPy is not used: then the code is compiled as in a checkout.

Functions of numba are compiled for a family of processors (`FAMILIES`), not for one of them. On an older processor
they are compiled again.
"""

from __future__ import annotations

import functools
import os
import platform
import sys
from pathlib import Path

SHIP = "PLIANT_SHIP"
"""Environment variable of a build: the folder that receives compiled code, besides the cache."""

FAMILIES = {
    "x86_64": ("x86-64-v3", ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "sse4.2", "popcnt")),
    "amd64": ("x86-64-v3", ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "sse4.2", "popcnt")),
    "aarch64": ("generic", ()),
    "arm64": ("generic", ()),
}
"""Machine -> name that LLVM gives to the family, and the features that a processor of it has."""


def _label() -> str:
    version = "".join(str(n) for n in sys.version_info[:2])
    return f"{sys.implementation.name}{version}-{sys.platform}-{platform.machine().lower()}"


@functools.cache
def folder() -> Path | None:
    """Return the folder of compiled code in the installed package, None where the package has none for this machine."""
    found = Path(__file__).parents[1] / "_compiled" / _label()
    return found if found.is_dir() else None


def receiving() -> Path | None:
    """Return the folder that a build fills with compiled code, None outside a build."""
    name = os.environ.get(SHIP)
    if not name:
        return None
    made = Path(name) / _label()
    made.mkdir(parents=True, exist_ok=True)
    return made


def family() -> str:
    """Return the processor family that functions are shipped for, "" where there is none."""
    return FAMILIES.get(platform.machine().lower(), ("", ()))[0]


@functools.cache
def fits() -> bool:
    """Return whether this processor is of the family that the shipped functions are compiled for."""
    import llvmlite.binding as llvm

    name, needed = FAMILIES.get(platform.machine().lower(), ("", ()))
    have = llvm.get_host_cpu_features()
    return bool(name) and all(have.get(feature, False) for feature in needed)


def translated(key: object) -> object:
    """Return the key under which numba's code for this processor is shipped: that of its family.

    Args:
        key: of numba: signature, (triple, processor, features), digests.
    """
    if not isinstance(key, tuple) or len(key) != 3 or not isinstance(key[1], tuple) or len(key[1]) != 3:
        return key
    return (key[0], (key[1][0], family(), ""), key[2])
