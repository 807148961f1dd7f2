"""Numbers of an actuator that no robot has: values in another unit, most of the time."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

from pliant.base.options import OptionInfo, describe
from pliant.laws import CompliantActuator, Law
from pliant.model.problem import Problems

TURN = 2.0 * math.pi
UNLIMITED = 1.0e3
"""Deflections beyond this say that a spring has no limit [rad]."""
LARGEST = {
    "rad": TURN, "rad/s": 1e4, "N m": 1e5, "N": 1e7, "N m/rad": 1e8, "N m s/rad": 1e5, "N m s/rad^2": 1e5,
    "N s/m": 1e7, "N m/(rad s)": 1e8, "kg m^2": 1e4, "kg": 1e5, "m": 5.0, "m/s": 100.0, "m^3": 0.1, "s": 1e7,
    "A": 1e4, "A/s": 1e9, "V": 1e4, "ohm": 1e5, "H": 10.0, "N m/A": 1e4, "V s/rad": 1e4, "K/W": 1e4, "J/K": 1e6,
}  # fmt: skip
"""Unit -> largest number with it in any joint from a finger to an excavator: assumed, with a margin of ten."""
SMALLEST = {"kg m^2": 1e-10, "kg": 1e-6, "ohm": 1e-5, "J/K": 1e-4, "K/W": 1e-4}
"""Unit -> smallest number other than 0: assumed."""
OTHERS = {
    "load_coefficient": (1.0, "friction above the load holds whatever the load"),
    "periods": (1e6, "periods per radian or metre are below this"),
    "torque_scale": (1e3, "it is a factor on the table"),
}
"""Field without unit -> its largest plausible value and why."""
FREE = frozenset(["phase", "min_position", "max_position", "initial_preset", "stop_stiffness"])
"""Fields of any size: angles of many turns, units that depend on the law, stops as hard as one likes."""


def check_plausible(joint: str, actuator: CompliantActuator, problems: Problems) -> None:
    """Warn of numbers of an actuator that are far from what joints have."""
    for path, info, value in _numbers(actuator, ""):
        said = _implausible(info, value)
        if said:
            problems.warning(joint, f"{path} is {value:g}{' ' if info.unit else ''}{info.unit}, {said}")


def _numbers(part: object, prefix: str) -> Iterator[tuple[str, OptionInfo, float]]:
    """Yield path, declaration and value of each finite number of a block and its parts, but factors of laws."""
    for info in describe(type(part)):
        value = getattr(part, info.name)
        of_law = isinstance(part, Law) and info.unit not in ("rad", "m") and info.name not in OTHERS
        if isinstance(value, float) and math.isfinite(value) and info.name not in FREE and not of_law:
            yield f"{prefix}{info.name}", info, value
    for field in dataclasses.fields(part):  # type: ignore[arg-type]
        value = getattr(part, field.name)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            yield from _numbers(value, prefix if field.name == "law" else f"{prefix}{field.name}.")


def _implausible(info: OptionInfo, value: float) -> str:
    """Return what is odd about a number; "" for nothing."""
    if info.name in OTHERS:
        largest, why = OTHERS[info.name]
        return f"above {largest:g}: {why}" if value > largest else ""
    if info.unit == "rad" and value > TURN:
        without_limit = info.name == "max_deflection" and value > UNLIMITED
        return "" if without_limit else "more than a turn; is it in degrees?"
    largest, smallest = LARGEST.get(info.unit, math.inf), SMALLEST.get(info.unit, 0.0)
    if value > largest:
        return f"above {largest:g}, the largest of any joint; is it in another unit?"
    if 0.0 < value < smallest:
        return f"below {smallest:g}, the smallest of any joint; is it in another unit?"
    return ""
