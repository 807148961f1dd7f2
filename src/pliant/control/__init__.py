"""Controllers that a user would run on a robot: trajectories, inverse kinematics, spring compensation, learning,
visual servoing, sensing by a sole.

Names resolve on first use: what needs one controller does not import the others.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pliant.control.cartesian import CartesianComputedTorque
    from pliant.control.clik import (
        ClosedLoopInverseKinematics,
        InverseKinematicsSolution,
        damped_pseudo_inverse,
        pose_error,
    )
    from pliant.control.computed_torque import ComputedTorque, ElasticFeedforward, ServoFeedforward
    from pliant.control.gravity import (
        GravityCompensation,
        equilibrium_for_torque,
        preset_for_stiffness,
        qbmove_deflection,
        torque_range,
    )
    from pliant.control.ilc import IterationRecord, IterativeLearning, LearningResult, low_pass, model_gains
    from pliant.control.trajectory import Chirp, Hold, MinimumJerk, Motion, Sinusoid, Step, Trajectory

__all__ = [
    "CartesianComputedTorque",
    "Chirp",
    "ClosedLoopInverseKinematics",
    "ComputedTorque",
    "ElasticFeedforward",
    "GravityCompensation",
    "Hold",
    "InverseKinematicsSolution",
    "IterationRecord",
    "IterativeLearning",
    "LearningResult",
    "MinimumJerk",
    "Motion",
    "ServoFeedforward",
    "Sinusoid",
    "Step",
    "Trajectory",
    "damped_pseudo_inverse",
    "equilibrium_for_torque",
    "low_pass",
    "model_gains",
    "pose_error",
    "preset_for_stiffness",
    "qbmove_deflection",
    "torque_range",
]

_EXPORTS: dict[str, str] = {
    "CartesianComputedTorque": "pliant.control.cartesian",
    "Chirp": "pliant.control.trajectory",
    "ClosedLoopInverseKinematics": "pliant.control.clik",
    "ComputedTorque": "pliant.control.computed_torque",
    "ElasticFeedforward": "pliant.control.computed_torque",
    "GravityCompensation": "pliant.control.gravity",
    "Hold": "pliant.control.trajectory",
    "InverseKinematicsSolution": "pliant.control.clik",
    "IterationRecord": "pliant.control.ilc",
    "IterativeLearning": "pliant.control.ilc",
    "LearningResult": "pliant.control.ilc",
    "MinimumJerk": "pliant.control.trajectory",
    "Motion": "pliant.control.trajectory",
    "ServoFeedforward": "pliant.control.computed_torque",
    "Sinusoid": "pliant.control.trajectory",
    "Step": "pliant.control.trajectory",
    "Trajectory": "pliant.control.trajectory",
    "damped_pseudo_inverse": "pliant.control.clik",
    "equilibrium_for_torque": "pliant.control.gravity",
    "low_pass": "pliant.control.ilc",
    "model_gains": "pliant.control.ilc",
    "pose_error": "pliant.control.clik",
    "preset_for_stiffness": "pliant.control.gravity",
    "qbmove_deflection": "pliant.control.gravity",
    "torque_range": "pliant.control.gravity",
}


def __getattr__(name: str) -> Any:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module 'pliant.control' has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_EXPORTS])
