"""Wiping a curved surface."""

import numpy as np
import pytest

from pliant.base.numerics import GRAVITY
from pliant.learn.compliance.tasks import wipe


def changed(**values):
    return np.array([[values.get(p.name, p.rule) for p in wipe.TASK.parameters]])


def test_the_path_visits_every_cell_of_the_square_for_the_same_time_at_constant_speed():
    times = np.linspace(0.0, wipe.WIPING, 4001)
    places = np.array([wipe.path(t) for t in times])
    steps = np.hypot(*np.diff(places, axis=0).T)
    assert steps.sum() == pytest.approx(0.24, rel=1e-3)  # three strokes of 60 mm and two ways of 30 mm
    assert steps.max() == pytest.approx(0.24 / 4000, rel=1e-9)
    inside = [wipe.cell(*place * 0.999) for place in places]
    assert {c for c in inside if c} == {(line, k) for line in range(wipe.LINES) for k in range(wipe.CELLS)}
    assert wipe.cell(0.0, 0.031) is None
    assert wipe.cell(0.046, 0.0) is None


def test_the_foam_presses_along_the_normal_and_friction_opposes_the_slip():
    normal, slip = np.array([0.6, 0.0, 0.8]), np.array([0.0, -10.0, 0.0])
    force, total = wipe.surface_force(0.095 * normal, slip, 0.1, 0.4)
    assert force == pytest.approx(wipe.FOAM[0] * 0.005)
    np.testing.assert_allclose(total, force * (normal + np.array([0.0, 0.4, 0.0])), rtol=1e-5)
    assert wipe.surface_force(0.101 * normal, slip, 0.1, 0.4)[0] == 0.0
    assert wipe.surface_force(0.095 * normal, normal, 0.1, 0.4)[0] == 0.0  # foam does not pull


def test_a_soft_spring_and_the_weight_of_an_unknown_mass_press_on_a_flat_surface(monkeypatch):
    monkeypatch.setattr(wipe, "RADII", (1e4, 1.0001e4))
    monkeypatch.setattr(wipe, "FRICTION", (0.0, 1e-9))
    forces, press = [], wipe.surface_force
    monkeypatch.setattr(wipe, "surface_force", lambda *args: forces.append(press(*args)[0]) or press(*args))
    for mass in (0.0, 0.5):
        monkeypatch.setattr(wipe, "PAYLOADS", (mass, mass + 1e-9))
        forces.clear()
        wipe.evaluate(changed(vertical_climb=50.0, vertical_descent=50.0, press=0.1, gain=0.0), [3])
        # 50 N/m x (0.1 m less the depth at the first contact and of the foam), and the weight
        assert forces[-1] == pytest.approx(50.0 * 0.1 + mass * GRAVITY, abs=0.25)


def test_what_a_soft_arm_leaves_unwiped_costs_the_whole_force():
    far = wipe.evaluate(changed(press=0.001, gain=0.0, vertical_climb=3000.0, vertical_descent=3000.0), [0])
    near = wipe.evaluate(changed(), [0])
    assert near["coverage"][0, 0] > far["coverage"][0, 0]
    assert far["force_error"][0, 0] >= wipe.FORCE * (1.0 - far["coverage"][0, 0])
    assert near["force_error"].tolist() == wipe.evaluate(changed(), [0])["force_error"].tolist()
