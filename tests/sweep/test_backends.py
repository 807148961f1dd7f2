"""Devices of a sweep: the same table on each, and words where there is none."""

import sys

import numpy as np
import pytest
from warp_devices import WARP_DEVICES

from pliant.base.errors import MissingDependency, PliantError
from pliant.batch.measures import Measures
from pliant.batch.worlds import CpuBatch
from pliant.sweep import backends, run_sweep
from pliant.tasks.executor import Executor

SWEEP_DEVICES = [{"cpu": "warp-cpu"}.get(device, device) for device in WARP_DEVICES]


@pytest.mark.parametrize(
    "variations",
    [
        ("elbow.k1=0.001,0.003", "elbow.damping=0.02,0.2"),
        ("link.mass=0.3,0.6", "elbow.mode=3,6"),
        ("elbow.k1=0.001,0.003", "option.gravity=0 0 0,0 0 -9.81"),
    ],
)
@pytest.mark.parametrize("device", SWEEP_DEVICES)
def test_a_sweep_in_warp_gives_the_same_table_as_on_the_cores(robot_file, tmp_path, variations, plan, device):
    pytest.importorskip("mujoco_warp", reason="MuJoCo Warp is not installed: pip install 'pliant[warp]'")
    table = tmp_path / "commands.csv"
    table.write_text("time,elbow/equilibrium_position\n0,0.1\n0.1,0.5\n")
    options = {"commands": {"elbow/stiffness_preset": 0.4}, "command_file": str(table), "duration": 0.3}
    cpu = run_sweep(plan(robot_file, *variations, **options))
    warp = run_sweep(plan(robot_file, *variations, **options, device=device), output=tmp_path / "warp")
    assert warp.columns == cpu.columns
    assert len(warp.rows) == len(cpu.rows) == 4
    for name in cpu.columns:
        # The time after which a position stays in a band is that of a step; one step may differ.
        atol = 0.004 if name.endswith("settling_time") else 1e-4
        if "option" in name:
            assert list(warp.column(name)) == list(cpu.column(name))
        else:
            np.testing.assert_allclose(warp.column(name), cpu.column(name), rtol=0.0, atol=atol, err_msg=name)
    with pytest.raises(PliantError, match="another sweep"):
        run_sweep(plan(robot_file, *variations, **options), output=tmp_path / "warp")


@pytest.mark.parametrize("device", SWEEP_DEVICES)
def test_a_world_that_diverges_in_warp_is_marked_and_the_others_go_on(robot_file, plan, device):
    pytest.importorskip("mujoco_warp", reason="MuJoCo Warp is not installed: pip install 'pliant[warp]'")
    options = {"duration": 2.0, "timestep": 0.02, "device": device}
    result = run_sweep(plan(robot_file, "elbow.k1=0.0019,500", **options))
    marks, speeds = result.column("diverged"), result.column("elbow/peak_velocity")
    assert not marks[0]
    assert marks[1] or speeds[1] > 10.0 * speeds[0]


def test_a_device_that_cannot_be_is_refused_in_words(robot_file, monkeypatch, plan):
    with pytest.raises(PliantError, match="device is 'gpu'; must be cpu, cuda, cuda:N or warp-cpu"):
        plan(robot_file, "elbow.k1=0.001", device="gpu")
    monkeypatch.setitem(sys.modules, "mujoco_warp", None)
    with pytest.raises(MissingDependency, match=r"pliant\[warp\]"):
        run_sweep(plan(robot_file, "elbow.k1=0.001", device="cuda"))


def test_a_gpu_that_is_not_there_is_named(robot_file, plan):
    warp = pytest.importorskip("warp", reason="Warp is not installed: pip install 'pliant[warp]'")
    pytest.importorskip("mujoco_warp", reason="MuJoCo Warp is not installed: pip install 'pliant[warp]'")
    missing = f"cuda:{warp.get_cuda_device_count()}"
    with pytest.raises(PliantError, match=f"device is '{missing}'"):
        run_sweep(plan(robot_file, "elbow.k1=0.001", device=missing))
    with pytest.raises(PliantError, match="one batch at a time"):
        run_sweep(plan(robot_file, "elbow.k1=0.001", device="warp-cpu"), executor=Executor(processes=2))


class Slow:
    """A back end on the cores, step by step."""

    @staticmethod
    def check_device(device):
        assert device == "slow:3"

    @staticmethod
    def make_batch(robot, worlds, device):
        return CpuBatch(robot, worlds)

    @staticmethod
    def run_measured(batch, joints, commands, steps):
        trace = np.empty((steps, batch.worlds, len(joints)), dtype=np.float32)
        ctrl = batch.port("state/ctrl")
        for k in range(steps):
            for column, value in commands[k]:
                ctrl[:, column] = value
            batch.step()
            trace[k] = batch.read("state/qpos")
        final, nothing = batch.read("state/qpos"), np.zeros((batch.worlds, len(joints)))
        return Measures(final, trace.min(axis=0), trace.max(axis=0), nothing, nothing, nothing, nothing, trace)


def test_a_device_is_looked_up_by_name_and_its_back_end_simulates(robot_file, plan, monkeypatch):
    entry = backends.BackendEntry(devices={"slow:N": "one by one"}, target="test_backends:Slow")
    monkeypatch.setattr(backends, "backend_entries", lambda: (entry,))
    monkeypatch.setitem(sys.modules, "test_backends", sys.modules[__name__])
    assert backends.describe_devices() == "cpu (all cores), slow:N (one by one)"
    with pytest.raises(PliantError, match="device is 'cuda'; must be cpu or slow:N"):
        plan(robot_file, "elbow.k1=0.001", device="cuda")
    variations = ("elbow.k1=0.001,0.003", "link.mass=0.3,0.6", "option.gravity=0 0 0,0 0 -9.81")
    found = run_sweep(plan(robot_file, *variations, duration=0.1, device="slow:3"))
    cores = run_sweep(plan(robot_file, *variations, duration=0.1))
    assert len(found.rows) == 8
    for name in ("elbow/final", "elbow/settling_time"):
        np.testing.assert_allclose(found.column(name), cores.column(name), rtol=0.0, atol=1e-12)
