"""What the robot's electronics is: boards and joints that take commands and give samples."""

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
from pliant.devices.base_state import BaseStateDevice
from pliant.devices.board import Board
from pliant.devices.camera import CameraDevice
from pliant.devices.compliant_joint import CompliantJoint
from pliant.devices.control_board import ControlBoardDevice
from pliant.devices.external_wrench import ExternalWrenchDevice
from pliant.devices.factory import make_devices
from pliant.devices.force_torque import ForceTorqueDevice
from pliant.devices.imu import ImuDevice
from pliant.devices.joint_angles import JointAnglesDevice
from pliant.devices.kinds import device_for
from pliant.devices.laser import LaserDevice
from pliant.devices.load_cells import LoadCellsDevice
from pliant.devices.model_pose import ModelPoseDevice
from pliant.devices.press import PressDevice
from pliant.devices.sensors import SensorDevice
from pliant.devices.sole import SoleDevice
from pliant.devices.video_texture import VideoTextureDevice
from pliant.devices.world import WorldDevice

__all__ = [
    "BaseStateDevice",
    "Board",
    "CameraDevice",
    "Command",
    "CompliantJoint",
    "ControlBoardDevice",
    "Device",
    "DeviceBase",
    "ExternalWrenchDevice",
    "FieldInfo",
    "ForceTorqueDevice",
    "ImuDevice",
    "JointAnglesDevice",
    "LaserDevice",
    "LoadCellsDevice",
    "Mailbox",
    "ModelPoseDevice",
    "Mount",
    "Noise",
    "PressDevice",
    "Sample",
    "SampleSource",
    "SensorDevice",
    "SoleDevice",
    "VideoTextureDevice",
    "WorldDevice",
    "device_for",
    "make_devices",
    "request",
]
