"""Ranges of sliders: what a device says, then what is usual for the unit."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pliant.devices.base import Device, FieldInfo
from pliant.devices.signatures import JOINT
from pliant.laws import DCMotor

MAX_SLIDERS = 16
"""Longest array that gets a slider for each element."""
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


def slider_range(device: Device, mode: str, name: str, info: FieldInfo) -> tuple[float, float]:
    """Return the ends of the slider of a command.

    Args:
        device: what takes the command.
        mode: command mode.
        name: field of the mode.
        info: what the field carries.
    """
    low, high = info.low, info.high
    if JOINT.live(device):
        low, high = device.limits(mode, name)
        if name == "external_torque" or mode == "link_torque":
            motor = device.actuator.motor_1
            largest = USUAL["N m"]
            if isinstance(motor, DCMotor):
                largest = min(motor.max_torque, 20.0)
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


def step_of(low: float, high: float) -> float:
    """Return a round step of about a two-hundredth of a range."""
    rough = (high - low) / 200.0
    power = 10.0 ** math.floor(math.log10(rough))
    return float(f"{next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= rough * 0.999):.6g}")
