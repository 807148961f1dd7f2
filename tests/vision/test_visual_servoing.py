import mpmath
import numpy as np
import pytest
from daily import by_day
from hypothesis import given
from hypothesis import strategies as st

from pliant.base.spatial import exp_so3, inverse, pose
from pliant.camera.conditions import Condition, VisionError
from pliant.vision import (
    Task,
    camera_moved,
    eye_in_hand_jacobian,
    eye_to_hand_jacobian,
    facing_pose,
    nearest_alike_pose,
    pose_features,
    project_points,
    solve,
    tag_corners,
)
from pliant.vision.kinematics import adjoint
from pliant.vision.tasks import AdaptiveGain
from pliant.vision.visual_servoing import (
    JointLimitAvoidance,
    ServoMonitor,
    ServoStatus,
    VisualServo,
    hybrid_task,
    hybrid_velocity,
    ibvs_task,
    ibvs_velocity,
    joint_velocity,
    norm_below,
    pbvs_task,
    pbvs_velocity,
    pose_below,
    servo_torque,
)

TAG = tag_corners(0.08)
GOAL = facing_pose(0.24)
POSES, POINTS = (
    AdaptiveGain(at_zero=4.0, at_infinity=1.2, slope_at_zero=25.0),
    AdaptiveGain(at_zero=1.5, at_infinity=0.4, slope_at_zero=30.0),
)
CENTRE = np.zeros(3)


