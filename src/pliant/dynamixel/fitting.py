"""Fits servos to joints: from the options of the bridge, the robot file, the model and data sheets, in that order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pliant.base.errors import BridgeError, nearest
from pliant.dynamixel.joints import Joint
from pliant.dynamixel.models import find_model
from pliant.dynamixel.options import DynamixelOptions
from pliant.dynamixel.servo import BAUD_RATES, Servo, ServoSetup
from pliant.dynamixel.servos import MountedServo, MountedServos

KELVIN = 273.15


@dataclass(frozen=True, slots=True)
class Fitted:
    """A joint and its servo."""

    joint: Joint
    """The joint."""
    servo: Servo
    """The servo."""


def fit(found: Sequence[Joint], options: DynamixelOptions, mounted: MountedServos | None) -> list[Fitted]:
    """Return the joints of a line with their servos.

    Args:
        found: the joints that can be commanded.
        options: options of the bridge.
        mounted: what the robot's file says; None if it says nothing.

    Raises:
        BridgeError: no joint, a joint that cannot be commanded, a list of another length, two servos with one ID.
    """
    by_name = {joint.name: joint for joint in found}
    if not by_name:
        raise BridgeError(
            "dynamixel: no joint of this robot takes positions, velocities or torques from any program; load a robot "
            "with compliant joints or actuators",
            field="joints",
        )
    servos = dict(mounted.servos) if mounted is not None else {}
    names = options.joints or tuple(servos) or tuple(by_name)
    for name in names:
        if name not in by_name:
            raise BridgeError(
                f"dynamixel: no joint {name!r} that can be commanded; {nearest(name, by_name)}", field="joints"
            )
    if len(names) > 253:
        raise BridgeError(
            f"dynamixel: {len(names)} joints; one line has at most 253 servos: choose some with joints=[...]",
            field="joints",
        )
    ids: dict[int, str] = {}
    fitted = []
    for k, name in enumerate(names):
        servo = servos.get(name, MountedServo())
        number = list(servos).index(name) + 1 if name in servos else k + 1
        servo_id = _each(options.ids, "ids", k, len(names))
        servo_id = servo_id if servo_id is not None else servo.id if servo.id is not None else number
        if servo_id in ids:
            raise BridgeError(
                f"dynamixel: {ids[servo_id]!r} and {name!r} have the ID {servo_id}; give ids=[...]", field="ids"
            )
        ids[servo_id] = name
        fitted.append(_fit_one(by_name[name], servo_id, servo, options, k, len(names)))
    return fitted


def _fit_one(joint: Joint, servo_id: int, servo: MountedServo, options: DynamixelOptions, k: int, count: int) -> Fitted:
    model = find_model(_each(options.model, "model", k, count) or servo.model)
    scale = _each(options.scale, "scale", k, count) or servo.scale
    if scale is not None:
        joint.scale = scale
    limit = joint.limit * abs(joint.scale)
    torque = _each(options.torque, "torque", k, count) or servo.torque
    if torque is None:
        torque = limit if math.isfinite(limit) else model.stall_torque
    setup = ServoSetup(
        model=model,
        servo_id=servo_id,
        actuation=joint.actuation,
        stall_torque=torque,
        inertia=joint.inertia * joint.scale**2,
        voltage=model.nominal_voltage if options.voltage is None else options.voltage,
        ambient=options.ambient - KELVIN,
        baud=BAUD_RATES.index(options.baud) if options.baud else 1,
        limp=options.limp,
    )
    if setup.baud > model.max_baud:
        raise BridgeError(
            f"dynamixel: baud is {options.baud}; {model.name} has at most {BAUD_RATES[model.max_baud]}", field="baud"
        )
    return Fitted(joint, Servo(setup))


def _each(values: tuple[Any, ...], name: str, k: int, count: int) -> Any:
    """Return the value of servo k: one for each, or one for all; None where there is none."""
    if not values:
        return None
    if len(values) == 1 and (name != "ids" or count == 1):
        return values[0]
    if len(values) != count:
        raise BridgeError(
            f"dynamixel: {name} has {len(values)} values; must be {count}, one for each joint"
            + ("" if name == "ids" else ", or one for all"),
            field=name,
        )
    return values[k]
