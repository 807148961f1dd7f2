"""Joint angles as analog channels, as the position sensors of fingers (MAIS) give them."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from pliant.base.errors import DeviceError, nearest
from pliant.devices.base import DeviceBase, DeviceOptions, FieldInfo
from pliant.devices.kinds import device_for
from pliant.devices.sensors import sample_period
from pliant.engine.base import Engine, mujoco_state
from pliant.model.robot import Robot
from pliant.yarp.model.services import JointAngles

RATE = 100.0
"""Samples a second [Hz]."""
FULL_SCALE = 255.0
"""Raw value at the lower limit of a joint; gazebo-yarp-plugins, MaisSensorDriver."""


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
        n = len(description.joints)
        self._slides = np.array([robot.slides(joint) for joint in description.joints])
        units = ("m", "m") if self._slides.all() else ("", "") if self._slides.any() else ("rad", "")
        samples = {
            "angle": FieldInfo((n,), units[0], "angles of the joints [rad], positions of sliding ones [m]"),
            "reading": FieldInfo(
                (n,), units[1], "raw values: 255 at the lower limit to 0 at the upper one; of sliding joints [m]"
            ),
        }
        options.setdefault("sample_period", sample_period(RATE, float(robot.spec.option.timestep)))
        super().__init__(
            description.name,
            samples=samples,
            **options,
        )
        self.joints = description.joints

    def _connect(self, engine: Engine) -> None:
        self._ports = [engine.port(f"{joint}/position") for joint in self.joints]
        joints = [mujoco_state(engine, self.name).model.joint(joint) for joint in self.joints]
        # The sensors of a joint without limits stay in the middle, as in the original.
        limits = np.array([joint.range if joint.limited[0] else (-np.inf, np.inf) for joint in joints])
        self._limits: tuple[np.ndarray, np.ndarray] = limits[:, 0], limits[:, 1]

    def _measure(self) -> dict[str, float | np.ndarray]:
        angle = np.array([port[0] for port in self._ports])
        low, high = self._limits
        with np.errstate(invalid="ignore"):
            share = (angle - low) / (high - low)
        share = np.where(np.isfinite(low), np.clip(share, 0.0, 1.0), 0.5)
        return {"angle": angle, "reading": np.where(self._slides, angle, FULL_SCALE * (1.0 - share))}
