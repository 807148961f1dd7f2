"""Which kind of device is served how: a new kind is a module and one line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pliant.devices.base import SampleSource
from pliant.rods.ros import is_parallel, is_plate_controller, serve_parallel, serve_plate_controller
from pliant.ros.bridge.board import is_board, serve_board
from pliant.ros.bridge.camera import is_camera, serve_camera
from pliant.ros.bridge.fields import serve_fields
from pliant.ros.bridge.joint import is_joint, serve_joint
from pliant.ros.bridge.recorded import is_recorded_topic, serve_recorded_topic
from pliant.ros.bridge.sensors import (
    has_joint_states,
    is_imu,
    is_laser,
    is_sole,
    is_wrench,
    serve_imu,
    serve_joint_states,
    serve_laser,
    serve_sole,
    serve_wrench,
)
from pliant.ros.bridge.topics import RosTopics

__all__ = ["KINDS", "Kind", "kind_of"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of device, told by what it samples, so that a recorded device is of the same kind."""

    name: str
    """What it is, for messages."""
    matches: Callable[[SampleSource], bool]
    """Whether a device is of this kind."""
    serve: Callable[[RosTopics, str, Any], None]
    """Advertise and listen for a device: (topics of the bridge, name of the device, device)."""


KINDS: tuple[Kind, ...] = (
    Kind("compliant joint", is_joint, serve_joint),
    Kind("board", is_board, serve_board),
    Kind("parallel robot", is_parallel, serve_parallel),
    Kind("controller of a plate", is_plate_controller, serve_plate_controller),
    Kind("sole", is_sole, serve_sole),
    Kind("imu", is_imu, serve_imu),
    Kind("force/torque sensor", is_wrench, serve_wrench),
    Kind("laser", is_laser, serve_laser),
    Kind("camera", is_camera, serve_camera),
    Kind("joint states", has_joint_states, serve_joint_states),
    Kind("topic of a bag", is_recorded_topic, serve_recorded_topic),
)
"""The first kind that matches serves the device."""


FIELDS = Kind("field table", lambda device: True, serve_fields)
"""Every other device: ROS has no message of its kind."""


def kind_of(device: SampleSource) -> Kind:
    """Return how a device is served."""
    return next((kind for kind in KINDS if kind.matches(device)), FIELDS)
