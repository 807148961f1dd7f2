"""Walks over bars: statistics against known values, resuming, and verdicts in made-up worlds."""

import dataclasses
import itertools
import math

import mujoco
import numpy as np
import pytest
from mutations import quick

from pliant.base.errors import MissingDependency, PliantError
from pliant.base.numerics import holm
from pliant.experiments import Context
from pliant.experiments.base import Verdict
from pliant.papers import softfoot_walk
from pliant.robots import build_robot
from pliant.tasks.journal import read_journal
from pliant.walking import trials as walk_trials
from pliant.walking.trials import (
    COURSES,
    Crossing,
    Rate,
    Walk,
    fisher,
    fisher_stratified,
    mcnemar,
    walk_many,
    wilson,
)
from pliant.walking.walk import WalkResult, WalkRow

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


PAPER = world(rigid=(0.4, 0.0, 0.0, 0.0, 0.0, 0.0), soft=(1.0, 0.95, 0.95, 0.9, 0.9, 0.8), motion=0.4)
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


def test_all_statements_on_both_sizes_are_judged_at_the_same_sizes():
    # What was found: rigid feet fall at 20 mm, soft feet pass 5 and 10 mm. No pair of sizes shows all three.
    rigid, soft = (1.0, 0.9, 0.45, 0.325, 0.2, 0.2), (1.0, 1.0, 1.0, 0.7, 0.3, 0.15)
    found = world(rigid, soft)
    verdicts = {
        sizes: [str(s.verdict) for s in softfoot_walk.judge(found, [], sizes)[:3]]
        for sizes in itertools.combinations(HEIGHTS, 2)
    }
    assert verdicts[0.005, 0.010] == ["not reproduced", "not reproduced", "consistent"]
    assert verdicts[0.015, 0.020] == ["consistent", "not reproduced", "not reproduced"]
    assert ["consistent"] * 3 not in verdicts.values()
    first = softfoot_walk.judge(found, [])[0]
    assert "5 mm: rigid 40 of 40" in first.found.replace("40/40", "40 of 40")
    assert "Sizes of ours, not judged: 15 mm: rigid 18 of 40" in first.found.replace("18/40", "18 of 40")
    assert "depends on the stiffness of the loaded ankles" in first.rests_on


def test_the_chances_of_all_tests_are_adjusted_for_their_number():
    bare = world((0.8,) * 6, (0.95,) * 6)
    raw = mcnemar(*([c.result.completed for c in softfoot_walk.select(bare, feet, 0.01)] for feet in ("rigid", "soft")))
    adjusted = softfoot_walk._chances(bare, list(HEIGHTS), [0.005, 0.010])
    assert set(adjusted) == {"feet 0.005", "feet 0.01", "place", "motion"}
    assert raw[2] == pytest.approx(2 * 0.5**6)
    assert adjusted["feet 0.01"] == pytest.approx(2 * raw[2])  # the two smallest chances are of place and motion


def test_a_seed_is_one_sample_of_the_motion_at_however_many_heights():
    _, added = softfoot_walk._less_motion(world((1.0,) * 6, (1.0,) * 6, seeds=25), list(HEIGHTS))
    assert sorted(added) == list(range(25))
    rigid, soft = added[0]
    assert (rigid, soft) == pytest.approx((2.0 * np.mean(HEIGHTS), 1.4 * np.mean(HEIGHTS)))


def test_the_stiffness_of_the_ankles_is_varied_over_one_bar_and_drawn():
    options = softfoot_walk.SoftFootWalkOptions(seeds=20)
    walks = {
        w: crossing(w.feet == "soft" or w.ankle_stiffness is not None) for w in softfoot_walk.cells(options, False)
    }
    rates = softfoot_walk.by_ankles(walks)
    assert list(rates) == [0.0, 25.0, 50.0, 100.0]
    assert {k: r["rigid"].successes for k, r in rates.items()} == {0.0: 20, 25.0: 20, 50.0: 20, 100.0: 0}
    assert all(r[feet].trials == 20 for r in rates.values() for feet in ("rigid", "soft"))
    figure = softfoot_walk.ankles_figure(rates).figure
    (axis,) = figure.axes
    drawn = [line.get_xdata().tolist() for line in axis.get_lines() if len(line.get_xdata()) == 4]
    assert [0.0, 25.0, 50.0, 100.0] in drawn
    said = "at 50 N m/rad rigid 20/20 (84 to 100 %), soft 20/20 (84 to 100 %); at 100 N m/rad rigid 0/20"
    first, second, *_ = softfoot_walk.judge(
        {w: c for w, c in walks.items() if w.ankle_stiffness is None}, [], ankles=rates
    )
    assert said in first.rests_on.replace(" of ", "/")
    assert said in second.rests_on.replace(" of ", "/")


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


