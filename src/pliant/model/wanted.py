"""What to pass where a robot or an engine is expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco

from pliant.base.errors import ModelError

__all__ = ["check_robot"]


def check_robot(given: Any, asker: str, *, compiled: bool = True) -> None:
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
    from pliant.model.robot import Robot

    if isinstance(given, Robot):
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


def _described(given: Any) -> str:
    if isinstance(given, str | int | float | Path) or given is None:
        return repr(given)
    return f"an object of type {type(given).__name__}"
