"""Events in a simulation of a sweep: breakage, stops, effort limits, devices that stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant.laws import layout

if TYPE_CHECKING:
    from pliant.batch.measures import Measures
    from pliant.model.robot import Robot
    from pliant.simulation import Simulation

MOST = 4
"""Most events that a row names."""


def joined(events: Sequence[str]) -> str:
    """Return the cell of a row."""
    rest = [f"{len(events) - MOST} more"] if len(events) > MOST else []
    return "; ".join([*events[:MOST], *rest])


def counted_events(cells: Iterable[str]) -> list[str]:
    """Return the three most frequent events of many rows, with their numbers of rows."""
    found = Counter(event for cell in cells for event in set(filter(None, cell.split("; "))))
    return [f"{event} ({n} x)" for event, n in found.most_common(3)]


def joint_events(found: Measures, world: int, robot: Robot, model: mujoco.MjModel, act: np.ndarray | None) -> list[str]:
    """Return what happened to the compliant joints of one world.

    Args:
        found: results of all worlds.
        world: number of the world.
        robot: its robot.
        model: its model.
        act: its states of actuators at the end; None if they are not known.
    """
    events = []
    for j, (joint, actuator) in enumerate(robot.actuators.items()):
        unit = "N" if robot.slides(joint) else "N m"
        if act is not None and actuator.strength is not None:
            state = int(actuator.pack(robot.timestep)[layout.A_BROKEN])
            torque = act[int(model.actuator(joint).actadr[0]) + state] if state >= 0 else 0.0
            if torque:
                events.append(f"{joint}: the spring broke at {abs(torque):.4g} {unit}")
        number = model.joint(joint).id
        if model.jnt_limited[number]:
            events += _stops(joint, found.low[world, j], found.high[world, j], model, number)
        limit = float(np.max(np.abs(model.jnt_actfrcrange[number])))
        if model.jnt_actfrclimited[number] and found.torque[world, j] > limit:
            events.append(f"{joint}: its effort limit of {limit:.4g} {unit} cut the torque")
    return events


def _stops(joint: str, lowest: float, highest: float, model: mujoco.MjModel, number: int) -> list[str]:
    low, high = model.jnt_range[number]
    margin = float(model.jnt_margin[number])
    sides = [(lowest <= low + margin, "lower", low), (highest >= high - margin, "upper", high)]
    unit = "m" if model.jnt_type[number] == mujoco.mjtJoint.mjJNT_SLIDE else "rad"
    return [f"{joint}: reached its {name} stop at {at:.4g} {unit}" for reached, name, at in sides if reached]


class DeviceEvents:
    """Watches the joints of one simulation."""

    def __init__(self, simulation: Simulation, model: mujoco.MjModel) -> None:
        self._simulation, self._model = simulation, model
        hinges = np.isin(model.jnt_type, [int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)])
        self._joints = np.flatnonzero(hinges & (model.jnt_limited != 0))
        self._places = model.jnt_qposadr[self._joints]
        self._qpos = simulation.engine.port("state/qpos")
        self._low = self._qpos[self._places].copy()
        self._high = self._low.copy()

    def look(self) -> None:
        """Keep the range of the present positions."""
        q = self._qpos[self._places]
        np.minimum(self._low, q, out=self._low)
        np.maximum(self._high, q, out=self._high)

    def found(self) -> list[str]:
        """Return what happened: what stopped a device, and stops that joints reached."""
        stopped = ((name, device.stopped()) for name, device in self._simulation.devices.items())
        events = [f"{name}: {why}" for name, why in stopped if why]
        for number, low, high in zip(self._joints.tolist(), self._low, self._high, strict=True):
            name = self._model.joint(number).name or f"joint {number}"
            events += _stops(name, low, high, self._model, number)
        return events
