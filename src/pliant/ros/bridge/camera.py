"""Cameras: sensor_msgs/Image and CameraInfo, as image_pipeline and RViz expect them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.base.camera import CameraParameters
from pliant.base.errors import BridgeError
from pliant.devices.base import Sample
from pliant.devices.signatures import CameraSource
from pliant.ros.bridge.names import topic_name
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire import Template
from pliant.ros.wire.message import Message

TOPICS = {
    "image": "image_raw",
    "image_info": "camera_info",
    "depth": "depth/image_raw",
    "depth_info": "depth/camera_info",
    "segmentation": "segmentation/image_raw",
    "segmentation_info": "segmentation/camera_info",
}
"""Output of a camera -> topic under its name, unless the device says otherwise."""
ENCODINGS = {"image": ("rgb8", 3), "depth": ("32FC1", 4), "segmentation": ("32SC2", 8)}
"""Field of a sample -> encoding of sensor_msgs/image_encodings.h, bytes per pixel."""


def serve_camera(topics: RosTopics, name: str, device: CameraSource) -> None:
    """Serve ``<namespace>/<name>/image_raw``, ``depth/image_raw`` and a ``camera_info`` with each, of one stamp."""
    names = {**TOPICS, **device.topics}
    for field in ENCODINGS:
        if field in device.samples:
            _serve(topics, name, device, field, names[field], names[f"{field}_info"])


def _topic(topics: RosTopics, name: str, device: CameraSource, topic: str) -> str:
    if topic.startswith("/"):
        return topic_name(topic)
    return topics.of(device, name, topic)


def _serve(topics: RosTopics, name: str, device: CameraSource, field: str, image_topic: str, info_topic: str) -> None:
    lens = device.camera
    if lens is None:
        raise BridgeError(f"the camera {name!r} is not attached to an engine", field=name)
    encoding, size = ENCODINGS[field]
    header = {"header": {"frame_id": device.frame}}
    image = topics.advertise(_topic(topics, name, device, image_topic), "sensor_msgs/Image")
    values = {
        **topics.names.message(header),
        "height": lens.height,
        "width": lens.width,
        "encoding": encoding,
        "is_bigendian": 0,
        "step": size * lens.width,
        "data": bytes(size * lens.width * lens.height),
    }
    # The pixels end the message: they are copied once.
    head = Template(topics.node.codec, "sensor_msgs/Image", values, ["header.stamp"], until="data").fill
    info = topics.advertise(_topic(topics, name, device, info_topic), "sensor_msgs/CameraInfo")
    fill_info = topics.stamped("sensor_msgs/CameraInfo", {**header, **_camera_info(topics, lens)}, [])

    def write(sample: Sample) -> None:
        if image.active:
            pixels: Any = sample.values[field]
            image.send(b"".join((head(sample.stamp_ns), np.ascontiguousarray(pixels).data)))
        if info.active:
            info.send(fill_info(sample.stamp_ns))

    topics.writers[name].append(write)


def _camera_info(topics: RosTopics, lens: CameraParameters) -> Message:
    """Return what a CameraInfo says of a camera: its matrix and its distortion, no rectification."""
    K = [lens.fx, 0.0, lens.cx, 0.0, lens.fy, lens.cy, 0.0, 0.0, 1.0]
    P = [lens.fx, 0.0, lens.cx, 0.0, 0.0, lens.fy, lens.cy, 0.0, 0.0, 0.0, 1.0, 0.0]
    matrices = {"D": lens.distortion.tolist(), "K": K, "R": [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], "P": P}
    if topics.node.codec.version != 1:  # ROS 2 writes them in small letters
        matrices = {key.lower(): matrix for key, matrix in matrices.items()}
    return {"height": lens.height, "width": lens.width, "distortion_model": "plumb_bob", **matrices}
