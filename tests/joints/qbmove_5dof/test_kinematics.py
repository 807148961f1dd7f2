"""The arm's own model for planning: gradients, and the work of a push."""

import numpy as np
import pytest

from pliant.joints.qbmove_5dof.kinematics import ArmKinematics
from pliant.robots import build_robot


@pytest.fixture(scope="module")
def arm():
    return build_robot("qbmove-5dof", {"module_length": 0.1}).compile()


def test_jacobian_and_gravity_of_the_arm_are_gradients(arm):
    planned = ArmKinematics(arm)
    q, h = np.array([0.1, -0.3, 0.2, 0.45, 0.3]), 1e-6
    steps = h * np.eye(5)
    J = np.stack([(planned.forward(q + d) - planned.forward(q - d)) / (2 * h) for d in steps], axis=1)
    np.testing.assert_allclose(planned.jacobian(q)[:3], J[:3], atol=1e-8)
    plane = np.array([0.0, -0.3, 0.0, 0.45, 0.3])
    J = np.stack([(planned.forward(plane + d) - planned.forward(plane - d)) / (2 * h) for d in steps], axis=1)
    np.testing.assert_allclose(planned.jacobian(plane), J, atol=1e-8)

    def energy(q):
        planned.forward(q)
        bodies = [arm.body(f"link_{i}").id for i in range(1, 6)]
        return sum(9.81 * arm.body_mass[b] * planned.data.xipos[b, 2] for b in bodies)

    gradient = [(energy(q + d) - energy(q - d)) / (2 * h) for d in steps]
    np.testing.assert_allclose(planned.gravity(q), gradient, atol=1e-7)


def test_the_load_of_a_push_is_the_work_of_its_force(arm):
    planned = ArmKinematics(arm)
    q, force = np.array([0.1, -0.3, 0.2, 0.45, 0.3]), np.array([3.0, 0.5, -1.0])
    # The ball rolls on the wall, so the force acts at a point of the body: its work is that of the body's motion there.
    rate, h = np.array([0.3, -0.7, 0.2, 1.1, -0.4]), 1e-6
    planned.forward(q)
    rotation = planned.data.site_xmat[planned.site].reshape(3, 3).copy()
    local = rotation.T @ [0.014, 0.0, 0.0]

    def point(q):
        tip = planned.forward(q)[:3]
        return tip + planned.data.site_xmat[planned.site].reshape(3, 3) @ local

    velocity = (point(q + h * rate) - point(q - h * rate)) / (2 * h)
    pushing = planned.load(q, force) - planned.gravity(q)
    assert pushing @ rate == pytest.approx(force @ velocity, abs=1e-8)
