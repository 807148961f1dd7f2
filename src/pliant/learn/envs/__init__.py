"""Gymnasium environments of robots: many worlds at once, or one with all its devices.

To import this package registers the tasks in Gymnasium, where it is installed. Names resolve on first use, so that this
does not load the physics.
"""

from __future__ import annotations

from pliant.base.lazy import lazy_names
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


__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
