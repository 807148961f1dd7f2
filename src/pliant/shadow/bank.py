"""Many worlds of one robot under the commands of a log, and what each would have measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pliant.base.numerics import Array
from pliant.batch.worlds import CpuBatch
from pliant.model.robot import Robot
from pliant.model.wanted import check_robot
from pliant.shadow.candidates import Candidate, Compared
from pliant.shadow.log import ShadowLog, Signal

STEP = 1e-4
"""Longest time step of the simulations [s]: the motors' controllers are the robot's own, not those of a coarse step."""


class Bank:
    """A robot as it is described, and beside it with each candidate changed up and down, under the same commands.

    `run` simulates a whole log. `begin` and `advance` follow a robot while its measurements arrive.

    Args:
        robot: the robot.
        candidates: what is changed; an offset needs no world.
        step: longest time step [s].
    """

    unit = "rad"
    """Unit of what is compared."""

    def __init__(self, robot: Robot, candidates: Sequence[Candidate], *, step: float = STEP) -> None:
        check_robot(robot, "Bank", compiled=False)
        self.candidates = [c for c in candidates if c.kind != "offset"]
        self.offsets = [c for c in candidates if c.kind == "offset"]
        worlds = 1 + 2 * len(self.candidates)
        fine = robot.copy()
        fine.update({"option.timestep": min(float(robot.timestep), step)})
        self.batch = CpuBatch(fine, worlds)
        self.dt = self.batch.dt
        """Time step of the simulations [s]."""
        self.time = 0.0
        """Time up to which is simulated, in the time of the log [s]."""
        self._shifts = np.zeros((worlds, len(robot.actuators)))
        self._begin, self._steps = 0.0, 0
        self._joints = list(robot.actuators)
        for k, candidate in enumerate(self.candidates):
            pair = np.array([1 + 2 * k, 2 + 2 * k])
            if candidate.kind == "delay":
                (joint,) = candidate.values
                self._shifts[pair, self._joints.index(joint)] = candidate.value(1.0), candidate.value(-1.0)
            else:
                factors = np.array([candidate.value(1.0), candidate.value(-1.0)])
                self.batch.set_parameters({path: v * factors for path, v in candidate.values.items()}, pair)

    def run(self, log: ShadowLog, progress: Callable[[float], None] | None = None) -> dict[str, Compared]:
        """Simulate a whole log; return measured and simulated values by port.

        Args:
            log: commands and measurements.
            progress: called with the log time that is simulated [s], about ten times a second of it.
        """
        self.begin(
            log.begin,
            {port.rpartition("/")[0]: s.values[0] for port, s in log.measured.items() if port.endswith("/position")},
            log.commands,
        )
        found = self.advance(log.commands, log.measured, log.end, progress)
        return {port: Compared(s.time, s.values, found[port]) for port, s in log.measured.items()}

    def begin(self, time: float, positions: Mapping[str, float], commands: Mapping[str, Signal]) -> None:
        """Begin at rest in measured positions [rad], under the first commands.

        Args:
            time: time at which it begins [s].
            positions: position of each joint [rad].
            commands: commands by port.
        """
        self._begin, self._steps, self.time = time, 0, time
        self._apply(commands)
        self.batch.reset(positions=dict(positions))
        self._apply(commands)

    def advance(
        self,
        commands: Mapping[str, Signal],
        measured: Mapping[str, Signal],
        end: float,
        progress: Callable[[float], None] | None = None,
    ) -> dict[str, Array]:
        """Simulate up to a time; return what each world would have measured, shape (n, worlds), by port.

        Between two steps the simulated positions are continued with their velocities to the time of the sample.

        Args:
            commands: commands by port, with those before `time` that a delay may still hold back.
            measured: measurements by port from `time` to `end`.
            end: time to stop at [s].
            progress: called with the log time that is simulated [s].
        """
        batch, dt = self.batch, self.batch.dt
        places = {port: _Place(signal, self._begin, dt) for port, signal in measured.items()}
        found = {port: np.empty((len(place.steps), batch.worlds)) for port, place in places.items()}
        # Sums of steps may be an ulp beside the time of a sample.
        last = max([int((end - self._begin) / dt + 1e-6), *(int(p.steps[-1]) for p in places.values() if len(p.steps))])
        stops = np.unique(np.concatenate([[last], *(p.steps for p in places.values()), *self._changes(commands)]))
        told = self.time - self._begin
        for stop in stops[(stops >= self._steps) & (stops <= last)].tolist():
            if stop > self._steps:
                batch.step(stop - self._steps)
                self._steps = stop
                self.time = self._begin + stop * dt
            for port, place in places.items():
                while place.next < len(place.steps) and place.steps[place.next] <= stop:
                    found[port][place.next] = self._read(port, place.rest[place.next])
                    place.next += 1
            self._apply(commands)
            if progress is not None and stop * dt - told >= 0.1:
                told = stop * dt
                progress(told)
        return found

    def _changes(self, commands: Mapping[str, Signal]) -> list[Array]:
        """Return the steps at which a command changes in a world, for each command and each shift."""
        found = []
        for port, signal in commands.items():
            changed = signal.time[np.r_[True, np.diff(signal.values) != 0.0]]
            for shift in np.unique(self._shifts[:, self._column(port)]):
                found.append(np.ceil((changed + shift - self._begin) / self.batch.dt - 1e-9).astype(np.int64))
        return found

    def _column(self, port: str) -> int:
        return self._joints.index(port.rpartition("/")[0])

    def _apply(self, commands: Mapping[str, Signal]) -> None:
        """Write the present commands, in every world with its own delay."""
        for port, signal in commands.items():
            late = self.time - self._shifts[:, self._column(port)] + 1e-9
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
