"""pliant: a simulator, on MuJoCo, for robots that bend."""

from __future__ import annotations

import logging

from pliant.base.lazy import lazy_names
from pliant.base.warn import PrintUnhandled

__version__ = "0.3.0"

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
}

__all__ = ["__version__", *_EXPORTS]


logging.getLogger(__name__).addHandler(PrintUnhandled())
__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
