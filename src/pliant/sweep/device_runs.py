"""Simulate a point of a sweep with the robot's own devices, one step after the other.

For robots without compliant joints: a SoftFoot on its rig, a parallel robot, an arm. Their electronics runs between the
steps, so that they do not run in one `mujoco.batch.Batch`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import DeviceError, DivergedError, PliantError
from pliant.sweep.events import DeviceEvents, joined
from pliant.sweep.plan import SweepPlan, is_command_path

if TYPE_CHECKING:
    from pliant.devices.base import Device, FieldInfo
    from pliant.model.robot import Robot
    from pliant.simulation import Simulation
    from pliant.simulation.channels import Channel

DEVICE_METRICS = {
    "final": "value at the end, in the unit of the quantity",
    "min": "smallest value",
    "max": "largest value",
}
"""Metrics of each number that a device measures, for robots without compliant joints."""
MOST_ELEMENTS = 64
"""Most elements of a quantity that is reported; larger ones are images and scans."""


def device_quantities(devices: Iterable[Device]) -> dict[str, str]:
    """Return the numbers that devices measure, and their units.

    Returns:
        "<device>/<field>" or "<device>/<field>[i]" -> unit. Images and scans are left out.

    Raises:
        PliantError: no device measures anything.
    """
    found = {}
    for device, field, info in _fields(devices):
        names = [f"[{i}]" for i in range(info.size)] if info.shape else [""]
        found.update({f"{device}/{field}{name}": info.unit for name in names})
    if not found:
        raise PliantError(
            "the robot has neither a compliant joint nor a device that measures numbers, so a sweep would have no "
            "result; add a sensor, or an actuator with --set"
        )
    return found


def check_devices(plan: SweepPlan, robot: Robot) -> dict[str, str]:
    """Return `device_quantities` of a robot; refuse commands that none of its devices takes.

    Raises:
        PliantError: no such command or value, or nothing is measured.
    """
    from pliant.simulation.commands import put_constants

    with _simulation(plan, robot) as simulation:
        put_constants(simulation.devices, plan.commands)
        _channels(simulation, [v.path for v in plan.variations if is_command_path(v.path)])
        return device_quantities(simulation.devices.values())


def simulate_devices(
    plan: SweepPlan, robot: Robot, steps: int, point: Mapping[str, object]
) -> tuple[list[str], Sequence[object]]:
    """Simulate one robot with its devices.

    Args:
        plan: commands and seed.
        robot: the robot with the values of the point.
        steps: number of steps.
        point: values of the point by path, those of varied commands among them.

    Returns:
        The quantities, as in `device_quantities`; the metrics of each, whether the simulation diverged, and what
        happened in it. A quantity that was not measured, because its device has a longer period, is NaN. So are all
        quantities of a point whose varied commands a device cannot carry out, such as a plate pose beyond the limits of
        the joints.
    """
    from pliant.simulation.commands import put_constants

    varied = {v.path: point[v.path] for v in plan.variations if is_command_path(v.path)}
    with _simulation(plan, robot) as simulation:
        quantities = list(device_quantities(simulation.devices.values()))
        fields = list(_fields(simulation.devices.values()))
        nothing = [math.nan] * (len(DEVICE_METRICS) * len(quantities))
        low, high, values = np.full((3, len(quantities)), math.nan)
        try:
            put_constants(simulation.devices, {**plan.commands, **_varied_commands(plan, simulation, varied)})
        except PliantError as error:
            if not varied:
                raise
            return quantities, [*nothing, False, f"command refused: {error}"]
        events = DeviceEvents(simulation, robot.compile())
        try:
            for _ in range(steps):
                simulation.step()
                events.look()
                values = _measured(simulation, fields)
                np.fmin(low, values, out=low)
                np.fmax(high, values, out=high)
        except DivergedError:
            return quantities, [*nothing, True, f"diverged at {1e-9 * simulation.engine.time_ns:.4g} s"]
        except DeviceError as error:
            return quantities, [*nothing, False, f"a device ended the run: {error}"]
        happened = joined(events.found())
    return quantities, [*np.stack([values, low, high], axis=1).ravel().tolist(), False, happened]


def _simulation(plan: SweepPlan, robot: Robot) -> Simulation:
    """Return a simulation of a robot with its devices and the commands of a plan."""
    from pliant.command_tables import read_commands
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.simulation import Simulation

    simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), pacer="free", seed=plan.seed)
    if plan.command_file is not None:
        simulation.play(read_commands(plan.command_file))
    return simulation


def _channels(simulation: Simulation, names: Sequence[str]) -> list[Channel]:
    """Return the channels of commands of devices, those that devices write to a port unchanged among them."""
    from pliant.simulation.channels import find_channels

    devices = list(simulation.devices.values())
    commanded = {port for device in devices for port in device.command_ports.values()}
    ports = {name: info for name, info in simulation.engine.ports().items() if name in commanded}
    return find_channels(names, ports, devices)


def _varied_commands(plan: SweepPlan, simulation: Simulation, varied: Mapping[str, object]) -> dict[str, object]:
    """Return constant commands with the varied elements; other elements of an array are those of the plan, or held."""
    found: dict[str, object] = {}
    for channel, value in zip(_channels(simulation, list(varied)), varied.values()):
        name = f"{channel.device}/{channel.field}"
        if channel.index is None:
            found[name] = value
            continue
        array = found.get(name)
        if not isinstance(array, np.ndarray):
            given = plan.commands.get(name)
            held = simulation.devices[channel.device].held(channel.field)
            array = found[name] = held if given is None else np.array(str(given).split(","), dtype=float)
        array.flat[channel.index] = float(str(value))
    return found


def _fields(devices: Iterable[Device]) -> Iterator[tuple[str, str, FieldInfo]]:
    """Yield device, field and description of what is reported."""
    for device in devices:
        for field, info in device.samples.items():
            if info.dtype == "float64" and info.size <= MOST_ELEMENTS:
                yield device.name, field, info


def _measured(simulation: Simulation, fields: Iterable[tuple[str, str, FieldInfo]]) -> np.ndarray:
    """Return the newest measurements in the order of `device_quantities`, NaN where there is none yet."""
    samples = simulation.latest
    return np.concatenate(
        [
            np.ravel(samples[device].values[field]) if device in samples else np.full(info.size, math.nan)
            for device, field, info in fields
        ]
    )
