"""Walks over bars: statistics against known values, resuming, and verdicts in made-up worlds."""

import dataclasses
import math

import mujoco
import numpy as np
import pytest
from mutations import quick

from pliant.base.errors import MissingDependency, PliantError
from pliant.papers import Context, softfoot_walk
from pliant.papers.frame.base import Verdict
from pliant.robots import build_robot
from pliant.walking import trials as walk_trials
from pliant.walking.trials import COURSES, Crossing, Rate, Walk, fisher, mcnemar, read_walks, walk_many, wilson
from pliant.walking.walk import WalkResult

HEIGHTS = (0.005, 0.010, 0.015, 0.020, 0.025, 0.030)


def crossing(completed=True, error=0.05, offset=0.04):
    result = WalkResult(
        completed=completed, fall_time=math.nan if completed else 5.0, distance=1.5, drift=0.0, steps=10,
        max_base_pitch=0.03, max_base_roll=0.01, rms_base_pitch=0.02, max_dcm_error=error, max_adjustment=0.0,
        duration=10.0, bars=(0.6,),
    )  # fmt: skip
    return Crossing(result=result, offset=offset)


def world(rigid, soft, *, seeds=40, motion=0.7, best="between"):
    """Walks whose rates at each height are given; soft feet fail first where the bar is not at the best place."""
    found = {
        Walk(feet=feet, height=0.0, seed=seed): crossing(True, 0.01)
        for feet in ("rigid", "soft")
        for seed in range(seeds)
    }
    for feet, rates in (("rigid", rigid), ("soft", soft)):
        for height, value in zip(HEIGHTS, rates, strict=True):
            for seed in range(seeds):
                completed = seed < round(value * seeds)
                error = 0.01 + height * (2.0 if feet == "rigid" else 2.0 * motion) * (1.0 + 0.01 * seed)
                offset = 0.04 if completed is (best == "between") else 0.13
                found[Walk(feet=feet, height=height, seed=seed)] = crossing(completed, error, offset)
    return found


PAPER = world(rigid=(0.6, 0.5, 0.4, 0.0, 0.0, 0.0), soft=(1.0, 1.0, 1.0, 0.95, 0.9, 0.8))
OPPOSITE = world(rigid=(1.0,) * 6, soft=(0.5, 0.4, 0.3, 0.2, 0.1, 0.0), motion=1.5, best="toes")


def verdicts(walks, differing=()):
    return {s.where + " " + s.what[:30]: s for s in softfoot_walk.judge(walks, differing)}


def test_in_the_world_of_the_paper_every_judged_statement_is_consistent():
    found = softfoot_walk.judge(PAPER, [])
    assert [s.verdict for s in found] == [Verdict.CONSISTENT] * 6 + [Verdict.NOT_JUDGED]
    assert not [t.name for s in found for t in s.missed]


def test_in_the_opposite_world_every_target_on_walks_is_missed():
    found = softfoot_walk.judge(OPPOSITE, ["settings.lift"])
    met = [t.name for s in found for t in s.targets if t.passed]
    # The motion still grows with the height, and the place of the bar still matters.
    assert set(met) == {
        "centre of mass: rank correlation of motion and height, rigid",
        "soft: chance that the place of the bar does not matter",
    }


def test_a_comparison_on_a_size_of_ours_says_what_comes_out_on_the_likely_sizes_of_the_paper():
    tall = world(rigid=(1.0, 0.9, 0.5, 0.2, 0.0, 0.0), soft=(1.0, 1.0, 1.0, 0.9, 0.9, 0.8))
    found = softfoot_walk.judge(tall, [])[0]
    assert found.verdict is Verdict.CONSISTENT
    assert "On 5 mm, likely a size of the paper: rigid 40 of 40" in found.found.replace("40/40", "40 of 40")
    assert "On 10 mm" in found.found
    assert "20 mm, is ours" in found.rests_on


def test_a_motion_that_is_smaller_on_flat_ground_already_is_none_that_bars_show():
    walks = {
        w: crossing(c.result.completed, c.result.max_dcm_error + (0.05 if w.feet == "rigid" else 0.0))
        for w, c in world(rigid=(1.0,) * 6, soft=(1.0,) * 6, motion=1.2).items()
    }
    found = next(s for s in softfoot_walk.judge(walks, []) if "centre of mass" in s.what)
    assert "centre of mass: motion added by a bar, soft less rigid feet" in {t.name for t in found.missed}


