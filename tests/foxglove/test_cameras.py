"""Pictures of a camera, as a client receives them."""

from types import SimpleNamespace

import numpy as np
import pytest
from foxglove_client import FoxgloveClient

pytest.importorskip("foxglove", reason="no foxglove-sdk; type: pip install 'pliant[foxglove]'")

from pliant.base.errors import BridgeError
from pliant.camera.model import CameraModel
from pliant.devices.base import FieldInfo, Sample
from pliant.simulation.bridges import make_bridge

pytestmark = pytest.mark.network


def eye(**more):
    samples = {"image": FieldInfo((3, 4, 3), dtype="uint8"), "depth": FieldInfo((3, 4), dtype="float32")}
    lens = CameraModel(width=4, height=3, fx=6.0, fy=7.0, cx=2.0, cy=1.5, k1=-0.2)
    facts = {"name": "eye", "samples": samples, "camera": lens, "frame": "eye_frame", "commands": {}, "mount": None}
    facts["signatures"] = ("camera",)
    return SimpleNamespace(**{**facts, **more})


def test_a_client_gets_the_pixels_the_depth_and_the_calibration_of_one_stamp():
    bridge = make_bridge("foxglove:port=0", None)
    bridge.start({"eye": eye()})
    image = np.arange(36, dtype=np.uint8).reshape(3, 4, 3)
    depth = np.linspace(0.5, 6.0, 12, dtype=np.float32).reshape(3, 4)
    try:
        with FoxgloveClient(bridge.addresses["Foxglove"]) as client:
            topics = {"/eye/image", "/eye/depth", "/eye/calibration"}
            for topic in topics:
                client.subscribe(topic)
            client.timeout = 0.2
            for number in range(300):  # the server takes subscriptions when it comes to them
                bridge.publish(Sample("eye", number, 1_500_000_000, {"image": image, "depth": depth}))
                try:
                    client.wait(lambda: topics <= {name for name, _, _ in client.messages})
                    break
                except TimeoutError:
                    continue
            assert {stamp for _, stamp, _ in client.messages} == {1_500_000_000}
            assert image.tobytes() in client.of("/eye/image")[0]
            assert b"rgb8" in client.of("/eye/image")[0]
            assert depth.tobytes() in client.of("/eye/depth")[0]
            assert np.float64(6.0).tobytes() in client.of("/eye/calibration")[0]
            assert client.channels["/eye/image"]["schemaName"] == "foxglove.RawImage"
    finally:
        bridge.stop()


def test_a_camera_that_is_not_attached_is_refused():
    bridge = make_bridge("foxglove:port=0", None)
    with pytest.raises(BridgeError, match="not attached"):
        bridge.start({"eye": eye(camera=None)})
    bridge.stop()
