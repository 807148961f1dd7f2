"""Every option of the samples of every device changes them, or is refused."""

import zlib

import numpy as np
import pytest
from daily import robots_by_day

from pliant.base.errors import DeviceError, MissingDependency
from pliant.devices import make_devices
from pliant.devices.base import DeviceBase
from pliant.engine import MujocoEngine
from pliant.model.noise import Noise
from pliant.robots import list_robots
from pliant.robots.loading import load
from pliant.simulation import Simulation

STEPS = 60


def observed(engine, robot, name, monkeypatch, **options):
    """Return stamps and digests of the newest sample after each step, by device; one device has more options."""
    plain = DeviceBase.__init__

    def with_options(self, own, **given):
        plain(self, own, **{**given, **(options if own == name else {})})

    with monkeypatch.context() as patched:
        patched.setattr(DeviceBase, "__init__", with_options)
        devices = make_devices(robot)
    engine.reset()
    seen = {device.name: [] for device in devices if not name or device.name == name}
    with Simulation(engine, devices, pacer="free", seed=3) as simulation:
        for _ in range(STEPS):
            simulation.step()
            for device, rows in seen.items():
                sample = simulation.latest.get(device)
                rows.append((0, ()) if sample is None else (sample.stamp_ns, digests(sample)))
    return seen if not name else seen[name]


def digests(sample):
    return tuple(zlib.crc32(np.ascontiguousarray(value)) for value in sample.values.values())


@pytest.mark.parametrize("name", robots_by_day([robot.name for robot in list_robots()]))
def test_every_option_of_the_samples_of_a_device_changes_them_or_is_refused(name, monkeypatch):
    try:
        robot = load(name)
    except MissingDependency as missing:
        pytest.skip(str(missing))
    h = robot.timestep
    engine = MujocoEngine(robot, check=False)
    plain = observed(engine, robot, "", monkeypatch)
    for device in make_devices(robot):
        device.close()
        period = max(round(h * 1e9), device.period_ns, device.sample_period_ns)
        changes = {
            "latency": {"latency": 7 * h, "stamp": "measurement"},
            "stamp": {"latency": 7 * h, "stamp": "arrival"},
            "sample_period": {"sample_period": 3e-9 * period},
            "noise": {"noise": {next(iter(device.samples)): Noise(std=0.3)}},
        }
        if device.noise_of_its_own:
            with pytest.raises(DeviceError, match=f"noise is no option .*{device.noise_of_its_own}"):
                observed(engine, robot, device.name, monkeypatch, **changes.pop("noise"))
        found = {
            option: observed(engine, robot, device.name, monkeypatch, **values) for option, values in changes.items()
        }
        ignored = [option for option in found if option != "stamp" and found[option] == plain[device.name]]
        assert not ignored, (device.name, ignored)
        assert found["latency"] != found["stamp"], device.name