def test_a_reduced_motion_is_told_together_with_that_on_flat_ground():
    flat = {
        Walk(feet=feet, height=0.0, seed=seed): crossing(True, 0.05 if feet == "rigid" else 0.04)
        for feet in ("rigid", "soft")
        for seed in range(40)
    }
    found = next(s for s in softfoot_walk.judge({**PAPER, **flat}, []) if "centre of mass" in s.what)
    assert "On flat ground soft feet have 0.80 times" in found.found


def test_motion_that_does_not_grow_and_a_place_that_does_not_matter_are_seen():
    flat = {w: crossing(c.result.completed, 0.05, 0.04 if w.seed % 2 else 0.13) for w, c in PAPER.items()}
    missed = {t.name for s in softfoot_walk.judge(flat, []) for t in s.missed}
    assert "centre of mass: rank correlation of motion and height, rigid" in missed
    assert "soft: chance that the place of the bar does not matter" in missed


def test_one_size_or_none_of_the_likely_sizes_is_told_and_not_judged():
    tall = {w: c for w, c in PAPER.items() if w.height in (0.0, 0.02)}
    found = {s.where + s.what[-20:]: s for s in softfoot_walk.judge(tall, [])}
    assert sum(s.found.startswith("Not judged on one size") and not s.targets for s in found.values()) == 1
    assert sum(s.found.startswith("Not judged: no bar had a likely size") for s in found.values()) == 1


def test_walks_of_talos_say_that_soft_feet_alone_do_not_carry_it():
    talos = {dataclasses.replace(w, robot="talos"): c for w, c in PAPER.items()}
    judged = [s for s in softfoot_walk.judge(talos, []) if s.targets]
    assert len(judged) == 6
    assert all("0.91 of the m g h" in s.rests_on for s in judged)
    assert not any("m g h" in s.rests_on for s in softfoot_walk.judge(PAPER, []))


def test_the_way_of_another_robot_is_scaled_and_the_bars_are_not():
    (walk,) = {
        dataclasses.replace(w, feet="", seed=0)
        for w in softfoot_walk.cells(softfoot_walk.SoftFootWalkOptions(robot="talos", heights=(0.02,)), quick=False)
        if w.height and w.ankle_stiffness is None
    }
    length, mass = walk.goal / 1.45, COURSES["talos"].mass / COURSES["biped"].mass
    assert length == pytest.approx(COURSES["talos"].height / COURSES["biped"].height)
    assert walk.duration / 15.0 == pytest.approx(math.sqrt(length))
    assert walk.bar_range == pytest.approx((0.25 * length, 1.15 * length))
    assert walk.push / 2.0 == pytest.approx(mass * math.sqrt(length))
    assert walk.height == 0.02


@pytest.mark.parametrize("name", sorted(COURSES))
def test_the_course_has_the_size_of_the_robot(name):
    try:
        robot = build_robot(name, {"controller": "walking", "actuation": "torque", "feet": "rigid"})
    except MissingDependency as missing:
        pytest.skip(str(missing))
    course, device = COURSES[name], next(d for d in robot.devices if d.name == "walking")
    model = robot.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("rest").id)
    mujoco.mj_forward(model, data)
    assert model.body_mass.sum() == pytest.approx(course.mass, rel=0.02)
    assert data.subtree_com[0][2] == pytest.approx(course.height, abs=2e-3)
    assert course.ankle_stiffness == pytest.approx(device.settings.ankle_stiffness, rel=1e-3)
    assert sum(course.sole) / 2 == pytest.approx(device.settings.center_of_pressure, abs=6e-3)
    soft = build_robot(name, {"feet": "soft"}).compile()
    foot = next(d for d in robot.devices if d.name == device.force_torque[0]).body
    data = mujoco.MjData(soft)
    mujoco.mj_forward(soft, data)
    cube = next(i for i in range(soft.nbody) if soft.body(i).name.endswith("attachment_cube"))
    # The soft foot of Talos is pitched by 2 degrees, 107 mm below the ankle.
    assert data.xpos[cube][0] - data.xpos[soft.body(foot).id][0] == pytest.approx(course.foot, abs=4e-3)


def test_few_seeds_are_not_compared():
    few = world(rigid=(0.0,) * 6, soft=(1.0,) * 6, seeds=4)
    found = {s.what: s for s in softfoot_walk.judge(few, [])}
    judged = [s for s in found.values() if s.targets]
    assert len(judged) == 2
    assert sum("Not judged with 4 walks a cell" in s.found for s in found.values()) == 4


