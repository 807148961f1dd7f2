"""Many worlds of one robot under the commands of a log, and what each would have measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pliant.base.numerics import Array
from pliant.engine.worlds import CpuBatch
from pliant.model.robot import Robot
from pliant.model.wanted import check_robot
from pliant.shadow.candidates import Candidate
from pliant.shadow.log import ShadowLog, Signal

__all__ = ["Bank", "Compared"]

STEP = 1e-4
"""Longest time step of the simulations [s]: the motors' controllers are the robot's own, not those of a coarse step."""


class Compared(NamedTuple):
    """Measured and simulated values of one port."""

    time: Array
    """Shape (n,) [s]."""
    measured: Array
    """Shape (n,)."""
    simulated: Array
    """Shape (n, worlds): as described, then two worlds for each candidate, above and below."""


class Bank:
    """A robot as it is described, and beside it with each candidate changed up and down, under the same commands.

    Args:
        robot: the robot.
        candidates: what is changed; an offset needs no world.
        log: commands and measurements.
    """

    def __init__(self, robot: Robot, candidates: Sequence[Candidate], log: ShadowLog) -> None:
        check_robot(robot, "Bank", compiled=False)
        self.candidates = [c for c in candidates if c.kind != "offset"]
        self.offsets = [c for c in candidates if c.kind == "offset"]
        self.log = log
        worlds = 1 + 2 * len(self.candidates)
        fine = robot.copy()
        fine.update({"option.timestep": min(float(robot.timestep), STEP)})
        self.batch = CpuBatch(fine, worlds)
        self._shifts = np.zeros((worlds, len(robot.actuators)))
        joints = list(robot.actuators)
        for k, candidate in enumerate(self.candidates):
            pair = np.array([1 + 2 * k, 2 + 2 * k])
            if candidate.kind == "delay":
                (joint,) = candidate.values
                self._shifts[pair, joints.index(joint)] = candidate.value(1.0), candidate.value(-1.0)
            else:
                factors = np.array([candidate.value(1.0), candidate.value(-1.0)])
                self.batch.set_parameters({path: v * factors for path, v in candidate.values.items()}, pair)
        self._column = {port: joints.index(port.rpartition("/")[0]) for port in log.commands}

    def run(self, progress: Callable[[float], None] | None = None) -> dict[str, Compared]:
        """Simulate the whole log; return measured and simulated values by port.

        The simulation begins at rest in the first measured positions, under the first commands. Between two steps the
        simulated positions are continued with their velocities to the time of the sample.

        Args:
            progress: called with the log time that is simulated [s], about ten times a second of it.
        """
        batch, log = self.batch, self.log
        begin, dt = log.begin, batch.dt
        positions = {
            port.rpartition("/")[0]: s.values[0] for port, s in log.measured.items() if port.endswith("/position")
        }
        self._apply(begin)
        batch.reset(positions=positions)
        self._apply(begin)
        places = {port: _Place(signal, begin, dt) for port, signal in log.measured.items()}
        found = {port: np.empty((len(place.steps), batch.worlds)) for port, place in places.items()}
        stops = np.unique(np.concatenate([*(p.steps for p in places.values()), *self._changes(begin, dt)]))
        stops = stops[(stops >= 0) & (stops <= max(int(p.steps[-1]) for p in places.values()))]
        now, told = 0, 0.0
        for stop in stops.tolist():
            if stop > now:
                batch.step(stop - now)
                now = stop
            for port, place in places.items():
                while place.next < len(place.steps) and place.steps[place.next] == now:
                    found[port][place.next] = self._read(port, place.rest[place.next])
                    place.next += 1
            self._apply(begin + now * dt)
            if progress is not None and now * dt - told >= 0.1:
                told = now * dt
                progress(told)
        return {port: Compared(log.measured[port].time, log.measured[port].values, found[port]) for port in places}

    def _changes(self, begin: float, dt: float) -> list[Array]:
        """Return the steps at which a command changes in a world, for each command and each shift."""
        found = []
        for port, signal in self.log.commands.items():
            changed = signal.time[np.r_[True, np.diff(signal.values) != 0.0]]
            for shift in np.unique(self._shifts[:, self._column[port]]):
                found.append(np.ceil((changed + shift - begin) / dt - 1e-9).astype(np.int64))
        return found

    def _apply(self, time: float) -> None:
        """Write the commands of a time, in every world with its own delay."""
        for port, signal in self.log.commands.items():
            late = time - self._shifts[:, self._column[port]] + 1e-9
            index = np.clip(np.searchsorted(signal.time, late, side="right") - 1, 0, len(signal.time) - 1)
            self.batch.port(port)[:, 0] = signal.values[index]

    def _read(self, port: str, rest: float) -> Array:
        values = np.array(self.batch.port(port)[:, 0])
        speed = f"{port.removesuffix('position')}velocity"
        return values + rest * np.asarray(self.batch.port(speed)[:, 0])


class _Place:
    """Where the samples of a signal lie between the steps."""

    def __init__(self, signal: Signal, begin: float, dt: float) -> None:
        at = (signal.time - begin) / dt
        self.steps = np.floor(at + 1e-6).astype(np.int64)
        self.rest = (at - self.steps) * dt
        self.next = 0
        if not math.isfinite(float(at[-1])):
            raise ValueError("times are checked by ShadowLog")
