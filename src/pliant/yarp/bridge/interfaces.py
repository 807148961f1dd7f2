"""Which kind of device is served how: a new kind is a module and one line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pliant.devices.base import SampleSource
from pliant.yarp.bridge.camera import is_camera, serve_camera
from pliant.yarp.bridge.control_board import is_control_board, serve_control_board
from pliant.yarp.bridge.external_wrench import is_external_wrench, serve_external_wrench
from pliant.yarp.bridge.fields import serve_fields
from pliant.yarp.bridge.laser import is_laser, serve_laser
from pliant.yarp.bridge.model_pose import is_model_pose, serve_model_pose
from pliant.yarp.bridge.sensors import is_imu, is_wrench, serve_imu, serve_wrench
from pliant.yarp.bridge.served import Served
from pliant.yarp.bridge.vectors import is_vector, serve_vector
from pliant.yarp.bridge.video_texture import is_video_texture, serve_video_texture
from pliant.yarp.bridge.world import is_world, serve_world

__all__ = ["KINDS", "Kind", "kind_of"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of device, told by what it samples, so that a recorded device is of the same kind."""

    name: str
    """What it is, for messages."""
    matches: Callable[[SampleSource], bool]
    """Whether a device is of this kind."""
    serve: Callable[[Served, str, SampleSource], None]
    """Open the ports of a device: (ports of the bridge, name of the device, device)."""


KINDS: tuple[Kind, ...] = (
    Kind("control board", is_control_board, serve_control_board),
    Kind("vector", is_vector, serve_vector),
    Kind("imu", is_imu, serve_imu),
    Kind("force/torque sensor", is_wrench, serve_wrench),
    Kind("camera", is_camera, serve_camera),
    Kind("external wrench", is_external_wrench, serve_external_wrench),
    Kind("laser", is_laser, serve_laser),
    Kind("world", is_world, serve_world),
    Kind("video texture", is_video_texture, serve_video_texture),
    Kind("pose of the model", is_model_pose, serve_model_pose),
)
"""The first kind that matches serves the device."""


FIELDS = Kind("field table", lambda device: True, serve_fields)
"""Every other device: YARP has no message of its kind."""


def kind_of(device: SampleSource) -> Kind:
    """Return how a device is served."""
    return next((kind for kind in KINDS if kind.matches(device)), FIELDS)
