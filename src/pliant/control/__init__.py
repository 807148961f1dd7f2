"""Controllers that a user would run on a robot: trajectories, inverse kinematics, spring compensation, learning.

Names resolve on first use: what needs one controller does not import the others.
"""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "CartesianComputedTorque": "pliant.control.cartesian",
    "ClosedLoopInverseKinematics": "pliant.control.clik",
    "GravityCompensation": "pliant.control.gravity",
    "InverseKinematicsSolution": "pliant.control.clik",
    "IterationRecord": "pliant.control.ilc",
    "IterativeLearning": "pliant.control.ilc",
    "LearningResult": "pliant.control.ilc",
    "MinimumJerk": "pliant.control.trajectory",
    "Motion": "pliant.control.trajectory",
    "Trajectory": "pliant.control.trajectory",
    "damped_pseudo_inverse": "pliant.control.clik",
    "equilibrium_for_torque": "pliant.control.gravity",
    "low_pass": "pliant.control.ilc",
    "pose_error": "pliant.base.spatial",
    "preset_for_stiffness": "pliant.control.gravity",
    "qbmove_deflection": "pliant.control.gravity",
    "torque_range": "pliant.control.gravity",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
