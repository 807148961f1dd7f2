"""AprilTags drawn by projecting their cells, without a renderer: found, at the right pixels, in the right pose."""

import itertools
import sys

import numpy as np
import pytest
from daily import by_day
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.base.errors import MissingDependency
from pliant.base.spatial import pose
from pliant.camera.conditions import Condition, VisionError
from pliant.camera.model import CameraModel
from pliant.vision import facing_pose, tag_corners
from pliant.vision.apriltag import FAMILIES, AprilTagDetector, tag_cells, tag_image

CAMERA = CameraModel(fx=600.0, fy=590.0, cx=310.0, cy=245.5, width=640, height=480)
BARREL = CameraModel(fx=600.0, fy=590.0, cx=310.0, cy=245.5, width=640, height=480, k1=-0.2, k2=0.05, p1=1e-3, p2=-2e-3)
SIZE = 0.08
FINE = 4
"""Samples along a side of a pixel."""


def drawn(camera, X_CO, tag_id=3, size=SIZE, family="tag36h11", gray=128):
    """Return what a camera sees of a tag: the mean over each pixel of the cells that its rays meet."""
    cells = tag_cells(tag_id, family)
    n = len(cells)
    half = 0.5 * size * n / (n - 2)
    image = np.full((camera.height, camera.width), gray, dtype=np.uint8)
    edge = np.linspace(-half, half, 9)
    outline = [(x, y, 0.0, 1.0) for x in edge for y in edge]
    around = camera.project((np.array(outline) @ X_CO.T)[:, :3])
    first = np.maximum(np.floor(around.min(axis=0)).astype(int) - 2, 0)
    last = np.minimum(np.ceil(around.max(axis=0)).astype(int) + 3, (camera.width, camera.height))
    column, row = np.meshgrid(np.arange(first[0], last[0], dtype=float), np.arange(first[1], last[1], dtype=float))
    total = np.zeros(column.shape)
    R, p = X_CO[:3, :3], X_CO[:3, 3]
    offset = (np.arange(FINE) + 0.5) / FINE - 0.5
    for du in offset:
        for dv in offset:
            xy = camera.normalized(np.stack([column.ravel() + du, row.ravel() + dv], axis=1))
            ray = np.column_stack([xy, np.ones(len(xy))])
            at = (ray * (R[:, 2] @ p / (ray @ R[:, 2]))[:, None] - p) @ R
            i = np.floor((half - at[:, 1]) / (2 * half) * n).astype(int)
            j = np.floor((half + at[:, 0]) / (2 * half) * n).astype(int)
            on = (i >= 0) & (i < n) & (j >= 0) & (j < n)
            value = np.full(len(xy), float(gray))
            value[on] = np.where(cells[i[on], j[on]], 220.0, 20.0)
            total += value.reshape(total.shape)
    image[first[1] : last[1], first[0] : last[0]] = np.rint(total / FINE**2)
    return image


def turned(X, axis, angle):
    axis = np.asarray(axis) / np.linalg.norm(axis)
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    R = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    return pose(X[:3, 3], X[:3, :3] @ R)


VIEWS = [
    turned(facing_pose(0.25), (0, 0, 1), 0.4),
    turned(turned(facing_pose(0.4), (1, 0.3, 0), 0.5), (0, 0, 1), -2.0),
    turned(facing_pose(0.3), (0.2, -1, 0.1), 0.6),
]


@pytest.mark.parametrize(
    ("camera", "view"),
    by_day(itertools.product((CAMERA, BARREL), range(len(VIEWS))), lambda case: case[0] is BARREL or case[1] == 1),
)
def test_a_tag_is_found_at_its_pixels_and_in_its_pose_through_any_lens(camera, view):
    X = VIEWS[view].copy()
    X[:2, 3] = (0.03, -0.02)
    found = AprilTagDetector(camera, SIZE).find(drawn(camera, X), 3)
    corners = (np.c_[tag_corners(SIZE), np.ones(4)] @ X.T)[:, :3]
    assert np.abs(found.pixels - camera.project(corners)).max() < 0.15  # a shift of half a pixel would be seen
    angle = np.arccos(np.clip((np.trace(found.X_CO[:3, :3].T @ X[:3, :3]) - 1) / 2, -1, 1))
    assert np.linalg.norm(found.X_CO[:3, 3] - X[:3, 3]) < 4e-4
    assert np.degrees(angle) < 0.5
    assert found.error < 0.15
    np.testing.assert_allclose(found.Z, corners[:, 2], rtol=2e-3)
    assert (found.hamming, found.tag_id) == (0, 3)


def test_a_tag_seen_without_its_distortion_is_in_another_pose():
    X = VIEWS[0].copy()
    X[:2, 3] = (0.08, -0.05)
    image = drawn(BARREL, X)
    right, wrong = (AprilTagDetector(camera, SIZE).find(image, 3).X_CO[:3, 3] for camera in (BARREL, CAMERA))
    assert np.linalg.norm(right - X[:3, 3]) < 4e-4
    assert np.linalg.norm(wrong - X[:3, 3]) > 4e-3


def test_a_size_twice_as_large_is_twice_as_far():
    image = drawn(CAMERA, VIEWS[0])
    near, far = (AprilTagDetector(CAMERA, size).find(image, 3).X_CO for size in (SIZE, 2 * SIZE))
    np.testing.assert_allclose(far[:3, 3], 2 * near[:3, 3], rtol=1e-9)