def starts(count=20, seed=3):
    """Return poses of a tag at 0.25 to 0.55 m, up to 35 degrees tilted, turned by up to 80 degrees."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(count):
        a = rng.uniform(0, 2 * np.pi)
        tilt = exp_so3(rng.uniform(0, np.radians(35)) * np.array([np.cos(a), np.sin(a), 0.0]))
        turn = exp_so3([0, 0, rng.uniform(-1.4, 1.4)])
        Z = rng.uniform(0.25, 0.55)
        out.append(pose([*rng.uniform(-0.15, 0.15, 2) * Z, Z], tilt @ turn @ np.diag([1.0, -1.0, -1.0])))
    return out


# -- values of the published equations --------------------------------------------------------------------------------


def exact_pose(w, x, y, z, t):
    """Return a pose of a rational quaternion in numbers of 40 digits."""
    n = mpmath.mpf(w * w + x * x + y * y + z * z)
    R = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return mpmath.matrix([[*(R[i][j] / n for j in range(3)), t[i]] for i in range(3)] + [[0, 0, 0, 1]])


def exact_ibvs(X, D, h, gain, kind):
    """Return the velocity of the published equations in numbers of 40 digits."""

    def rows(pose_):
        s, L = [], []
        for a, b in ((-h, -h), (h, -h), (h, h), (-h, h)):
            p = pose_ * mpmath.matrix([a, b, 0, 1])
            x, y, Z = p[0] / p[2], p[1] / p[2], p[2]
            s += [x, y]
            L += [[-1 / Z, 0, x / Z, x * y, -(1 + x * x), y], [0, -1 / Z, y / Z, 1 + y * y, -x * y, -x]]
        return mpmath.matrix(s), mpmath.matrix(L)

    (s, L), (wanted, L_wanted) = rows(X), rows(D)
    L = {"current": L, "desired": L_wanted, "mean": (L + L_wanted) / 2}[kind]
    step = mpmath.lu_solve(L.T * L, L.T * (s - wanted))
    return -exact_gain(gain, step) * step


def exact_gain(gain, step):
    if not isinstance(gain, AdaptiveGain):
        return gain
    span = mpmath.mpf(gain.at_zero) - mpmath.mpf(gain.at_infinity)
    size = max(abs(x) for x in step)
    return span * mpmath.exp(-mpmath.mpf(gain.slope_at_zero) / span * size) + mpmath.mpf(gain.at_infinity)


@pytest.mark.parametrize("gain", [1.25, POINTS])
@pytest.mark.parametrize("kind", ["current", "desired", "mean"])
@pytest.mark.parametrize("quaternion", [(1, 9, 2, -1), (2, 7, -3, 1), (0, 5, 1, 1)])
def test_ibvs_velocity_equals_the_published_equation_to_1e_12(kind, gain, quaternion):
    with mpmath.workdps(40):
        X = exact_pose(*quaternion, (mpmath.mpf(1) / 16, -mpmath.mpf(1) / 32, mpmath.mpf(1) / 2))
        D = exact_pose(0, 1, 0, 0, (0, 0, mpmath.mpf(1) / 4))
        expected = np.array([float(x) for x in exact_ibvs(X, D, mpmath.mpf(1) / 32, gain, kind)])
        X, D = (np.array(m.tolist(), dtype=float) for m in (X, D))
    found = ibvs_velocity(tag_corners(1 / 16), X, D, gain=gain, interaction=kind)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("gain", [1.25, POSES])
@pytest.mark.parametrize("quaternion", [(5, 1, 2, -1), (1, 3, -2, 1), (20, 1, 0, 0)])
def test_pbvs_velocity_equals_the_published_equation_to_1e_12(gain, quaternion):
    # With cdMo = (0, 0, 1/4), R = I: cdMc = cdMo cMo^-1 has theta u of the conjugate quaternion of cMo.
    with mpmath.workdps(40):
        w, *v = quaternion
        X = exact_pose(*quaternion, (mpmath.mpf(1) / 16, -mpmath.mpf(1) / 32, mpmath.mpf(1) / 2))
        R, t = X[:3, :3], X[:3, 3]
        n = mpmath.sqrt(sum(x * x for x in v))
        theta_u = [-2 * mpmath.atan2(n, w) * x / n for x in v]
        back = R * mpmath.matrix([0, 0, mpmath.mpf(1) / 4]) - t  # R' t of cdMc
        step = mpmath.matrix([*back, *theta_u])
        expected = np.array([float(x) for x in -exact_gain(gain, step) * step])
        X = np.array(X.tolist(), dtype=float)
    found = pbvs_velocity(X, pose([0, 0, 0.25]), gain=gain)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_a_pure_approach_has_the_velocity_of_the_equation():
    # Z = 0.48, Z* = 0.24: v_z = gain Z (Z/Z* - 1), gain Z* (1 - Z*/Z), and the harmonic mixture of the mean matrix.
    X = facing_pose(0.48)
    mean = 2.0 * (1 / 0.24 - 1 / 0.48) / (1 / 0.48**2 + 1 / 0.24**2)
    for kind, v in [("current", 0.48), ("desired", 0.12), ("mean", mean)]:
        np.testing.assert_allclose(ibvs_velocity(TAG, X, GOAL, interaction=kind), [0, 0, v, 0, 0, 0], atol=1e-14)
    np.testing.assert_allclose(pbvs_velocity(X, GOAL, gain=2.0), [0, 0, 0.48, 0, 0, 0], atol=1e-15)


def test_the_adaptive_gain_has_its_two_ends_and_its_slope():
    assert POSES(0.0) == 4.0
    assert POSES(10.0) == pytest.approx(1.2)
    assert (POSES(0.0) - POSES(1e-7)) / 1e-7 == pytest.approx(25.0, rel=1e-5)
    assert AdaptiveGain(at_zero=2.0, at_infinity=2.0, slope_at_zero=9.0)(1.0) == 2.0
    with pytest.raises(VisionError, match="at_infinity"):
        AdaptiveGain(at_zero=1.0, at_infinity=2.0, slope_at_zero=1.0)


def test_hybrid_interaction_is_the_derivative_of_its_error():
    X, h = starts(1)[0], 1e-6
    point = [0.01, -0.02, 0.0]
    numeric = [
        (hybrid_task(point, camera_moved(X, v, h), GOAL).error - hybrid_task(point, camera_moved(X, v, -h), GOAL).error)
        / (2 * h)
        for v in np.eye(6)
    ]
    np.testing.assert_allclose(hybrid_task(point, X, GOAL).interaction, np.transpose(numeric), atol=1e-8)


# -- closed loops of pure kinematics ----------------------------------------------------------------------------------

LAWS = {
    "ibvs current": lambda X, D: ibvs_velocity(TAG, X, D, gain=POINTS),
    "ibvs desired": lambda X, D: ibvs_velocity(TAG, X, D, gain=POINTS, interaction="desired"),
    "ibvs mean": lambda X, D: ibvs_velocity(TAG, X, D, gain=POINTS, interaction="mean"),
    "pbvs": lambda X, D: pbvs_velocity(X, D, gain=POSES),
    "2.5-D": lambda X, D: hybrid_velocity(CENTRE, X, D, gain=1.0),
}


@pytest.mark.parametrize("count", by_day((5, 20), lambda count: count == 5))
@pytest.mark.parametrize("law", LAWS)
def test_every_law_converges_from_all_starts(law, count):
    for X in starts(count):
        D = nearest_alike_pose(X, GOAL)
        reached = pose_below()  # 0.5 mm and 0.5 degrees
        for _ in range(500):  # 20 s at the rate of a slow camera; the desired matrix takes the longest
            X = camera_moved(X, LAWS[law](X, D), 0.04)
            if reached(pose_features(X, D)):
                break
        else:
            pytest.fail(f"the error is {pose_features(X, D)}")


def path(law, X, dt, count):
    seen = [X]
    for _ in range(count):
        seen.append(X := camera_moved(X, law(X), dt))
    return seen


def away_from_chord(p):
    """Return the largest distance of points from the straight line from the first one to the last."""
    u = (p[-1] - p[0]) / np.linalg.norm(p[-1] - p[0])
    d = p - p[0]
    return np.linalg.norm(d - np.outer(d @ u, u), axis=1).max()


def test_the_camera_moves_along_a_straight_line_under_pbvs():
    for X in starts(2):
        D = nearest_alike_pose(X, GOAL)
        cameras = [inverse(x)[:3, 3] for x in path(lambda X, D=D: pbvs_velocity(X, D, gain=2.0), X, 0.004, 600)]
        assert away_from_chord(np.array(cameras)) < 1e-3


def test_the_departure_of_pbvs_from_the_line_is_that_of_the_time_step():
    X = starts(1)[0]
    D = nearest_alike_pose(X, GOAL)
    coarse, fine = (
        away_from_chord(
            np.array([inverse(x)[:3, 3] for x in path(lambda X: pbvs_velocity(X, D), X, dt, round(3 / dt))])
        )
        for dt in (0.02, 0.01)
    )
    assert fine == pytest.approx(0.5 * coarse, rel=0.05)


def test_the_point_of_the_hybrid_law_moves_along_a_straight_line_in_the_image():
    X = starts(1)[0]
    seen = path(lambda X: hybrid_velocity(CENTRE, X, GOAL), X, 0.004, 750)
    assert away_from_chord(np.array([project_points([CENTRE], x)[0][0] for x in seen])) < 1e-3


def test_errors_decay_with_the_gain():
    X = starts(1)[0]
    D = nearest_alike_pose(X, GOAL)
    for law, error in [
        (lambda X: pbvs_velocity(X, D, gain=1.5), lambda X: pose_features(X, D)),
        (lambda X: hybrid_velocity(CENTRE, X, D, gain=1.5), lambda X: hybrid_task(CENTRE, X, D).error),
    ]:
        last = path(law, X, 1e-3, 200)[-1]
        np.testing.assert_allclose(error(last), error(X) * np.exp(-1.5 * 0.2), atol=1e-3)


# -- joints -----------------------------------------------------------------------------------------------------------

AXES = np.array([[0, 0, 1], [0, 1, 0], [0, 0, 1], [0, -1, 0], [0, 0, 1], [0, -1, 0], [0, 0, 1.0]])
OFFSETS = np.array([[0, 0, 0.33], [0, 0, 0], [0, 0, 0.32], [0.08, 0, 0], [-0.08, 0, 0.38], [0, 0, 0], [0.09, 0, 0.1]])
X_EC = pose([0.05, 0.0, 0.03], exp_so3([0, 0, 1.57]))
Q = np.array([0.1, -0.5, 0.2, -1.9, 0.1, 1.5, 0.6])


def arm(q):
    """Return the pose of the last link of a made-up arm of seven joints and its Jacobian in its own axes."""
    frames, X = [], np.eye(4)
    for axis, offset, angle in zip(AXES, OFFSETS, q):
        X = X @ pose(offset, exp_so3(axis * angle))
        frames.append(X)
    J = [adjoint(inverse(X) @ f)[:, 3:] @ axis for f, axis in zip(frames, AXES)]
    return X, np.transpose(J)


def target(q):
    """Return where a tag must be in the base frame for the camera at q to see it askew."""
    return arm(q)[0] @ X_EC @ pose([0.03, 0.02, 0.33], exp_so3([0.2, -0.15, 0.4]) @ np.diag([1.0, -1.0, -1.0]))


def test_joints_of_an_arm_bring_the_camera_to_its_goal():
    X_BO, q = target(Q), Q.copy()
    for _ in range(500):
        X_BE, J = arm(q)
        X = inverse(X_BE @ X_EC) @ X_BO
        q = q + 0.02 * joint_velocity(ibvs_velocity(TAG, X, GOAL), eye_in_hand_jacobian(J, X_EC))
    X = inverse(arm(q)[0] @ X_EC) @ X_BO
    np.testing.assert_allclose(pose_features(X, GOAL), 0.0, atol=1e-3)


def test_a_fixed_camera_brings_the_tag_on_the_arm_to_its_goal():
    X_EO = pose([0.0, 0.0, 0.05], exp_so3([0, 0, 0.1]))
    X_BC = arm(Q)[0] @ X_EO @ inverse(pose([0.03, 0.02, 0.33], exp_so3([0.2, -0.15, 0.4]) @ np.diag([1.0, -1.0, -1.0])))
    q = Q.copy()
    for _ in range(500):
        X_BE, J = arm(q)
        X_CE = inverse(X_BC) @ X_BE
        q = q + 0.02 * solve(pbvs_task(X_CE @ X_EO, GOAL).through(eye_to_hand_jacobian(J, X_CE)), 1.0)
    np.testing.assert_allclose(pose_features(inverse(X_BC) @ arm(q)[0] @ X_EO, GOAL), 0.0, atol=1e-3)


def test_a_secondary_task_does_not_touch_the_first():
    X_BE, J = arm(Q)
    X = inverse(X_BE @ X_EC) @ target(Q + 0.05)
    z = np.linspace(-1.0, 1.0, 7)
    task = ibvs_task(TAG, X, GOAL).through(eye_in_hand_jacobian(J, X_EC))
    alone, both = solve(task, 1.0), solve(task, 1.0, secondary=z)
    assert np.linalg.norm(both - alone) > 0.01
    np.testing.assert_allclose(task.interaction @ (both - alone), 0.0, atol=1e-12)
    norm = solve(task, 1.0, secondary=z, projection="norm")
    assert task.error @ task.interaction @ (norm - alone) == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.norm(norm - alone) > np.linalg.norm(both - alone)  # it leaves six freedoms instead of one


def test_joints_are_led_away_from_their_limits_while_the_camera_stays():
    _, J = arm(Q)
    C = eye_in_hand_jacobian(J, X_EC)
    limits = JointLimitAvoidance(Q - 1.0, Q + np.array([1, 1, 0.05, 1, 1, 1, 1]), fraction=0.1, speed=0.5)
    dq = joint_velocity(np.zeros(6), C, secondary=limits(Q))
    assert dq[2] < -1e-3
    np.testing.assert_allclose(C @ dq, 0.0, atol=1e-12)


def test_limit_avoidance_is_zero_in_the_middle_and_full_at_the_limit():
    limits = JointLimitAvoidance([-1.0, 0.0], [1.0, 2.0], fraction=0.1, speed=0.4)
    np.testing.assert_array_equal(limits([0.0, 1.7]), [0.0, 0.0])
    np.testing.assert_allclose(limits([1.0, 0.1]), [-0.4, 0.2], atol=1e-15)
    np.testing.assert_allclose(limits([5.0, 1.0]), [-0.4, 0.0])


def test_a_joint_velocity_is_scaled_to_reach_the_limit_and_not_pass_it():
    limits = JointLimitAvoidance([-1.0, 0.0], [1.0, 2.0])
    np.testing.assert_allclose(limits.limited([0.9, 1.0], [2.0, 1.0], 0.1), [1.0, 0.5])
    np.testing.assert_array_equal(limits.limited([1.2, 1.0], [1.0, 1.0], 0.1), [0.0, 0.0])
    np.testing.assert_array_equal(limits.limited([1.2, 1.0], [-1.0, 1.0], 0.1), [-1.0, 1.0])


def test_servo_torque_gives_the_error_its_linear_dynamics():
    rng = np.random.default_rng(1)
    X_BE, J = arm(Q)
    task = pbvs_task(inverse(X_BE @ X_EC) @ target(Q + 0.05), GOAL).through(eye_in_hand_jacobian(J, X_EC))
    A = rng.normal(size=(7, 7))
    M, bias, dq, drift = A @ A.T + np.eye(7), rng.normal(size=7), rng.normal(size=7), rng.normal(size=6)
    for k in (0.0, 10.0):
        tau = servo_torque(task, dq, M, bias, stiffness=100.0, damping=20.0, drift=drift, null_damping=k)
        ddq = np.linalg.solve(M, tau - bias)
        acceleration = task.interaction @ ddq + drift
        np.testing.assert_allclose(acceleration, -100.0 * task.error - 20.0 * task.interaction @ dq, atol=1e-8)
    z = np.linalg.svd(task.interaction)[2][-1]  # a motion that the features do not see loses energy
    tau = servo_torque(Task(error=np.zeros(6), interaction=task.interaction), z, M, 0 * z, stiffness=0, damping=0,
                       null_damping=3.0)  # fmt: skip
    assert tau @ z == pytest.approx(-3.0 * z @ M @ z)


def test_dynamic_visual_servoing_converges_with_points():
    X_BO, q, dq = target(Q), Q.copy(), np.zeros(7)
    M = np.diag([1.0, 1.2, 0.8, 0.9, 0.3, 0.3, 0.1])
    for _ in range(1500):
        X_BE, J = arm(q)
        task = ibvs_task(TAG, inverse(X_BE @ X_EC) @ X_BO, GOAL).through(eye_in_hand_jacobian(J, X_EC))
        tau = servo_torque(task, dq, M, np.zeros(7), stiffness=25.0, damping=10.0, null_damping=5.0)
        dq = dq + 0.002 * np.linalg.solve(M, tau)
        q = q + 0.002 * dq
    X = inverse(arm(q)[0] @ X_EC) @ X_BO
    np.testing.assert_allclose(pose_features(X, GOAL), 0.0, atol=2e-3)


# -- convergence, divergence, conditions ------------------------------------------------------------------------------


def servo(**options):
    return VisualServo(lambda X: pbvs_task(X, GOAL), 2.0, ServoMonitor(pose_below(), **options), smooth_start=4.0)


def test_a_servo_starts_from_zero_and_reports_convergence():
    law, X = servo(), facing_pose(0.4)
    statuses = []
    for k in range(400):
        step = law(X, 0.02 * k)
        if k == 0:
            np.testing.assert_array_equal(step.velocity, 0.0)
        statuses.append(step.status)
        X = camera_moved(X, step.velocity, 0.02)
    changed = statuses.index(ServoStatus.CONVERGED)
    assert statuses == [ServoStatus.RUNNING] * changed + [ServoStatus.CONVERGED] * (400 - changed)


def test_a_servo_with_the_wrong_sign_is_stopped():
    law, X = servo(growth=2.0), facing_pose(0.3)
    for k in range(400):
        step = law(X, 0.02 * k)
        if step.status is ServoStatus.DIVERGED:
            break
        X = camera_moved(X, -step.velocity, 0.02)
    assert "times that of the start" in step.message
    assert not law(GOAL, 9.0).velocity.any()
    law.reset()
    assert law(GOAL, 9.0).status is ServoStatus.RUNNING


def test_a_robot_that_does_not_move_stalls():
    monitor = ServoMonitor(norm_below(), patience=1.0)
    assert [monitor([1.0], t) for t in (0.0, 0.9, 1.1)] == ["running", "running", "stalled"]


def test_a_target_that_moves_after_convergence_is_a_new_start():
    monitor = ServoMonitor(norm_below(), hold=0.0)
    assert [monitor([e], t) for t, e in enumerate((0.0, 0.1, 0.0))] == ["converged", "running", "converged"]


def test_a_condition_gives_zero_velocity_and_a_smooth_return():
    law = servo()
    for t, X, condition in [
        (0.0, facing_pose(0.4), None),
        (1.0, pose([0, 0, -0.4]), Condition.BEHIND_CAMERA),
        (1.1, np.full((4, 4), np.nan), Condition.NOT_FINITE),
        (1.2, facing_pose(0.4), None),
    ]:
        step = law(X, t)
        assert step.condition is condition
        assert (step.status is ServoStatus.STOPPED) == (condition is not None)
        np.testing.assert_array_equal(step.velocity, 0.0)
    assert law(facing_pose(0.4), 1.5).velocity[2] > 0.0


def test_a_velocity_limit_keeps_the_direction():
    limited = VisualServo(lambda X: pbvs_task(X, GOAL), 2.0, ServoMonitor(pose_below()), max_velocity=0.01)
    X = starts(1)[0]
    v, free = limited(X, 0.0).velocity, pbvs_velocity(X, GOAL, gain=2.0)
    assert np.abs(v).max() == pytest.approx(0.01)
    np.testing.assert_allclose(v / np.linalg.norm(v), free / np.linalg.norm(free))


@pytest.mark.parametrize(
    ("call", "condition"),
    [
        (lambda: ibvs_velocity(TAG, pose([0, 0, -0.3]), GOAL), Condition.BEHIND_CAMERA),
        (lambda: ibvs_velocity(TAG, pose([0, 0, 0.0]), GOAL), Condition.BEHIND_CAMERA),
        (lambda: ibvs_velocity(np.array([[-1.0, 0, 0], [0, 0, 0], [1, 0, 0]]) / 20, GOAL, GOAL), Condition.SINGULAR),
        (lambda: ibvs_velocity(TAG, np.full((4, 4), np.nan), GOAL), Condition.NOT_FINITE),
        (lambda: ibvs_velocity(TAG[:, :2], GOAL, GOAL), Condition.SHAPE),
        (lambda: ibvs_velocity(TAG, GOAL, GOAL, gain=0.0), Condition.OUT_OF_RANGE),
        (lambda: ibvs_velocity(TAG, GOAL, GOAL, interaction="best"), Condition.OUT_OF_RANGE),  # pyright: ignore
        (lambda: pbvs_velocity(pose([0, 0, -0.3]), GOAL), Condition.BEHIND_CAMERA),
        (lambda: pbvs_velocity(np.ones((4, 4)), GOAL), Condition.NOT_A_POSE),
        (lambda: hybrid_velocity(CENTRE, pose([0, 0, -0.3]), GOAL), Condition.BEHIND_CAMERA),
        (lambda: joint_velocity(np.ones(6), np.zeros((6, 7))), Condition.SINGULAR),
        (lambda: joint_velocity(np.ones(6), np.full((6, 7), np.inf)), Condition.NOT_FINITE),
        (lambda: JointLimitAvoidance([1.0], [0.0]), Condition.OUT_OF_RANGE),
        (lambda: JointLimitAvoidance([0.0], [1e-320]), Condition.OUT_OF_RANGE),
        (lambda: JointLimitAvoidance([-1.5e308], [1.5e308]), Condition.OUT_OF_RANGE),
    ],
)
def test_bad_input_is_named(call, condition):
    with pytest.raises(VisionError) as e:
        call()
    assert e.value.condition is condition


def test_a_damped_inverse_is_bounded_where_the_plain_one_is_refused():
    J = np.diag([1.0, 1, 1, 1, 1, 1e-9])
    v = np.ones(6)
    assert np.abs(joint_velocity(v, J, damping=0.05)).max() <= np.linalg.norm(v) / 0.1
    with pytest.raises(VisionError, match="rank 5"):
        joint_velocity(v, J)


@given(st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3), st.floats(1e-300, 1e300))
def test_no_pose_and_no_gain_gives_nan(p, gain):
    for law in (
        lambda X: ibvs_velocity(TAG, X, GOAL, gain=gain),
        lambda X: pbvs_velocity(X, GOAL, gain=gain),
        lambda X: hybrid_velocity(CENTRE, X, GOAL, gain=gain),
    ):
        try:
            velocity = law(pose(p, np.diag([1.0, -1.0, -1.0])))
        except VisionError:
            continue
        assert np.all(np.isfinite(velocity))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"max_velocity": [0.1, 0.2]}, r"max_velocity is \[0.1, 0.2\]; must be a number or 6 numbers more than 0"),
        ({"max_velocity": np.nan}, "max_velocity is nan"),
        ({"max_age": "old"}, "max_age is 'old'; must be a number more than 0"),
        ({"size": 6.5}, "size is 6.5; must be a whole number"),
    ],
)
def test_a_servo_refuses_limits_that_are_none_before_the_robot_moves(given, words):
    with pytest.raises(VisionError, match=words):
        VisualServo(lambda X: pbvs_task(X, GOAL), 2.0, ServoMonitor(pose_below()), **given)


@pytest.mark.parametrize("weights", ["much", [1.0, 2.0], [1.0] * 5 + [np.nan]])
def test_weights_are_a_number_or_one_for_each_row(weights):
    with pytest.raises(VisionError, match=r"weights"):
        pbvs_task(GOAL, GOAL).weighted(weights)
