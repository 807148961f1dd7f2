"""Parameters of an actuator by path, with units, and scaled for a fit: positive parameters are logarithmic."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import LawError, nearest
from pliant.base.numerics import Array
from pliant.base.options import check_values, describe, option
from pliant.identification.parameter_paths import SENSOR_PARAMETERS, target_paths
from pliant.laws.actuator import CompliantActuator
from pliant.laws.base import Law
from pliant.laws.friction import PreslidingFriction
from pliant.laws.modes import Mode
from pliant.laws.motor import Cogging, DCMotor, Electrical, LeverDrive, Thermal
from pliant.laws.pid import PID
from pliant.laws.spring import Creep, Hysteresis, Strength
from pliant.laws.transmission import Backlash, Gear, Tendon

TYPICAL: dict[str, float] = {
    "gravity": 0.5,
    "angle": 0.1,
    "load_coefficient": 0.1,
    "preset_coefficient": 0.1,
    "command_delay": 0.01,
    "link_damping": 0.05,
    "link_preset_damping": 0.05,
    "preset_damping": 0.05,
    "ki": 1.0,
    "torque": 0.02,
}
"""Scale of parameters that may be 0 or negative and therefore have no logarithm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Load of the link: a rigid body on the axis of the joint, under gravity, with damping of its own.

        inertia q'' = torque + external_torque - gravity sin(q - angle) - damping q'

    The angle is that of the link at which the body hangs; ``gravity`` is mass times lever times 9.81 m/s^2. A payload
    is the difference of two loads. Stated for a joint whose base does not move.
    """

    inertia: float = option(0.01, unit="kg m^2", low=0.0, above=True, source="assumed")
    """Inertia about the axis of the joint."""
    gravity: float = option(0.0, unit="N m", low=0.0)
    """Largest torque of gravity."""
    angle: float = option(0.0, unit="rad")
    """Link position at which the load hangs."""
    damping: float = option(0.0, unit="N m s/rad", low=0.0)
    """Viscous damping of the bearing of the link."""

    def __post_init__(self) -> None:
        check_values(self, LawError)


STARTS = "{}_position_start[{}]"
"""Position of a motor or a free link at the first sample of a log minus the measured one [rad]: its noise is no part
of the motion. It is fitted beside the free parameters and not reported."""
LOST = "lost_reference_{}[{}][{}]"
"""Reference 1 or 2 of a log in a missing row minus its interpolation [rad], where this one is uncertain. It is fitted
beside the free parameters and not reported."""
LIMIT = "reference_{}_{}_limit[0]"
"""Limit, one of `ENDS`, at which a drive cuts a reference off, minus the end of the measured motion [rad]. It is fitted
beside the free parameters; the bracket marks it as signed, as in the names above."""
ENDS = ("lower", "upper")


def is_signed(name: str) -> bool:
    """Return whether a parameter may have either sign."""
    return name in SENSOR_PARAMETERS or name.endswith("]") or name == "load.angle"


_SCALE = {"offset": 0.01, "gain": 1.0, "delay": 0.01}

_BLOCKS = {
    "motor": DCMotor,
    "motor_1": DCMotor,
    "motor_2": DCMotor,
    "pid": PID,
    "pid_1": PID,
    "pid_2": PID,
    "friction": PreslidingFriction,
    "link_friction": PreslidingFriction,
    "electrical": Electrical,
    "cogging": Cogging,
    "thermal": Thermal,
    "gear": Gear,
    "backlash": Backlash,
    "link_backlash": Backlash,
    "tendon": Tendon,
    "hysteresis": Hysteresis,
    "creep": Creep,
    "strength": Strength,
}


def parameter_unit(law: Law, path: str) -> str:
    """Return the unit of a parameter such as "law.k1" or "motor_1.friction.torque"; "" if it has none."""
    *blocks, last = path.split(".")
    kind: type = CompliantActuator
    if blocks == ["load"]:
        kind = Load
    elif blocks:
        kind = type(law) if blocks[-1] == "law" else _BLOCKS.get(blocks[-1], CompliantActuator)
        if blocks[-1] == "motor_2" and law.second_input == "lever":
            kind = LeverDrive
        if blocks[-1] in ("motor", "motor_1", "motor_2") and law.second_input == "pressure":
            kind = type(CompliantActuator(law).motor_1)
    units = {info.name: info.unit for info in describe(kind)}
    return SENSOR_PARAMETERS[path][0] if path in SENSOR_PARAMETERS else units.get(last, "")


def get_value(actuator: CompliantActuator, path: str) -> float:
    """Return the value at a path.

    Raises:
        LawError: the parameter does not exist, or is not a number.
    """
    value: Any = actuator
    parts = target_paths(path)[0].split(".")
    for i, part in enumerate(parts):
        names = [f.name for f in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
        if part not in names:
            where = ".".join(parts[:i]) or "the actuator"
            if value is None:
                raise LawError(f"{path}: {where} is None; give it a block to start from", field=path)
            known = [*names, "motor", "pid"] if i == 0 else names
            raise LawError(f"{path}: {where} has no parameter {part!r}; {nearest(part, known)}", field=path)
        value = getattr(value, part)
    if isinstance(value, bool | Mode) or not isinstance(value, int | float):
        raise LawError(f"{path} is {value!r}; must be the path of a number, such as 'law.k1'", field=path)
    return float(value)


def _put(block: Any, tree: Mapping[str, Any]) -> Any:
    """Return a copy of nested dataclasses with values changed."""
    changes = {k: _put(getattr(block, k), v) if isinstance(v, dict) else v for k, v in tree.items()}
    return dataclasses.replace(block, **changes)


BRISTLE = {"stribeck_velocity": 0.1, "breakaway": 0.02, "bristle_damping": 0.1}
"""Start values of LuGre's bristle where one of its parameters is free and the actuator has none: assumed."""


