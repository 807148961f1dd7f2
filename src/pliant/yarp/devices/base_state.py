"""Pose, velocity and acceleration of one link in the world, as a perfect state estimator would know them."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from pliant.base.errors import DeviceError, nearest
from pliant.devices.base import DeviceBase, DeviceOptions, FieldInfo
from pliant.devices.kinds import device_for
from pliant.devices.sensors import sample_period
from pliant.engine.base import Engine, mujoco_state
from pliant.model.robot import Robot
from pliant.yarp.model.services import BaseState

_FIELDS = {
    "position": FieldInfo((3,), "m", "origin of the link's frame in the world"),
    "orientation": FieldInfo((4,), "", "orientation of the link's frame in the world, quaternion (w, x, y, z)"),
    "linear_velocity": FieldInfo((3,), "m/s", "velocity of that origin, in world axes"),
    "angular_velocity": FieldInfo((3,), "rad/s", "angular velocity of the link, in world axes"),
    "acceleration": FieldInfo((3,), "m/s^2", "acceleration of that origin, in world axes, gravity included"),
    "angular_acceleration": FieldInfo((3,), "rad/s^2", "angular acceleration of the link, in world axes"),
}

RATE = 100.0
"""Samples a second [Hz]."""


@device_for(BaseState)
class BaseStateDevice(DeviceBase):
    """The state of one link in the world.

    Pose and velocities are those at the start of the step that has just ended, where MuJoCo evaluates its sensors;
    accelerations are the change of the velocities over a step. Noise is that of the option ``noise``, for each
    field; the orientation has none.

    Args:
        description: the device.
        robot: the robot.
        options: of `DeviceBase`; without ``sample_period`` it samples a hundred times a second.
    """

    signatures = ("base_state",)

    def __init__(self, description: BaseState, robot: Robot, **options: Unpack[DeviceOptions]) -> None:
        options.setdefault("sample_period", sample_period(RATE, float(robot.spec.option.timestep)))
        super().__init__(
            description.name,
            samples=_FIELDS,
            **options,
        )
        names = [body.name for body in robot.spec.bodies]
        if description.link not in names:
            raise DeviceError(
                f"{self.name}: there is no link {description.link!r}; {nearest(description.link, filter(None, names))}",
                field="link",
            )
        self._link = description.link
        self.metadata = {"link": description.link}

    def _connect(self, engine: Engine) -> None:
        import mujoco

        state = mujoco_state(engine, self.name)
        model, data = state.model, state.data
        self._body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, self._link)
        self._state, self._read = state, mujoco.mj_objectVelocity
        self._kind = mujoco.mjtObj.mjOBJ_XBODY
        self._position, self._orientation = data.xpos[self._body], data.xquat[self._body]
        self._before, self._now = np.zeros(6), np.zeros(6)
        self._dt = float(engine.dt)

    def _velocity(self, out: np.ndarray) -> None:
        self._read(self._state.model, self._state.data, self._kind, self._body, out, 0)

    def _restart(self, rng: np.random.Generator) -> None:
        self._velocity(self._before)

    def _firmware(self) -> None:
        self._velocity(self._before)

    def _measure(self) -> dict[str, float | np.ndarray]:
        self._velocity(self._now)
        rate = (self._now - self._before) / self._dt
        return {
            "position": self._position,
            "orientation": self._orientation,
            "linear_velocity": self._now[3:],
            "angular_velocity": self._now[:3],
            "acceleration": rate[3:],
            "angular_acceleration": rate[:3],
        }
