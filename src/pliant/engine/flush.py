"""Removal of numbers that are practically zero from the state.

A joint at rest loses a share of its velocity in every step, so that the number becomes subnormal (below 2.2e-308) after
some minutes and stays there, because a share of the smallest number is rounded to the number itself. Arithmetic with
subnormal numbers is slow on many processors. Numbers below 1e-100 are therefore set to 0 after every 64th step since
the reset. The steps are counted from the reset, so that n steps in one call and n calls of one step of an engine give
the same bytes.
"""

from __future__ import annotations

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