def with_blocks(actuator: CompliantActuator, free: Sequence[str] | Mapping[str, float]) -> CompliantActuator:
    """Return an actuator with every block of which a parameter is free: one that it lacks begins at its default.

    Drives of levers are left as they are: the defaults are those of rotary motors.

    Args:
        actuator: actuator with the start values.
        free: paths of the free parameters.
    """
    for path in (target for name in free for target in target_paths(name)):
        *outer, last = path.split(".")
        lever = outer[:1] == ["motor_2"] and actuator.law.second_input == "lever"
        if not outer or lever or (outer[0] in ("motor_2", "pid_2") and getattr(actuator, outer[0]) is None):
            continue
        held, block = actuator, actuator
        for name in outer:
            held, block = block, getattr(block, name, None)
        name = outer[-1]
        if block is None and hasattr(held, name) and name in _BLOCKS:
            block = _BLOCKS[name]()
            actuator = _put(actuator, _nested(outer, block))
        if isinstance(block, PreslidingFriction) and last in BRISTLE and block.stribeck_velocity == 0.0:
            values = {"torque": block.torque or TYPICAL["torque"], "stribeck_velocity": BRISTLE["stribeck_velocity"]}
            actuator = _put(actuator, _nested(outer, dataclasses.replace(block, **{**values, last: BRISTLE[last]})))
    return actuator


def _nested(parts: Sequence[str], value: Any) -> dict[str, Any]:
    """Return the tree of changes with a value at a path."""
    head, *rest = parts
    return {head: _nested(rest, value) if rest else value}


def with_values(actuator: CompliantActuator, values: Mapping[str, float]) -> CompliantActuator:
    """Return a copy of an actuator with new values at some paths.

    Parameters of the sensors, of the load and of a missing motor 2 are ignored.
    """
    tree: dict[str, Any] = {}
    for path, value in values.items():
        if is_signed(path) or path.startswith("load."):
            continue
        for target in target_paths(path):
            *parts, last = target.split(".")
            if parts and parts[0] in ("motor_2", "pid_2") and getattr(actuator, parts[0]) is None:
                continue
            node = tree
            for part in parts:
                node = node.setdefault(part, {})
            node[last] = float(value)
    return _put(actuator, tree) if tree else actuator


