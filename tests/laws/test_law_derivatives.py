"""Torque, loads and stiffness are the derivatives of the energy, and energy is conserved along any path."""

from itertools import pairwise

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from jets import derivative
from law_cases import BUILT_IN, PRESSURES, VARIANTS, instances, label, on_a_kink, points, reach
from scipy.integrate import quad

pytestmark = pytest.mark.quick

LAWS = pytest.mark.parametrize("law", instances(), ids=label)


def scaled(found, expected):
    return np.abs(np.asarray(found) - expected) / np.maximum(1.0, np.abs(expected))


@LAWS
def test_stiffness_is_minus_the_slope_of_the_torque(law):
    q, theta_1, theta_2 = points(law, 400, seed=1)
    smooth = ~on_a_kink(law, q, theta_1, theta_2)
    assert smooth.sum() > 390
    p = law.parameters()
    clipped = 0
    for at in zip(q[smooth], theta_1[smooth], theta_2[smooth]):
        _, slopes = derivative(type(law).torques, (*at, p), 0)
        assert scaled(type(law).stiffness(*at, p), -slopes[0]) <= 1e-9
        clipped += abs(at[0] - at[1]) > getattr(law, "max_deflection", np.inf)
    assert clipped > 100 or not hasattr(law, "max_deflection")


@LAWS
def test_torque_and_loads_are_the_gradient_of_the_energy(law):
    q, theta_1, theta_2 = points(law, 400, seed=2)
    p = law.parameters()
    for at in zip(q, theta_1, theta_2):
        torque, load_1, load_2 = type(law).torques(*at, p)
        for index, expected in ((0, -torque), (1, load_1), (2, load_2)):
            _, slope = derivative(type(law).energy, (*at, p), index)
            assert scaled(slope, expected) <= 1e-9


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_true_slope_is_that_of_the_unclipped_springs_by_complex_step(name):
    for law in VARIANTS[name]:
        original = reference.LAWS[name](*law.parameters()[: len(law.parameter_fields())])
        q, theta_1, theta_2 = points(law, 1000, seed=4)
        slope = -np.imag(original.values(q + 1e-30j, theta_1, theta_2)[0]) / 1e-30
        found = law.evaluate(q, theta_1, theta_2)
        assert scaled(found.stiffness, slope).max() <= 1e-9


@pytest.mark.parametrize("name", BUILT_IN)
def test_beyond_the_clip_the_torque_is_flat_while_the_reported_stiffness_is_not(name):
    law = VARIANTS[name][0]
    beyond = 1.1 * law.max_deflection
    theta_2 = 0.01 if name == "awas_ii" else 0.0
    a, b = law.evaluate(beyond, 0.0, theta_2), law.evaluate(beyond + 0.3, 0.0, theta_2)
    assert a.torque == pytest.approx(b.torque, rel=1e-14)
    assert a.stiffness == 0.0
    assert type(law).reported_stiffness(beyond, 0.0, theta_2, law.parameters()) > 0.0


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_stop_pushes_back_beyond_the_clip_only(name):
    flat = VARIANTS[name][0]
    stop = flat.replace(clip="stop", stop_stiffness=500.0)
    theta_2 = 0.01 if name == "awas_ii" else 0.0
    springs = 1 if name in ("sea", "awas_ii") else 2
    inside = np.linspace(-0.99, 0.99, 21) * flat.max_deflection
    np.testing.assert_array_equal(flat.evaluate(inside, 0.0, theta_2), stop.evaluate(inside, 0.0, theta_2))
    over = 0.05
    for side in (-1.0, 1.0):
        q = side * (flat.max_deflection + over)
        a, b = flat.evaluate(q, 0.0, theta_2), stop.evaluate(q, 0.0, theta_2)
        assert b.torque - a.torque == pytest.approx(-side * springs * 500.0 * over, rel=1e-9)
        assert b.stiffness == pytest.approx(springs * 500.0)
        assert b.energy - a.energy == pytest.approx(springs * 250.0 * over**2, rel=1e-9)


@LAWS
@settings(max_examples=6, derandomize=True, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_energy_closes_along_random_paths(law, seed):
    """dH = load_1 dtheta_1 + load_2 dtheta_2 - torque dq, integrated around and across the clip."""
    rng = np.random.default_rng(seed)
    p, cls = law.parameters(), type(law)

    def corner():
        q = rng.uniform(-1.0, 1.0)
        if law.second_input == "pressure":
            return np.array([1.5 * q, *rng.uniform(0.0, PRESSURES, 2)])
        theta_2 = rng.uniform(0.0, 0.8) * law.L if law.second_input == "lever" else q + rng.uniform(-1, 1) * reach(law)
        return np.array([q, q + rng.uniform(-1, 1) * reach(law), theta_2])

    a, b = corner(), corner()
    step = b - a
    limit = getattr(law, "max_deflection", getattr(law, "knee", 0.0))
    kinks = []
    for other in {"angle": (1, 2), "pressure": (0,)}.get(law.second_input, (1,)):
        x, dx = (a[0] - a[other], step[0] - step[other]) if other else (a[0], step[0])
        kinks += [s for s in ((limit - x) / dx, (-limit - x) / dx) if 0.0 < s < 1.0]

    def power(s):
        torque, load_1, load_2 = cls.torques(*(a + s * step), p)
        return load_1 * step[1] + load_2 * step[2] - torque * step[0]

    edges = [0.0, *sorted(kinks), 1.0]
    work = sum(quad(power, u, v, epsabs=1e-11, epsrel=1e-11, limit=200)[0] for u, v in pairwise(edges) if v - u > 1e-12)
    change = cls.energy(*b, p) - cls.energy(*a, p)
    scale = max(1.0, abs(cls.energy(*b, p)), abs(cls.energy(*a, p)))
    assert abs(work - change) <= 1e-9 * scale


def test_the_force_on_the_lever_is_the_published_formula():
    law = VARIANTS["awas_ii"][0]
    sigma, delta = np.meshgrid(np.linspace(0.001, 0.045, 12), np.linspace(-0.29, 0.29, 13))
    expected = 2 * law.Ks * (law.L / law.r_t) ** 2 * sigma * law.L / (law.L - sigma) ** 3 * np.sin(delta) ** 2
    found = law.evaluate(delta, 0.0, sigma).load_2
    assert scaled(found, expected).max() <= 1e-12
    assert (found >= 0.0).all()  # the spring always drives the pivot towards the soft end
