"""The largest slopes and torques of a law against its own torque on a fine grid."""

import numpy as np
import pytest

from pliant.laws import BAVS, SEA, AwAS2, QbMove
from pliant.model.check.slopes import slopes_of

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("k", [0.01, 300.0])
def test_a_linear_spring_has_its_constant_as_slope_and_its_clip_as_largest_torque(k):
    law = SEA(k=k, max_deflection=0.4)
    found = slopes_of(law, np.array([0.0]))
    assert (found.link[0], found.motor_1[0]) == (pytest.approx(k, rel=1e-6), pytest.approx(k, rel=1e-6))
    assert found.motor_2[0] == 0.0
    assert found.torque[0] == pytest.approx(0.4 * k, rel=1e-5)


@pytest.mark.parametrize(
    ("law", "presets"),
    [
        (QbMove(k1=0.01, a1=6.0, k2=0.02, a2=5.0), (0.0, 0.3)),
        (QbMove(k1=1e-5, k2=1e-5, a1=2.0, a2=2.0), (0.1,)),
        (BAVS(), (0.0, 0.05)),
        (AwAS2(), (0.01, 0.03)),
    ],
    ids=lambda x: type(x).__name__,
)
def test_the_slopes_are_the_steepest_of_the_torques_within_the_clip(law, presets):
    found, par, top = slopes_of(law, np.array(presets)), law.parameters(), law.max_deflection
    for i, preset in enumerate(presets):
        ref_1, ref_2 = law.map_references(0.0, preset)
        reach = top + (preset if law.second_input == "angle" else 0.0)
        torque = np.array([type(law).torques(q, ref_1, ref_2, par) for q in np.linspace(-reach, reach, 4001)])
        slope = np.diff(torque[:, 0]) / (2.0 * reach / 4000.0)
        assert found.link[i] == pytest.approx(np.abs(slope).max(), rel=0.01)
        assert found.torque[i] == pytest.approx(np.abs(torque[:, 0]).max(), rel=1e-4)
        if law.second_input == "angle":  # the two motors pull on one spring each, and the link on both
            both = max(found.motor_1[i], found.motor_2[i])
            assert both <= found.link[i] * (1.0 + 1e-4)
            assert found.motor_1[i] + found.motor_2[i] >= found.link[i] * (1.0 - 1e-4)