@dataclass(frozen=True, slots=True)
class ScaledParameters:
    """Free parameters, scaled for the search: log(p / start) for positive parameters, p / typical for all others."""

    names: tuple[str, ...]
    """Path of each free parameter."""
    start: Array
    """Start value of each parameter, in its unit."""
    typical: Array
    """Scale of each parameter, in its unit: the start value, or a typical value if it may be 0 or negative."""
    logarithmic: NDArray[np.bool_]
    """Whether each parameter has a logarithmic scale."""
    ties: Mapping[str, str]
    """Path of a tied parameter -> path of the free parameter that it follows."""

    def values(self, x: Array) -> dict[str, float]:
        """Return the values by path at a point of the search, including tied parameters."""
        with np.errstate(over="ignore"):
            p = np.where(self.logarithmic, self.typical * np.exp(np.clip(x, -60.0, 60.0)), self.typical * x)
        out = {name: float(v) for name, v in zip(self.names, p, strict=True)}
        for name, master in self.ties.items():
            out[name] = out[master]
        return out

    def with_starts(self, names: Sequence[str]) -> ScaledParameters:
        """Return the parameters with some of `STARTS`, `LOST` and `LIMIT` behind them, from 0."""
        count = len(names)
        return ScaledParameters(
            (*self.names, *names),
            np.r_[self.start, np.zeros(count)],
            np.r_[self.typical, np.full(count, 1e-3)],
            np.r_[self.logarithmic, np.zeros(count, dtype=bool)],
            self.ties,
        )

    def x(self, p: Array) -> Array:
        """Return the point of the search for the values ``p`` of the free parameters; the inverse of `values`."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.logarithmic, np.log(p / self.typical), p / self.typical)

    def slope(self, x: Array) -> Array:
        """Return dp/dx."""
        return np.where(self.logarithmic, self.typical * np.exp(x), self.typical)

    def bounds(self) -> tuple[Array, Array]:
        """Return the lower and the upper bounds of the search."""
        signed = np.array([is_signed(name) for name in self.names])
        low = np.where(self.logarithmic, -14.0, np.where(signed, -1e6, 0.0))
        return low, np.where(self.logarithmic, 14.0, 1e6)


def scale_parameters(
    actuator: CompliantActuator,
    free: Sequence[str] | Mapping[str, float],
    ties: Mapping[str, str],
    load: Load | None = None,
) -> ScaledParameters:
    """Return the free parameters of an actuator, scaled for the search.

    Args:
        actuator: actuator with the start values.
        free: paths of the free parameters; a mapping gives start values.
        ties: path of a tied parameter -> path of the free parameter that it follows.
        load: load with the start values of its parameters; None if the link does not move freely.

    Raises:
        LawError: there is no path, a path is unknown, or its value is not a finite number.
    """
    if not free:
        raise LawError("no parameter is free; name paths such as 'law.k1', 'link_friction.torque'", field="free")
    names = tuple(free)
    starts, typical, logarithmic = [], [], []
    for name in names:
        last = name.rsplit(".", 1)[-1]
        given = free[name] if isinstance(free, Mapping) else None
        _, kind = SENSOR_PARAMETERS.get(name, ("", None))
        own = float(kind == "gain") if kind else _value(actuator, load, name)
        value = own if given is None else float(given)
        if not math.isfinite(value):
            raise LawError(f"{name} starts at {value}; must be a finite number", field=name)
        log = value > 0.0 and not is_signed(name) and last != "command_delay"
        starts.append(value)
        logarithmic.append(log)
        scale = _SCALE[kind] if kind else TYPICAL.get(last, abs(value) or 1.0)
        typical.append(value if log else scale)
    for name, master in ties.items():
        get_value(actuator, name)
        if master not in names:
            raise LawError(f"ties: {name} follows {master!r}, which is not free; {nearest(master, names)}", field=name)
    return ScaledParameters(names, np.array(starts), np.array(typical), np.array(logarithmic), ties)


def load_with(load: Load, values: Mapping[str, float | str]) -> Load:
    """Return a load with new values at some paths, such as "load.inertia"."""
    return dataclasses.replace(load, **{n[5:]: float(v) for n, v in values.items() if n.startswith("load.")})


def _value(actuator: CompliantActuator, load: Load | None, path: str) -> float:
    """Return the start value of a parameter of an actuator or of its load."""
    if not path.startswith("load."):
        return get_value(actuator, path)
    if load is None:
        raise LawError(f"{path}: the link is not simulated; compare it, outputs=('link_position', ...)", field=path)
    names = [f.name for f in dataclasses.fields(Load)]
    if path[5:] not in names:
        raise LawError(f"{path}: a load has no parameter {path[5:]!r}; {nearest(path[5:], names)}", field=path)
    return float(getattr(load, path[5:]))
