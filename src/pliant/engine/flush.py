"""Removal of numbers that are practically zero from the state.

A joint at rest loses a share of its velocity in every step, so that the number becomes subnormal (below 2.2e-308) after
some minutes and stays there, because a share of the smallest number is rounded to the number itself. Arithmetic with
subnormal numbers is slow on many processors. Numbers below 1e-100 are therefore set to 0 after every 64th step since
the reset. The steps are counted from the reset, so that n steps in one call and n calls of one step of an engine give
the same bytes. A batch does it at the end of the call in which a world reaches such a step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SMALLEST = 1e-100
"""Magnitude below which a number of the state becomes 0, in its SI unit: its square is far above 2.2e-308."""

FLUSH_PERIOD = 64
"""Steps between two removals. What decays faster than from 1e-100 to 1e-308 in them reaches 0 by itself."""


def flush(values, first, count):
    """Set the small ones among ``count`` numbers from index ``first`` on to 0 (C array)."""
    for i in range(first, first + count):
        if abs(values[i]) < SMALLEST:
            values[i] = 0.0


def flush_state(qpos, nq, qvel, nv, act, na, warmstart):
    """Set the small numbers of a state to 0 (C arrays of `mjData`)."""
    flush(qpos, 0, nq)
    flush(qvel, 0, nv)
    flush(act, 0, na)
    flush(warmstart, 0, nv)


def step_and_flush(steps, qpos, nq, qvel, nv, act, na, warmstart):
    """Count a step, and set the small numbers of the state to 0 after every `FLUSH_PERIOD` of them (C arrays)."""
    steps[0] += 1
    if steps[0] % FLUSH_PERIOD == 0:
        flush_state(qpos, nq, qvel, nv, act, na, warmstart)


class Field(NamedTuple):
    """One field of the state of all worlds."""

    values: np.ndarray
    """The numbers (C array)."""
    size: int
    """Numbers of each world."""
    stride: int
    """Numbers from one world to the next."""


def flush_worlds(qpos, qvel, act, worlds, n, steps, bad):
    """Set the small numbers of those worlds to 0 for which a removal was due in the last n[0] of their ``steps``, and
    which are not marked as bad (fields, C arrays)."""
    for w in range(worlds):
        if bad[w] == 0 and steps[w] // FLUSH_PERIOD != (steps[w] - n[0]) // FLUSH_PERIOD:
            flush(qpos.values, w * qpos.stride, qpos.size)
            flush(qvel.values, w * qvel.stride, qvel.size)
            flush(act.values, w * act.stride, act.size)
