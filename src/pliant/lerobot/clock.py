"""Robot time in place of wall time in the loops of LeRobot's programs."""

from __future__ import annotations

import time
from types import ModuleType
from typing import Any

from pliant.lerobot.session import ArmSession

HAIR = 1e-6
"""How much sooner an action ends, and how much later its wait, than whole periods [s]. LeRobot compares sums of periods
with the length of an episode, and warns of a loop that takes longer than a period: no rounding may decide either."""


class RobotClock:
    """Stands for `time` and ``precise_sleep`` in a module with a loop of LeRobot; only actions advance it.

    Args:
        session: the simulated arm.
    """

    def __init__(self, session: ArmSession) -> None:
        self._session = session
        self._slept = -1

    def __getattr__(self, name: str) -> Any:
        """Return the rest of `time`."""
        return getattr(time, name)

    def perf_counter(self) -> float:
        """Return the robot time since the scene was prepared [s]."""
        frames = self._session.frames
        hair = 0.0 if not frames else HAIR if self._slept == frames else -HAIR
        return frames / self._session.options.fps + hair

    def sleep(self, seconds: float) -> None:
        """Wait, without any time on the wall, for the end of the period."""
        del seconds
        self._slept = self._session.frames

    def install(self, module: ModuleType) -> None:
        """Let the loop of a module count robot time."""
        vars(module).update(time=self, precise_sleep=self.sleep)
