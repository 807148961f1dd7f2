"""The laws equal the original's equations, in Python, compiled, one point or many."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from law_cases import ALL, BUILT_IN, VARIANTS, instances, label, points

from pliant.base.errors import LawError
from pliant.laws import BAVS, SEA, AwAS2, LawValues, QbMove, get_law, registered_laws

pytestmark = pytest.mark.quick

PARAMETERS = {
    "sea": st.tuples(st.floats(0.0, 5e3), st.floats(0.01, 2.0)),
    "qbmove": st.tuples(
        st.floats(0.0, 1.0), st.floats(0.5, 12.0), st.floats(0.0, 1.0), st.floats(0.5, 12.0), st.floats(0.05, 1.0)
    ),
    "bavs": st.tuples(
        st.floats(0.0, 1e-5), st.floats(0.0, 1e-5), st.floats(0.0, 5e5), st.floats(0.5, 12.0), st.floats(0.05, 0.5)
    ),
    "awas_ii": st.tuples(st.floats(0.0, 50.0), st.floats(0.02, 0.2), st.floats(0.005, 0.05), st.floats(0.05, 0.75)),
}
ANGLE = st.floats(-3.0, 3.0)
DEFLECTION = st.floats(-1.2, 1.2)


def close(found, expected, tolerance=1e-12):
    expected = np.asarray(expected, dtype=float)
    error = np.abs(found - expected) / np.maximum(1.0, np.abs(expected))
    assert error.max() <= tolerance, f"largest error {error.max():.3g}"


@pytest.mark.parametrize("name", BUILT_IN)
@settings(max_examples=150, derandomize=True, deadline=None)
@given(data=st.data())
def test_a_law_equals_the_original_at_any_parameters_and_angles(name, data):
    parameters = data.draw(PARAMETERS[name])
    law, other = get_law(name)(*parameters), reference.LAWS[name](*parameters)
    q = data.draw(ANGLE)
    theta_1 = q + data.draw(DEFLECTION)
    theta_2 = data.draw(st.floats(0.0, 0.98)) * law.L if name == "awas_ii" else q + data.draw(DEFLECTION)
    torque, load_1, load_2, reported, true, energy = other.values(q, theta_1, theta_2)
    found = law.evaluate(q, theta_1, theta_2)
    close(found.torque, torque)
    close(found.load_1, load_1)
    close(found.load_2, load_2)
    close(found.stiffness, true)
    close(found.energy, energy)
    close(type(law).reported_stiffness(q, theta_1, theta_2, law.parameters()), reported)


@pytest.mark.parametrize("law", instances(), ids=label)
def test_compiled_and_python_kernels_agree(law):
    q, theta_1, theta_2 = points(law, 300)
    values = law.evaluate(q, theta_1, theta_2)
    p = law.parameters()
    cls = type(law)
    for i in range(q.size):
        at = float(q[i]), float(theta_1[i]), float(theta_2[i]), p
        close(np.array([v[i] for v in values[:3]]), cls.torques(*at), 1e-13)
        close(values.stiffness[i], cls.stiffness(*at), 1e-13)
        close(values.energy[i], cls.energy(*at), 1e-13)


@pytest.mark.parametrize("law", instances(clips=("stop",)), ids=label)
def test_a_batch_of_points_gives_the_same_bits_as_single_points(law):
    q, theta_1, theta_2 = points(law, 40, seed=3)
    batch = law.evaluate(q, theta_1, theta_2)
    for i in range(q.size):
        single = law.evaluate(q[i], theta_1[i], theta_2[i])
        assert isinstance(single.torque, float)
        assert single == tuple(row[i] for row in batch)


def test_inputs_broadcast_and_keep_their_shape():
    law = QbMove()
    q = np.linspace(-0.5, 0.5, 5)[:, None]
    theta = np.linspace(-0.3, 0.3, 3)
    values = law.evaluate(q, theta, -theta)
    assert isinstance(values, LawValues)
    assert all(np.shape(v) == (5, 3) for v in values)
    assert values.torque[4, 2] == law.evaluate(q[4, 0], theta[2], -theta[2]).torque
    assert law.evaluate(np.zeros((0, 3)), theta, theta).energy.shape == (0, 3)
    for wrong in ((np.zeros(3), np.zeros(4)), ("wide", 0.0)):
        with pytest.raises(LawError, match="must be numbers or arrays that can be broadcast"):
            law.evaluate(*wrong)


def test_a_non_contiguous_array_is_read_as_it_looks():
    law = QbMove()
    table = np.random.default_rng(0).uniform(-1, 1, (6, 8))
    np.testing.assert_array_equal(
        law.evaluate(table[::2, ::-1], 0.1, table[1::2, ::-1]).torque,
        law.evaluate(table[::2, ::-1].copy(), 0.1, table[1::2, ::-1].copy()).torque,
    )


@pytest.mark.parametrize("name", [name for name in ALL if get_law(name).second_input != "pressure"])
def test_the_energy_is_at_its_minimum_where_the_spring_is_relaxed(name):
    law = VARIANTS[name][0]
    theta_2 = 0.02 if law.second_input == "lever" else 0.0
    phi = np.linspace(-0.1, 0.1, 201)
    values = law.evaluate(phi, 0.0, theta_2)
    assert np.argmin(values.energy) == 100
    assert values.torque[100] == pytest.approx(0.0, abs=1e-12)
    assert (values.torque * phi <= 0.0).all()
    assert (values.stiffness[values.torque != 0.0] > 0.0).all()


# -- the printed tables --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "stiffness"),
    [
        (0, 0.0342),
        (0.1, 0.0490),
        (0.2, 0.10625),
        (0.3, 0.2555),
        (0.4, 0.6260),
        (0.5, 1.539),
        (0.6, 3.784),
        (0.7, 9.306),
    ],
)
def test_qbmove_stiffness_at_rest_grows_with_the_preset_as_printed(preset, stiffness):
    law = QbMove()
    assert law.evaluate(0.0, *law.map_references(0.0, preset)).stiffness == pytest.approx(stiffness, rel=1e-3)


def test_qbmove_limits_are_the_printed_ones():
    law = QbMove()
    assert -law.evaluate(5.0, 0.0, 0.0).torque == pytest.approx(2.543, abs=6e-4)
    assert -law.evaluate(0.6, 0.2, -0.2).torque == pytest.approx(1.306, abs=6e-4)
    assert -law.evaluate(0.2, 0.6, -0.6).torque == pytest.approx(1.237, abs=6e-4)


def test_qbmove_symmetric_case_has_its_closed_form():
    law, k, a, p = QbMove(), 0.0019, 8.9992, 0.35
    phi = np.linspace(-0.4, 0.4, 33)
    values = law.evaluate(phi, p, -p)
    close(values.torque, -2 * k * np.cosh(a * p) * np.sinh(a * phi))
    close(values.stiffness, 2 * a * k * np.cosh(a * p) * np.cosh(a * phi))
    close(-np.arcsinh(values.torque / (2 * k * np.cosh(a * p))) / a, phi)


@pytest.mark.parametrize(
    ("preset", "stiffness"),
    [(0.001, 10.035), (0.05, 12.44), (0.1, 17.26), (0.15, 25.41), (0.2, 38.46), (0.22, 45.57), (0.27, 70.0)],
)
def test_bavs_stiffness_at_rest_grows_with_the_preset_as_printed(preset, stiffness):
    law = BAVS()
    values = law.evaluate(0.0, *law.map_references(0.0, preset))
    assert values.stiffness == pytest.approx(stiffness, rel=1e-3)
    assert values.torque == pytest.approx(0.0, abs=1e-12)


def test_bavs_preload_minimum_and_limit_are_the_printed_ones():
    law = BAVS()
    values = law.evaluate(0.0, 0.0, 0.0)
    assert (values.load_1, values.load_2) == (pytest.approx(0.1872, abs=5e-5), pytest.approx(-0.1872, abs=5e-5))
    lowest = np.log(law.a / law.b) / (2 * law.k_e)
    assert lowest == pytest.approx(-0.0388, abs=5e-5)
    assert law.evaluate(0.0, lowest, -lowest).stiffness == pytest.approx(9.460, abs=5e-4)
    for preset in (0.0, 0.1, 0.27):
        assert law.evaluate(-2.0, preset, -preset).torque == pytest.approx(5.979, abs=6e-4)


@pytest.mark.parametrize(
    ("sigma", "stiffness"),
    [
        (0.001, 0.0926),
        (0.005, 2.7435),
        (0.01, 13.889),
        (0.02, 98.77),
        (0.025, 222.2),
        (0.03, 500.0),
        (0.04, 3555.6),
        (0.045, 18000.0),
    ],
)
def test_awas_stiffness_grows_with_the_lever_as_printed(sigma, stiffness):
    assert AwAS2().evaluate(0.0, 0.0, sigma).stiffness == pytest.approx(stiffness, rel=1e-3)


def test_a_lever_beyond_its_length_is_as_stiff_as_just_before_it():
    law = AwAS2()
    p, top = law.parameters(), 0.999 * law.L
    for kernel in (AwAS2.stiffness, AwAS2.reported_stiffness, AwAS2.energy):
        for lever in (law.L, 1.5 * law.L, 3.0 * law.L):
            assert kernel(0.05, 0.0, lever, p) == pytest.approx(kernel(0.05, 0.0, top, p), rel=1e-12)
        assert kernel(0.05, 0.0, -0.01, p) == kernel(0.05, 0.0, 0.0, p)


def test_awas_torque_limits_are_the_printed_ones():
    assert -AwAS2().evaluate(0.3, 0.0, 0.005).torque == pytest.approx(0.7745, abs=5e-5)
    assert -AwAS2().evaluate(9.0, 0.0, 0.04).torque == pytest.approx(1003.8, abs=0.05)


IDENTIFIED = {
    1: (QbMove(0.01038, 6.257, 0.08918, 3.9), 1.782),
    2: (QbMove(0.1015, 3.383, 0.05944, 7.011), 8.865),
}


@pytest.mark.parametrize(
    ("joint", "preset", "stiffness", "offset", "there", "torque"),
    [
        (1, 0.0, 0.4128, 0.0, 0.4128, 0.0),
        (1, 0.2, 0.5819, -0.1043, 0.5951, -0.0602),
        (1, 0.6, 3.209, -0.0709, 3.553, -0.2371),
        (2, 0.0, 0.7601, 0.0, 0.7601, 0.0),
        (2, 0.2, 1.3231, -0.0314, 1.1975, -0.0394),
        (2, 0.6, 15.32, -0.1583, 6.865, -1.615),
    ],
)
def test_identified_springs_have_the_printed_equilibrium_and_stiffness(joint, preset, stiffness, offset, there, torque):
    from scipy.optimize import brentq

    law, limit = IDENTIFIED[joint]
    at_zero = law.evaluate(0.0, preset, -preset)
    assert at_zero.stiffness == pytest.approx(stiffness, rel=1e-3)
    assert at_zero.torque == pytest.approx(torque, abs=6e-4)
    rest = brentq(lambda q: law.evaluate(q, preset, -preset).torque, -0.3, 0.3, xtol=1e-14)
    assert rest == pytest.approx(offset, abs=6e-5)
    assert law.evaluate(rest, preset, -preset).stiffness == pytest.approx(there, rel=1e-3)
    assert -law.evaluate(9.0, 0.0, 0.0).torque == pytest.approx(limit, abs=6e-4)


@pytest.mark.parametrize(("preset", "stiffness"), [(0.0, 0.0333), (0.2, 0.0955), (0.4, 0.557), (0.6, 3.368)])
def test_the_kit_manuals_springs_have_the_printed_stiffness(preset, stiffness):
    from scipy.optimize import brentq

    law = QbMove(0.0026, 8.9995, 0.0011, 8.9989)
    rest = brentq(lambda q: law.evaluate(q, preset, -preset).torque, -0.3, 0.3, xtol=1e-14)
    assert law.evaluate(rest, preset, -preset).stiffness == pytest.approx(stiffness, rel=2e-3)


# -- the registry --------------------------------------------------------------------------------------------


def test_the_four_laws_are_registered_by_name():
    assert {name: get_law(name) for name in BUILT_IN} == {
        "sea": SEA,
        "qbmove": QbMove,
        "bavs": BAVS,
        "awas_ii": AwAS2,
    }
    assert set(ALL) <= set(registered_laws())


def test_an_unknown_law_is_answered_with_the_nearest_name():
    with pytest.raises(LawError, match=r"no law named 'qbmov'; did you mean 'qbmove'\?"):
        get_law("qbmov")


def test_max_stiffness_finds_the_largest_slope():
    assert SEA(k=200.0).max_stiffness() == 200.0
    law = QbMove()
    assert law.max_stiffness((0.0, 0.0)) == pytest.approx(2 * 8.9992 * 0.0019 * np.cosh(8.9992 * 0.8), rel=2e-2)
    assert AwAS2().max_stiffness((0.005, 0.04)) == pytest.approx(3555.6, rel=1e-4)
