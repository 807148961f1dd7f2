"""Gymnasium environments of robots: many worlds at once, or one with all its devices.

To import this package registers the tasks in Gymnasium, where it is installed. Names resolve on first use, so that this
does not load the physics.
"""

from __future__ import annotations

import importlib
from typing import Any

from pliant.learn.envs.registration import register

_EXPORTS: dict[str, str] = {
    "Action": "pliant.learn.envs.task",
    "Task": "pliant.learn.envs.task",
    "World": "pliant.learn.envs.task",
    "BatchEnv": "pliant.learn.envs.vector",
    "RobotEnv": "pliant.learn.envs.single",
    "make_env": "pliant.learn.envs.make",
    "make_vec": "pliant.learn.envs.make",
}

__all__ = [*_EXPORTS, "register"]


def __getattr__(name: str) -> Any:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module 'pliant.learn.envs' has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_EXPORTS])
