"""The pushing experiment of section 4.2.3."""

import numpy as np
import pytest

from pliant.experiments import Context
from pliant.experiments.box import BREAKAWAY, PRESETS, START, Arm, plan_push, push
from pliant.experiments.runner import find_experiment
from pliant.robots import build_robot


@pytest.fixture(scope="module")
def arm():
    robot = build_robot("qbmove-5dof")
    return robot, robot.compile()


def test_jacobian_and_gravity_of_the_plan_are_gradients(arm):
    model = Arm(arm[1])
    q, h = np.array([0.1, -0.3, 0.2, 0.45, 0.3]), 1e-6
    steps = h * np.eye(5)
    J = np.stack([(model.forward(q + d) - model.forward(q - d)) / (2 * h) for d in steps], axis=1)
    np.testing.assert_allclose(model.jacobian(q), J, atol=1e-8)

    def energy(q):
        model.forward(q)
        bodies = [arm[1].body(f"link_{i}").id for i in range(1, 6)]
        return sum(9.81 * arm[1].body_mass[b] * model.data.xipos[b, 2] for b in bodies)

    gradient = [(energy(q + d) - energy(q - d)) / (2 * h) for d in steps]
    np.testing.assert_allclose(model.gravity(q), gradient, atol=1e-7)


def test_the_plan_follows_the_path_and_compensates_gravity(arm):
    robot, compiled = arm
    plan = plan_push(robot, compiled, PRESETS["stiff"])
    assert plan.tracking_error < 1e-4
    np.testing.assert_allclose(plan.joints[0], START, atol=1e-12)
    model = Arm(compiled)
    for k in (0, 500, -1):
        for law, q, eq, torque in zip(
            (a.law for a in robot.actuators.values()),
            plan.joints[k],
            plan.equilibrium[k],
            model.gravity(plan.joints[k]),
            strict=True,
        ):
            given = type(law).torques(q, *law.map_references(eq, 0.6), law.parameters())[0]
            assert given == pytest.approx(torque, abs=1e-9)


def test_the_soft_arm_stalls_and_the_stiff_arm_moves_the_box():
    soft, stiff = (push(PRESETS[name]) for name in ("soft", "stiff"))
    assert soft.horizontal_force.max() < BREAKAWAY < stiff.horizontal_force.max()
    assert np.abs(soft.displacement).max() < 1e-4
    assert stiff.displacement[-1] > 5e-3
    # Nothing pushes before the tip has arrived.
    assert soft.horizontal_force[soft.time < 2.0].max() == 0.0


@pytest.mark.slow
def test_the_experiment_passes(tmp_path):
    result = find_experiment("box").run(Context(output=tmp_path, quick=True))
    assert [t.name for t in result.failures] == []
    assert {f.name for f in result.figures} >= {"push", "joints"}
    assert result.traces["soft_force_n"].shape == (1601, 3)
