"""Diverged worlds of a batch are not stepped until they are reset."""

import logging

import numpy as np
import pytest

from pliant.batch.worlds import CpuBatch
from pliant.robots import build_robot
from pliant.sweep import SweepPlan, parse_variation, run_sweep


@pytest.fixture
def batch():
    return CpuBatch(build_robot("qbmove-2dof"), 4)


class Counted:
    """A batch that counts the steps of each of its worlds."""

    def __init__(self, batch, worlds):
        self.batch, self.done = batch, np.zeros(worlds, dtype=int)

    def step(self, ids=None, nstep=1, **how):
        self.done[slice(None) if ids is None else ids] += nstep
        self.batch.step(ids, nstep=nstep, **how)

    def __getattr__(self, name):
        return getattr(self.batch, name)


def test_a_diverged_world_keeps_its_state_until_its_reset(batch):
    batch._live._batch = counted = Counted(batch.batch, 4)
    batch.write("state/qvel", 1e9, worlds=[2])
    batch.step(1)
    assert batch.diverged.tolist() == [False, False, True, False]
    state = batch.read("state/qpos")[2].copy()
    batch.step(1000)
    assert counted.done.tolist() == [1001, 1001, 1, 1001]
    assert batch.steps().tolist() == [1001, 1001, 1, 1001]
    np.testing.assert_array_equal(batch.read("state/qpos")[2], state)
    batch.reset([2])
    batch.step(7)
    assert counted.done.tolist() == [1008, 1008, 8, 1008]
    assert not batch.diverged.any()


def test_a_world_that_diverges_within_a_call_is_left_after_at_most_100_steps(batch):
    batch._live._batch = counted = Counted(batch.batch, 4)
    batch.write("state/qvel", 1e9, worlds=[0])
    batch.step(5000)
    assert counted.done.tolist() == [100, 5000, 5000, 5000]


def test_all_worlds_may_diverge(batch):
    batch.write("state/qvel", 1e9)
    batch.step(300)
    assert batch.diverged.all()
    batch.reset()
    batch.step(1)
    assert not batch.diverged.any()


def test_one_warning_is_given_for_all_divergences_of_a_batch(batch, caplog):
    with caplog.at_level(logging.WARNING):
        for world in (1, 3):
            batch.write("state/qvel", 1e9, worlds=[world])
            batch.step(10)
        batch.reset()
        batch.write("state/qvel", 1e9, worlds=[0])
        batch.step(10)
    (record,) = caplog.records
    assert record.getMessage().startswith("world 1 of 4 diverged at step 10; it, and every other")


def test_diverged_worlds_change_no_other(batch):
    calm = CpuBatch(build_robot("qbmove-2dof"), 4)
    for b in (batch, calm):
        b.write("joint_1/reference_1", 0.4)
    batch.write("state/qvel", 1e9, worlds=[0])
    for n in (1, 250, 3):
        batch.step(n)
        calm.step(n)
    np.testing.assert_array_equal(batch.read("state/qpos")[1:], calm.read("state/qpos")[1:])


def test_a_diverged_simulation_of_a_sweep_is_marked_and_changes_no_other():
    def sweep(values):
        plan = SweepPlan(source="qbmove-1dof", variations=(parse_variation(f"joint.k1={values}"),), duration=0.2,
                         timestep=0.002, commands={"joint/equilibrium_position": 0.3})  # fmt: skip
        return run_sweep(plan)

    both, alone = sweep("0.0019,1000,0.003"), sweep("0.0019,0.003")
    assert both.column("diverged").tolist() == [False, True, False]
    assert [row[2:] for i, row in enumerate(both.rows) if i != 1] == [row[2:] for row in alone.rows]
