"""The error bits of a robot state, by name and by number."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ERROR", "ERRORS", "ErrorNumbers"]


class ErrorNumbers(NamedTuple):
    """Number of each error bit of a state, in wire order."""

    joint_position_limits_violation: int
    cartesian_position_limits_violation: int
    self_collision_avoidance_violation: int
    joint_velocity_violation: int
    cartesian_velocity_violation: int
    force_control_safety_violation: int
    joint_reflex: int
    cartesian_reflex: int
    max_goal_pose_deviation_violation: int
    max_path_pose_deviation_violation: int
    cartesian_velocity_profile_safety_violation: int
    joint_position_motion_generator_start_pose_invalid: int
    joint_motion_generator_position_limits_violation: int
    joint_motion_generator_velocity_limits_violation: int
    joint_motion_generator_velocity_discontinuity: int
    joint_motion_generator_acceleration_discontinuity: int
    cartesian_position_motion_generator_start_pose_invalid: int
    cartesian_motion_generator_elbow_limit_violation: int
    cartesian_motion_generator_velocity_limits_violation: int
    cartesian_motion_generator_velocity_discontinuity: int
    cartesian_motion_generator_acceleration_discontinuity: int
    cartesian_motion_generator_elbow_sign_inconsistent: int
    cartesian_motion_generator_start_elbow_invalid: int
    force_controller_desired_force_tolerance_violation: int
    start_elbow_sign_inconsistent: int
    communication_constraints_violation: int
    power_limit_violation: int
    cartesian_motion_generator_joint_position_limits_violation: int
    cartesian_motion_generator_joint_velocity_limits_violation: int
    cartesian_motion_generator_joint_velocity_discontinuity: int
    cartesian_motion_generator_joint_acceleration_discontinuity: int
    cartesian_position_motion_generator_invalid_frame: int
    controller_torque_discontinuity: int
    joint_p2p_insufficient_torque_for_planning: int
    tau_J_range_violation: int
    instability_detected: int
    joint_move_in_wrong_direction: int
    cartesian_spline_motion_generator_violation: int
    joint_via_motion_generator_planning_joint_limit_violation: int
    base_acceleration_initialization_timeout: int
    base_acceleration_invalid_reading: int


ERRORS = ErrorNumbers._fields
"""Names of the 41 error bits of a state, in their order."""
ERROR = ErrorNumbers(*range(len(ERRORS)))
"""Number of each error by its name, for compiled code too: ``ERROR.joint_reflex`` is 6."""
