"""Messages, services and actions of franka_msgs and franka_gripper, with the fields that the vendor publishes.

franka_ros 0.10 is the form of ROS 1 and franka_ros2 that of ROS 2. Constants stand in the texts because they take part
in the sums of ROS 1.
"""

from __future__ import annotations

from pliant.franka.wire.fci import ERRORS, RobotMode
from pliant.ros.wire.definitions_node import action_parts
from pliant.ros.wire.definitions_ros1 import action_messages

_LATE = (
    "joint_move_in_wrong_direction",
    "cartesian_spline_motion_generator_violation",
    "joint_via_motion_generator_planning_joint_limit_violation",
    "base_acceleration_initialization_timeout",
    "base_acceleration_invalid_reading",
)
"""Errors that franka_msgs of ROS 1 has and that of ROS 2 has not."""
_ORDER = (
    "joint_position_limits_violation",
    "cartesian_position_limits_violation",
    "self_collision_avoidance_violation",
    "joint_velocity_violation",
    "cartesian_velocity_violation",
    "force_control_safety_violation",
    "joint_reflex",
    "cartesian_reflex",
    "max_goal_pose_deviation_violation",
    "max_path_pose_deviation_violation",
    "cartesian_velocity_profile_safety_violation",
    "joint_position_motion_generator_start_pose_invalid",
    "joint_motion_generator_position_limits_violation",
    "joint_motion_generator_velocity_limits_violation",
    "joint_motion_generator_velocity_discontinuity",
    "joint_motion_generator_acceleration_discontinuity",
    "cartesian_position_motion_generator_start_pose_invalid",
    "cartesian_motion_generator_elbow_limit_violation",
    "cartesian_motion_generator_velocity_limits_violation",
    "cartesian_motion_generator_velocity_discontinuity",
    "cartesian_motion_generator_acceleration_discontinuity",
    "cartesian_motion_generator_elbow_sign_inconsistent",
    "cartesian_motion_generator_start_elbow_invalid",
    "cartesian_motion_generator_joint_position_limits_violation",
    "cartesian_motion_generator_joint_velocity_limits_violation",
    "cartesian_motion_generator_joint_velocity_discontinuity",
    "cartesian_motion_generator_joint_acceleration_discontinuity",
    "cartesian_position_motion_generator_invalid_frame",
    "force_controller_desired_force_tolerance_violation",
    "controller_torque_discontinuity",
    "start_elbow_sign_inconsistent",
    "communication_constraints_violation",
    "power_limit_violation",
    "joint_p2p_insufficient_torque_for_planning",
    "tau_j_range_violation",
    "instability_detected",
)
ERROR_NAMES: dict[int, tuple[str, ...]] = {1: _ORDER + _LATE, 2: _ORDER}
"""Generation of ROS -> the fields of franka_msgs/Errors, in their order."""
assert set(ERROR_NAMES[1]) == {name.lower() for name in ERRORS}

_ROBOT_MODE = "".join(f"uint8 ROBOT_MODE_{m.name}={m.value}\n" for m in RobotMode) + "uint8 robot_mode\n"
_ERRORS = "franka_msgs/Errors current_errors\nfranka_msgs/Errors last_motion_errors\n"
STATE_FIELDS = (
    ("cartesian_collision", 6), ("cartesian_contact", 6), ("q", 7), ("q_d", 7), ("dq", 7), ("dq_d", 7), ("ddq_d", 7),
    ("theta", 7), ("dtheta", 7), ("tau_J", 7), ("dtau_J", 7), ("tau_J_d", 7), ("K_F_ext_hat_K", 6), ("elbow", 2),
    ("elbow_d", 2), ("elbow_c", 2), ("delbow_c", 2), ("ddelbow_c", 2), ("joint_collision", 7), ("joint_contact", 7),
    ("O_F_ext_hat_K", 6), ("O_dP_EE_d", 6), ("O_ddP_O", 3), ("O_dP_EE_c", 6), ("O_ddP_EE_c", 6),
    ("tau_ext_hat_filtered", 7), ("m_ee", 1), ("F_x_Cee", 3), ("I_ee", 9), ("m_load", 1), ("F_x_Cload", 3),
    ("I_load", 9), ("m_total", 1), ("F_x_Ctotal", 3), ("I_total", 9), ("O_T_EE", 16), ("O_T_EE_d", 16),
    ("O_T_EE_c", 16), ("F_T_EE", 16), ("F_T_NE", 16), ("NE_T_EE", 16), ("EE_T_K", 16),
)  # fmt: skip
"""Real fields of franka_msgs/FrankaState and their lengths, in their order; with the names of the robot's interface."""

