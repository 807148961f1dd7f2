"""The walking controller: forces that balance, centres of pressure within the soles, phases in their order."""

import mujoco
import numpy as np
import pytest

from pliant.robots import build_robot
from pliant.walking.control.settings import WalkSettings
from pliant.walking.control.walker import DOUBLE, SINGLE, STAND, Leg, Walker
from pliant.walking.model import kinematic_tree
from pliant.walking.robots.biped import JOINTS
from pliant.walking.robots.biped.parameters import ANKLE_HEIGHT, HIP_SPACING, REST

NAMES = tuple(JOINTS)
WEIGHT = 30.674 * 9.81
"""Of the biped with rigid feet [N]."""


@pytest.fixture(scope="module")
def model():
    return build_robot("biped", {"actuation": "torque"}).compile()


def walker_of(model, inertia=None, **settings):
    tree = kinematic_tree(model, "waist", NAMES)
    legs = tuple(
        Leg(links=tree.limb(1 + NAMES.index(f"{side}_ankle_roll")), sole=ANKLE_HEIGHT, side=sign)
        for side, sign in (("l", 1.0), ("r", -1.0))
    )
    rest = np.array([REST[name] for name in NAMES])
    return Walker(tree, legs, rest, WalkSettings(**settings), 0.004, HIP_SPACING, inertia), rest


def stand(walker, q, loads=(0.5 * WEIGHT, 0.5 * WEIGHT)):
    return walker.update(np.eye(3), np.zeros(3), q, np.zeros(len(q)), loads)


def test_the_torques_of_a_standing_robot_balance_its_weight(model):
    walker, rest = walker_of(model)
    tau = stand(walker, rest)
    # The force points from the centre of pressure to the centre of mass, at rest of the moments.
    across = (walker.com[:2] - walker.cop) * WEIGHT / walker.com[2]
    force = np.array([*across, WEIGHT])
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    base = data.body("waist").xpos - walker.base
    generalized = data.qfrc_bias.copy()
    for k, side in enumerate("lr"):
        point = np.array([*walker.points[k], 0.0]) + base
        point[2] = 0.0
        J = np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, J, None, point, model.body(f"{side}_foot").id)
        generalized -= J.T @ (walker.share[k] * force)
    found = np.zeros(model.nv)
    for name, torque in zip(NAMES, tau, strict=True):
        found[model.joint(name).dofadr[0]] = torque
    # Neither a vertical force on the base nor a moment about the centre of mass is left.
    assert generalized[2] == pytest.approx(0.0, abs=1e-2)
    assert found[6:] == pytest.approx(generalized[6:], abs=1e-2)


@pytest.mark.parametrize("wanted", [(0.03, 0.0), (0.05, 0.03), (0.01, -0.05)])
def test_the_feet_together_have_the_centre_of_pressure_that_is_wanted(model, wanted):
    walker, rest = walker_of(model)
    stand(walker, rest)
    walker._distribute(np.array(wanted), (-0.06, -0.03), (0.06, 0.03))
    assert walker.cop == pytest.approx(wanted, abs=1e-12)
    assert sum(walker.share) == pytest.approx(1.0)
    assert min(walker.share) >= 0.0


def test_no_foot_is_asked_for_a_centre_of_pressure_outside_its_limits(model):
    walker, rest = walker_of(model)
    stand(walker, rest)
    low, high = (-0.06, -0.03), (0.06, 0.03)
    for wanted in ((0.5, 0.0), (-0.5, 0.4), (0.0, -0.4)):
        for phase in (STAND, SINGLE):
            walker.phase = phase
            walker._distribute(np.array(wanted), low, high)
            for k in range(2):
                shift = walker.points[k] - walker._reference_point(k)
                assert np.all(shift >= np.array(low) - 1e-12)
                assert np.all(shift <= np.array(high) + 1e-12)


def test_on_one_foot_all_the_load_is_on_it(model):
    walker, rest = walker_of(model)
    stand(walker, rest)
    walker.phase, walker.stance = SINGLE, 1
    walker._distribute(np.zeros(2), (-0.06, -0.03), (0.06, 0.03))
    assert walker.share == [0.0, 1.0]


def test_a_robot_that_is_not_told_to_walk_stands(model):
    walker, rest = walker_of(model)
    for _ in range(10):
        stand(walker, rest)
    assert (walker.phase, walker.steps) == (STAND, 0)


def test_the_first_step_comes_after_the_first_support(model):
    walker, rest = walker_of(model, first_support=0.2)
    stand(walker, rest)
    walker.walk()
    phases = []
    for _ in range(400):
        stand(walker, rest)
        phases.append(walker.phase)
    assert phases[0] == DOUBLE
    # The load stays on both feet in this test, so the controller waits for it, but not for ever.
    first = phases.index(SINGLE) * 0.004
    assert 0.2 <= first < 0.2 + 0.4


def test_a_lying_robot_has_fallen(model):
    walker, rest = walker_of(model)
    stand(walker, rest)
    assert not walker.fallen
    on_its_side = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    walker.update(on_its_side, np.zeros(3), rest, np.zeros(len(rest)), (0.0, 0.0))
    assert walker.fallen
    assert walker.tau == pytest.approx(np.zeros(len(rest)))


def test_an_error_that_the_sole_cannot_correct_moves_the_foothold(model):
    walker, rest = walker_of(model)
    stand(walker, rest)
    walker.walk()
    while walker.phase != SINGLE:
        stand(walker, rest)
    nominal = walker._nominal(walker.stance)
    walker.dcm = walker.dcm + np.array([0.3, 0.0])
    walker._stabilise()
    assert walker.foothold[0] == pytest.approx(nominal[0] + walker.settings.max_adjustment)
    assert abs(walker.foothold[1] - walker.anchors[walker.stance][1]) >= walker.settings.min_spacing - 1e-12


def test_with_a_swing_frequency_each_joint_is_as_stiff_as_its_inertia_asks(model):
    inertia = np.linspace(0.05, 0.5, len(NAMES))
    walker, rest = walker_of(model, inertia, swing_frequency=20.0)
    elbow = NAMES.index("l_elbow")
    moved, still = rest.copy(), np.zeros(len(rest))
    moved[elbow] += 0.1
    holding = walker.update(np.eye(3), np.zeros(3), moved, still, (150.0, 150.0)).copy()
    still[elbow] = 0.2
    moving = walker.update(np.eye(3), np.zeros(3), moved, still, (150.0, 150.0))
    gravity = 9.81 * walker.tree.hold[elbow]
    assert holding[elbow] - gravity == pytest.approx(-0.1 * inertia[elbow] * 20.0**2, rel=1e-9)
    assert moving[elbow] - holding[elbow] == pytest.approx(-0.2 * 2.0 * inertia[elbow] * 20.0, rel=1e-9)
