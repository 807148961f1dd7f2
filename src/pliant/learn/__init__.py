"""Learning: batches in MuJoCo Warp, Gymnasium environments, policies on robots."""

import importlib
import sys

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "Action": "pliant.learn.envs.task",
    "BatchEnv": "pliant.learn.envs.vector",
    "Policy": "pliant.learn.policy",
    "PolicyError": "pliant.learn.policy",
    "RobotEnv": "pliant.learn.envs.single",
    "Task": "pliant.learn.envs.task",
    "WarpBatch": "pliant.learn.warp",
    "World": "pliant.learn.envs.task",
    "make_env": "pliant.learn.envs.make",
    "make_vec": "pliant.learn.envs.make",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)

if "gymnasium" in sys.modules:  # `gymnasium.make("pliant.learn:pliant/Touch-v0")` imports this package for the names
    importlib.import_module("pliant.learn.envs")
