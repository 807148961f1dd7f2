"""Joint angles as analog channels, as the position sensors of fingers give them."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from pliant.base.errors import DeviceError, nearest
from pliant.devices.base import DeviceBase, DeviceOptions, FieldInfo
from pliant.devices.kinds import device_for
from pliant.devices.sensors import sample_period
from pliant.engine.base import Engine
from pliant.model.robot import Robot
from pliant.yarp.model.services import JointAngles

RATE = 100.0
"""Samples a second [Hz]."""


@device_for(JointAngles)
class JointAnglesDevice(DeviceBase):
    """Positions of joints that no control board needs to move.

    Args:
        description: the sensor.
        robot: the robot.
        options: of `DeviceBase`; without ``sample_period`` it samples a hundred times a second.
    """

    signatures = ("joint_angles",)

    def __init__(self, description: JointAngles, robot: Robot, **options: Unpack[DeviceOptions]) -> None:
        if not description.joints:
            raise DeviceError(f"{description.name}: it has no joint", field="joints")
        known = [joint for joint in robot.joints if joint]
        for joint in description.joints:
            if joint not in known:
                raise DeviceError(
                    f"{description.name}: there is no joint {joint!r}; {nearest(joint, known)}", field="joints"
                )
        samples = {"angle": FieldInfo((len(description.joints),), "rad", "angles of the joints")}
        options.setdefault("sample_period", sample_period(RATE, float(robot.spec.option.timestep)))
        super().__init__(
            description.name,
            samples=samples,
            **options,
        )
        self.joints = description.joints

    def _connect(self, engine: Engine) -> None:
        self._ports = [engine.port(f"{joint}/position") for joint in self.joints]

    def _measure(self) -> dict[str, float | np.ndarray]:
        return {"angle": np.array([port[0] for port in self._ports])}