def test_each_tag_has_its_size_and_one_without_is_passed_over():
    left, right = facing_pose(0.3), facing_pose(0.3)
    left[0, 3], right[0, 3] = -0.06, 0.06
    image = np.where(
        np.arange(640)[None, :] < 310, drawn(CAMERA, left, tag_id=3), drawn(CAMERA, right, tag_id=7, size=0.05)
    )
    found = AprilTagDetector(CAMERA, {3: SIZE, 7: 0.05}).detect(image)
    assert [tag.tag_id for tag in found] == [3, 7]
    for tag, X in zip(found, (left, right), strict=True):
        np.testing.assert_allclose(tag.X_CO[:3, 3], X[:3, 3], atol=1e-3)
    assert [tag.tag_id for tag in AprilTagDetector(CAMERA, {7: 0.05}).detect(image)] == [7]


def test_colours_and_gray_give_the_same_corners():
    gray = drawn(CAMERA, VIEWS[0])
    detector = AprilTagDetector(CAMERA, SIZE)
    color = np.repeat(gray[:, :, None], 3, axis=2)
    np.testing.assert_allclose(detector.find(color, 3).pixels, detector.find(gray, 3).pixels, atol=0.05)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_drawn_as_the_library_reads_it(family):
    found = AprilTagDetector(CAMERA, SIZE, family=family).detect(drawn(CAMERA, VIEWS[0], tag_id=5, family=family))
    assert [(tag.tag_id, tag.hamming) for tag in found] == [(5, 0)]


def test_a_picture_has_a_white_margin_around_a_black_border():
    picture = tag_image(0, pixels=3, white=250, black=5)
    assert (picture.shape, picture.dtype) == ((30, 30), np.uint8)
    assert set(np.unique(picture)) == {5, 250}
    assert (picture[:3] == 250).all()
    assert (picture[3:6, 3:-3] == 5).all()


def test_a_tag_that_is_not_there_is_named_with_those_that_are():
    detector = AprilTagDetector(CAMERA, SIZE)
    with pytest.raises(VisionError, match="tag 0 of tag36h11 is not in the image; seen: 3") as caught:
        detector.find(drawn(CAMERA, VIEWS[0]), 0)
    assert caught.value.condition is Condition.OUT_OF_VIEW
    with pytest.raises(VisionError, match="seen: none"):
        detector.find(np.zeros((480, 640), dtype=np.uint8), 0)


BLACK = np.zeros((480, 640), np.uint8)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AprilTagDetector(CAMERA, 0.0), "size is 0; must be more than 0"),
        (lambda: AprilTagDetector(CAMERA, {4: -1.0}), "size of tag 4 is -1"),
        (lambda: AprilTagDetector(CAMERA, 0.1, family="tag99"), "family is 'tag99'; must be one of tag36h11"),
        (lambda: AprilTagDetector(CAMERA, 0.1, decimate=0.5), "decimate is 0.5; must be at least 1"),
        (lambda: tag_cells(587), "the tag is 587; tag36h11 has tags 0 to 586"),
        (lambda: tag_cells(-1), "the tag is -1"),
        (lambda: AprilTagDetector(CAMERA, 0.1).detect(np.zeros((480, 641), np.uint8)), r"shape \(480, 641\)"),
        (lambda: tag_cells("0"), "the tag is '0'; tag36h11 has"),
        (lambda: tag_image(0, pixels=2.5), "pixels is 2.5; must be a whole number"),
        (lambda: tag_image(0, white=300), "white is 300; must be at least 0 at most 255"),
        (lambda: AprilTagDetector(CAMERA, {587: 0.1}), "the tag is 587; tag36h11 has tags 0 to 586"),
        (lambda: AprilTagDetector(CAMERA, 0.1, threads=0), "threads is 0; must be at least 1"),
        (lambda: AprilTagDetector(CAMERA, 0.1).find(BLACK, 587), "the tag is 587; tag36h11 has tags 0 to 586"),
        (lambda: AprilTagDetector(CAMERA, 0.1).find(BLACK, "0"), "the tag is '0'; tag36h11 has"),
        (lambda: AprilTagDetector(CAMERA, 0.1).detect(np.zeros((480, 640))), "type float64"),
        (lambda: AprilTagDetector(CAMERA, 0.1).detect([[0, 1], [0]]), "the image is no array"),
    ],
)
def test_wrong_sizes_families_numbers_and_images_are_refused(make, message):
    with pytest.raises(VisionError, match=message):
        make()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_noise_is_no_reason_to_fail(seed):
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 256, (480, 640)).astype(np.uint8) if seed % 2 else drawn_once()
    image = np.where(rng.random(image.shape) < 0.2, rng.integers(0, 256, image.shape), image).astype(np.uint8)
    for tag in AprilTagDetector(CAMERA, SIZE, decimate=2.0).detect(image):
        assert np.isfinite(tag.X_CO).all()


def drawn_once(cache=[]):  # noqa: B006 - the picture is the same in every example
    if not cache:
        cache.append(drawn(CAMERA, VIEWS[0]))
    return cache[0]


def test_without_the_library_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyapriltags", None)
    with pytest.raises(MissingDependency, match=r"pliant\[vision\]"):
        tag_cells(0)
