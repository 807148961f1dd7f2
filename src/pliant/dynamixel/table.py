"""The control table of the servos XL330 and XM430: every item once, with address, size, access, range and unit.

Source: ROBOTIS e-Manual, "Control Table" of XL330-M288-T (firmware 52) and XM430-W350 (firmware 48). A number that
differs between the servos is the name of a field of `ServoModel`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pliant.dynamixel.models import ServoModel

EEPROM_END = 64
"""First address of the RAM area; below it items keep their values without power and are locked by Torque Enable."""
TURNS_LIMIT = 1_048_575
"""Largest Goal Position of modes with several turns [pulse], 256 revolutions."""
MODES = (0, 1, 3, 4, 5, 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item of a control table."""

    address: int
    """First byte."""
    size: int
    """Bytes: 1, 2 or 4, the least significant one first."""
    name: str
    """Name as published."""
    writable: bool
    """Whether clients may write it."""
    initial: int
    """Value of the factory (EEPROM area), or after each start (RAM area); of what is measured, 0."""
    low: int
    """Smallest valid value."""
    high: int
    """Largest valid value."""
    unit: str
    """Unit of one count, as published; "" for none."""
    choices: tuple[int, ...] = ()
    """The valid values, where only some between the limits are."""

    @property
    def signed(self) -> bool:
        """Whether values are two's complement."""
        return self.low < 0

    @property
    def eeprom(self) -> bool:
        """Whether it is in the EEPROM area."""
        return self.address < EEPROM_END

    def valid(self, value: int) -> bool:
        """Return whether a value is inside the range."""
        return value in self.choices if self.choices else self.low <= value <= self.high

    @property
    def valid_text(self) -> str:
        """The valid values, for messages and documentation."""
        if self.choices:
            return ", ".join(str(choice) for choice in self.choices)
        return f"{self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class Table:
    """The items of one servo."""

    items: Mapping[str, Item]
    """Items by name, in the order of their addresses."""
    owners: tuple[Item | None, ...]
    """The item of each address, None for a gap; its length is the size of the table."""


