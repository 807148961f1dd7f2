"""Electronics of the robot: boards and joints that take commands and give samples."""

from pliant.devices.base import (
    Command,
    Device,
    DeviceBase,
    FieldInfo,
    Mailbox,
    Mount,
    Noise,
    Sample,
    SampleSource,
    request,
)
from pliant.devices.board import Board
from pliant.devices.compliant_joint import CompliantJoint
from pliant.devices.factory import make_devices
from pliant.devices.kinds import device_for
from pliant.devices.native_actuator import NativeActuator
from pliant.devices.sensors import SensorDevice

__all__ = [
    "Board",
    "Command",
    "CompliantJoint",
    "Device",
    "DeviceBase",
    "FieldInfo",
    "Mailbox",
    "Mount",
    "NativeActuator",
    "Noise",
    "Sample",
    "SampleSource",
    "SensorDevice",
    "device_for",
    "make_devices",
    "request",
]
