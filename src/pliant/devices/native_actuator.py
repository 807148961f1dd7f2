"""Electronics of one actuator of MuJoCo itself: it accepts a control and returns what the actuator does."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Unpack

import mujoco
import numpy as np

from pliant.base.errors import ModelError
from pliant.base.names import free_name
from pliant.devices.base import Command, DeviceBase, DeviceOptions, FieldInfo
from pliant.engine.base import Engine, PortInfo
from pliant.engine.native import native_ports
from pliant.model.robot import Robot


class NativeActuator(DeviceBase):
    """Device for one actuator of the model itself: motor, position, velocity, muscle, ..., of any transmission.

    Commands (mode ``control``): ``control``, in the unit that its kind gives it, within the range that the model
    declares. Before the first command it is what it is after a reset: that of the key frame "rest", or 0.

    Samples: the fields of `pliant.engine.native.NATIVE_FIELDS` that the actuator has. ``force``, ``length`` and
    ``velocity`` are those that MuJoCo computed during the last step, as its sensors are. A field of an actuator with
    several controls or forces is an array.

    Args:
        actuator: name of the actuator, and of the device unless ``name`` is given.
        model: compiled model.
        name: name of the device; None uses the name of the actuator.
        options: options of `DeviceBase`: period, sample_period, latency, command_latency, watchdog, noise, stamp.
    """

    def __init__(
        self, actuator: str, model: mujoco.MjModel, *, name: str | None = None, **options: Unpack[DeviceOptions]
    ) -> None:
        index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, actuator)
        fields = native_ports(model, index)
        commands = {f: _field(port.info) for f, port in fields.items() if port.info.writable}
        samples = {f: _field(port.info, limited=False) for f, port in fields.items()}
        super().__init__(
            name or actuator, samples=samples, commands={"control": commands} if commands else None, **options
        )
        self.actuator = actuator
        self.command_ports = {"control": f"{actuator}/control"} if commands else {}
        self._names = {f: f"{actuator}/{port.field.port}" for f, port in fields.items()}
        self._control = np.zeros(0)
        self._start = np.zeros(0)

    def _connect(self, engine: Engine) -> None:
        ports = {field: engine.port(name) for field, name in self._names.items()}
        self._control = ports.get("control", self._control)
        self._measured = [
            (field, port.copy if self.samples[field].shape else port.item) for field, port in ports.items()
        ]

    def _restart(self, rng: np.random.Generator) -> None:
        self._start = self._control.copy()

    def _latch(self, command: Command) -> None:
        self._control[:] = command.values.get("control", self._control)

    def _measure(self) -> dict[str, float | np.ndarray]:
        return {field: measure() for field, measure in self._measured}

    def _trip(self) -> None:
        """Return to the control of the start, as after a reset."""
        self._control[:] = self._start


def native_actuators(
    robot: Robot, devices: Iterable[DeviceBase], **options: Unpack[DeviceOptions]
) -> list[NativeActuator]:
    """Return a device for each actuator of MuJoCo itself whose control no other device writes, in the model's order.

    Args:
        robot: the robot.
        devices: its other devices; a device that would have the name of one of them has "_" behind it.
        options: options of each device.

    Raises:
        ModelError: an actuator of a compliant joint in a file of `pliant export mjcf`, whose law is code of pliant.
    """
    for actuator in robot.spec.actuators:
        if actuator.biastype == mujoco.mjtBias.mjBIAS_USER:
            raise ModelError(
                f"actuator {actuator.name!r} has biastype user: a file of `pliant export mjcf`, for programs that call "
                "pliant.engine.install(model); run the robot that was exported, or what `pliant export urdf` writes",
                file=robot.file,
                field=actuator.name,
            )
    taken, written = set(), set()
    for device in devices:
        taken.add(device.name)
        written.update(device.written_ports)
    free = {actuator.name for actuator in robot.spec.actuators if f"{actuator.name}/control" not in written}
    if not free:
        return []
    model = robot.compile()
    made = []
    for actuator in (model.actuator(i).name for i in range(model.nactuator)):
        if actuator in free:
            name = free_name(actuator, taken)
            taken.add(name)
            made.append(NativeActuator(actuator, model, name=name, **options))
    return made


def _field(port: PortInfo, *, limited: bool = True) -> FieldInfo:
    """Return the field of a device that a port is; a port of one number is a number."""
    shape = () if port.shape == (1,) else port.shape
    info = FieldInfo(shape, port.unit, port.description)
    return dataclasses.replace(info, low=port.low, high=port.high) if limited else info
