"""Pose of a robot in the world, as programs that keep a tree of frames want it."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from pliant.base.errors import DeviceError
from pliant.devices.base import DeviceBase, DeviceOptions, FieldInfo
from pliant.devices.kinds import device_for
from pliant.devices.sensors import sample_period
from pliant.engine.base import Engine, mujoco_state
from pliant.model.robot import Robot
from pliant.yarp.model.services import ModelPose


@device_for(ModelPose)
class ModelPoseDevice(DeviceBase):
    """The pose of the robot's first link in the world, which is that at the start of the step that has just ended.

    Args:
        description: the device.
        robot: the robot.
        options: of `DeviceBase`; without ``sample_period`` it samples at the period of the description.
    """

    signatures = ("model_pose",)

    def __init__(self, description: ModelPose, robot: Robot, **options: Unpack[DeviceOptions]) -> None:
        fields = {
            "position": FieldInfo((3,), "m", "origin of the link's frame in the world"),
            "orientation": FieldInfo((4,), "", "orientation of the link's frame in the world, quaternion (w, x, y, z)"),
        }
        period = sample_period(1.0 / description.period, float(robot.spec.option.timestep))
        options.setdefault("sample_period", period)
        super().__init__(description.name, samples=fields, **options)
        first = description.link or next((b.name for b in robot.spec.worldbody.bodies if b.name), "")
        if first not in [body.name for body in robot.spec.bodies]:
            raise DeviceError(f"{self.name}: the robot has no link {first!r} whose pose could be sent", field="link")
        self._link = first
        self.metadata = {"link": first, "model": description.model}

    def _connect(self, engine: Engine) -> None:
        state = mujoco_state(engine, self.name)
        body = state.data.body(self._link)
        self._position, self._orientation = body.xpos, body.xquat

    def _measure(self) -> dict[str, float | np.ndarray]:
        return {"position": self._position, "orientation": self._orientation}
