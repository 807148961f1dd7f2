"""pliant: a simulator, on MuJoCo, for robots that bend."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# Public name -> the module that defines it. Resolved on first use, so that `import pliant` stays light.
_EXPORTS: dict[str, str] = {
    "PliantError": "pliant.base.errors",
    "SEA": "pliant.laws",
    "QbMove": "pliant.laws",
    "BAVS": "pliant.laws",
    "AwAS2": "pliant.laws",
    "CompliantActuator": "pliant.laws",
    "DCMotor": "pliant.laws",
    "LeverDrive": "pliant.laws",
    "PID": "pliant.laws",
    "PreslidingFriction": "pliant.laws",
    "Mode": "pliant.laws",
    "law": "pliant.laws",
    "load": "pliant.robots.loading",
    "Robot": "pliant.model",
    "Simulation": "pliant.simulation",
    "CpuBatch": "pliant.engine.worlds",
    "WarpBatch": "pliant.learn.warp",
    "randomize_around": "pliant.engine.identified",
}

__all__ = ["__version__", *_EXPORTS]


def __getattr__(name: str) -> Any:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module 'pliant' has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_EXPORTS])
