"""Monitors of an engine: what is added up over the steps of a run, in the same call of machine code as the steps."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from pliant.laws.compile import BoundKernel


class Monitor(Protocol):
    """Accumulator of one simulation: compiled calls around each step (`pliant.laws.compile.bound`), and their result.

    The calls read the state of the engine, or write arrays of their own; what they leave in the state of the engine
    must be what they found. A subclass gets `begin` and `change` that do nothing.
    """

    first: Sequence[BoundKernel]
    """Calls before the first of some steps: devices may have written ports since the last one."""
    before: Sequence[BoundKernel]
    """Calls of each step before the physics."""
    after: Sequence[BoundKernel]
    """Calls of each step after the physics; the guard has passed the state."""

    def reset(self) -> None:
        """Start again at the current state, with time 0."""
        ...

    def begin(self) -> None:
        """Prepare for some steps: called in Python before each call of `Engine.step`."""

    def change(self) -> AbstractContextManager[None]:
        """Return the context in which a device changes constants of the model or makes the state jump."""
        return nullcontext()

    def line(self) -> str:
        """Return the line that ``pliant run`` prints at the end; "" for none."""
        ...

    def as_dict(self) -> dict[str, float]:
        """Return the values of the run so far, for ``pliant run --json``."""
        ...
