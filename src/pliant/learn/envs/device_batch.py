"""Worlds with all their devices: for actions that a firmware turns into motor commands, such as those of an arm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import DeviceError, DivergedError, PortError, nearest
from pliant.batch.worlds import Index, RobotBatch, Selection, check_step_count
from pliant.learn.envs.plant import Plant, changed_robot, joint_positions

if TYPE_CHECKING:
    from pliant.learn.envs.task import Task
    from pliant.model import Robot


class DeviceBatch(RobotBatch):
    """Batch in which each world is a simulation of its own, so that every device has its firmware.

    A step costs as much as that many single simulations. `BatchEnv` takes it where an action is a command that a
    firmware computes with. A world whose device ends the motion, such as an arm after a collision, counts as diverged.

    Args:
        robot: the robot.
        worlds: number of worlds, >= 1.
        task: the task, whose actions are given.
    """

    live = False

    def __init__(self, robot: Robot, worlds: int, task: Task) -> None:
        super().__init__(robot, worlds)
        self._robot, self._task = robot, task
        self.plants = [Plant(robot, task) for _ in range(self.worlds)]
        """The simulation of each world."""
        self.cycle = self.plants[0].cycle
        self.sampled = frozenset(self.plants[0].samples) - frozenset(self.ports())
        self._reasons = [""] * self.worlds
        self._steps = np.zeros(self.worlds, dtype=np.int64)
        self._ended = np.zeros(self.worlds, dtype=np.int64)
        self._stale = np.zeros(self.worlds, dtype=bool)

    def give(self, values: NDArray[np.float64], mask: NDArray[np.bool_] | None = None) -> None:
        """Give the values of the actions to the devices of some worlds, shape (worlds, actions); None for all."""
        for world, plant in enumerate(self.plants):
            if not self._ended[world] and (mask is None or mask[world]):
                plant.give(values[world])

    def step(self, n: int = 1) -> None:
        """Advance every world by n steps, except those that have diverged since their last reset."""
        check_step_count(n)
        for world, plant in enumerate(self.plants):
            if self._ended[world]:
                continue
            try:
                plant.advance(n)
                self._steps[world] += n
            except (DivergedError, DeviceError) as error:
                self._steps[world] += max(1, n)
                self._ended[world] = self._steps[world]
                self._reasons[world] = str(error)
                self._stale[world] = True  # its simulation is closed

    def port(self, name: str) -> NDArray[np.float64]:
        """Return a copy of the values of a port, or of a field of a device, shape (worlds, ...).

        Raises:
            PortError: there is no such port or field; the message suggests the most similar name.
        """
        if name in self.sampled:
            return np.stack([plant.measured(name) for plant in self.plants])
        if name not in self.ports():
            raise PortError(f"no port {name!r}; {nearest(name, [*self.ports(), *self.sampled])}", field=name)
        return np.stack([plant.engine.port(name) for plant in self.plants])

    def field(self, name: str) -> NDArray[np.float64]:
        """Return a copy of a whole field, shape (worlds, ...)."""
        engines = [plant.engine for plant in self.plants]
        return np.stack([engine.observed if name == "observed" else getattr(engine.data, name) for engine in engines])

    def steps(self) -> NDArray[np.int64]:
        return self._steps.copy()

    def diverged_at(self) -> NDArray[np.int64]:
        """Return the step at which each world diverged or its motion ended, or 0, shape (worlds,)."""
        return self._ended.copy()

    def reason(self, world: int) -> str:
        """Return the reason why a world has ended; "" if it has not."""
        return self._reasons[int(np.flatnonzero(self.select(world))[0])]

    def set_parameters(self, values: Mapping[str, ArrayLike], worlds: Selection = None) -> None:
        """Set parameters of individual worlds, at their next reset; every path of `Robot.update` can differ.

        Args:
            values: path -> one number, or one per selected world.
            worlds: the selected worlds.

        Raises:
            ModelError: a name is unknown, or a value is out of range.
        """
        mask = self.select(worlds)
        given = dict(self._given)
        for path, value in values.items():
            numbers = self._fitted(path, value, int(mask.sum()), (1,))[:, 0]
            given[path] = self._changed(given.get(path), numbers, mask)
        for world in np.flatnonzero(mask).tolist():
            _, payloads, _ = changed_robot(self._robot, _of_world(given, world))  # checks names and values
            for body, mass in payloads.items():
                self.plants[world].engine.payloads.check(body, mass)
        self._given = given
        self._stale |= mask

    def _reset(self, mask: NDArray[np.bool_], qpos: NDArray[np.float64] | None) -> None:
        for row, world in enumerate(np.flatnonzero(mask).tolist()):
            if self._stale[world]:
                self.plants[world].close()
                self.plants[world] = Plant(self._robot, self._task, parameters=_of_world(self._given, world))
                self._stale[world] = False
            start = {} if qpos is None else joint_positions(self.model, qpos[row])
            self.plants[world].reset(0, start)
            self._steps[world] = self._ended[world] = 0
            self._reasons[world] = ""

    def _put(self, name: str, values: NDArray[np.float64], mask: NDArray[np.bool_]) -> None:
        for world, row in zip(np.flatnonzero(mask).tolist(), values):
            self.plants[world].engine.port(name)[:] = row

    def _put_rows(self, row: int, rows: NDArray[np.float64], mask: NDArray[np.bool_]) -> None:
        raise PortError("worlds with devices take parameters by name, with set_parameters", field="parameters")

    def _put_field(self, field: str, index: Index, values: NDArray[np.float64], mask: NDArray[np.bool_]) -> None:
        raise PortError("worlds with devices take parameters by name, with set_parameters", field="parameters")

    def close(self) -> None:
        """Close the devices of all worlds."""
        for plant in self.plants:
            plant.close()


def _of_world(given: Mapping[str, NDArray[np.float64]], world: int) -> dict[str, float]:
    """Return the parameters that were set for a world."""
    return {path: float(column[world]) for path, column in given.items() if np.isfinite(column[world])}