_RESULT = "bool success\nstring error\n"
_WIDTH = "float64 current_width\n"
_NOMINAL = "".join(
    f"float64[{n}] {side}_{what}_thresholds_nominal\n"
    for what, n in (("torque", 7), ("force", 6))
    for side in ("lower", "upper")
)
_FULL = "".join(
    f"float64[{n}] {side}_{what}_thresholds_{phase}\n"
    for what, n in (("torque", 7), ("force", 6))
    for phase in ("acceleration", "nominal")
    for side in ("lower", "upper")
)
_COMMAND = "control_msgs/GripperCommand command\n"
_REACHED = "float64 position\nfloat64 effort\nbool stalled\nbool reached_goal\n"
_MOVE = "float64 width\nfloat64 speed\n"
_GRASP = "float64 width\n{package}/GraspEpsilon epsilon\nfloat64 speed\nfloat64 force\n"
_EPSILON = "float64 inner\nfloat64 outer\n"

TEXTS: dict[str, str] = {
    "control_msgs/GripperCommand": "float64 position\nfloat64 max_effort\n",
}
"""Type -> its definition, in both generations."""

TEXTS_1: dict[str, str] = {
    "franka_msgs/Errors": "".join(f"bool {name}\n" for name in ERROR_NAMES[1]),
    "franka_msgs/FrankaState": (
        "std_msgs/Header header\n"
        + "".join(f"float64{f'[{n}]' if n > 1 else ''} {name}\n" for name, n in STATE_FIELDS)
        + "float64 time\nfloat64 control_command_success_rate\n"
        + _ROBOT_MODE
        + _ERRORS
    ),
    "franka_gripper/GraspEpsilon": _EPSILON,
    **action_messages("franka_msgs/ErrorRecovery", "", "", ""),
    **action_messages("franka_gripper/Homing", "", _RESULT, ""),
    **action_messages("franka_gripper/Stop", "", _RESULT, ""),
    **action_messages("franka_gripper/Move", _MOVE, _RESULT, ""),
    **action_messages("franka_gripper/Grasp", _GRASP.format(package="franka_gripper"), _RESULT, ""),
    **action_messages("control_msgs/GripperCommand", _COMMAND, _REACHED, _REACHED),
}
"""Type -> its definition, ROS 1."""


def _stamped(kind: str, field: str) -> str:
    return f"std_msgs/Header header\ngeometry_msgs/{kind} {field}\n"


_TARGET = "franka_msgs/TargetStatus target_status\n"
ACTIONS_2: dict[str, tuple[str, str, str]] = {
    "franka_msgs/ErrorRecovery": ("", "", ""),
    "franka_msgs/PTPMotion": (
        "float64[] goal_joint_configuration\nfloat64[] maximum_joint_velocities\nfloat64 goal_tolerance\n",
        _TARGET + "string error_message\n",
        _TARGET,
    ),
    "franka_msgs/Homing": ("", _RESULT, _WIDTH),
    "franka_msgs/Move": (_MOVE, _RESULT, _WIDTH),
    "franka_msgs/Grasp": (_GRASP.format(package="franka_msgs"), _RESULT, _WIDTH),
    "control_msgs/GripperCommand": (_COMMAND, _REACHED, _REACHED),
}
"""Action of ROS 2 -> goal, result, feedback."""
_PARTS = [action_parts(name, *parts) for name, parts in ACTIONS_2.items()]

