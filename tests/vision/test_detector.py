import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.base.spatial import exp_so3, pose
from pliant.camera.conditions import Condition, VisionError
from pliant.camera.model import CameraModel
from pliant.vision import (
    TAG_FROM_APRILTAG,
    ExactDetector,
    estimate_planar_pose,
    facing_pose,
    pose_features,
    project_points,
    tag_corners,
)

CAMERA = CameraModel(fx=600.0, fy=600.0, cx=319.5, cy=239.5, width=640, height=480, k1=-0.2, k2=0.05)
TAG = tag_corners(0.08)


def test_corners_of_a_facing_tag_begin_at_the_lower_left_and_go_round_against_the_clock():
    pixels = ExactDetector(CAMERA, TAG).detect(facing_pose(0.24)).pixels - [319.5, 239.5]
    assert np.sign(pixels).tolist() == [[-1, 1], [1, 1], [1, -1], [-1, -1]]


def test_exact_detection_gives_back_the_coordinates_without_distortion():
    X = pose([0.02, 0.01, 0.3], exp_so3([2.8, 0.2, 0.1]))
    found = ExactDetector(CAMERA, TAG).detect(X)
    xy, Z = project_points(TAG, X)
    np.testing.assert_allclose(found.xy, xy, atol=1e-12)
    np.testing.assert_array_equal(found.Z, Z)


def test_noise_has_its_deviation_and_comes_from_the_seed():
    def run():
        detector = ExactDetector(CAMERA, TAG, noise=0.3, rng=np.random.default_rng(4))
        return np.array([detector.detect(facing_pose(0.24)).pixels for _ in range(400)])

    pixels = run()
    np.testing.assert_array_equal(pixels, run())
    assert pixels.std(axis=0) == pytest.approx(0.3, rel=0.15)  # four standard errors of 400 draws


def test_a_tag_out_of_view_or_behind_is_named():
    detector = ExactDetector(CAMERA, TAG)
    for X, condition in [
        (pose([0.3, 0.0, 0.3]), Condition.OUT_OF_VIEW),
        (pose([0.0, 0.0, -0.3]), Condition.BEHIND_CAMERA),
        (np.full((4, 4), np.nan), Condition.NOT_FINITE),
    ]:
        with pytest.raises(VisionError) as e:
            detector.detect(X)
        assert e.value.condition is condition
    with pytest.raises(VisionError, match="size"):
        tag_corners(0.0)
    with pytest.raises(VisionError, match="rng"):
        ExactDetector(CAMERA, TAG, noise=1.0)


@settings(max_examples=40)
@given(st.floats(-0.6, 0.6), st.floats(-0.6, 0.6), st.floats(-3.0, 3.0), st.floats(0.2, 0.6))
def test_the_pose_of_exact_corners_is_exact(a, b, turn, depth):
    X = pose([0.02, -0.01, depth]) @ facing_pose(1e-9) @ pose(R=exp_so3([a, b, 0.0]) @ exp_so3([0.0, 0.0, turn]))
    found = estimate_planar_pose(project_points(TAG, X)[0], TAG)
    np.testing.assert_allclose(pose_features(found, X), 0.0, atol=1e-9)


def test_points_that_fix_no_pose_are_named():
    line = np.array([[x, 0.0, 0.0] for x in (-1.0, 0.0, 1.0, 2.0)])
    for xy, points in [
        (0.1 * line[:, :2], line),
        (np.zeros((4, 2)), TAG),
        (TAG[:3, :2], TAG[:3]),
        (TAG[:, :2], TAG + np.array([0.0, 0.0, 0.1])),
    ]:
        with pytest.raises(VisionError) as e:
            estimate_planar_pose(xy, points)
        assert e.value.condition is Condition.DEGENERATE


def test_the_frame_of_apriltag_libraries_turns_into_ours():
    # Facing the camera, their axes are the camera's: x right, y down, z away.
    np.testing.assert_allclose(pose([0, 0, 0.24]) @ TAG_FROM_APRILTAG, facing_pose(0.24))
