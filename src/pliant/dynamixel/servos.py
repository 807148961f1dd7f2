"""Which servo moves which joint, as a robot file says it: the block ``dynamixel``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pliant.base.errors import BridgeError, ModelError
from pliant.base.options import option, parse
from pliant.dynamixel.models import find_model
from pliant.formats.source import Block
from pliant.model.interface import DescribedDevice
from pliant.model.problem import Problem
from pliant.model.robot import Robot

EXTENSION = "dynamixel"
"""Key of the servos in `pliant.model.interface.Interface.extensions`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MountedServo:
    """One servo of a robot file: ``dynamixel: {JOINT: {id: 11, model: XM430-W350}}``.

    Raises:
        BridgeError: a servo that is not known.
    """

    id: int | None = option(None, low=0, high=252)
    """ID; none: the place in the file, from 1 on."""
    model: str = "XM430-W350"
    """Type: XL330-M077, XL330-M288, XM430-W210 or XM430-W350."""
    torque: float | None = option(None, unit="N m", low=0.0, above=True)
    """Torque at stall; none: the largest torque that the model allows at the joint, or that of the data sheet."""
    scale: float | None = option(None)
    """Travel of the joint per radian of the servo [rad/rad or m/rad]; none: 1, and 0.01 m/rad for a joint that
    slides."""

    def __post_init__(self) -> None:
        find_model(self.model)
        if self.scale == 0.0:
            raise BridgeError("scale is 0; must be travel per radian, not 0", field="scale")


@dataclass(frozen=True, slots=True)
class MountedServos:
    """The servos of a robot, by joint, in the order of the file."""

    servos: Mapping[str, MountedServo] = field(default_factory=dict)
    """Servo of each joint."""

    @property
    def devices(self) -> Sequence[DescribedDevice]:
        """None: the joints are devices of the robot."""
        return ()

    @property
    def problems(self) -> Sequence[Problem]:
        """None: what a file says is checked when it is read."""
        return ()

    def prefixed(self, prefix: str) -> MountedServos:
        """Return the servos of a model whose names are prefixed."""
        return MountedServos({prefix + joint: servo for joint, servo in self.servos.items()})

    def merged(self, other: MountedServos) -> MountedServos:
        """Return these servos and those of another robot."""
        return MountedServos({**other.servos, **self.servos})


def _apply(robot: Robot, tree: Any) -> None:
    servos: dict[str, MountedServo] = {}
    used: dict[int, str] = {}
    for number, (joint, settings) in enumerate(tree.items(), 1):
        where = f"dynamixel.{joint}"
        try:
            servo = parse(MountedServo, settings or {}, where=f"{where}.", error=ModelError)
        except ModelError as error:
            field_name = f"{where}.{error.field}" if error.field in settings else where
            raise ModelError(error.message, field=field_name) from None
        except BridgeError as error:
            raise ModelError(f"{where}: {error.message}", field=f"{where}.{error.field}") from None
        servo_id = number if servo.id is None else servo.id
        if servo_id in used:
            raise ModelError(f"{where}: the ID {servo_id} is that of {used[servo_id]!r} too", field=f"{where}.id")
        used[servo_id] = joint
        servos[joint] = servo
    if not servos:
        raise ModelError("dynamixel: no joint; must be JOINT: {id: 1, model: XM430-W350}", field="dynamixel")
    extensions = {**robot.interface.extensions, EXTENSION: MountedServos(servos)}
    robot.interface = robot.interface.replace(extensions=extensions)


BLOCK = Block(apply=_apply, type=dict[str, dict[str, Any] | None])
"""The block ``dynamixel`` of a robot file."""
