"""The servos that are modelled: what their data sheets say, and the numbers in which their control tables differ."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pliant.base.errors import BridgeError, nearest

RPM = 2.0 * math.pi / 60.0
"""One revolution per minute [rad/s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServoModel:
    """One type of servo.

    Source: its page in the ROBOTIS e-Manual, "Specifications" and "Control Table"; what is not confirmed there is
    marked at its value.
    """

    name: str
    """Name without the suffix of its connector, such as "XL330-M288"."""
    number: int
    """Model number, the answer to a ping."""
    firmware: int
    """Firmware version; its control table is the one that is served."""
    nominal_voltage: float
    """Recommended supply [V]."""
    stall_torque: float
    """Torque at stall at the recommended supply [N m]."""
    stall_current: float
    """Current at stall at the recommended supply [A]."""
    no_load_speed: float
    """Speed without load at the recommended supply [rad/s]."""
    current_unit: float
    """One unit of Goal Current and Present Current [A]."""
    max_baud: int
    """Largest value of Baud Rate."""
    temperature_limit: int
    """Initial Temperature Limit [C]."""
    max_voltage: int
    """Initial Max Voltage Limit [0.1 V], the largest valid one."""
    min_voltage: int
    """Initial Min Voltage Limit [0.1 V]."""
    lowest_voltage: int
    """Smallest valid value of both voltage limits [0.1 V]."""
    current_limit: int
    """Initial and largest Current Limit, in current units."""
    velocity_limit: int
    """Initial Velocity Limit [0.229 rev/min]."""
    max_velocity_limit: int
    """Largest Velocity Limit [0.229 rev/min]."""
    pwm_slope: int | None
    """Initial PWM Slope; None if the servo has none."""
    shutdown: int
    """Initial Shutdown bits."""
    velocity_i_gain: int
    """Initial Velocity I Gain."""
    velocity_p_gain: int
    """Initial Velocity P Gain."""
    position_p_gain: int
    """Initial Position P Gain."""
    indirect: tuple[tuple[int, int, int], ...]
    """Blocks of indirect addresses: (address of the first address, address of its data, how many)."""


_XL330 = {
    "firmware": 52,
    "nominal_voltage": 5.0,
    "stall_current": 1.47,
    "current_unit": 1e-3,
    "max_baud": 6,
    "temperature_limit": 70,
    "max_voltage": 70,
    "min_voltage": 35,
    "lowest_voltage": 31,
    "current_limit": 1750,
    "max_velocity_limit": 2047,
    "pwm_slope": 140,
    "shutdown": 53,
    "velocity_i_gain": 1600,
    "velocity_p_gain": 180,
    "position_p_gain": 400,
    "indirect": ((168, 208, 20),),
}
# assumed, where the page could not be read: the ranges and limits of the XM430, its firmware, and all of the XM430-W210
_XM430 = {
    "firmware": 48,
    "nominal_voltage": 12.0,
    "stall_current": 2.3,
    "current_unit": 2.69e-3,
    "max_baud": 7,
    "temperature_limit": 80,
    "max_voltage": 160,
    "min_voltage": 95,
    "lowest_voltage": 95,
    "current_limit": 1193,
    "max_velocity_limit": 1023,
    "pwm_slope": None,
    "shutdown": 52,
    "velocity_i_gain": 1920,
    "velocity_p_gain": 100,
    "position_p_gain": 800,
    "indirect": ((168, 224, 28), (578, 634, 28)),
}

MODELS: dict[str, ServoModel] = {
    model.name: model
    for model in (
        ServoModel(
            name="XL330-M077",
            number=1190,
            stall_torque=0.215,
            no_load_speed=383 * RPM,
            velocity_limit=1620,
            **_XL330,  # limit assumed
        ),
        ServoModel(
            name="XL330-M288", number=1200, stall_torque=0.52, no_load_speed=103 * RPM, velocity_limit=445, **_XL330
        ),
        ServoModel(
            name="XM430-W210", number=1030, stall_torque=3.0, no_load_speed=77 * RPM, velocity_limit=330, **_XM430
        ),
        ServoModel(
            name="XM430-W350",
            number=1020,
            stall_torque=4.1,
            no_load_speed=46 * RPM,
            velocity_limit=200,
            **_XM430,  # limit assumed
        ),
    )
}
"""The servos by name."""


def find_model(name: str) -> ServoModel:
    """Return a servo by its name, with or without the suffix of its connector (-T, -R), in any case.

    Raises:
        BridgeError: no such servo.
    """
    upper = name.strip().upper()
    found = MODELS.get(upper) or MODELS.get(upper.removesuffix("-T").removesuffix("-R"))
    if found is None:
        raise BridgeError(f"dynamixel: no servo {name!r}; {nearest(upper, MODELS)}", field="model")
    return found
