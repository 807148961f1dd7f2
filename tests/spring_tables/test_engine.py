"""A spring table in the engine: convergence to an independent integration, saved models, batches."""

import mujoco
import numpy as np
import pytest
from audited import AuditedEngine
from benches import INERTIA, WEIGHT, bench
from scipy.integrate import solve_ivp
from scipy.interpolate import PchipInterpolator

from pliant.batch.worlds import CpuBatch
from pliant.engine import MujocoEngine
from pliant.laws import CompliantActuator
from pliant.spring_tables import TableSEA

ROWS = np.array(TableSEA().rows)
SPLINE = PchipInterpolator(*np.vstack([-ROWS[:0:-1], ROWS]).T)
END = 0.3


def reference(t):
    return 0.15 * np.sin(8.0 * t)


def exact():
    """Integrate the bench in mode 3 with scipy's own spline."""

    def rate(t, y):
        q, dq = y
        return [dq, (-SPLINE(q - reference(t)) - 0.065 * dq + WEIGHT * np.cos(q)) / INERTIA]

    return solve_ivp(
        rate, (0.0, END), [0.0, 0.0], method="DOP853", rtol=1e-11, atol=1e-12, max_step=2e-4, dense_output=True
    ).sol


def run(dt):
    engine = MujocoEngine(bench(CompliantActuator(TableSEA(), mode=3), dt=dt), check=False)
    command = engine.port("joint/reference_1")
    position = engine.port("joint/position")
    found = []
    for i in range(round(END / dt)):
        command[0] = reference(i * dt)
        engine.step()
        found.append(float(position[0]))
    return np.array(found)


def test_the_motion_converges_to_an_independent_integration_in_first_order():
    truth = exact()
    errors = []
    for dt in (1e-3, 5e-4, 2.5e-4):
        found = run(dt)
        errors.append(np.abs(found - truth(dt * np.arange(1, found.size + 1))[0]).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 0.8).all(), (errors, orders)
    assert errors[-1] < 2e-3


@pytest.mark.parametrize("mode", range(7))
def test_the_energy_audit_of_a_table_closes(mode):
    engine = AuditedEngine(bench(CompliantActuator(TableSEA(), mode=mode), dt=2.5e-4, gravity=0.0), check=False)
    command = engine.port("joint/reference_1")
    for i in range(2000):
        command[0] = reference(i * 2.5e-4)
        engine.step()
    assert engine.audit.balance().relative < 1e-3


def test_a_saved_model_moves_like_the_robot(tmp_path):
    robot = bench(CompliantActuator(TableSEA(), mode=3))
    path = tmp_path / "arm.xml"
    path.write_text(robot.assemble().to_xml())
    ends = []
    for model in (robot.compile(), mujoco.MjModel.from_xml_path(str(path))):
        engine = MujocoEngine(model, check=False)
        engine.port("joint/reference_1")[0] = 0.2
        engine.step(300)
        ends.append(float(engine.port("joint/position")[0]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-5)


def test_worlds_of_a_batch_have_their_own_torque_scale():
    robot = bench(CompliantActuator(TableSEA(), mode=3), damping=2.0)
    batch = CpuBatch(robot, 3)
    batch.set_parameters({"joint.torque_scale": np.array([0.5, 1.0, 2.0])}, np.ones(3, dtype=bool))
    batch.step(2000)
    sag = batch.read("joint/position")[:, 0]
    held = [SPLINE(s) * scale for s, scale in zip(sag, (0.5, 1.0, 2.0))]
    np.testing.assert_allclose(held, WEIGHT * np.cos(sag), rtol=1e-3)
