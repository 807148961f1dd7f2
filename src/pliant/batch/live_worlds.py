"""The worlds of a batch on the CPU that have not diverged: the only ones that are stepped."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.engine.flush import FLUSH_PERIOD, flush
from pliant.engine.guard import MAX_SPEED
from pliant.laws.compile import bound

LONGEST = 100
"""Most steps between two looks for worlds that diverged."""

_log = logging.getLogger(__name__)


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
    which are not marked as bad (fields, C arrays). An engine does it at that step, a batch at the end of the call."""
    for w in range(worlds):
        if bad[w] == 0 and steps[w] // FLUSH_PERIOD != (steps[w] - n[0]) // FLUSH_PERIOD:
            flush(qpos.values, w * qpos.stride, qpos.size)
            flush(qvel.values, w * qvel.stride, qvel.size)
            flush(act.values, w * act.stride, act.size)


def count_steps(qpos, qvel, act, worlds, now, most, steps, bad):
    """Count now[0] steps of the worlds that are not marked, mark those that are not finite or too fast, count the
    marked ones in now[1], and remove small numbers from the others (fields, C arrays)."""
    marked = 0
    for w in range(worlds):
        if bad[w] == 0:
            steps[w] += now[0]
            total = 0.0
            for k in range(qvel.size):
                total += qvel.values[w * qvel.stride + k] * qvel.values[w * qvel.stride + k]
            if not total < most:  # NaN too
                bad[w] = steps[w]
        if bad[w] != 0:
            marked += 1
    now[1] = marked
    flush_worlds(qpos, qvel, act, worlds, now, steps, bad)


class LiveWorlds:
    """Steps a `mujoco.batch.Batch` without its diverged worlds, whose arithmetic with NaN is many times slower.

    A diverged world keeps its last state until it is reset.

    Args:
        batch: the batch.
        worlds: number of its worlds.
        warn: whether to log a warning at the first world that diverges.
    """

    def __init__(self, batch: Any, worlds: int, *, warn: bool) -> None:
        self._batch = batch
        self._warn = warn
        self.steps = np.zeros(worlds, dtype=np.int64)
        """Number of steps of each world since its last reset."""
        self.diverged_at = np.zeros(worlds, dtype=np.int64)
        """Step at whose end, or up to 100 steps before it, each world diverged; 0 if it did not."""
        self._now = np.zeros(2, dtype=np.int64)  # steps of a call, number of marked worlds
        arrays = [batch.bind(field) for field in ("qpos", "qvel", "act")]
        state = [Field(array, array.shape[1], array.strides[0] // array.itemsize) for array in arrays]
        self._count = bound(
            count_steps, *state, worlds, self._now, MAX_SPEED**2, self.steps, self.diverged_at
        )  # fmt: skip

    def step(self, n: int) -> None:
        """Advance the worlds that have not diverged by n steps."""
        while n > 0:
            count = min(n, LONGEST)
            if not self._now[1]:
                self._batch.step(nstep=count)
            else:
                live = np.flatnonzero(self.diverged_at == 0)
                if not live.size:
                    return
                self._batch.step(live, nstep=count)
            self._now[0] = count
            self._count()
            n -= count
            if self._warn and self._now[1]:
                self._warn = False
                first = int(np.flatnonzero(self.diverged_at)[0])
                _log.warning(
                    "world %d of %d diverged at step %d; it, and every other that diverges, keeps its state until it "
                    "is reset (`diverged` says which, `reason(world)` why)",
                    first, len(self.steps), int(self.diverged_at[first]),
                )  # fmt: skip

    def clear(self, ids: NDArray[np.int64]) -> None:
        """Take worlds that were reset as live again."""
        self.restore(ids, 0, 0)

    def restore(self, worlds: NDArray[np.bool_] | NDArray[np.int64], steps: ArrayLike, diverged_at: ArrayLike) -> None:
        """Set the counts of some worlds, by their mask or numbers."""
        self.steps[worlds], self.diverged_at[worlds] = steps, diverged_at
        self._now[1] = np.count_nonzero(self.diverged_at)
