"""The engine as the rooms above see it: a clock, a step, named ports.

Devices know nothing of MuJoCo. They ask the engine once, in ``attach``, for a port by name and then read or
write the numpy view they were given. Any class with these members is an engine; the contract tests in
``tests/simulation`` run on each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

__all__ = ["Engine", "PortInfo"]


@dataclass(frozen=True, slots=True)
class PortInfo:
    """What a port carries."""

    shape: tuple[int, ...]
    """Shape of the array; a scalar quantity has shape (1,)."""
    unit: str
    """Unit of every element, SI and radians: "rad", "N m", "m/s2", "" for none."""
    writable: bool
    """True for an input of the engine (a reference, an external torque), False for a result."""
    description: str = ""
    """One sentence: the quantity, its sign convention and frame."""


@runtime_checkable
class Engine(Protocol):
    """Physics that advances in equal steps, owned by one thread."""

    dt: float
    """Length of a step [s]; a whole number of nanoseconds."""
    time_ns: int
    """Simulation time [ns] = steps since the last reset x dt."""

    def reset(self, seed: int | None = None) -> None:
        """Return to the initial state and to time 0.

        Args:
            seed: seed of whatever the engine draws at random; None keeps the present one.
        """
        ...

    def step(self, n: int = 1) -> None:
        """Advance by ``n`` steps.

        Raises:
            DivergedError: the state holds NaN or infinity, or the energy blew up.
        """
        ...

    def port(self, name: str) -> np.ndarray:
        """Return the live view of a port: float64, shape as in ``ports()``; it stays valid until the end.

        Raises:
            PortError: there is no such port; the message names the nearest.
        """
        ...

    def ports(self) -> Mapping[str, PortInfo]:
        """Return every port by name."""
        ...

    def save(self) -> Any:
        """Return the whole state, time included, as bytes or as an array that no later step changes."""
        ...

    def load(self, state: Any) -> None:
        """Return to a state that ``save`` gave: what follows is equal, bit by bit, to what followed then."""
        ...