_Number = int | str
_READ, _BOTH = False, True
_SPEED, _ACCELERATION, _PULSE, _VOLT = "0.229 rev/min", "214.577 rev/min^2", "pulse", "0.1 V"
_INT32 = 2**31 - 1
# Address, size, name, writable, initial, lowest, highest, unit, choices.
_ROWS: tuple[tuple[int, int, str, bool, _Number, _Number, _Number, str, tuple[int, ...]], ...] = (
    (0, 2, "Model Number", _READ, "number", 0, 65535, "", ()),
    (2, 4, "Model Information", _READ, 0, 0, 2**32 - 1, "", ()),
    (6, 1, "Firmware Version", _READ, "firmware", 0, 255, "", ()),
    (7, 1, "ID", _BOTH, 1, 0, 252, "", ()),
    (8, 1, "Baud Rate", _BOTH, 1, 0, "max_baud", "", ()),
    (9, 1, "Return Delay Time", _BOTH, 250, 0, 254, "2 us", ()),
    (10, 1, "Drive Mode", _BOTH, 0, 0, 13, "", (0, 1, 4, 5, 8, 9, 12, 13)),
    (11, 1, "Operating Mode", _BOTH, 3, 0, 16, "", MODES),
    (12, 1, "Secondary(Shadow) ID", _BOTH, 255, 0, 255, "", (*range(253), 255)),
    (13, 1, "Protocol Type", _BOTH, 2, 2, 2, "", (2,)),
    (20, 4, "Homing Offset", _BOTH, 0, -1_044_479, 1_044_479, _PULSE, ()),
    (24, 4, "Moving Threshold", _BOTH, 10, 0, 1023, _SPEED, ()),
    (31, 1, "Temperature Limit", _BOTH, "temperature_limit", 0, 100, "C", ()),
    (32, 2, "Max Voltage Limit", _BOTH, "max_voltage", "lowest_voltage", "max_voltage", _VOLT, ()),
    (34, 2, "Min Voltage Limit", _BOTH, "min_voltage", "lowest_voltage", "max_voltage", _VOLT, ()),
    (36, 2, "PWM Limit", _BOTH, 885, 0, 885, "0.113 %", ()),
    (38, 2, "Current Limit", _BOTH, "current_limit", 0, "current_limit", "current", ()),
    (44, 4, "Velocity Limit", _BOTH, "velocity_limit", 0, "max_velocity_limit", _SPEED, ()),
    (48, 4, "Max Position Limit", _BOTH, 4095, 0, 4095, _PULSE, ()),
    (52, 4, "Min Position Limit", _BOTH, 0, 0, 4095, _PULSE, ()),
    (60, 1, "Startup Configuration", _BOTH, 0, 0, 3, "", ()),
    (62, 1, "PWM Slope", _BOTH, "pwm_slope", 1, 255, "1.977 mV/ms", ()),
    (63, 1, "Shutdown", _BOTH, "shutdown", 0, 255, "", ()),
    (64, 1, "Torque Enable", _BOTH, 0, 0, 1, "", ()),
    (65, 1, "LED", _BOTH, 0, 0, 1, "", ()),
    (68, 1, "Status Return Level", _BOTH, 2, 0, 2, "", ()),
    (69, 1, "Registered Instruction", _READ, 0, 0, 1, "", ()),
    (70, 1, "Hardware Error Status", _READ, 0, 0, 255, "", ()),
    (76, 2, "Velocity I Gain", _BOTH, "velocity_i_gain", 0, 16383, "", ()),
    (78, 2, "Velocity P Gain", _BOTH, "velocity_p_gain", 0, 16383, "", ()),
    (80, 2, "Position D Gain", _BOTH, 0, 0, 16383, "", ()),
    (82, 2, "Position I Gain", _BOTH, 0, 0, 16383, "", ()),
    (84, 2, "Position P Gain", _BOTH, "position_p_gain", 0, 16383, "", ()),
    (88, 2, "Feedforward 2nd Gain", _BOTH, 0, 0, 16383, "", ()),
    (90, 2, "Feedforward 1st Gain", _BOTH, 0, 0, 16383, "", ()),
    # The valid goals depend on the limits above: `pliant.dynamixel.servo`.
    # -1 is its value after the watchdog has stopped the servo; clients write 0 to 127.
    (98, 1, "Bus Watchdog", _BOTH, 0, -1, 127, "20 ms", tuple(range(128))),
    (100, 2, "Goal PWM", _BOTH, 0, -32768, 32767, "0.113 %", ()),
    (102, 2, "Goal Current", _BOTH, 0, -32768, 32767, "current", ()),
    (104, 4, "Goal Velocity", _BOTH, 0, -_INT32, _INT32, _SPEED, ()),
    (108, 4, "Profile Acceleration", _BOTH, 0, 0, 32767, _ACCELERATION, ()),
    (112, 4, "Profile Velocity", _BOTH, 0, 0, 32767, _SPEED, ()),
    (116, 4, "Goal Position", _BOTH, 0, -_INT32, _INT32, _PULSE, ()),
    (120, 2, "Realtime Tick", _READ, 0, 0, 32767, "ms", ()),
    (122, 1, "Moving", _READ, 0, 0, 1, "", ()),
    (123, 1, "Moving Status", _READ, 0, 0, 255, "", ()),
    (124, 2, "Present PWM", _READ, 0, -885, 885, "0.113 %", ()),
    (126, 2, "Present Current", _READ, 0, -32768, 32767, "current", ()),
    (128, 4, "Present Velocity", _READ, 0, -_INT32, _INT32, _SPEED, ()),
    (132, 4, "Present Position", _READ, 0, -_INT32, _INT32, _PULSE, ()),
    (136, 4, "Velocity Trajectory", _READ, 0, -_INT32, _INT32, _SPEED, ()),
    (140, 4, "Position Trajectory", _READ, 0, -_INT32, _INT32, _PULSE, ()),
    (144, 2, "Present Input Voltage", _READ, 0, 0, 65535, _VOLT, ()),
    (146, 1, "Present Temperature", _READ, 0, 0, 255, "C", ()),
    (147, 1, "Backup Ready", _READ, 0, 0, 1, "", ()),
)


@functools.cache
def control_table(model: ServoModel) -> Table:
    """Return the control table of a servo."""

    def number(value: _Number) -> int:
        return getattr(model, value) if isinstance(value, str) else value

    items = []
    for address, size, name, writable, initial, low, high, unit, choices in _ROWS:
        if initial == "pwm_slope" and model.pwm_slope is None:
            continue
        unit = f"{model.current_unit * 1e3:g} mA" if unit == "current" else unit
        items.append(
            Item(
                address=address,
                size=size,
                name=name,
                writable=writable,
                initial=number(initial),
                low=number(low),
                high=number(high),
                unit=unit,
                choices=choices,
            )
        )
    k, end = 1, max(data + count for _, data, count in model.indirect)
    for first, data, count in model.indirect:
        for i in range(count):
            common = {"writable": True, "unit": ""}
            name = f"Indirect Address {k + i}"
            items.append(
                Item(address=first + 2 * i, size=2, name=name, initial=data + i, low=64, high=end - 1, **common)
            )
            name = f"Indirect Data {k + i}"
            items.append(Item(address=data + i, size=1, name=name, initial=0, low=0, high=255, **common))
        k += count
    items.sort(key=lambda item: item.address)
    owners: list[Item | None] = [None] * end
    for item in items:
        owners[item.address : item.address + item.size] = [item] * item.size
    return Table(MappingProxyType({item.name: item for item in items}), tuple(owners))
