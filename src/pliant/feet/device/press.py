"""A press as a device: a person or a program says with what force it pushes."""

from __future__ import annotations

import math
from typing import Unpack

import numpy as np

from pliant.base.errors import DeviceError
from pliant.devices.base import Command, DeviceBase, DeviceOptions, FieldInfo, request
from pliant.devices.kinds import device_for
from pliant.engine.base import Engine
from pliant.feet.model.press import Press
from pliant.model.robot import Robot

PERIOD = 0.01
"""Time between two samples [s]."""


@device_for(Press)
class PressDevice(DeviceBase):
    """Pushes with the force of the newest command or request; before the first one with the load of the description.

    Args:
        description: the press.
        robot: the robot that it is described on.
        options: of `DeviceBase`.
    """

    signatures = ("press", "contact_forces")

    def __init__(self, description: Press, robot: Robot, **options: Unpack[DeviceOptions]) -> None:
        dt = float(robot.spec.option.timestep)
        self.description = description
        force = "force towards the ground"
        options.setdefault("sample_period", max(1, round(PERIOD / dt)) * dt)
        super().__init__(
            description.name,
            samples={
                "force": FieldInfo((), "N", force),
                "position": FieldInfo((), "m", "position of the slide from where it started, positive upwards"),
                "velocity": FieldInfo((), "m/s", "velocity of the slide, positive upwards"),
            },
            commands={"force": {"force": FieldInfo((), "N", force, description.low, description.high)}},
            **options,
        )
        self.written_ports = (f"{description.actuator}/control",)
        self._target = description.load

    def _connect(self, engine: Engine) -> None:
        actuator, joint = self.description.actuator, self.description.joint
        self._control = engine.port(f"{actuator}/control")
        self._force = engine.port(f"{actuator}/force")
        self._position = engine.port(f"{joint}/position")
        self._velocity = engine.port(f"{joint}/velocity")

    def _restart(self, rng: np.random.Generator) -> None:
        self._target = self.description.load

    def _latch(self, command: Command) -> None:
        force = float(command.values.get("force", self._target))
        if math.isfinite(force):
            self._target = min(max(force, self.description.low), self.description.high)

    def _trip(self) -> None:
        self.release()

    def _firmware(self) -> None:
        self._control[0] = self._target - self.description.load

    def _measure(self) -> dict[str, float | np.ndarray]:
        return {
            "force": float(self._force[0]),
            "position": float(self._position[0]),
            "velocity": float(self._velocity[0]),
        }

    @request
    def press(self, force: float) -> float:
        """Push with a force from now on [N]; return it.

        Raises:
            DeviceError: the force is not a number, or more than the press gives.
        """
        value, low, high = float(force), self.description.low, self.description.high
        if not low <= value <= high:
            raise DeviceError(f"{self.name}: force is {force!r}; must be from {low:g} to {high:g} N", field="force")
        self._target = value
        return value

    @request
    def release(self) -> float:
        """Push with the load of the description again; return it [N]."""
        self._target = self.description.load
        return self._target
