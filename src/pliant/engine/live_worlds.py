"""The worlds of a batch on the CPU that have not diverged: the only ones that are stepped."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.flush import Field, flush_worlds
from pliant.engine.guard import MAX_SPEED
from pliant.laws.compile import bound

__all__ = ["LiveWorlds"]

LONGEST = 100
"""Most steps between two looks for worlds that diverged."""

_log = logging.getLogger(__name__)


def count_steps(qvel, stride, nv, worlds, n, most, steps, bad):
    """Count n steps of the worlds that are not marked, and mark those that are not finite or too fast (C arrays)."""
    for w in range(worlds):
        if bad[w] != 0:
            continue
        steps[w] += n[0]
        total = 0.0
        for k in range(nv):
            total += qvel[w * stride + k] * qvel[w * stride + k]
        if not total < most:  # NaN too
            bad[w] = steps[w]


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
        qvel = batch.bind("qvel")
        self._advance = np.zeros(1, dtype=np.int64)
        size = (qvel.strides[0] // qvel.itemsize, qvel.shape[1], worlds)
        self._count = bound(
            count_steps, qvel, *size, self._advance, MAX_SPEED**2, self.steps, self.diverged_at
        )  # fmt: skip
        arrays = [batch.bind(field) for field in ("qpos", "qvel", "act")]
        state = [Field(array, array.shape[1], array.strides[0] // array.itemsize) for array in arrays]
        self._flush = bound(flush_worlds, *state, worlds, self._advance, self.steps, self.diverged_at)

    def step(self, n: int) -> None:
        """Advance the worlds that have not diverged by n steps."""
        while n > 0:
            count = min(n, LONGEST)
            if not self.diverged_at.any():
                self._batch.step(nstep=count)
            else:
                live = np.flatnonzero(self.diverged_at == 0)
                if not live.size:
                    return
                self._batch.step(live, nstep=count)
            self._advance[0] = count
            self._count()
            self._flush()
            n -= count
            if self._warn and self.diverged_at.any():
                self._warn = False
                first = int(np.flatnonzero(self.diverged_at)[0])
                _log.warning(
                    "world %d of %d diverged at step %d; it, and every other that diverges, keeps its state until it "
                    "is reset (`diverged` says which, `reason(world)` why)",
                    first, len(self.steps), int(self.diverged_at[first]),
                )  # fmt: skip

    def clear(self, ids: NDArray[np.int64]) -> None:
        """Take worlds that were reset as live again."""
        self.steps[ids] = 0
        self.diverged_at[ids] = 0
