"""Simulate a point of a sweep with the robot's own devices, one step after the other.

For robots without compliant joints: a SoftFoot on its rig, a parallel robot, an arm. Their electronics runs between the
steps, so that they do not run in one `mujoco.batch.Batch`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.errors import DivergedError, PliantError
from pliant.sweep.plan import SweepPlan

if TYPE_CHECKING:
    from pliant.devices.base import Device
    from pliant.model.robot import Robot
    from pliant.simulation import Simulation

__all__ = ["DEVICE_METRICS", "check_devices", "device_quantities", "simulate_devices"]

DEVICE_METRICS = {
    "final": "value at the end, in the unit of the quantity",
    "min": "smallest value",
    "max": "largest value",
}
"""Metrics of each number that a device measures, for robots without compliant joints."""
MOST_ELEMENTS = 64
"""Most elements of a quantity that is reported; larger ones are images and scans."""


def device_quantities(robot: Robot) -> dict[str, str]:
    """Return the numbers that the devices of a robot measure, and their units.

    Returns:
        "<device>/<field>" or "<device>/<field>[i]" -> unit. Images and scans are left out.

    Raises:
        PliantError: no device measures anything.
    """
    from pliant.devices import make_devices

    found = {}
    for device in make_devices(robot):
        for field, info in device.samples.items():
            if info.dtype == "float64" and info.size <= MOST_ELEMENTS:
                names = [f"[{i}]" for i in range(info.size)] if info.shape else [""]
                found.update({f"{device.name}/{field}{name}": info.unit for name in names})
    if not found:
        raise PliantError(
            "the robot has neither a compliant joint nor a device that measures numbers, so a sweep would have no "
            "result; add a sensor, or an actuator with --set"
        )
    return found


def check_devices(plan: SweepPlan, robot: Robot) -> None:
    """Refuse commands that no device of the robot takes.

    Raises:
        PliantError: no such command or value.
    """
    with _simulation(plan, robot):
        pass


def simulate_devices(plan: SweepPlan, robot: Robot, steps: int) -> list[Any]:
    """Simulate one robot with its devices.

    Args:
        plan: commands and seed.
        robot: the robot with the values of the point.
        steps: number of steps.

    Returns:
        The metrics of each quantity, as in `device_quantities`, and whether the simulation diverged. A quantity that
        was not measured, because its device has a longer period, is NaN.
    """
    count = len(device_quantities(robot))
    low, high, values = np.full((3, count), math.nan)
    with _simulation(plan, robot) as simulation:
        try:
            for _ in range(steps):
                simulation.step()
                values = _measured(simulation)
                np.fmin(low, values, out=low)
                np.fmax(high, values, out=high)
        except DivergedError:
            return [math.nan] * (len(DEVICE_METRICS) * count) + [True]
    return [*np.stack([values, low, high], axis=1).ravel().tolist(), False]


def _simulation(plan: SweepPlan, robot: Robot) -> Simulation:
    """Return a simulation of a robot with its devices and the commands of a plan."""
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.simulation import Simulation
    from pliant.simulation.commands import put_constants, read_commands

    devices: list[Device] = list(make_devices(robot))
    simulation = Simulation(MujocoEngine(robot, check=False), devices, pacer="free", seed=plan.seed)
    if plan.command_file is not None:
        simulation.play(read_commands(plan.command_file))
    put_constants(simulation.devices, plan.commands)
    return simulation


def _measured(simulation: Simulation) -> np.ndarray:
    """Return the newest measurements in the order of `device_quantities`, NaN where there is none yet."""
    samples = simulation.latest
    parts = []
    for name, device in simulation.devices.items():
        sample = samples.get(name)
        parts += [
            np.full(info.size, math.nan) if sample is None else np.ravel(sample.values[field])
            for field, info in device.samples.items()
            if info.dtype == "float64" and info.size <= MOST_ELEMENTS
        ]
    return np.concatenate(parts)
