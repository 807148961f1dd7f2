"""Between two images a target goes on as it went."""

import numpy as np
import pytest

from pliant.base.spatial import exp_so3, pose
from pliant.vision import TargetTracker


def test_a_target_with_a_constant_velocity_is_followed_without_lag():
    velocity, tracker = np.array([0.3, -0.1, 0.2]), TargetTracker(alpha=0.7, beta=0.37)
    for k in range(60):
        tracker.see(pose(0.02 * k * velocity), 0.02 * k)
    np.testing.assert_allclose(tracker.velocity, velocity, atol=1e-9)
    np.testing.assert_allclose(tracker.pose(60 * 0.02 + 0.013)[:3, 3], (60 * 0.02 + 0.013) * velocity, atol=1e-9)


def test_noise_of_one_image_is_taken_in_part_and_the_orientation_whole():
    tracker = TargetTracker(alpha=0.5, beta=0.1)
    tracker.see(pose((0.0, 0.0, 0.0)), 0.0)
    turned = pose((0.01, 0.0, 0.0), exp_so3([0.0, 0.0, 0.1]))
    tracker.see(turned, 0.1)
    assert tracker.place == pytest.approx([0.005, 0.0, 0.0])
    assert tracker.velocity == pytest.approx([0.01, 0.0, 0.0])
    np.testing.assert_array_equal(tracker.pose(0.1)[:3, :3], turned[:3, :3])


def test_an_image_that_is_not_newer_sets_the_place_anew():
    tracker = TargetTracker(alpha=0.7, beta=0.37)
    for place in ((0.0, 0.0, 0.0), (1.0, 2.0, 3.0)):
        tracker.see(pose(place), 1.0)
    assert tracker.place == pytest.approx([1.0, 2.0, 3.0])
    assert tracker.velocity == pytest.approx(np.zeros(3))
