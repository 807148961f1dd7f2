"""The kinematic tree: against MuJoCo, and against its own derivatives."""

import mujoco
import numpy as np
import pytest

from pliant.base.errors import DeviceError, PliantError
from pliant.robots import build_robot
from pliant.walking.control.tree import KinematicTree
from pliant.walking.model import kinematic_tree
from pliant.walking.robots.biped import JOINTS

NAMES = tuple(JOINTS)


@pytest.fixture(scope="module")
def model():
    return build_robot("biped").compile()


@pytest.fixture
def tree(model):
    return kinematic_tree(model, "waist", NAMES)


@pytest.fixture
def data(model):
    rng = np.random.default_rng(3)
    data = mujoco.MjData(model)
    data.qpos[3:7] = rng.normal(size=4)
    data.qpos[3:7] /= np.linalg.norm(data.qpos[3:7])
    for name, joint in JOINTS.items():
        data.qpos[model.joint(name).qposadr[0]] = rng.uniform(joint.low, joint.high)
    data.qvel[:] = rng.normal(size=model.nv)
    data.qvel[:3] = 0.0
    mujoco.mj_forward(model, data)
    mujoco.mj_subtreeVel(model, data)
    return data


def observed(model, tree, data):
    R = data.xmat[model.body("waist").id].reshape(3, 3).copy()
    q = np.array([data.qpos[model.joint(n).qposadr[0]] for n in NAMES])
    dq = np.array([data.qvel[model.joint(n).dofadr[0]] for n in NAMES])
    center, velocity = tree.observe(R, R @ data.qvel[3:6], q, dq)
    return R, q, dq, center.copy(), velocity.copy()


def test_poses_and_centre_of_mass_are_those_of_mujoco(model, tree, data):
    _, _, _, center, velocity = observed(model, tree, data)
    base = data.body("waist").xpos
    for i, name in enumerate(NAMES, 1):
        body = int(model.joint(name).bodyid[0])
        assert base + tree.P[i] == pytest.approx(data.xpos[body], abs=1e-12)
        assert tree.R[i] == pytest.approx(data.xmat[body].reshape(3, 3), abs=1e-12)
    waist = model.body("waist").id
    assert base + center == pytest.approx(data.subtree_com[waist], abs=1e-12)
    assert velocity == pytest.approx(data.subtree_linvel[waist], abs=1e-11)
    assert tree.total_mass == pytest.approx(model.body_subtreemass[waist], rel=1e-12)


def test_velocities_are_those_of_mujoco(model, tree, data):
    observed(model, tree, data)
    for i, name in enumerate(NAMES, 1):
        found = np.zeros(6)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, int(model.joint(name).bodyid[0]), found, 0)
        assert tree.W[i] == pytest.approx(found[:3], abs=1e-11)
        assert tree.V[i] == pytest.approx(found[3:], abs=1e-11)


def test_the_holding_torques_are_the_gravity_torques_of_mujoco(model, tree, data):
    data.qvel[:] = 0.0
    mujoco.mj_forward(model, data)
    observed(model, tree, data)
    bias = [data.qfrc_bias[model.joint(n).dofadr[0]] for n in NAMES]
    assert 9.81 * tree.hold == pytest.approx(bias, abs=1e-11)


def test_the_jacobian_of_a_leg_is_the_derivative_of_its_pose(tree):
    links = tree.limb(1 + NAMES.index("l_ankle_roll"))
    q = np.array([0.1, -0.05, -0.4, 0.8, -0.35, 0.08])
    R, _, J = tree.limb_pose(links, q)
    for j in range(6):
        d = np.zeros(6)
        d[j] = 1e-6
        R1, p1, _ = tree.limb_pose(links, q + d)
        R0, p0, _ = tree.limb_pose(links, q - d)
        S = (R1 - R0) @ R.T / 2e-6
        assert J[:3, j] == pytest.approx((p1 - p0) / 2e-6, abs=1e-8)
        assert J[3:, j] == pytest.approx([S[2, 1], S[0, 2], S[1, 0]], abs=1e-8)


@pytest.mark.parametrize("side", ["l", "r"])
def test_the_inverse_kinematics_of_a_leg_reaches_a_pose_that_it_can_reach(tree, side):
    links = tree.limb(1 + NAMES.index(f"{side}_ankle_roll"))
    start = np.array([0.0, 0.0, -0.38, 0.8, -0.4, 0.0])
    for wanted in ([0.1, 0.05, -0.6, 0.9, -0.2, 0.1], [-0.2, -0.1, -0.1, 0.5, -0.5, 0.1]):
        R, p, _ = tree.limb_pose(links, np.array(wanted))
        q, residual, _ = tree.solve_limb(links, R, p, start, iterations=12)
        assert residual < 1e-8
        R1, p1, _ = tree.limb_pose(links, q)
        assert (R1, p1) == (pytest.approx(R, abs=1e-7), pytest.approx(p, abs=1e-7))


def test_a_pose_out_of_reach_leaves_a_residual_and_no_error(tree):
    links = tree.limb(1 + NAMES.index("l_ankle_roll"))
    q, residual, _ = tree.solve_limb(links, np.eye(3), np.array([0.0, 0.08, -2.0]), np.zeros(6) + 0.1)
    assert residual > 1.0
    assert np.all(np.isfinite(q))
    assert np.all((q >= tree.low[links - 1]) & (q <= tree.high[links - 1]))


def test_the_joint_velocities_give_the_twist(tree):
    links = tree.limb(1 + NAMES.index("l_ankle_roll"))
    _, _, J = tree.limb_pose(links, np.array([0.0, 0.0, -0.4, 0.8, -0.4, 0.0]))
    twist = np.array([0.1, -0.02, 0.05, 0.1, 0.2, -0.1])
    assert J @ tree.limb_rates(J, twist, damping=1e-6) == pytest.approx(twist, abs=1e-6)


def test_a_soft_foot_counts_as_part_of_its_ankle():
    model = build_robot("biped", {"feet": "soft"}).compile()
    tree = kinematic_tree(model, "waist", NAMES)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    center, _ = tree.observe(np.eye(3), np.zeros(3), np.zeros(len(NAMES)), np.zeros(len(NAMES)))
    assert data.body("waist").xpos + center == pytest.approx(data.subtree_com[1], abs=1e-12)


def test_unknown_names_are_refused_with_the_nearest(model):
    with pytest.raises(DeviceError, match="l_knee"):
        kinematic_tree(model, "waist", ("l_kne",))
    with pytest.raises(DeviceError, match="waist"):
        kinematic_tree(model, "waste", NAMES)
    with pytest.raises(DeviceError, match="hinge"):
        kinematic_tree(model, "waist", ("base",))


def test_a_parent_after_its_child_is_refused():
    with pytest.raises(PliantError, match="lower index"):
        KinematicTree(
            parent=np.array([-1, 2, 0]), offset=np.zeros((3, 3)), axis=np.zeros((3, 3)), mass=np.ones(3),
            com=np.zeros((3, 3)), low=np.zeros(2), high=np.zeros(2),
        )  # fmt: skip
