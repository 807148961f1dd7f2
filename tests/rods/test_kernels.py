"""The compiled kernels: derivatives against finite differences on a robot of every joint and section."""

import numpy as np
import pytest

from pliant.base.spatial import exp_so3, pose, rotation_from_quaternion
from pliant.rods import (
    BaseJoint,
    DistalJoint,
    Limb,
    Plate,
    Rectangular,
    RobotDescription,
    Rod,
    Round,
    kernels,
    load_robot,
)
from pliant.rods._build import build_model, build_work, flatten, unflatten
from pliant.rods.kernels import elimination, layout, step


def mixed_robot():
    rng = np.random.default_rng(0)

    def place(scale=0.3):
        return pose(rng.normal(size=3) * scale, exp_so3(rng.normal(size=3) * scale))

    plain = Rod(length=1.0, section=Round(radius=1e-3))
    rich = Rod(
        length=0.8,
        section=Round(radius=1.2e-3, tip_radius=0.8e-3),
        precurvature=((0, 0.3, 0.2, 0.1), (1, 0.1, 0.4, 0)),
        distributed_force=(0.1, 0.2, 0.3),
        distributed_moment=(0.01, 0.02, 0.03),
    )
    flat = Rod(length=0.8, section=Rectangular(width=2e-3, height=1.5e-3))

    def limb(rod, kind, *joints, **distal):
        return Limb(
            rod=rod,
            base=place(),
            attach=place(),
            joints=joints,
            distal=DistalJoint(kind=kind, pose=place(), attach=place(), **distal),
        )

    return RobotDescription(
        name="mixed",
        plate=Plate(mass=0.3, com=(0.01, 0.02, 0.03)),
        limbs=(
            limb(plain, "fixed", BaseJoint(kind="prismatic", pose=place())),
            limb(
                rich,
                "revolute",
                BaseJoint(kind="revolute", axis=(1, 0.3, 0), pose=place()),
                BaseJoint(kind="prismatic", actuated=False, pose=place()),
                BaseJoint(kind="revolute", actuated=False, pose=place()),
                axis=(0.2, 0.3, 1),
            ),
            limb(
                flat,
                "universal",
                BaseJoint(kind="revolute", pose=place()),
                BaseJoint(kind="extension"),
                axis=(1, 0, 1),
                axis_2=(0, 1, 0),
            ),
            limb(rich, "spherical", BaseJoint(kind="extension")),
            limb(plain, "prismatic", BaseJoint(kind="prismatic"), axis=(1, 0.4, 0.2)),
        ),
    )


@pytest.fixture(scope="module")
def mixed():
    d = mixed_robot()
    md = build_model(d, 6)
    n, k, na = (int(v) for v in md.size[:3])
    wk = build_work(n, k, na)
    rng = np.random.default_rng(1)
    W, Q = rng.normal(size=(n, 6)) * 0.2, np.full((n, k), 0.1)
    Q[2, 1], Q[3, 0] = 0.8, 0.75
    X = flatten(pose([0.2, 0.1, 0.9], exp_so3([0.2, -0.1, 0.3])))
    wrench = rng.normal(size=(1, 6))

    def evaluate(W, Q, X, follower):
        q = np.array([Q[i, j] for i, j in d.actuators])[None]
        kernels.solve(
            md,
            wk,
            kernels.Unknowns(W.copy(), Q.copy(), X.copy(), np.zeros((1, n, 1, layout.NODE_SIZE))),
            kernels.Tasks(False, q, X[None].copy(), np.ones(6, bool), wrench, follower),
            kernels.Newton(1e-12, layout.LINEARISE_ONLY, 1, False),
            kernels.Rows(
                np.zeros((1, layout.REPORT_SIZE)), np.zeros((1, n, 6)), np.zeros((1, n, k)), np.zeros((1, 12))
            ),
        )
        return wk.r.copy(), wk.b.copy()

    return d, wk, W, Q, X, evaluate


