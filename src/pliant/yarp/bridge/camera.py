"""Cameras: colours as an image, and depth as an image of floats."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import cast

import numpy as np

from pliant.devices.base import Device, Sample, SampleSource
from pliant.devices.signatures import CameraSource
from pliant.model.robot import Robot
from pliant.model.sensors import Camera
from pliant.simulation.rate_timer import RateTimer
from pliant.yarp.bridge.camera_calls import CameraCalls
from pliant.yarp.bridge.fields import serve_fields
from pliant.yarp.bridge.messages import Answer, Arrival
from pliant.yarp.bridge.served import Served, StampedOutput
from pliant.yarp.model.services import CameraImages, ImageServer
from pliant.yarp.wire import Dialect
from pliant.yarp.wire.images import encode_image

IMAGE_QUEUE = 2
"""Images that wait for a slow receiver; YARP's own grabbers keep none."""
CODES = {"image": "rgb", "depth": "dec"}
"""Field of a sample -> pixel code."""


def serve_camera(served: Served, name: str, device: SampleSource) -> None:
    """Serve ``/robot/camera`` (RGB); with depth ``/robot/camera/rgbImage:o`` and ``/robot/camera/depthImage:o``.

    Calls of clients come to ``/robot/camera`` itself and to its ``/rpc``; with depth, to ``/robot/camera/rpc:i``.

    A server that the robot describes gives the name in place of ``/robot/camera`` and the period; what it describes of
    the images says whether rows or columns are reversed, and to how many decimal digits depth is rounded.
    """
    fields = [key for key in CODES if key in device.samples]
    if not fields:  # YARP has no image of numbers of objects
        serve_fields(served, name, device)
        return
    shown = served.interface.shown_by(ImageServer, CameraImages)
    own = [(server.port, server.period, images) for server, images in shown if images.sensors == (name,)]
    for prefix, period, images in own or [(served.full_name(name), 0.0, None)]:
        plain = fields == ["image"]
        calls = _answers(_calls(served, device, images))
        for field in fields:
            ending = "" if plain else ("/rgbImage:o" if field == "image" else "/depthImage:o")

            def encode(
                sample: Sample, dialect: Dialect, field: str = field, images: CameraImages | None = images
            ) -> bytes:
                pixels = np.asarray(sample.values[field])
                return encode_image(pixels if images is None else changed(pixels, field, images), CODES[field])

            # YARP's remote_grabber calls the port of the images itself.
            answers = {"on_data": calls} if plain else {}
            served.publish(prefix + ending, "Image", device, encode, period=period, queue=IMAGE_QUEUE, **answers)
        served.input(prefix + ("/rpc" if plain else "/rpc:i"), "Bottle", is_rpc=True, on_data=calls)


def _answers(calls: CameraCalls) -> Callable[[Arrival], Answer]:
    return lambda arrival: calls.answer(arrival.bottle())


def _calls(served: Served, device: SampleSource, images: CameraImages | None) -> CameraCalls:
    """Return the answers to the clients of a camera."""
    key = "image" if "image" in device.samples else "depth"
    height, width = device.samples[key].shape[:2]
    lens = cast(CameraSource, device).camera if isinstance(device, Device) else None  # a recording has no lens
    if lens is not None and images is not None and images.flip_horizontal:
        lens = dataclasses.replace(lens, cx=lens.width - 1 - lens.cx, p2=-lens.p2)
    if lens is not None and images is not None and images.flip_vertical:
        lens = dataclasses.replace(lens, cy=lens.height - 1 - lens.cy, p1=-lens.p1)
    descriptions = served.robot.devices if isinstance(served.robot, Robot) else []
    ranges = [(d.near, d.far) for d in descriptions if isinstance(d, Camera) and d.name == device.name]
    limits = ranges[0] if ranges else (0.0, 0.0)
    rate = 1e9 / device.sample_period_ns if device.sample_period_ns else 0.0
    depth = limits if "depth" in device.samples else None
    return CameraCalls(width=width, height=height, lens=lens, rate=rate, depth=depth)


def serve_joined_cameras(served: Served) -> set[str]:
    """Serve the images of several cameras as one, side by side or above each other; return the cameras shown."""
    shown: set[str] = set()
    for server, images in served.interface.shown_by(ImageServer, CameraImages):
        devices = [served.devices.get(name) for name in images.sensors]
        if len(devices) > 1 and all(device is not None and "image" in device.samples for device in devices):
            _serve_joined(served, server, images)
            shown |= set(images.sensors)
    return shown


def _serve_joined(served: Served, server: ImageServer, images: CameraImages) -> None:
    shapes = [served.devices[name].samples["image"].shape for name in images.sensors]
    heights, widths = [shape[0] for shape in shapes], [shape[1] for shape in shapes]
    size = (sum(heights), widths[0]) if images.vertical else (heights[0], sum(widths))
    calls = _answers(CameraCalls(width=size[1], height=size[0]))
    port = served.output(server.port, "Image", queue=IMAGE_QUEUE, on_data=calls)
    served.input(f"{server.port}/rpc", "Bottle", is_rpc=True, on_data=calls)

    def joined(samples: list[Sample], dialect: Dialect) -> bytes:
        eyes = [changed(np.asarray(sample.values["image"]), "image", images) for sample in samples]
        return encode_image(np.concatenate(eyes, axis=0 if images.vertical else 1), "rgb")

    output = StampedOutput(port, joined, RateTimer(1.0 / server.period))
    latest = served.collect(images.sensors)

    def write(sample: Sample) -> None:
        samples = [latest[name] for name in images.sensors if name in latest]
        # Only pictures of one time belong together.
        if len(samples) == len(images.sensors) and len({other.stamp_ns for other in samples}) == 1:
            output.send(sample.stamp_ns, samples)

    for name in images.sensors:
        served.writers[name].append(write)


def changed(pixels: np.ndarray, field: str, images: CameraImages) -> np.ndarray:
    """Return an image as a plugin asks for it: reversed, and its depth rounded."""
    if images.flip_vertical:
        pixels = pixels[::-1]
    if images.flip_horizontal:
        pixels = pixels[:, ::-1]
    if field == "depth" and images.depth_quantum is not None:
        pixels = np.round(pixels, images.depth_quantum)
    return pixels
