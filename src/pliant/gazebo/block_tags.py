"""Tags of the blocks of an actuator in the toolbox's plugin elements, derived from the fields of the blocks.

The tag of a block's field is the prefix of the motor (``mot_``, ``mot_1_``, ``mot_2_``; none for a block of the whole
actuator), the block and the field, joined by underscores: ``mot_1_gear_stiffness``, ``hysteresis_torque``,
``link_friction_torque``. Numbers of the actuator and of its motors beyond the toolbox's tags have their own name:
``link_damping``, ``reference_slew_1``, ``mot_1_preset_damping``.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Collection, Sequence

from pliant.laws import CompliantActuator, DCMotor

_APART = ("law", "mode", "motor_1", "motor_2", "pid_1", "pid_2")


@functools.cache
def _fields(cls: type, path: str) -> dict[str, str]:
    """Return the numbers of a dataclass and of the blocks in it: tag -> path."""
    found: dict[str, str] = {}
    hints = typing.get_type_hints(cls)
    for item in dataclasses.fields(cls):
        if item.name in _APART:
            continue
        hint = hints[item.name]
        members: tuple[object, ...] = typing.get_args(hint) or (hint,)
        kind = next(m for m in members if m is not types.NoneType)
        inner = f"{path}.{item.name}" if path else item.name
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            found |= {f"{item.name}_{tag}": name for tag, name in _fields(kind, inner).items()}
        elif kind is float:
            found[item.name] = inner
    return found


def block_tags(motors: Sequence[str], taken: Collection[str]) -> dict[str, str]:
    """Return the path of a parameter of an actuator by its tag, such as ``motor_1.gear.stiffness``.

    Args:
        motors: prefix of the motor tags, one entry a motor.
        taken: paths that have another tag.
    """
    found = dict(_fields(CompliantActuator, ""))
    for k, prefix in enumerate(motors):
        found |= {prefix + tag: path for tag, path in _fields(DCMotor, f"motor_{k + 1}").items()}
    return {tag: path for tag, path in found.items() if path not in taken}
