"""Images as the plugins of cameras ask for them."""

from types import SimpleNamespace

import numpy as np
import pytest

from pliant.bridges.yarp.camera import changed, encode_image, serve_camera, serve_joined_cameras
from pliant.devices.base import Sample
from pliant.model.yarp import CameraImages, ImageServer, YarpInterface

PIXELS = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)


@pytest.mark.parametrize(
    ("flips", "expected"),
    [
        ({}, [[0, 1], [2, 3]]),
        ({"flip_vertical": True}, [[2, 3], [0, 1]]),
        ({"flip_horizontal": True}, [[1, 0], [3, 2]]),
        ({"flip_vertical": True, "flip_horizontal": True}, [[3, 2], [1, 0]]),
    ],
)
def test_rows_and_columns_are_reversed(flips, expected):
    images = CameraImages(name="c", sensors=("c",), **flips)
    assert (changed(PIXELS, "image", images)[:, :, 0] // 3).tolist() == expected


def test_depth_is_rounded_to_its_digits_and_colours_are_not():
    images = CameraImages(name="c", sensors=("c",), depth=True, depth_quantum=1)
    depth = np.array([[0.26, np.inf]], dtype=np.float32)
    assert changed(depth, "depth", images).tolist() == [[pytest.approx(0.3), np.inf]]
    assert np.array_equal(changed(PIXELS, "image", images), PIXELS)


def test_a_camera_is_served_at_the_name_and_period_of_its_server():
    opened = []
    yarp = YarpInterface(
        devices=(CameraImages(name="eye_dev", sensors=("eye",)),),
        servers=(ImageServer(name="eye_nws", port="/sim/cam/left", period=0.05, device="eye_dev"),),
    )
    served = SimpleNamespace(
        robot=SimpleNamespace(interface=SimpleNamespace(yarp=yarp)),
        full_name=lambda *parts: "/r/" + "/".join(parts),
        publish=lambda name, kind, device, encode, *, period, queue: opened.append((name, period)),
    )
    shape = SimpleNamespace(shape=(2, 2, 3))
    serve_camera(served, "eye", SimpleNamespace(samples={"image": shape}))
    serve_camera(served, "other", SimpleNamespace(samples={"image": shape, "depth": SimpleNamespace(shape=(2, 2))}))
    assert opened == [("/sim/cam/left", 0.05), ("/r/other/rgbImage:o", 0.0), ("/r/other/depthImage:o", 0.0)]


@pytest.mark.parametrize("vertical", [False, True])
def test_images_of_several_cameras_are_sent_as_one_where_they_are_of_one_time(vertical):
    sent = []
    pair = CameraImages(name="eyes", sensors=("left", "right"), vertical=vertical)
    server = ImageServer(name="nws", port="/sim/stereo", period=0.1, device="eyes")
    camera = SimpleNamespace(samples={"image": SimpleNamespace(shape=(2, 2, 3))})
    port = SimpleNamespace(active=True, write=lambda encode, envelope: sent.append((encode(3), envelope)))
    served = SimpleNamespace(
        robot=SimpleNamespace(interface=SimpleNamespace(yarp=YarpInterface(devices=(pair,), servers=(server,)))),
        devices={"left": camera, "right": camera},
        writers={"left": [], "right": []},
        output=lambda name, kind, queue: port,
    )
    assert serve_joined_cameras(served) == {"left", "right"}
    for stamp in (100_000_000, 200_000_000):
        for name, pixels in (("left", PIXELS), ("right", PIXELS + 100)):
            sample = Sample(name, 0, stamp, {"image": pixels})
            for write in served.writers[name]:
                write(sample)
    assert [envelope for _, envelope in sent] == ["1 0.1", "2 0.2"]
    assert sent[0][0] == encode_image(np.concatenate([PIXELS, PIXELS + 100], axis=0 if vertical else 1), "image")