def test_the_interval_of_wilson_is_the_printed_one():
    # Brown, Cai, DasGupta 2001 discuss x = 0: the upper end is z^2 / (n + z^2).
    z2 = 1.959963984540054**2
    assert wilson(0, 10) == pytest.approx((0.0, z2 / (10 + z2)))
    assert wilson(10, 10) == pytest.approx((10 / (10 + z2), 1.0))
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(5, 10)
    assert low + high == pytest.approx(1.0)
    # It is where the score test just rejects: |p - x| = z sqrt(x (1 - x) / n).
    assert abs(0.5 - low) == pytest.approx(math.sqrt(z2 * low * (1.0 - low) / 10))


def test_the_exact_tests_are_the_sums_of_their_distributions():
    # The lady tasting tea, all eight cups right: 1 of 70 orders, and the mirrored one.
    assert fisher(Rate(successes=4, trials=4), Rate(successes=0, trials=4)) == pytest.approx(2 / 70)
    assert mcnemar([True, False] * 5, [False, False] * 5) == (5, 0, pytest.approx(2 * 0.5**5))
    assert mcnemar([True, False], [True, False]) == (0, 0, 1.0)
    with pytest.raises(PliantError, match="must be equally many"):
        mcnemar([True], [])


def test_walks_that_were_kept_are_not_simulated_again(tmp_path, monkeypatch):
    count = []

    def run(walk, settings):
        count.append(walk)
        return crossing(walk.seed % 2 == 0, offset=math.nan)

    monkeypatch.setattr(walk_trials, "_run", run)
    file, walks = tmp_path / "walks.jsonl", [Walk(feet="soft", height=0.02, seed=s) for s in range(4)]
    heard = []
    first = walk_many(walks[:2], file=file, progress=lambda f, text: heard.append((f, text)))
    assert heard[-1] == (1.0, "biped, soft feet, 20 mm, seed 1")
    with file.open("a") as out:
        out.write('{"key": "cut off')
    again = walk_many(walks, file=file)
    assert [w.seed for w in count] == [0, 1, 2, 3]
    assert again[walks[1]].result.fall_time == first[walks[1]].result.fall_time == 5.0
    assert math.isnan(again[walks[0]].result.fall_time)
    assert again[walks[0]].result.bars == (0.6,)
    # Other settings are another walk.
    walk_many(walks[:1], file=file, settings={"soft": {"lift": 0.09}})
    assert len(count) == 5
    assert len(read_walks(file)) == 5


def test_the_place_of_the_bar_is_that_under_the_first_loaded_foot():
    def row(left, right, loads):
        return {"feet": np.array([[left, 0.1, 0.0], [right, -0.1, 0.0]]), "load": loads}

    trace = [row(0.5, 0.2, (300.0, 0.0)), row(0.5, 0.58, (200.0, 100.0)), row(0.5, 0.58, (0.0, 300.0))]
    assert walk_trials._first_offset(trace, 0.66, (-0.07, 0.13)) == pytest.approx(0.08)
    assert math.isnan(walk_trials._first_offset(trace, 2.0, (-0.07, 0.13)))


def test_both_feet_meet_the_same_bars_and_pushes():
    walks = softfoot_walk.cells(softfoot_walk.SoftFootWalkOptions(seeds=3), quick=False)
    assert len(walks) == 2 * 3 * (7 + 1)
    pairs = {}
    for walk in walks:
        pairs.setdefault(dataclasses.replace(walk, feet=""), set()).add(walk.feet)
    assert all(feet == {"rigid", "soft"} for feet in pairs.values())


def test_the_quick_version_walks(tmp_path):
    result = quick("softfoot-walk")
    assert [t.name for t in result.failures] == []
    assert [f.name for f in result.figures] == ["rates"]
    assert result.tables[0].rows[0][:3] == ("flat", "rigid", "1/1")


def test_the_number_of_walks_follows_the_options(tmp_path):
    options = softfoot_walk.SoftFootWalkOptions(seeds=2, heights=(0.02,))
    context = Context(output=tmp_path)
    assert context.quick is False
    assert [w.height for w in softfoot_walk.cells(options, context.quick)] == [0.0] * 4 + [0.02] * 4 + [0.02] * 4
