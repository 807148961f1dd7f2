"""Creation of the devices of a robot."""

from __future__ import annotations

from typing import Unpack

from pliant.base.names import free_name
from pliant.devices.base import DeviceBase, DeviceOptions
from pliant.devices.board import Board
from pliant.devices.compliant_joint import CompliantJoint
from pliant.devices.kinds import devices_of, has_device
from pliant.devices.native_actuator import native_actuators
from pliant.model.interface import DeviceSpec, ModelPart
from pliant.model.robot import Robot
from pliant.model.sensors import SensorDescription
from pliant.model.wanted import check_robot


def make_devices(
    robot: Robot, *, joint_sample_period: float | None = None, **options: Unpack[DeviceOptions]
) -> list[DeviceBase]:
    """Return the devices of a robot: one for each compliant joint and a board for all of them, one for each actuator.

    Commands reach the joints at every step. The board is sampled at every step. The joints, whose samples have the
    same quantities in more detail, are sampled at 100 Hz by default, and so are the actuators of the model itself that
    no other device drives. Further devices come from `Robot.devices`:
    enabled sensors and descriptions for which a device is registered (`pliant.devices.device_for`). A `DeviceSpec`,
    and a part of the model for which none is registered, have no device.

    Args:
        robot: a `pliant.model.Robot`.
        joint_sample_period: time between two samples of a joint or an actuator [s]; None for 10 ms, rounded to the
            nearest whole multiple of the time step.
        options: latency, command_latency, watchdog and stamp of every device; period and noise of the joints, their
            board and the actuators only.
    """
    check_robot(robot, "make_devices", compiled=False)
    dt = float(robot.spec.option.timestep)
    period = max(1, round(0.01 / dt)) * dt if joint_sample_period is None else joint_sample_period
    devices: list[DeviceBase] = []
    for joint, actuator in robot.actuators.items():
        devices.append(
            CompliantJoint(joint, actuator, slides=robot.slides(joint), **{**options, "sample_period": period})
        )
    for described in robot.devices:
        if isinstance(described, DeviceSpec) or (isinstance(described, SensorDescription) and not described.enabled):
            continue
        if not isinstance(described, ModelPart) or has_device(described):
            devices.extend(devices_of(described, robot, options))
    # Services and sensors that plugin tags describe; those without a device of their own are made by bridges.
    for extension in robot.interface.extensions.values():
        taken = {device.name for device in devices}
        for service in extension.devices:
            if has_device(service) and service.name not in taken:
                devices.extend(devices_of(service, robot, options))
    if robot.actuators:
        devices.append(_board(robot, options))
    return [*devices, *native_actuators(robot, devices, **{**options, "sample_period": period})]


def _board(robot: Robot, options: DeviceOptions) -> Board:
    """Return the board of all compliant joints."""
    manager = robot.interface.manager
    order, routes = tuple(robot.actuators), None
    if manager is not None:
        order = manager.joints
        routes = dict(zip(manager.joints, zip(manager.ref_1, manager.ref_2, strict=True), strict=True))
    name = free_name("board", robot.actuators)
    slides = [joint for joint in order if robot.slides(joint)]
    return Board({joint: robot.actuators[joint] for joint in order}, name=name, routes=routes, slides=slides, **options)
