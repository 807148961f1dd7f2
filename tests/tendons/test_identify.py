"""Identification of tendon-driven robots: recovery of known parameters, and two measured robots."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from shared_files import shared_file

from pliant.base.errors import PliantError
from pliant.tendons import Resolution
from pliant.tendons.identify import apply, cross_validate, fit, nominal, residual
from pliant.tendons.measured import TipTable, read_tips
from pliant.tendons.robots import generic, measured_v4

COARSE = Resolution(elements=1, bending=1, torsion=0)
FITTED_V4 = {
    "marker": (-0.00031, -0.00072, -0.00315),
    "base": (0.00023, 0.00152, -0.00311),
    "young": (0.10388,),
    "angle": (0.13053, 0.09266, 0.18414, 0.1075, 0.06731, 0.05863, 0.04301, 0.00016, -0.02448),
    "radius": (0.00056, -0.00024, 0.00005),
    "offset": (-0.0012, -0.00128, -0.00154, -0.00054, -0.00029, -0.00039, -0.00073, -0.00043, -0.00069),
    "compliance": (-0.18011, -0.95189, -0.78899),
    "friction": (-0.30762, 0.01389, -0.45565),
    "guide": (0.30406,),
    "presliding": (0.19715,),
    "mass": (-2.28454,),
    "tilt": (0.0024, -0.02055),
    "curvature": (-0.54625, -0.09942, -0.83462, 0.33346, 0.09172, -0.15321),
}
"""Differences of v4 from its nominal description (`nominal`), from every third row of its 1620 tips."""


def table(description, noise: float = 0.0) -> TipTable:
    """Return tips of motions of a robot, each there and back."""
    rng = np.random.default_rng(3)
    pulls, patterns = [np.zeros((1, 6))], ["rest"]
    for k, goal in enumerate(rng.normal(size=(6, 6))):
        share = np.concatenate([np.linspace(0.2, 1.0, 4), np.linspace(0.8, 0.0, 4)])
        pulls.append(2e-3 * share[:, None] * (goal - goal.mean()))
        patterns += [f"motion {k}"] * len(share)
    data = TipTable(
        names=tuple("abcdef"), pull=np.vstack(pulls), tip=np.zeros((len(patterns), 3)), pattern=tuple(patterns)
    )
    tips = residual(description, data, nominal(description), COARSE)
    return dataclasses.replace(data, tip=tips + noise * rng.normal(size=tips.shape))


def test_a_fit_recovers_friction_and_pretension_that_made_the_data():
    robot, truth = generic(), nominal(generic())
    truth["friction"][:] = [0.4, -0.3]
    truth["offset"][:] = 2e-4 * np.array([1.0, -0.5, 0.3, 0.2, 0.8, -0.4])
    data = table(apply(robot, truth))
    before = residual(robot, data, nominal(robot), COARSE)
    found = fit(robot, data, groups=("friction", "pretension and slack"), resolution=COARSE, prior=0.1)
    assert found.rmse() < 0.1 * np.sqrt((before**2).sum(axis=1).mean())
    lengths = found.parameters["offset"] + np.repeat(found.parameters["short"], 3)  # common or of each, alike in effect
    assert lengths == pytest.approx(truth["offset"], abs=1e-4)


def test_folds_leave_out_whole_motions_and_every_row_once():
    data = table(generic())
    folds = data.folds(3)
    assert np.all(np.sum(folds, axis=0) == 1)
    for mask in folds:
        inside = {p for p, m in zip(data.pattern, mask) if m}
        assert not inside & {p for p, m in zip(data.pattern, mask) if not m}


def test_left_out_tips_do_not_change_the_fit_that_judges_them():
    data = table(generic(), noise=5e-4)
    mask = data.folds(2)[1]
    other = dataclasses.replace(data, tip=np.where(mask[:, None], data.tip + 0.01, data.tip))
    options = {"groups": ("marker",), "resolution": COARSE, "jacobians": 0, "iterations": 1}
    a, b = (cross_validate(generic(), d, 2, **options)[1][1] for d in (data, other))
    assert a.parameters["marker"] == pytest.approx(b.parameters["marker"], abs=1e-12)


def test_a_file_without_its_columns_names_them(tmp_path):
    file = tmp_path / "tips.csv"
    file.write_text("time,x\n1,2\n")
    with pytest.raises(PliantError, match=r"needs the columns pattern_label, tip_x.*found time, x"):
        read_tips(file)
    file.write_text("pattern_label,a_mm,tip_x,tip_y,tip_z\np,1,2,3\n")
    with pytest.raises(PliantError, match="no number where one belongs"):
        read_tips(file)


@pytest.mark.shared
def test_the_fitted_robot_describes_all_1620_measured_tips_of_v4():
    data = read_tips(shared_file("data/tdcr/tips") / "v4_train.csv")
    assert len(data.tip) == 1620
    assert len(set(data.pattern)) == 66
    before, after = (
        np.sqrt((residual(robot, data, nominal(robot), COARSE) ** 2).sum(axis=1).mean())
        for robot in (measured_v4(), apply(measured_v4(), {name: np.array(value) for name, value in FITTED_V4.items()}))
    )
    assert before > 0.012
    assert after < 0.0044


def test_a_fit_finds_the_delay_the_yaw_and_the_pretension_of_a_segment_that_made_the_data():
    robot, truth = generic(), nominal(generic())
    truth["delay"][:], truth["yaw"][:], truth["short"][:] = 0.15, 0.1, [1e-3, -5e-4]
    data = table(robot)
    data = dataclasses.replace(data, rate=np.gradient(data.pull, 0.5, axis=0))
    data = dataclasses.replace(data, tip=residual(robot, data, truth, COARSE) + data.tip)
    groups = ("marker", "delay", "pretension and slack")
    found = fit(robot, data, groups=groups, resolution=COARSE, prior=0.1).parameters
    assert found["delay"] == pytest.approx(truth["delay"], abs=0.02)
    assert found["yaw"] == pytest.approx(truth["yaw"], abs=0.02)
    lengths = found["offset"] + np.repeat(found["short"], 3)
    assert lengths == pytest.approx(np.repeat(truth["short"], 3), abs=2e-4)


def test_rates_are_those_of_rows_of_one_motion(tmp_path):
    file = tmp_path / "tips.csv"
    rows = [(0.0, 0.0), (0.5, 1.0), (1.0, 3.0), (9.0, 3.0), (9.5, 2.0), (20.0, 0.0)]
    head = "timestamp,pattern_label,a_mm,tip_x,tip_y,tip_z\n"
    file.write_text(head + "".join(f"{t},p,{a},0,0,0\n" for t, a in rows))
    data = read_tips(file)
    assert 1e3 * data.rate[:, 0] == pytest.approx([2.0, 3.0, 4.0, -2.0, -2.0, 0.0])
    assert 1e3 * data.thinned(2).rate[:, 0] == pytest.approx([2.0, 4.0, -2.0])
    file.write_text(head + "1,p,0,0,0,0\n1,p,0,0,0,0\n")
    with pytest.raises(PliantError, match="row 3: timestamp must grow"):
        read_tips(file)
    file.write_text(head[10:] + "p,0,0,0,0\n")
    assert read_tips(file).rate is None
