"""Before a slow simulation begins, its degrees of freedom and cost are said; beyond a number it is refused."""

import re
import time

import mujoco
import pytest

import pliant
from pliant.base.errors import ModelError
from pliant.rods.model.cost import MAX_FREEDOMS, PREFIX, count_freedoms, note_cost, step_time

ROD = {"length": 0.5, "radius": 1e-3, "body_a": "world", "body_b": None, "pose_a": {"xyz": [0.0, 0.0, 3.0]}}


def speed_notes(robot):
    return [note for note in robot.notes if note.startswith(PREFIX)]


def many(robot, count):
    if robot == "rods":
        rods = [{**ROD, "name": f"rod{k}", "segments": count // 2} for k in range(2)]
        return pliant.load("bavs-1dof", rods=rods)
    return pliant.load(robot, options={"pairs" if robot == "tdcr" else "segments": count})


@pytest.mark.parametrize(
    ("robot", "few", "count"), [("3RR", 10, 100), ("6EFR", 4, 13), ("tdcr", 1, 6), ("rods", 10, 100)]
)
def test_a_model_slower_than_real_time_says_its_freedoms_and_cost_once(robot, few, count):
    assert not speed_notes(many(robot, few))
    (note,) = speed_notes(many(robot, count))
    freedoms = int(re.search(r"(\d+) degrees", note)[1])
    model = many(robot, count).compile()
    assert freedoms == model.nv
    data = mujoco.MjData(model)
    times = []
    for _ in range(20):
        begin = time.process_time()
        mujoco.mj_step(model, data)
        times.append(time.process_time() - begin)
    assert 0.1 * step_time(freedoms) < min(times) < 10.0 * step_time(freedoms)


def test_a_parallel_robot_that_is_too_large_is_refused_with_the_number_that_is_valid():
    with pytest.raises(
        ModelError, match=r"with robot.segments=120 .* at most 2000, as with robot.segments=(\d+)"
    ) as error:
        many("6PFR", 120)
    valid = int(re.search(r"(\d+)$", error.value.message)[1])
    assert count_freedoms(many("6PFR", valid).spec) <= MAX_FREEDOMS


def test_rods_and_tendon_robots_that_are_too_large_are_refused(monkeypatch):
    monkeypatch.setattr("pliant.rods.model.cost.MAX_FREEDOMS", 100)
    with pytest.raises(ModelError, match=r"rod1: with segments=20 .* at most 100, as with segments=1\d"):
        many("rods", 40)
    with pytest.raises(ModelError, match=r"tdcr: with robot.pairs=3 .* at most 100, as with robot.pairs=1"):
        many("tdcr", 3)


def test_the_estimate_replaces_an_earlier_one():
    notes = ["another note"]
    note_cost(notes, "one", 600, 1e-3, "segments", 100)
    note_cost(notes, "one", 700, 1e-3, "segments", 100)
    assert len(notes) == 2
    assert "700 degrees" in notes[1]
    note_cost(notes, "one", 100, 1e-3, "segments", 10)
    assert notes == ["another note"]
