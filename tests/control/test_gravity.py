import numpy as np
import pytest

from pliant.base.errors import LawError
from pliant.control import (
    GravityCompensation,
    equilibrium_for_torque,
    preset_for_stiffness,
    qbmove_deflection,
    torque_range,
)
from pliant.laws import BAVS, SEA, AwAS2, QbMove

pytestmark = pytest.mark.quick

ASYMMETRIC = QbMove(k1=0.01038, a1=6.257, k2=0.08918, a2=3.9)
CASES = [
    (SEA(k=200.0), 0.0, 40.0),
    (QbMove(), 0.2, 1.2),
    (QbMove(), 0.6, 1.2),
    (QbMove(), 0.2, 2.0),  # past the first clip
    (ASYMMETRIC, 0.2, 1.5),
    (BAVS(), 0.1, 3.0),
    (AwAS2(), 0.01, 2.0),
    (QbMove(clip="stop"), 0.2, 20.0),
]


@pytest.mark.parametrize(("law", "preset", "largest"), CASES, ids=lambda x: str(x)[:28])
def test_the_law_gives_the_torque_at_the_equilibrium_that_is_found(law, preset, largest):
    for q in (-0.7, 0.0, 0.4):
        for torque in np.linspace(-largest, largest, 9):
            eq = equilibrium_for_torque(law, q, torque, preset)
            p = law.parameters()
            given = type(law).torques(q, *law.map_references(eq, preset), p)[0]
            assert given == pytest.approx(torque, abs=1e-10 * max(1.0, law.max_stiffness()))


@pytest.mark.parametrize(("law", "preset"), [(ASYMMETRIC, 0.2), (BAVS(), 0.1), (QbMove(), 0.3)], ids=str)
def test_the_largest_torques_of_a_spring_are_reached(law, preset):
    p = law.parameters()
    for torque in torque_range(law, preset):
        eq = equilibrium_for_torque(law, 0.2, torque, preset)
        assert type(law).torques(0.2, *law.map_references(eq, preset), p)[0] == pytest.approx(torque, rel=1e-12)
        with pytest.raises(LawError, match="its spring gives"):
            equilibrium_for_torque(law, 0.2, 1.001 * torque, preset)


def test_a_positive_load_moves_the_equilibrium_ahead_of_the_link():
    for law, preset in ((SEA(), 0.0), (QbMove(), 0.4), (BAVS(), 0.1), (AwAS2(), 0.02)):
        assert equilibrium_for_torque(law, 0.3, 0.2, preset) > 0.3
        assert equilibrium_for_torque(law, 0.3, -0.2, preset) < 0.3


def test_qbmove_deflections_of_the_pushing_arm():
    # The breakaway force of the 2 kg box, 4.513 N, on levers of 0.10, 0.20 and 0.266 m, default springs.
    torque = np.array([0.45, 0.90, 1.20])
    np.testing.assert_allclose(qbmove_deflection(torque, 0.0019, 8.9992, 0.2), [0.482, 0.559, 0.591], atol=5e-4)
    np.testing.assert_allclose(qbmove_deflection(torque, 0.0019, 8.9992, 0.6), [0.103, 0.167, 0.197], atol=5e-4)


def test_the_closed_form_and_the_iteration_agree():
    # A hair of asymmetry sends the same spring through the general path.
    almost = QbMove(k1=0.0019, k2=0.0019 * (1 + 1e-13))
    for torque in (-1.0, 0.3, 1.2):
        closed = equilibrium_for_torque(QbMove(), 0.0, torque, 0.3)
        assert equilibrium_for_torque(almost, 0.0, torque, 0.3) == pytest.approx(closed, abs=1e-11)


def test_asymmetric_springs_have_an_offset_without_load():
    # -0.1043 rad is where the link rests for theta_eq = 0, so theta_eq must lie 0.1043 above the link.
    assert equilibrium_for_torque(ASYMMETRIC, 0.0, 0.0, 0.2) == pytest.approx(0.1043, abs=5e-5)


def test_inputs_broadcast():
    eq = equilibrium_for_torque(SEA(k=10.0), np.zeros(3), np.array([0.0, 1.0, 2.0]))
    np.testing.assert_allclose(eq, [0.0, 0.1, 0.2], rtol=1e-14)
    assert isinstance(equilibrium_for_torque(SEA(), 0.0, 0.1), float)


def test_too_much_torque_says_what_the_spring_can_give():
    low, high = torque_range(QbMove(), 0.2)
    assert high == pytest.approx(2.543, abs=1e-3)
    assert low == -high
    with pytest.raises(LawError, match=r"has to give 2\.6 N m, its spring gives -2\.543 to 2\.543 N m at preset 0\.2"):
        equilibrium_for_torque(QbMove(), 0.0, 2.6, 0.2)
    with pytest.raises(LawError, match="finite"):
        equilibrium_for_torque(SEA(), 0.0, np.nan)
    assert torque_range(QbMove(clip="stop"), 0.2) == (-np.inf, np.inf)


def test_compensation_holds_every_joint_and_names_the_one_that_cannot():
    laws = [QbMove(), SEA(k=50.0)]
    compensate = GravityCompensation(laws, lambda q: np.array([0.5 * np.cos(q[0]), 1.0]))
    q = np.array([0.3, -0.2])
    eq = compensate(q, preset=0.4)
    for law, angle, command, torque in zip(laws, q, eq, (0.5 * np.cos(0.3), 1.0), strict=True):
        given = type(law).torques(angle, *law.map_references(command, 0.4), law.parameters())[0]
        assert given == pytest.approx(torque, abs=1e-11)
    with pytest.raises(LawError, match="joint 1 of 2"):
        compensate(q, preset=0.4, torque=np.array([9.0, 0.0]))
    with pytest.raises(LawError, match="q has shape"):
        compensate(np.zeros(3))


def test_preset_for_stiffness_inverts_the_stiffness_at_rest():
    for law, stiffness in ((QbMove(), 1.0), (BAVS(), 30.0), (AwAS2(), 100.0)):
        preset = preset_for_stiffness(law, stiffness)
        ref = law.map_references(0.0, preset)
        assert type(law).stiffness(0.0, *ref, law.parameters()) == pytest.approx(stiffness, rel=1e-9)
        least = float(type(law).stiffness(0.0, *law.map_references(0.0, 0.0), law.parameters()))
        assert preset_for_stiffness(law, least) == pytest.approx(0.0, abs=1e-9)
        with pytest.raises(LawError, match="asked for"):
            preset_for_stiffness(law, least - 0.01)
    with pytest.raises(LawError, match="has no preset"):
        preset_for_stiffness(SEA(), 10.0)
    with pytest.raises(LawError, match="asked for 1000"):
        preset_for_stiffness(QbMove(), 1000.0)
