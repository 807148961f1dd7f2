"""The energy audit of every law in every mode closes, and its error halves with the time step."""

import numpy as np
import pytest
from audited import AuditedEngine
from benches import bench, drive, smooth_references
from law_cases import BUILT_IN, VARIANTS

from pliant.laws import PID, CompliantActuator, DCMotor, Electrical, PreslidingFriction, QbMove

MODES = list(range(7))


def audit(actuator, mode, dt, duration=0.4):
    t = np.arange(round(duration / dt)) * dt
    engine = AuditedEngine(bench(actuator, dt=dt), check=False)
    r1, r2 = smooth_references(actuator.law, mode, t + dt)
    drive(engine, "joint", r1, r2)
    return engine.audit.balance()


AUDITED = [(name, mode) for name in BUILT_IN for mode in MODES] + [("test_energy_qbmove", 6), ("test_hardening", 6)]


@pytest.mark.parametrize(("name", "mode"), AUDITED)
def test_the_residual_of_the_energy_audit_halves_with_the_time_step(name, mode):
    law = VARIANTS[name][0]
    if name == "sea" and mode >= 2:
        law = law.replace(max_deflection=3.0)
    actuator = CompliantActuator(law, mode=mode, initial_preset=0.012 if law.second_input == "lever" else 0.1)
    coarse, fine = (audit(actuator, mode, dt) for dt in (2e-4, 1e-4))
    assert coarse.throughput > 1e-4
    assert coarse.relative < 2e-2
    if coarse.relative < 1e-6:
        return
    assert fine.relative / coarse.relative == pytest.approx(0.5, abs=0.12)


@pytest.mark.parametrize(
    "options",
    [
        {"link_friction": PreslidingFriction(torque=0.02)},
        {"link_damping": 0.02, "link_preset_damping": 0.05},
        {"pid_1": PID(velocity_feedforward=True), "pid_2": PID(velocity_feedforward=True)},
        {"command_delay": 5e-3},
        {"motor_1": DCMotor(electrical=Electrical(inductance=0.02))},
        {"motor_1": DCMotor(friction=PreslidingFriction(torque=0.2, load_coefficient=0.1), torque_speed=True)},
    ],
    ids=["link-friction", "link-damping", "feed-forward", "delay", "electrical", "motor-friction"],
)
def test_the_audit_closes_with_every_option(options):
    actuator = CompliantActuator(QbMove(), mode=6, initial_preset=0.1, **options)
    coarse, fine = (audit(actuator, 6, dt) for dt in (2e-4, 1e-4))
    assert coarse.relative < 2e-2
    assert fine.relative < 0.65 * coarse.relative


def test_the_audit_knows_where_energy_went():
    balance = audit(CompliantActuator(QbMove(), mode=6), 6, 1e-4)
    assert balance.motors > 0.0
    assert balance.motor_damping > 0.0
    assert balance.motor_friction > 0.0
    assert balance.joint_damping > 0.0
    assert balance.references == pytest.approx(0.0, abs=1e-12)
    assert balance.as_dict()["residual"] == balance.residual
