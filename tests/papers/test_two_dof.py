"""The arm of two qbMoves: its stiction bands, and numbers computed independently beforehand."""

import numpy as np
import pytest
from mutations import quick

from pliant.experiments import Context, find_experiment
from pliant.laws import QbMove
from pliant.papers.two_dof import TwoDofOptions, _Sine, _step_statements, _swings, stiction_band


@pytest.mark.parametrize(
    ("preset", "band"),
    [(0.0, 0.287), (0.1, 0.248), (0.2, 0.166), (0.3, 0.088), (0.4, 0.039), (0.5, 0.016), (0.7, 0.0027)],
)
def test_the_stiction_band_shrinks_with_the_preset(preset, band):
    low, high = stiction_band(QbMove(), preset, 0.025)
    assert high == pytest.approx(band, abs=6e-4)
    assert low == pytest.approx(-high)


def test_swings_count_turning_points():
    t = np.linspace(0.0, 4 * np.pi, 1000)
    assert _swings(np.sin(t)) == 4
    assert _swings(np.linspace(0.0, 1.0, 50)) == 0
    assert _swings(0.001 * np.sin(t)) == 0


@pytest.fixture
def result():
    return quick("two-dof")


def test_every_check_passes_and_the_soft_link_alone_misses_its_statement(result):
    assert [t.name for t in result.failures] == []
    assert [s.what for s in result.not_reproduced] == ["Step, soft: the link achieves the desired position."]
    assert result.verdicts == {"reproduced": 0, "consistent": 7, "not reproduced": 1, "not judged": 3}


def test_the_result_has_a_summary(result):
    assert result.summary


def test_a_run_without_friction_names_no_stiction_band():
    traces = {
        f"{j}/{what}": np.linspace(0.0, 1.0, 9) for j in ("joint_1", "joint_2") for what in ("position", "equilibrium")
    }
    runs = {f"step_{name}": traces for name in ("soft", "stiff", "damped")}
    for friction, text in ((0.025, "from -166 to +166 mrad"), (0.0, "")):
        band = {preset: [(-0.166, 0.166)] * 2 for preset in ("soft", "stiff")}
        found = _step_statements(runs, band, TwoDofOptions(friction=friction))[1].found
        assert text in found
        assert ("dry friction" in found) == bool(friction)


def test_the_soft_link_stops_where_friction_holds_it(result):
    (statement,) = result.not_reproduced
    assert [t.measured for t in statement.targets] == pytest.approx([0.882, 0.905], abs=2e-3)
    assert "0.882 and 0.905 rad for 0.8 rad" in statement.found


def test_the_errors_under_gravity_are_those_computed_beforehand(result):
    # Over the last two periods; beforehand over a slightly different span of time.
    rows = {(row[0], row[1]): row[4] for row in result.tables[1].rows}
    assert [rows["soft", "joint_1"], rows["soft", "joint_2"]] == pytest.approx([0.358, 0.286], rel=0.02)
    assert [rows["stiff", "joint_1"], rows["stiff", "joint_2"]] == pytest.approx([0.100, 0.049], rel=0.03)


def test_the_motors_rise_as_computed_beforehand(result):
    rise = {(row[0], row[1]): row[2] for row in result.tables[0].rows}
    assert rise["soft", "joint_1"] == pytest.approx(0.095, rel=0.02)
    assert rise["stiff", "joint_1"] == pytest.approx(0.114, rel=0.02)


def test_a_sinusoid_is_measured_by_amplitude_and_phase():
    time = np.arange(0.0, 20.0, 1e-3)
    reference = 0.8 * np.sin(0.8 * time)
    late = 0.4 * np.sin(0.8 * time - 0.3)
    traces = {"time": time, "reference": reference, "j/position": late, "j/equilibrium": reference + 0.01}
    found = _Sine.of(traces, "j")
    assert found.amplitude == pytest.approx(0.4, rel=1e-3)
    assert found.phase == pytest.approx(-0.3, abs=1e-3)
    assert found.lag == pytest.approx(0.01)


def test_measured_curves_are_drawn_and_compared(tmp_path):
    (tmp_path / "figure13-soft-joint_1-real.csv").write_text("time,angle\n0,0\n5,0.1\n20,0.2\n")
    context = Context(output=tmp_path, quick=True, curves=tmp_path)
    found = find_experiment("two-dof").run(context)
    (table,) = [t for t in found.tables if t.title == "Measured curves against ours"]
    ((name, points, rms, largest),) = table.rows
    assert (name, points) == ("figure13-soft-joint_1-real", 3)
    assert 0.0 < rms <= largest < 1.0
