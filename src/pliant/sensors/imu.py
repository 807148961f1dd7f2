"""An inertial unit as a device: angular velocity, proper acceleration, orientation."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from pliant.base.spatial import quaternion_product
from pliant.devices.base import DeviceOptions, FieldInfo
from pliant.devices.kinds import device_for
from pliant.devices.sensors import SensorDevice
from pliant.engine.base import Engine
from pliant.model.robot import Robot
from pliant.model.sensors import Imu

_FIELDS = {
    "orientation": FieldInfo((4,), "", "orientation of the sensor's frame in the world, quaternion (w, x, y, z)"),
    "angular_velocity": FieldInfo((3,), "rad/s", "angular velocity, in the sensor's axes"),
    "linear_acceleration": FieldInfo((3,), "m/s^2", "proper acceleration, g upwards at rest, in the sensor's axes"),
}


@device_for(Imu)
class ImuDevice(SensorDevice):
    """Device of an inertial unit.

    The acceleration is that of the step that has just ended; angular velocity and orientation are those at its start,
    where MuJoCo evaluates its sensors. Noise of the orientation is a small rotation about the sensor's axes.

    Args:
        description: the unit.
        robot: the robot that it is described on.
        options: of `DeviceBase`.
    """

    signatures = ("imu",)

    def __init__(self, description: Imu, robot: Robot, **options: Unpack[DeviceOptions]) -> None:
        fields = {key: info for key, info in _FIELDS.items() if key != "orientation" or description.orientation}
        noise = {
            "angular_velocity": description.angular_velocity_noise,
            "linear_acceleration": description.linear_acceleration_noise,
        }
        super().__init__(description, fields, noise, dt=float(robot.spec.option.timestep), **options)
        self._names = description.sensors(robot.spec)
        turn = description.orientation_noise
        self._turn = None if turn.silent or not description.orientation else turn
        if self._turn is not None:
            self.noise = {**self.noise, "orientation": turn}
        self._turn_bias = np.zeros(3)

    def _connect(self, engine: Engine) -> None:
        self._ports = {key: self._port(engine, self._names[key]) for key in self.samples}
        self._find_mount(engine, self.description.site or f"{self.name}/frame")

    def _restart(self, rng: np.random.Generator) -> None:
        if self._turn is not None:
            self._turn_bias = self._turn.offset(rng, (3,))

    def _measure(self) -> dict[str, float | np.ndarray]:
        values: dict[str, float | np.ndarray] = dict(self._ports)
        if self._turn is not None:
            values["orientation"] = _turned(
                self._ports["orientation"], self._turn_bias + self._rng.normal(0.0, self._turn.std, 3)
            )
        return values


def _turned(q: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Return a quaternion after a rotation by the vector ``turn`` [rad] in its own axes, read-only."""
    angle = float(np.linalg.norm(turn))
    half = 0.5 * np.sinc(0.5 * angle / np.pi) * turn
    out = quaternion_product(q, [np.cos(0.5 * angle), *half])
    out /= np.linalg.norm(out)
    out.flags.writeable = False
    return out
