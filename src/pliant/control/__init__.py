"""Controllers that a user would run on a robot: trajectories, inverse kinematics, spring compensation, learning."""

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
