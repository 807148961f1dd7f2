"""The compliant robots of the catalogue with realistic motors and springs."""

import pytest
from audited import AuditedEngine

from pliant.laws import Mode
from pliant.robots import build_robot

COMPLIANT = ("sea-1dof", "qbmove-1dof", "bavs-1dof", "awas2-1dof", "qbmove-2dof", "qbmove-5dof")


@pytest.mark.parametrize("name", COMPLIANT)
def test_a_realistic_robot_moves_loses_energy_in_its_blocks_and_its_balance_closes(name):
    robot = build_robot(name, {"realistic": True})
    engine = AuditedEngine(robot)
    for joint, actuator in robot.actuators.items():
        assert actuator.mode == Mode.PID_EQ_PRESET
        engine.port(f"{joint}/reference_1")[0] = 0.4
    engine.step(1000)
    balance = engine.audit.balance()
    assert balance.relative < 1e-3
    assert balance.transmission > 0.0
    assert engine.port(f"{next(iter(robot.actuators))}/motor_1_temperature")[0] > 298.15
    assert all(actuator.hysteresis is None for actuator in build_robot(name, {}).actuators.values())
