"""The data sheet of an actuator."""

import json

import numpy as np
import pytest
from identification_cases import SETS

from pliant.identification import datasheet, loop_width
from pliant.laws import BAVS, SEA, AwAS2, CompliantActuator, Mode, PreslidingFriction, QbMove


def test_datasheet_of_the_default_qbmove():
    sheet = datasheet(CompliantActuator(QbMove()), (0.0, 0.2, 0.4, 0.6))
    assert json.loads(json.dumps(sheet))["law"] == "qbmove"
    at_rest = [c["stiffness_at_rest"] for c in sheet["curves"]]
    np.testing.assert_allclose(at_rest, [0.0342, 0.10625, 0.6260, 3.784], rtol=1e-3)
    assert sheet["stiffness_range"] == [at_rest[0], at_rest[-1]]
    assert sheet["curves"][1]["torque_at_max_deflection"] == pytest.approx(1.306, abs=1e-3)
    assert sheet["curves"][3]["torque_at_max_deflection"] == pytest.approx(1.237, abs=1e-3)
    assert sheet["servo"]["lag"] == pytest.approx(0.03816, abs=1e-5)
    assert sheet["servo"]["no_load_speed"] == pytest.approx(22.2, abs=0.05)
    assert 0.02 < sheet["servo"]["preset_change_time"] < 0.5
    offset = datasheet(SETS["joint 1"], (0.2, 0.6))
    np.testing.assert_allclose([c["equilibrium_offset"] for c in offset["curves"]], [-0.1043, -0.0709], atol=5e-5)
    np.testing.assert_allclose([c["stiffness_at_rest"] for c in offset["curves"]], [0.5951, 3.553], rtol=1e-3)
    for law in (SEA(), BAVS(), AwAS2()):
        assert datasheet(law)["curves"]


def test_loop_width_is_that_of_the_simulated_loop():
    friction = PreslidingFriction(torque=0.1, stiffness=1e5, load_coefficient=0.1, preset_coefficient=0.05)
    law, preset = QbMove(k1=0.022, a1=6.85, k2=0.022, a2=6.85), 0.3
    actuator = CompliantActuator(law, Mode.SPRING_EQ_PRESET, link_friction=friction)
    q = 0.45 * np.sin(np.linspace(0.0, 4.0 * np.pi, 20_001))
    resists = -actuator.simulate(q, None, 0.0, preset, 1e-3).torque
    outward, inward = slice(15_000 - 4_900, 12_500), slice(12_501, 15_000)
    for torque in (0.5, 1.0):
        loading = np.interp(torque, resists[outward], q[outward])
        unloading = np.interp(torque, resists[inward][::-1], q[inward][::-1])
        assert loop_width(actuator, torque, preset) == pytest.approx(unloading - loading, abs=1e-3)
    assert loop_width(CompliantActuator(law), 0.5) == 0.0
