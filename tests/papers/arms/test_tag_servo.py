"""The start poses, the straight-line measure and the loop of the visual-servo experiments."""

import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.base.spatial import inverse, log_so3, pose
from pliant.franka.robots.build import WristCamera
from pliant.franka.robots.kinematics import forward_kinematics
from pliant.papers import franka_visual_servo as module
from pliant.papers.arms.tag_servo import TAG, Wish, deviation, exact_camera, missing_for_pictures, starts
from pliant.vision import ExactDetector, tag_corners

OPTIONS = module.FrankaVisualServoOptions(starts=6)


@pytest.fixture(scope="module")
def poses():
    return module.start_poses(OPTIONS, np.random.default_rng(3))[0]


def test_the_joints_of_a_start_bring_the_camera_where_it_says(poses):
    for start in poses:
        X_FC = forward_kinematics(start.q, F_T_EE=WristCamera().F_T_C)
        np.testing.assert_allclose(inverse(X_FC) @ pose(TAG), start.X_CO, atol=1e-8)


def test_every_start_shows_the_tag_from_the_distance_and_tilt_that_were_asked_for(poses):
    detector = ExactDetector(exact_camera(), tag_corners(OPTIONS.size))
    for start in poses:
        seen = detector.detect(start.X_CO).pixels
        assert seen.min() > 20.0
        assert (np.array([640, 480]) - 1.0 - seen).min() > 20.0
        to_camera = inverse(start.X_CO)[:3, 3]
        distance = np.linalg.norm(to_camera)
        assert OPTIONS.near <= distance <= OPTIONS.far
        assert np.arccos(to_camera[2] / distance) == pytest.approx(start.tilt)
        assert start.tilt <= OPTIONS.tilt


def test_the_goal_is_the_nearer_of_two_alike_orientations(poses):
    for start in poses:
        other = start.goal @ pose(R=np.diag([-1.0, -1.0, 1.0]))
        turns = [np.linalg.norm(log_so3(goal[:3, :3] @ start.X_CO[:3, :3].T)) for goal in (start.goal, other)]
        assert turns[0] <= turns[1] + 1e-9


def test_equal_seeds_give_equal_starts(poses):
    again = module.start_poses(OPTIONS, np.random.default_rng(3))[0]
    for a, b in zip(poses, again, strict=True):
        np.testing.assert_array_equal(a.q, b.q)


def test_ranges_that_leave_no_room_are_said():
    setup = module.setup_of(OPTIONS)
    with pytest.raises(ModelError, match="are too narrow for this arm"):
        starts(1, np.random.default_rng(0), Wish(near=2.0, far=2.0, tilt=0.0, turn=0.0), setup, exact_camera())


def test_the_deviation_of_an_arc_is_its_height():
    angle = np.linspace(0.0, np.pi, 1001)
    arc = np.stack([-np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    assert deviation(arc, arc[-1]) == pytest.approx(1.0)
    line = np.linspace([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], 7)
    assert deviation(line, line[-1]) == pytest.approx(0.0, abs=1e-15)


def test_a_tag_out_of_view_stops_the_servo_and_says_why(poses):
    setup = module.setup_of(OPTIONS)
    from pliant.papers.arms.tag_servo import cell, servo

    with cell(poses[0], setup, rendered=False) as found:
        found.true_pose = lambda: pose((1.0, 0.0, 0.3), np.diag([1.0, -1.0, -1.0]))
        run = servo(found, poses[0], "PBVS", setup, duration=0.2)
        assert found.arm.get_robot_state() == "stop"
    assert run.status == "stopped"
    assert "the image has 640 x 480 pixels" in run.message
    assert not run.converged


@pytest.mark.parametrize(("value", "said"), [("off", "MUJOCO_GL is 'off'"), ("paper", "MUJOCO_GL is 'paper'")])
def test_a_renderer_that_is_missing_is_named(monkeypatch, value, said):
    monkeypatch.setenv("MUJOCO_GL", value)
    assert said in missing_for_pictures()


def test_without_a_renderer_the_experiment_judges_exact_features_only_and_says_so():
    statement = module.tag_statement([], "MUJOCO_GL is 'off'")
    assert statement.verdict == "not judged"
    assert "MUJOCO_GL is 'off'" in statement.found
    assert module.interface_statement([], [], "pylibfranka is not installed").verdict == "not judged"
