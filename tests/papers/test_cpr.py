"""The experiments on parallel robots, and the independent solutions that they are held against."""

import math

import numpy as np
import pytest
from mutations import quick, quick_run

from pliant.papers.cpr_accuracy import shoot, symmetric_home
from pliant.papers.cpr_buckling import elastica_angle
from pliant.papers.cpr_dynamics import time_stretch
from pliant.papers.cpr_planar import loop_poses
from pliant.rods import Rod, Round, load_robot
from pliant.rods.figures import figure_of_robots, strain_scale

VERDICTS = {
    "cpr-planar": {
        "figures 3a to 3c": "consistent",
        "figure 3d": "consistent",
        "figure 3e": "consistent",
        "figure 3f": "consistent",
        "sections 1 and 3": "reproduced",
        "software of footnote 1, RERRFR/robot_config.yaml, initial_config": "not reproduced",
    },
    "cpr-stewart": {
        "section 5, figure 4": "consistent",
        "section 3.1, table 1": "reproduced",
        "sections 1 and 3": "reproduced",
        "software of footnote 1, user_parameters_vectors of robot_config.yaml": "not reproduced",
    },
    "cpr-accuracy": {
        "section 2, equation 2": "not reproduced",
        "section 2, below equation 4": "not reproduced",
        "section 3.1, equations 5 and 6, table 1": "not reproduced",
        "section 4": "not judged",
        "section 5, last paragraph": "consistent",
    },
    "cpr-buckling": {"section 2": "not judged"},
}


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        pytest.param("cpr-planar", {"robots"}, marks=pytest.mark.nightly),
        ("cpr-stewart", {"robots", "joints"}),
        ("cpr-accuracy", {"accuracy"}),
        ("cpr-buckling", {"buckling"}),
    ],
)
def test_the_quick_version_meets_every_check_and_judges_every_statement(name, figures):
    result = quick(name)
    assert [t.name for t in result.failures] == []
    assert {s.where: str(s.verdict) for s in result.statements} == VERDICTS[name]
    assert {f.name for f in result.figures} == figures


@pytest.mark.nightly
@pytest.mark.slow
def test_the_dynamic_models_meet_every_check_and_time_is_none():
    result = quick("cpr-dynamics")
    assert [t.name for t in result.failures] == []
    assert [str(s.verdict) for s in result.statements] == ["not judged"]
    assert not [t.name for t in result.every_target if "real time" in t.unit]


def test_an_experiment_reports_progress_that_rises():
    seen = quick_run("cpr-buckling").progress
    assert len(seen) > 2
    assert seen == sorted(seen)


def test_scipy_alone_bends_a_cantilever_as_beam_theory_says():
    rod = Rod(length=1.0, section=Round(radius=1e-3))
    force = 1e-4
    wrench = np.array([force, 0.0, 0.0, 0.0, force * 1.0, 0.0])
    for printed in (False, True):  # at L = 1 the second factor does no harm
        tip = shoot(rod, 1.0, wrench, np.eye(4), np.zeros(3), printed=printed)
        assert tip[0] == pytest.approx(force / (3 * 0.1570796), rel=1e-4)


def test_the_printed_moment_equation_is_wrong_where_the_length_is_not_one():
    rod = Rod(length=2.0, section=Round(radius=1e-3))
    force = 1e-5
    wrench = np.array([force, 0.0, 0.0, 0.0, force * 2.0, 0.0])
    right = shoot(rod, 2.0, wrench, np.eye(4), np.zeros(3), printed=False)
    wrong = shoot(rod, 2.0, wrench, np.eye(4), np.zeros(3), printed=True)
    assert right[0] == pytest.approx(force * 8 / (3 * 0.1570796), rel=1e-4)
    assert abs(right[16]) < 1e-9  # no moment at a free tip
    assert abs(wrong[16]) > 1e-5


def test_the_defect_of_the_published_solver_has_its_size():
    robot = load_robot("Stewart_Gough_6EFR")
    assert symmetric_home(robot, 9.8, printed=False) == pytest.approx(1.1298292, abs=1e-6)
    assert symmetric_home(robot, 9.8, printed=True) == pytest.approx(1.1313654, abs=2e-6)


def test_the_elastica_opens_with_the_square_root_of_the_load():
    # Close to buckling: angle^2 = 8 (P / P_cr - 1).
    assert elastica_angle(1.0) == 0.0
    assert elastica_angle(1.0001) == pytest.approx(math.sqrt(8e-4), rel=1e-3)
    assert elastica_angle(2.183) == pytest.approx(2.28, abs=0.01)


def test_a_stretched_swing_is_recognised():
    t = np.arange(2000) * 1e-3
    assert time_stretch(np.sin(20 * t), np.sin(20 * 1.01 * t)) == pytest.approx(1.01, abs=1e-4)


def test_paths_close_and_figures_have_a_panel_a_robot():
    home = load_robot("3RR").home()
    poses = loop_poses(home.pose2d, 9)
    np.testing.assert_allclose(poses[0], poses[-1], atol=1e-12)
    figure = figure_of_robots([[home], [load_robot("3ER").home()]], ["one", "two"])
    assert [a.get_title(loc="left") for a in figure.axes[:2]] == ["one", "two"]
    assert strain_scale([home]) > 1.0
