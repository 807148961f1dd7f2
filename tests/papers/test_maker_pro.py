"""The loops measured on a Maker Pro."""

import math

import numpy as np
import pytest
from mutations import quick

from pliant.identification import loop_width
from pliant.identification.loops import IN_FORCE, TorqueLoops, refit_one, validate_loops
from pliant.laws import CompliantActuator, Mode, PreslidingFriction
from pliant.papers._maker_pro_blocks import COMPLETE, SETS, WITHIN
from pliant.papers.maker_pro import (
    MEASURED,
    PRESETS,
    SPREAD,
    Loss,
    MakerProOptions,
    branch,
    identify,
    loss_table,
    measured,
    measured_loops,
    misfit,
    read_loop,
    relative_misfit,
    spring,
    sweep,
    width,
)


def test_the_law_alone_is_the_inverse_of_the_spring():
    for preset, torque in ((0.0, 1.5), (0.4602, -0.7), (0.6903, 1.5)):
        phi = float(branch(preset, torque, True, Loss()))
        law = spring()
        given = type(law).torques(phi, *law.map_references(0.0, preset), law.parameters())[0]
        assert given == pytest.approx(-torque, rel=1e-12)


def test_widths_are_those_of_the_data_sheet_function():
    loss = Loss(friction=0.2)
    friction = PreslidingFriction(torque=0.2, stiffness=1e6)
    actuator = CompliantActuator(spring(), Mode.SPRING_EQ_PRESET, link_friction=friction)
    for preset in PRESETS:
        for torque in (0.5, -0.5):
            assert loop_width(actuator, torque, preset) == pytest.approx(width(preset, torque, loss), abs=1e-6)


def test_the_measured_loops_are_smooth_and_dissipate():
    assert MEASURED.shape == (29, 7)
    np.testing.assert_allclose(np.diff(MEASURED[:, 0]), 0.1)
    assert np.all(np.diff(MEASURED[:, 1:], axis=0) > 0.0)  # a stiffer load deflects more
    for preset in PRESETS:
        rising, falling = measured(preset)
        assert np.trapezoid(falling - rising, MEASURED[:, 0]) > 0.0
        assert SPREAD[preset] < 0.03 * np.abs(rising).max()


def test_the_fit_is_a_minimum_and_better_than_the_law():
    def cost(loss):
        return sum(relative_misfit(p, loss) ** 2 for p in PRESETS)

    loss = identify()
    best = cost(loss)
    assert best < 0.2 * cost(Loss())
    for name, step in (("friction", 1e-3), ("dead_band", 1e-3), ("torque_offset", 1e-3), ("position_offset", 1e-4)):
        values = {k: getattr(loss, k) for k in ("friction", "dead_band", "torque_offset", "position_offset")}
        for sign in (-1.0, 1.0):
            assert cost(Loss(**{**values, name: values[name] + sign * step})) > best


def test_a_fit_recovers_the_loss_that_made_the_loops(monkeypatch):
    loss = Loss(friction=0.07, dead_band=0.04, torque_offset=0.02, position_offset=-0.01)
    columns = [branch(p, MEASURED[:, 0], rising, loss) for p in PRESETS for rising in (True, False)]
    monkeypatch.setattr("pliant.papers.maker_pro.MEASURED", np.column_stack([MEASURED[:, 0], *columns]))
    for presets in (PRESETS, PRESETS[1:]):
        found = identify(presets)
        for name in ("friction", "dead_band", "torque_offset", "position_offset"):
            assert getattr(found, name) == pytest.approx(getattr(loss, name), abs=1e-6)
    assert np.abs(misfit(0.0, loss)).max() < 1e-12


def test_a_simulated_loop_is_that_of_spring_and_friction():
    loss = Loss(friction=0.04, dead_band=0.05)  # slides at 1.4 N m again after the turn at 1.5 N m
    loop = sweep(0.6903, loss, period=30.0)
    for rising in (True, False):
        difference = read_loop(loop, rising) - branch(0.6903, MEASURED[:, 0], rising, loss)
        assert np.abs(difference).max() < 2.5e-3
    assert math.isclose(loop["torque"][0], 1.5, rel_tol=1e-4)


@pytest.mark.nightly
@pytest.mark.slow
def test_every_check_passes_and_the_law_is_consistent_at_the_softest_preset_only():
    result = quick("maker-pro")
    assert [t.name for t in result.failures] == []
    law = [str(s.verdict) for s in result.statements if s.what.startswith("tau")]
    assert law == ["consistent", "not reproduced", "not reproduced"]
    (complete,) = [s for s in result.statements if s.where == "section III, table I"]
    np.testing.assert_allclose([t.measured for t in complete.targets], [0.167, 0.085, 0.230], atol=1e-3)
    assert {t.high for t in complete.targets} == {WITHIN}
    sets, without = (
        t for t in result.tables if t.title.startswith("Ours:") and "[%]" in t.title and "block" in t.title
    )
    described = {row[0]: row[2:5] for row in sets.rows}
    np.testing.assert_allclose(described["law"], [6.3, 14.1, 6.7], atol=0.05)
    assert max(described[COMPLETE]) < 5.0
    # Each block but the bearing is needed: without it a loop is missed by more than 5 %.
    removed = {row[0]: max(row[1:]) for row in without.rows}
    assert removed.pop("bearing") < 5.0 < min(removed.values())
    assert result.verdicts == {"reproduced": 0, "consistent": 1, "not reproduced": 4, "not judged": 1}


def test_the_fit_of_ours_is_a_table_and_no_statement_of_the_paper():
    fit = identify()
    left_out = {p: identify([q for q in PRESETS if q != p]) for p in PRESETS}
    table = loss_table(fit, left_out, MakerProOptions())
    np.testing.assert_allclose([row[2] for row in table.rows], [6.8, 10.2, 4.6], atol=0.05)
    np.testing.assert_allclose([row[3] for row in table.rows], [11.9, 11.4, 5.1], atol=0.05)


def test_a_preset_in_force_alone_explains_no_measured_loop_and_the_linear_spring_the_softest():
    loops = measured_loops()
    found = refit_one(loops, validate_loops(loops, SETS[COMPLETE]))
    assert min(found[IN_FORCE].values()) > WITHIN
    assert found["parallel"][0.0] < WITHIN
    assert min(by_preset[0.0] for name, by_preset in found.items() if name != "parallel") > WITHIN
    assert all(min(by_preset[p] for by_preset in found.values()) > WITHIN for p in PRESETS[1:])


def test_a_prediction_does_not_depend_on_the_loop_that_it_predicts():
    loops = measured_loops()
    changed = {**loops.deflection, 0.0: 2.0 * loops.deflection[0.0]}
    before = validate_loops(loops, SETS["law"])
    after = validate_loops(TorqueLoops(torque=loops.torque, turn=loops.turn, deflection=changed), SETS["law"])
    assert after.without[0.0] == before.without[0.0]
    assert after.every != before.every
    assert all(after.without[p] != before.without[p] for p in PRESETS[1:])
