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
    from pliant.control.policy import Policy, PolicyError
    from pliant.control.trajectory import Chirp, Hold, MinimumJerk, Motion, Sinusoid, Step, Trajectory
    from pliant.control.vision_force import FeatureAdmittance, HybridPoseServo, ToolLoad, feature_force
    from pliant.control.visual_servoing import (
        AdaptiveGain,
        JointLimitAvoidance,
        ServoMonitor,
        ServoStatus,
        ServoStep,
        VisualServo,
        hybrid_velocity,
        ibvs_velocity,
        joint_velocity,
        pbvs_velocity,
        servo_torque,
    )

__all__ = [
    "AdaptiveGain",
    "CartesianComputedTorque",
    "Chirp",
    "ClosedLoopInverseKinematics",
    "ComputedTorque",
    "ElasticFeedforward",
    "FeatureAdmittance",
    "GravityCompensation",
    "Hold",
    "HybridPoseServo",
    "InverseKinematicsSolution",
    "IterationRecord",
    "IterativeLearning",
    "JointLimitAvoidance",
    "LearningResult",
    "MinimumJerk",
    "Motion",
    "Policy",
    "PolicyError",
    "ServoFeedforward",
    "ServoMonitor",
    "ServoStatus",
    "ServoStep",
    "Sinusoid",
    "Step",
    "ToolLoad",
    "Trajectory",
    "VisualServo",
    "damped_pseudo_inverse",
    "equilibrium_for_torque",
    "feature_force",
    "hybrid_velocity",
    "ibvs_velocity",
    "joint_velocity",
    "low_pass",
    "model_gains",
    "pbvs_velocity",
    "pose_error",
    "preset_for_stiffness",
    "qbmove_deflection",
    "servo_torque",
    "torque_range",
]

_EXPORTS: dict[str, str] = {
    "AdaptiveGain": "pliant.control.visual_servoing",
    "CartesianComputedTorque": "pliant.control.cartesian",
    "Chirp": "pliant.control.trajectory",
    "ClosedLoopInverseKinematics": "pliant.control.clik",
    "ComputedTorque": "pliant.control.computed_torque",
    "ElasticFeedforward": "pliant.control.computed_torque",
    "FeatureAdmittance": "pliant.control.vision_force",
    "GravityCompensation": "pliant.control.gravity",
    "Hold": "pliant.control.trajectory",
    "HybridPoseServo": "pliant.control.vision_force",
    "InverseKinematicsSolution": "pliant.control.clik",
    "IterationRecord": "pliant.control.ilc",
    "IterativeLearning": "pliant.control.ilc",
    "JointLimitAvoidance": "pliant.control.visual_servoing",
    "LearningResult": "pliant.control.ilc",
    "MinimumJerk": "pliant.control.trajectory",
    "Motion": "pliant.control.trajectory",
    "Policy": "pliant.control.policy",
    "PolicyError": "pliant.control.policy",
    "ServoFeedforward": "pliant.control.computed_torque",
    "ServoMonitor": "pliant.control.visual_servoing",
    "ServoStatus": "pliant.control.visual_servoing",
    "ServoStep": "pliant.control.visual_servoing",
    "Sinusoid": "pliant.control.trajectory",
    "Step": "pliant.control.trajectory",
    "ToolLoad": "pliant.control.vision_force",
    "Trajectory": "pliant.control.trajectory",
    "VisualServo": "pliant.control.visual_servoing",
    "damped_pseudo_inverse": "pliant.control.clik",
    "equilibrium_for_torque": "pliant.control.gravity",
    "feature_force": "pliant.control.vision_force",
    "hybrid_velocity": "pliant.control.visual_servoing",
    "ibvs_velocity": "pliant.control.visual_servoing",
    "joint_velocity": "pliant.control.visual_servoing",
    "low_pass": "pliant.control.ilc",
    "model_gains": "pliant.control.ilc",
    "pbvs_velocity": "pliant.control.visual_servoing",
    "pose_error": "pliant.control.clik",
    "preset_for_stiffness": "pliant.control.gravity",
    "qbmove_deflection": "pliant.control.gravity",
    "servo_torque": "pliant.control.visual_servoing",
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
