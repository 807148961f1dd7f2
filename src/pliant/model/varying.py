"""Models whose constants a device changes while they run; what has the compiled model alone refuses them."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Protocol

import mujoco

from pliant.base.errors import ModelError
from pliant.model.interface import DescribedDevice, ModelPart

__all__ = ["mark_varying", "refuse_varying", "variation_of"]


class _Described(Protocol):
    @property
    def devices(self) -> Sequence[DescribedDevice]: ...


_MARKED: weakref.WeakKeyDictionary[mujoco.MjModel, str] = weakref.WeakKeyDictionary()


def variation_of(robot: _Described | mujoco.MjModel) -> str:
    """Return what changes in a model while it runs, one clause for each part; "" where nothing does.

    Args:
        robot: a robot, or a model that `Robot.compile` returned.
    """
    if isinstance(robot, mujoco.MjModel):
        return _MARKED.get(robot, "")
    return "; ".join(part.variation for part in robot.devices if isinstance(part, ModelPart) and part.variation)


def mark_varying(robot: _Described, model: mujoco.MjModel) -> None:
    """Remember of a compiled model what changes in it while it runs."""
    found = variation_of(robot)
    if found:
        _MARKED[model] = found


def refuse_varying(robot: _Described | mujoco.MjModel, user: str) -> None:
    """Refuse a robot whose compiled model changes while it runs.

    Args:
        robot: a robot, or a model that `Robot.compile` returned.
        user: what cannot carry it, such as "a batch".

    Raises:
        ModelError: the model changes; the message says what changes and what to use instead.
    """
    found = variation_of(robot)
    if found:
        raise ModelError(
            f"{user} keeps the constants of the model, but here {found}, which a device computes between two steps; "
            "use a Simulation with the robot's devices (pliant run, RobotEnv) instead",
            field="robot",
        )