TEXTS_2: dict[str, str] = {
    "geometry_msgs/Accel": "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular\n",
    "geometry_msgs/Inertia": (
        "float64 m\ngeometry_msgs/Vector3 com\nfloat64 ixx\nfloat64 ixy\nfloat64 ixz\nfloat64 iyy\nfloat64 iyz\n"
        "float64 izz\n"
    ),
    "geometry_msgs/AccelStamped": _stamped("Accel", "accel"),
    "geometry_msgs/InertiaStamped": _stamped("Inertia", "inertia"),
    "geometry_msgs/TwistStamped": _stamped("Twist", "twist"),
    "franka_msgs/Errors": "".join(f"bool {name}\n" for name in ERROR_NAMES[2]),
    "franka_msgs/GraspEpsilon": _EPSILON,
    "franka_msgs/TargetStatus": (
        "uint8 IDLE=0\nuint8 EXECUTING=1\nuint8 TARGET_REACHED=2\nuint8 ABORTED=3\nuint8 status\n"
    ),
    "franka_msgs/Elbow": "".join(
        f"float64[2] {name}\n"
        for name in (
            "position",
            "desired_position",
            "commanded_position",
            "commanded_velocity",
            "commanded_acceleration",
        )
    ),
    "franka_msgs/CollisionIndicators": (
        "".join(
            f"geometry_msgs/Vector3 is_cartesian_{part}_{what}\n"
            for what in ("collision", "contact")
            for part in ("linear", "angular")
        )
        + "float64[7] is_joint_collision\nfloat64[7] is_joint_contact\n"
    ),
    "franka_msgs/FrankaRobotState": (
        "std_msgs/Header header\nfranka_msgs/CollisionIndicators collision_indicators\n"
        "sensor_msgs/JointState measured_joint_state\nsensor_msgs/JointState desired_joint_state\n"
        "sensor_msgs/JointState measured_joint_motor_state\nfloat64[7] ddq_d\nfloat64[7] dtau_j\n"
        "sensor_msgs/JointState tau_ext_hat_filtered\nfranka_msgs/Elbow elbow\n"
        "geometry_msgs/WrenchStamped k_f_ext_hat_k\ngeometry_msgs/WrenchStamped o_f_ext_hat_k\n"
        + "".join(f"geometry_msgs/InertiaStamped inertia_{name}\n" for name in ("ee", "load", "total"))
        + "".join(
            f"geometry_msgs/PoseStamped {name}\n" for name in ("o_t_ee", "o_t_ee_d", "o_t_ee_c", "f_t_ee", "ee_t_k")
        )
        + "geometry_msgs/TwistStamped o_dp_ee_d\ngeometry_msgs/TwistStamped o_dp_ee_c\n"
        "geometry_msgs/AccelStamped o_ddp_ee_c\nfloat64 time\nfloat64 control_command_success_rate\n"
        + _ROBOT_MODE
        + _ERRORS
    ),
    **{name: text for messages, _ in _PARTS for name, text in messages.items()},
}
"""Type -> its definition, ROS 2."""

SERVICES: dict[str, tuple[str, str]] = {
    "franka_msgs/SetForceTorqueCollisionBehavior": (_NOMINAL, _RESULT),
    "franka_msgs/SetFullCollisionBehavior": (_FULL, _RESULT),
}
"""Service type -> (request, response), in both generations."""
SERVICES_1: dict[str, tuple[str, str]] = {
    "franka_msgs/SetJointImpedance": ("float64[7] joint_stiffness\n", _RESULT),
    "franka_msgs/SetCartesianImpedance": ("float64[6] cartesian_stiffness\n", _RESULT),
    "franka_msgs/SetEEFrame": ("float64[16] NE_T_EE\n", _RESULT),
    "franka_msgs/SetKFrame": ("float64[16] EE_T_K\n", _RESULT),
    "franka_msgs/SetLoad": ("float64 mass\nfloat64[3] F_x_center_load\nfloat64[9] load_inertia\n", _RESULT),
}
"""The same for ROS 1."""
SERVICES_2: dict[str, tuple[str, str]] = {
    "franka_msgs/SetJointStiffness": ("float64[7] joint_stiffness\n", _RESULT),
    "franka_msgs/SetCartesianStiffness": ("float64[6] cartesian_stiffness\n", _RESULT),
    "franka_msgs/SetTCPFrame": ("float64[16] transformation\n", _RESULT),
    "franka_msgs/SetStiffnessFrame": ("float64[16] transformation\n", _RESULT),
    "franka_msgs/SetLoad": ("float64 mass\nfloat64[3] center_of_mass\nfloat64[9] load_inertia\n", _RESULT),
    **{name: pair for _, services in _PARTS for name, pair in services.items()},
}
"""The same for ROS 2, the services inside actions included."""
