"""The loops measured on a Maker Pro."""

import math

import numpy as np
import pytest

from pliant.experiments import Context
from pliant.experiments.maker_pro import (
    LOOPS,
    READINGS,
    Loss,
    Reading,
    branch,
    identify_friction,
    identify_joint,
    measured_width,
    spring,
    sweep,
)
from pliant.experiments.runner import find_experiment
from pliant.identification import loop_width
from pliant.laws import CompliantActuator, Mode, PreslidingFriction


def test_the_law_alone_is_the_inverse_of_the_spring():
    for preset, torque in ((0.0, 1.5), (0.4602, -0.7), (0.6903, 1.5)):
        phi = branch(Reading(preset, torque, True, 0.0, 0.0), Loss())
        law = spring()
        given = type(law).torques(phi, *law.map_references(0.0, preset), law.parameters())[0]
        assert given == pytest.approx(-torque, rel=1e-12)


def test_widths_are_those_of_the_data_sheet_function():
    loss = Loss(friction=0.2)
    friction = PreslidingFriction(torque=0.2, stiffness=1e6)
    actuator = CompliantActuator(spring(), Mode.SPRING_EQ_PRESET, link_friction=friction)
    for preset, torque, _ in LOOPS:
        rising = branch(Reading(preset, torque, True, 0.0, 0.0), loss)
        falling = branch(Reading(preset, torque, False, 0.0, 0.0), loss)
        assert loop_width(actuator, torque, preset) == pytest.approx(falling - rising, abs=1e-6)


def test_the_readings_hold_the_printed_widths_to_a_hundredth():
    for preset, torque, width in LOOPS:
        assert measured_width(preset, torque) == pytest.approx(width, abs=0.0051)


def test_friction_at_one_preset_predicts_the_loop_at_another():
    loss = identify_friction()
    assert 0.2 < loss.friction < 0.26
    width = branch(Reading(0.6903, 0.5, False, 0.0, 0.0), loss) - branch(Reading(0.6903, 0.5, True, 0.0, 0.0), loss)
    assert width == pytest.approx(0.03, abs=0.005)


def test_the_fit_is_a_minimum_and_better_than_the_law():
    def misfit(loss):
        return sum(((branch(r, loss) - r.value) / r.sigma) ** 2 for r in READINGS)

    loss, errors = identify_joint()
    best = misfit(loss)
    assert best < 0.05 * misfit(Loss())
    assert np.all(errors > 0.0)
    for name, step in (("friction", 1e-3), ("dead_band", 1e-3), ("torque_offset", 1e-3), ("position_offset", 1e-4)):
        values = {k: getattr(loss, k) for k in ("friction", "dead_band", "torque_offset", "position_offset")}
        for sign in (-1.0, 1.0):
            assert misfit(Loss(**{**values, name: values[name] + sign * step})) > best


def test_a_simulated_loop_is_that_of_spring_and_friction():
    loss = Loss(friction=0.2, dead_band=0.05)
    loop = sweep(0.6903, loss, 2e-3, every=20)
    rising = loop["deflection"][int(np.argmin(loop["torque"])) :]
    torque = loop["torque"][int(np.argmin(loop["torque"])) :]
    at = float(np.interp(0.5, torque, rising))
    assert at == pytest.approx(branch(Reading(0.6903, 0.5, True, 0.0, 0.0), loss), abs=1.5e-3)
    assert math.isclose(loop["torque"][0], 1.5, rel_tol=1e-4)


@pytest.mark.slow
def test_the_experiment_passes(tmp_path):
    result = find_experiment("maker-pro").run(Context(output=tmp_path, quick=True))
    assert [t.name for t in result.failures] == []
    assert any("beyond the reading error" in note for note in result.notes)
