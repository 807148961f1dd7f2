"""The arm of two qbMoves: its stiction bands, and numbers computed independently beforehand."""

import numpy as np
import pytest

from pliant.experiments import Context, find_experiment
from pliant.experiments.two_dof import _swings, stiction_band
from pliant.laws import QbMove


@pytest.mark.parametrize(
    ("preset", "band"),
    [(0.0, 0.287), (0.1, 0.248), (0.2, 0.166), (0.3, 0.088), (0.4, 0.039), (0.5, 0.016), (0.7, 0.0027)],
)
def test_the_stiction_band_shrinks_with_the_preset(preset, band):
    low, high = stiction_band(QbMove(), preset)
    assert high == pytest.approx(band, abs=6e-4)
    assert low == pytest.approx(-high)


def test_swings_count_turning_points():
    t = np.linspace(0.0, 4 * np.pi, 1000)
    assert _swings(np.sin(t)) == 4
    assert _swings(np.linspace(0.0, 1.0, 50)) == 0
    assert _swings(0.001 * np.sin(t)) == 0


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return find_experiment("two-dof").run(Context(output=tmp_path_factory.mktemp("two"), quick=True))


def test_every_target_is_met(result):
    assert [t.name for t in result.failures] == []
    assert len(result.targets) == 19


def test_the_errors_under_gravity_are_those_computed_beforehand(result):
    rows = {(row[0], row[1]): row[4:6] for row in result.tables[1].rows}
    assert rows["toolbox", "soft"] == pytest.approx([0.358, 0.286], rel=0.01)
    assert rows["toolbox", "stiff"] == pytest.approx([0.100, 0.049], rel=0.02)
    # Beforehand over a slightly different span of time.
    assert rows["identified", "soft"] == pytest.approx([0.322, 0.127], rel=0.05)
    assert rows["identified", "stiff"] == pytest.approx([0.137, 0.163], rel=0.05)


def test_the_motors_rise_as_computed_beforehand(result):
    rise = {(row[0], row[1]): row[2] for row in result.tables[0].rows}
    assert rise["soft", "joint_1"] == pytest.approx(0.095, rel=0.02)
    assert rise["stiff", "joint_1"] == pytest.approx(0.114, rel=0.02)


def test_damping_that_grows_with_the_preset_calms_the_stiff_link(result):
    plain = result.traces["step_stiff_joint_1_position_rad"]
    damped = result.traces["step_damped_joint_1_position_rad"]
    assert damped.max() - 0.8 < 0.2 * (plain.max() - 0.8)