@pytest.mark.parametrize("follower", [False, True])
def test_derivatives_of_every_row_match_central_differences(mixed, follower):
    d, wk, W, Q, X, evaluate = mixed
    evaluate(W, Q, X, follower)
    by_column, plate_by_column, by_plate, plate = wk.d.copy(), wk.pw.copy(), wk.dx.copy(), wk.bx.copy()
    h = 1e-6
    for i, limb in enumerate(d.limbs):
        rows = 6 + sum(not joint.actuated for joint in limb.joints)
        for c in range(6 + len(limb.joints)):
            ends = []
            for sign in (h, -h):
                W1, Q1 = W.copy(), Q.copy()
                if c < 6:
                    W1[i, c] += sign
                else:
                    Q1[i, c - 6] += sign
                ends.append(evaluate(W1, Q1, X, follower))
            slope = (ends[0][0] - ends[1][0])[i, :rows] / (2 * h)
            assert slope == pytest.approx(by_column[i, :rows, c], abs=1e-6), (limb.distal.kind, c)
            assert (ends[0][1] - ends[1][1]) / (2 * h) == pytest.approx(plate_by_column[i, :, c], abs=1e-6)
    for c in range(6):
        ends = []
        for sign in (h, -h):
            X1 = unflatten(X)
            if c < 3:
                X1[c, 3] += sign
            else:
                X1[:3, :3] = exp_so3(sign * np.eye(3)[c - 3]) @ X1[:3, :3]
            ends.append(evaluate(W, Q, flatten(X1), follower))
        for i in range(len(d.limbs)):
            slope = (ends[0][0] - ends[1][0])[i, :6] / (2 * h)
            assert slope == pytest.approx(by_plate[i, :, c], abs=1e-6), d.limbs[i].distal.kind
        assert (ends[0][1] - ends[1][1]) / (2 * h) == pytest.approx(plate[:, c], abs=1e-6)


def as_python(kernel):
    return getattr(kernel, "py_func", kernel)


def test_a_node_turns_by_the_rotation_vector_and_moves_by_the_columns_of_a_step():
    rng = np.random.default_rng(3)
    for scale in (1.0, 1e-12):
        cols, z, alpha = scale * rng.normal(size=(layout.BY_M + 16, 4)), rng.normal(size=4), 0.7
        node = rng.normal(size=layout.NODE_SIZE)
        place = {at: node[at : at + 3].copy() for at in (layout.TIP_P, layout.TIP_M)}
        quaternion = np.array([0.5, -0.1, 0.7, 0.5])
        node[layout.TIP_Q : layout.TIP_Q + 4] = quaternion
        as_python(step.move_node)(node, cols, z, 4, alpha)
        moved = {
            at: alpha * cols[by : by + 3] @ z for at, by in ((layout.TIP_P, layout.BY_P), (layout.TIP_M, layout.BY_M))
        }
        for at, way in moved.items():
            np.testing.assert_allclose(node[at : at + 3], place[at] + way, rtol=1e-14)
        turn = exp_so3(alpha * cols[layout.BY_PHI : layout.BY_PHI + 3] @ z)
        expected = turn @ rotation_from_quaternion(quaternion)
        found = rotation_from_quaternion(node[layout.TIP_Q : layout.TIP_Q + 4])
        np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize("matrix", [np.ones((3, 3)) + np.diag([0, 1, 2]), [[0, 2, 1], [1, 0, 1], [1, 1, 0]]])
def test_elimination_solves_matrices_of_small_whole_numbers_and_finds_singular_ones(matrix):
    A, b = np.array(matrix, dtype=float), np.array([1.0, -2.0, 3.0])
    e = np.column_stack([A, b])
    assert as_python(elimination.eliminate)(e, 3, 4)
    np.testing.assert_allclose(e[:, 3], np.linalg.solve(A, b), rtol=1e-13)
    singular = np.column_stack([np.ones((3, 3)), b])
    assert not as_python(elimination.eliminate)(singular, 3, 4)


def test_read_only_numbers_compile_no_kernel_again():
    robot = load_robot("Stewart_Gough_6PFR")
    home, load = robot.home(), np.array([0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
    numbers = [home.q.copy(), home.plate_pose.copy(), load]
    for array in numbers:
        array.flags.writeable = False
    q, pose, load = numbers
    robot.solve_dgm(q, load)
    robot.solve_igm(pose, load).gradients(["plate.mass"])
    for kernel in (kernels.solve, kernels.follow):
        assert "readonly" not in str(kernel.signatures)