def test_one_size_or_none_is_told_and_not_judged():
    tall = {w: c for w, c in PAPER.items() if w.height in (0.0, 0.02)}
    one = softfoot_walk.judge(tall, [], [0.02])
    assert [s.found.startswith("Not judged on one size") and not s.targets for s in one[:3]] == [False, True, False]
    none = softfoot_walk.judge(tall, [])
    assert all(s.found.startswith("Not judged: no bar had a judged size") and not s.targets for s in none[:3])


def test_walks_of_talos_say_that_soft_feet_alone_do_not_carry_it():
    talos = {dataclasses.replace(w, robot="talos"): c for w, c in PAPER.items()}
    judged = [s for s in softfoot_walk.judge(talos, []) if s.targets]
    assert len(judged) == 6
    assert all("0.91 of the m g h" in s.rests_on for s in judged)
    assert not any("m g h" in s.rests_on for s in softfoot_walk.judge(PAPER, []))


def test_the_way_of_another_robot_is_scaled_and_the_bars_are_not():
    (walk,) = {
        dataclasses.replace(w, feet="", seed=0)
        for w in softfoot_walk.cells(
            softfoot_walk.SoftFootWalkOptions(robot="talos", sizes=(0.02,), heights=()), quick=False
        )
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
    assert len(judged) == 1
    assert sum("Not judged with 4 walks a cell" in s.found for s in found.values()) == 5


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


def test_the_stratified_test_is_that_of_fisher_in_one_stratum_and_compares_within_strata():
    tea = (Rate(successes=4, trials=4), Rate(successes=0, trials=4))
    assert fisher_stratified([tea]) == pytest.approx(fisher(*tea))
    # Two sets of cups, all right: 1 of 70^2 orders, and the mirrored one.
    assert fisher_stratified([tea, tea]) == pytest.approx(2 / 70**2)
    # Pooled, the first samples look better only because more of them stand where all succeed.
    strata = [
        (Rate(successes=18, trials=18), Rate(successes=2, trials=2)),
        (Rate(successes=0, trials=2), Rate(successes=0, trials=18)),
    ]
    pooled = [Rate(successes=sum(p[k].successes for p in strata), trials=20) for k in (0, 1)]
    assert fisher(*pooled) < 1e-5
    assert fisher_stratified(strata) == pytest.approx(1.0)
    assert fisher_stratified([]) == 1.0


def test_chances_are_adjusted_by_the_method_of_holm():
    # Holm 1979: the smallest times 4, the next times 3 and not smaller than the one before, ...
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([0.04]) == [0.04]


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
    assert len(read_journal(file, Crossing)) == 5


def test_the_place_of_the_bar_is_that_under_the_first_loaded_foot():
    def row(left, right, loads):
        return WalkRow(np.zeros(1), np.array([[left, 0.1, 0.0], [right, -0.1, 0.0]]), loads)

    trace = [row(0.5, 0.2, (300.0, 0.0)), row(0.5, 0.58, (200.0, 100.0)), row(0.5, 0.58, (0.0, 300.0))]
    assert walk_trials._first_offset(trace, 0.66, (-0.07, 0.13)) == pytest.approx(0.08)
    assert math.isnan(walk_trials._first_offset(trace, 2.0, (-0.07, 0.13)))


def test_both_feet_meet_the_same_bars_and_pushes():
    walks = softfoot_walk.cells(softfoot_walk.SoftFootWalkOptions(seeds=3), quick=False)
    assert len(walks) == 2 * 3 * (7 + 3)
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
    walked = [(w.height, w.ankle_stiffness) for w in softfoot_walk.cells(options, context.quick)[::4]]
    assert walked == [(h, None) for h in (0.0, 0.005, 0.01, 0.02)] + [(0.02, k) for k in (0.0, 25.0, 50.0)]
