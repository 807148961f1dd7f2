"""Gymnasium environments of robots: many worlds at once, or one with all its devices.

Names resolve on first use, so that Gymnasium can read the list of environments without loading the physics.
"""

from __future__ import annotations

import importlib
from typing import Any

_EXPORTS: dict[str, str] = {
    "Action": "pliant.envs.task",
    "Task": "pliant.envs.task",
    "World": "pliant.envs.task",
    "BatchEnv": "pliant.envs.vector",
    "RobotEnv": "pliant.envs.single",
    "make_env": "pliant.envs.make",
    "make_vec": "pliant.envs.make",
    "register": "pliant.envs.registration",
}

__all__ = [*_EXPORTS]


def __getattr__(name: str) -> Any:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module 'pliant.envs' has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_EXPORTS])
