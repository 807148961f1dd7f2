"""Errors that tell what to pass where a robot or an engine is expected."""

from __future__ import annotations

from pathlib import Path

import mujoco

from pliant.base.errors import DeviceError, ModelError


def check_robot(given: object, asker: str, *, compiled: bool = True) -> None:
    """Refuse what is no robot, and say how to make one of it.

    Args:
        given: what was passed.
        asker: the class or function that expects a robot.
        compiled: whether a compiled model is accepted too.

    Raises:
        ModelError: it is neither a robot nor, where accepted, a compiled model.
    """
    if compiled and isinstance(given, mujoco.MjModel):
        return
    if not isinstance(given, type) and all(hasattr(given, name) for name in ("spec", "actuators", "devices")):
        return
    must = "a Robot or a compiled mujoco.MjModel" if compiled else "a Robot"
    if isinstance(given, str | Path):
        hint = f"pass {asker}(pliant.load({str(given)!r}), ...)"
    elif isinstance(given, mujoco.MjSpec):
        hint = f"pass {asker}(pliant.Robot(spec), ...)"
    elif isinstance(given, mujoco.MjModel):
        hint = "pliant.Robot needs the description (mujoco.MjSpec) that the model was compiled from"
    else:
        hint = "pliant.load(file or name) returns a Robot"
    raise ModelError(f"{asker} got {_described(given)}; must be {must}: {hint}", field="robot")


def check_described(given: object, wanted: type, asker: str) -> None:
    """Refuse a description of a device that is of another type.

    Args:
        given: what was passed.
        wanted: type of the description.
        asker: the class of the device.

    Raises:
        DeviceError: it is of another type.
    """
    if not isinstance(given, wanted):
        raise DeviceError(
            f"{asker} got {_described(given)}; must be a {wanted.__name__}: Robot.devices has those of a robot, and "
            "make_devices(robot) of pliant.devices makes a device of each",
            field="description",
        )


def check_source(given: object, asker: str) -> None:
    """Refuse what a bridge can serve nothing of: it takes a robot, what is replayed, or None.

    Args:
        given: what was passed.
        asker: the class or function that expects it.

    Raises:
        ModelError: it is something else.
    """
    if given is None or (hasattr(given, "interface") and not isinstance(given, type)):
        return
    check_robot(given, asker, compiled=False)


def _described(given: object) -> str:
    if isinstance(given, str | int | float | Path | type) or given is None:
        return repr(given)
    return f"an object of type {type(given).__name__}"
