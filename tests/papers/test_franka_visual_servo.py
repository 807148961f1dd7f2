"""Visual servoing of a Franka arm before an AprilTag."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from mutations import quick

from pliant.papers.arms.tag_servo import deviation, missing_for_pictures
from pliant.papers.franka_visual_servo import image_statement, interface_statement, synchronous_statement


@pytest.mark.nightly
@pytest.mark.network
@pytest.mark.slow
def test_the_quick_version_judges_every_statement_and_passes_its_checks():
    result = quick("franka-visual-servo")
    assert not result.error
    assert [target.name for target in result.failures] == []
    assert [statement.what for statement in result.not_reproduced] == []
    assert {figure.name for figure in result.figures} == {"corners", "paths", "velocities", "convergence"}
    reason = missing_for_pictures()
    assert any("rendered images: " in note for note in result.notes) == bool(reason)


def run_that(status, n):
    return SimpleNamespace(
        law="PBVS",
        status=status,
        message="the connection was lost",
        converged=status == "converged",
        time=0.02 * np.arange(n),
        place=np.zeros((n, 3)),
        errors=np.zeros((n, 2)),
        counters={"cycles": 20 * n, "lost": 0, "late": 0, "timeouts": 0, "malformed": 0},
    )


def test_a_run_that_ends_early_at_the_interface_is_no_transfer_of_the_program():
    near = [run_that("converged", 120)]
    assert str(interface_statement(near, [run_that("converged", 120)]).verdict) == "consistent"
    broken = interface_statement(near, [run_that("fault", 3)])
    assert str(broken.verdict) == "not reproduced"
    assert "PBVS ended early: fault, the connection was lost." in broken.found


def test_runs_without_a_single_image_are_judged_and_not_reproduced():
    none = np.zeros((0, 2))
    runs = [
        SimpleNamespace(
            law=law,
            features="exact features",
            rendered=False,
            time=np.zeros(0),
            path_deviation=deviation(none, none),
            image_deviation=math.inf,
        )
        for law in ("PBVS", "IBVS")
    ]
    assert str(image_statement(runs).verdict) == "not reproduced"
    assert str(synchronous_statement(runs).verdict) == "not reproduced"
