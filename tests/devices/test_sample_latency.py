"""A latency ages the samples by itself: every device of the catalogue shows what it showed without, a latency later."""

import numpy as np
import pytest

from pliant.base.errors import MissingDependency
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots import build_robot, list_robots
from pliant.simulation import Simulation

PERIODS = 20
"""Periods of the slowest device that a run takes."""
DAILY = ("franka", "fr3-workcell", "2PR", "softfoot", "qbmove-2dof")
CATALOGUE = [
    name if name in DAILY else pytest.param(name, marks=pytest.mark.nightly)
    for name in (robot.name for robot in list_robots())
]


def samples_of(robot, latency):
    """Return the values of each device that has no latency of its own, by the time of a step [ns]."""
    own = {d.name for d in robot.devices if getattr(d, "latency", 0.0) or hasattr(d, "width")}
    devices = [d for d in make_devices(robot, latency=latency) if d.name not in own]
    with Simulation(MujocoEngine(robot.copy()), devices, pacer="free") as simulation:
        simulation.start()
        simulation.reset(seed=0)
        seen = {device.name: {} for device in devices}
        slowest = max((device.sample_period_ns for device in devices), default=0)
        for _ in range(PERIODS * max(1, slowest // simulation.dt_ns)):
            simulation.step()
            for device in devices:
                if device.newest is None:
                    continue
                values = simulation.sample(device.name).values
                seen[device.name][simulation.time_ns] = {name: np.copy(values[name]) for name in device.samples}
        return seen, {device.name: device.sample_period_ns for device in devices}


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_device_shows_late_what_it_shows_without_a_latency(name):
    try:
        robot = build_robot(name)
    except MissingDependency as missing:
        pytest.skip(str(missing))
    prompt, periods = samples_of(robot, 0.0)
    for device, period_ns in periods.items():
        late, _ = samples_of(robot, 4e-9 * period_ns)
        compared = 0
        for time_ns, values in prompt[device].items():
            shown = late[device].get(time_ns + 4 * period_ns)
            for field, value in values.items() if shown is not None else ():
                np.testing.assert_array_equal(shown[field], value, err_msg=f"{device}/{field} at {time_ns} ns")
                compared += 1
        assert compared, device
