"""The devices that a robot has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pliant.devices.base import DeviceBase
from pliant.devices.board import Board
from pliant.devices.camera import CameraDevice
from pliant.devices.compliant_joint import CompliantJoint
from pliant.devices.force_torque import ForceTorqueDevice
from pliant.devices.imu import ImuDevice
from pliant.devices.plate_controller import parallel_devices
from pliant.model.parallel.mechanism import ParallelMechanism
from pliant.model.sensors import Camera, ForceTorque, Imu, SensorDescription

__all__ = ["SENSORS", "make_devices"]

SENSORS: dict[type[SensorDescription], Callable[..., DeviceBase]] = {
    Imu: ImuDevice,
    ForceTorque: ForceTorqueDevice,
    Camera: CameraDevice,
}
"""Kind of described sensor -> its device."""


def make_devices(robot: Any, *, joint_sample_period: float | None = None, **options: Any) -> list[DeviceBase]:
    """Return the devices of a robot: one a compliant joint, and the board over all of them.

    Commands reach the joints at every step. The board samples at every step; the joints, whose samples say the same in
    more detail, by default a hundred times a second. Further devices are those of `Robot.devices`: the described
    sensors that are enabled, a parallel robot with its controller, and whatever has a method
    ``make(robot) -> Device``.

    Args:
        robot: a `pliant.model.Robot`.
        joint_sample_period: time between two samples of a joint [s]; None takes 10 ms, or the nearest whole multiple
            of the time step.
        options: passed to every device (latency, command_latency, watchdog, ...).
    """
    dt = float(robot.spec.option.timestep)
    period = max(1, round(0.01 / dt)) * dt if joint_sample_period is None else joint_sample_period
    devices: list[DeviceBase] = [
        CompliantJoint(joint, actuator, sample_period=period, **options) for joint, actuator in robot.actuators.items()
    ]
    for described in robot.devices:
        kind = SENSORS.get(type(described))
        make = getattr(described, "make", None)
        if kind is not None:
            if described.enabled:
                devices.append(kind(described, robot))
        elif isinstance(described, ParallelMechanism):
            devices.extend(parallel_devices(described, **options))
        elif make is not None:
            devices.append(make(robot))
    if not robot.actuators:
        return devices
    manager = getattr(robot.interface, "manager", None)
    order, routes = tuple(robot.actuators), None
    if manager is not None:
        order = manager.joints
        routes = dict(zip(manager.joints, zip(manager.ref_1, manager.ref_2, strict=True), strict=True))
    name = "board"
    while name in robot.actuators:
        name += "_"
    devices.append(Board({joint: robot.actuators[joint] for joint in order}, name=name, routes=routes, **options))
    return devices
