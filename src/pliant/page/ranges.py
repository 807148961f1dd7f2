"""Ranges of sliders: what a device says, then what is usual for the unit."""

from __future__ import annotations

import math
from collections.abc import Mapping

import mujoco

from pliant.devices.base import Device, FieldInfo
from pliant.devices.signatures import JOINT, JointDevice
from pliant.engine.base import Engine, MujocoState
from pliant.laws import DCMotor

MAX_SLIDERS = 16
"""Longest array that gets a slider for each element."""
MAX_TURN_A_STEP = 0.03
"""Largest angle by which a lasting torque of a slider may turn a joint in a step [rad].

Of runs of a minute in which the torques of an arm of five such joints, its references, gains and a payload of up to
2 kg within 0.2 m of its links changed at random, none of ten diverged at 0.03, and four of four at 0.09.
"""
USUAL: Mapping[str, float] = {
    "rad": math.pi,
    "rad/s": 1.0,
    "m": 0.3,
    "m/s": 0.2,
    "m or rad": 0.3,
    "N": 100.0,
    "N m": 3.0,
    "N, N m": 2.0,
    "m, rad": 0.5,
}
"""Unit -> half of the range of a slider where the device gives none."""


def slider_range(device: Device, mode: str, name: str, info: FieldInfo, engine: Engine) -> tuple[float, float]:
    """Return the ends of the slider of a command.

    Args:
        device: what takes the command.
        mode: command mode.
        name: field of the mode.
        info: what the field carries.
        engine: the physics.
    """
    low, high = info.low, info.high
    if JOINT.live(device):
        low, high = device.limits(mode, name)
        if name == "external_torque" or mode == "link_torque":
            motor = device.actuator.motor_1
            largest = USUAL["N m"]
            if isinstance(motor, DCMotor):
                largest = min(motor.max_torque, 20.0)
            largest = min(largest, spinning_torque(device, engine))
            low, high = max(low, -largest), min(high, largest)
        if info.unit == "rad" and (low, high) == (-2.0 * math.pi, 2.0 * math.pi):  # a joint without limits
            low, high = -math.pi, math.pi
    half = USUAL.get(info.unit, 1.0)
    if not math.isfinite(low):
        low = -half if not math.isfinite(high) else min(-half, high - 2.0 * half)
    if not math.isfinite(high):
        high = max(half, low + 2.0 * half)
    if high <= low:
        low, high = low - half, low + half
    step = step_of(low, high)
    return float(f"{math.ceil(low / step - 1e-9) * step:.6g}"), float(f"{math.floor(high / step + 1e-9) * step:.6g}")


def spinning_torque(device: JointDevice, engine: Engine) -> float:
    """Return the torque at which a joint without limits turns by `MAX_TURN_A_STEP` in a step [N m]; else infinity.

    A torque T that lasts lets such a joint turn at T / D, with its damping D. What it carries pulls with the square of
    that speed, and nothing stops several such joints in a chain from adding theirs.
    """
    if not isinstance(engine, MujocoState):
        return math.inf
    joint = engine.model.joint(device.joint)
    damping = float(joint.damping[0]) + device.actuator.link_damping
    if joint.limited[0] or joint.type[0] != mujoco.mjtJoint.mjJNT_HINGE or damping <= 0.0:
        return math.inf
    return damping * MAX_TURN_A_STEP / engine.dt


def step_of(low: float, high: float) -> float:
    """Return a round step of about a two-hundredth of a range."""
    return round_up((high - low) / 200.0)


def round_up(value: float) -> float:
    """Return the next round number, 1, 2 or 5 times a power of ten, above a value, or below it by a thousandth."""
    power = 10.0 ** math.floor(math.log10(value))
    return float(f"{next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= value * 0.999):.6g}")
