"""Robot models: a MuJoCo spec with compliant actuators, devices and interface, and their checks."""

from pliant.model.check import StepSize, step_sizes
from pliant.model.description import COMPANION_SUFFIX, REST_KEY, Description, actuator_names, companion_name
from pliant.model.interface import DescribedDevice, DeviceSpec, Interface, JointInterface, PluginManager
from pliant.model.noise import Noise
from pliant.model.problem import Problem
from pliant.model.robot import Robot
from pliant.model.sensors import Camera, ForceTorque, Imu, Laser, SensorDescription, sensor_kind

__all__ = [
    "COMPANION_SUFFIX",
    "REST_KEY",
    "Camera",
    "DescribedDevice",
    "Description",
    "DeviceSpec",
    "ForceTorque",
    "Imu",
    "Interface",
    "JointInterface",
    "Laser",
    "Noise",
    "PluginManager",
    "Problem",
    "Robot",
    "SensorDescription",
    "StepSize",
    "actuator_names",
    "companion_name",
    "sensor_kind",
    "step_sizes",
]
