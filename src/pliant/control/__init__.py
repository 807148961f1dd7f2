"""Controllers that a user would run on a robot: trajectories, inverse kinematics, spring compensation, learning,
visual servoing, sensing by a sole.
"""

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
from pliant.control.sole import ContactEstimate, RelativeAngleFilter, SoleForceEstimator, SoleHinge, SoleModel
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
    "ContactEstimate",
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
    "RelativeAngleFilter",
    "ServoFeedforward",
    "ServoMonitor",
    "ServoStatus",
    "ServoStep",
    "Sinusoid",
    "SoleForceEstimator",
    "SoleHinge",
    "SoleModel",
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
