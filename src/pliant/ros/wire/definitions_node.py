"""Definitions that a ROS 2 node uses beside its topics: parameters, goals, and the types inside services and actions.

The texts have the fields that the packages rcl_interfaces, action_msgs, unique_identifier_msgs, service_msgs and
control_msgs define in public, in their order; constants and comments are not needed on the wire.
"""

from __future__ import annotations

_COMPONENT = (
    "string name\nstring type\nbool is_async\nuint16 rw_rate\n{class_type}string plugin_name\n"
    "lifecycle_msgs/State state\ncontroller_manager_msgs/HardwareInterface[] command_interfaces\n"
    "controller_manager_msgs/HardwareInterface[] state_interfaces\n"
)
KILTED_TEXTS = {"controller_manager_msgs/HardwareComponentState": _COMPONENT.replace("{class_type}", "")}
"""Type -> its definition from Kilted on, where it differs; `NODE_TEXTS` has that of Jazzy."""

NODE_TEXTS: dict[str, str] = {
    "service_msgs/ServiceEventInfo": "uint8 event_type\ntime stamp\nchar[16] client_gid\nint64 sequence_number\n",
    "unique_identifier_msgs/UUID": "uint8[16] uuid\n",
    "action_msgs/GoalInfo": "unique_identifier_msgs/UUID goal_id\ntime stamp\n",
    "action_msgs/GoalStatus": "action_msgs/GoalInfo goal_info\nint8 status\n",
    "action_msgs/GoalStatusArray": "action_msgs/GoalStatus[] status_list\n",
    "rcl_interfaces/Log": (
        "time stamp\nuint8 level\nstring name\nstring msg\nstring file\nstring function\nuint32 line\n"
    ),
    "rcl_interfaces/ParameterValue": (
        "uint8 type\nbool bool_value\nint64 integer_value\nfloat64 double_value\nstring string_value\n"
        "byte[] byte_array_value\nbool[] bool_array_value\nint64[] integer_array_value\n"
        "float64[] double_array_value\nstring[] string_array_value\n"
    ),
    "rcl_interfaces/Parameter": "string name\nrcl_interfaces/ParameterValue value\n",
    "rcl_interfaces/SetParametersResult": "bool successful\nstring reason\n",
    "rcl_interfaces/FloatingPointRange": "float64 from_value\nfloat64 to_value\nfloat64 step\n",
    "rcl_interfaces/IntegerRange": "int64 from_value\nint64 to_value\nuint64 step\n",
    "rcl_interfaces/ParameterDescriptor": (
        "string name\nuint8 type\nstring description\nstring additional_constraints\nbool read_only\n"
        "bool dynamic_typing\nrcl_interfaces/FloatingPointRange[<=1] floating_point_range\n"
        "rcl_interfaces/IntegerRange[<=1] integer_range\n"
    ),
    "rcl_interfaces/ListParametersResult": "string[] names\nstring[] prefixes\n",
    "rcl_interfaces/ParameterEvent": (
        "time stamp\nstring node\nrcl_interfaces/Parameter[] new_parameters\n"
        "rcl_interfaces/Parameter[] changed_parameters\nrcl_interfaces/Parameter[] deleted_parameters\n"
    ),
    "trajectory_msgs/MultiDOFJointTrajectoryPoint": (
        "geometry_msgs/Transform[] transforms\ngeometry_msgs/Twist[] velocities\n"
        "geometry_msgs/Twist[] accelerations\nduration time_from_start\n"
    ),
    "trajectory_msgs/MultiDOFJointTrajectory": (
        "std_msgs/Header header\nstring[] joint_names\ntrajectory_msgs/MultiDOFJointTrajectoryPoint[] points\n"
    ),
    "control_msgs/JointTolerance": "string name\nfloat64 position\nfloat64 velocity\nfloat64 acceleration\n",
    "control_msgs/JointComponentTolerance": (
        "string joint_name\nuint16 component\nfloat64 position\nfloat64 velocity\nfloat64 acceleration\n"
    ),
    "type_description_interfaces/FieldType": (
        "uint8 type_id\nuint64 capacity\nuint64 string_capacity\nstring<=255 nested_type_name\n"
    ),
    "type_description_interfaces/Field": (
        "string name\ntype_description_interfaces/FieldType type\nstring default_value\n"
    ),
    "type_description_interfaces/IndividualTypeDescription": (
        "string<=255 type_name\ntype_description_interfaces/Field[] fields\n"
    ),
    "type_description_interfaces/TypeDescription": (
        "type_description_interfaces/IndividualTypeDescription type_description\n"
        "type_description_interfaces/IndividualTypeDescription[] referenced_type_descriptions\n"
    ),
    "type_description_interfaces/TypeSource": "string type_name\nstring encoding\nstring raw_file_contents\n",
    "type_description_interfaces/KeyValue": "string key\nstring value\n",
    "lifecycle_msgs/State": "uint8 id\nstring label\n",
    "controller_manager_msgs/ChainConnection": "string name\nstring[] reference_interfaces\n",
    "controller_manager_msgs/ControllerState": (
        "string name\nstring state\nstring type\nbool is_async\nuint16 update_rate\nstring[] claimed_interfaces\n"
        "string[] required_command_interfaces\nstring[] required_state_interfaces\nbool is_chainable\n"
        "bool is_chained\nstring[] exported_state_interfaces\nstring[] reference_interfaces\n"
        "controller_manager_msgs/ChainConnection[] chain_connections\n"
    ),
    "controller_manager_msgs/HardwareInterface": (
        "string name\nstring data_type\nbool is_available\nbool is_claimed\n"
    ),
    "controller_manager_msgs/HardwareComponentState": _COMPONENT.replace("{class_type}", "string class_type\n"),
}
"""Type -> its definition in ROS 2; ``time`` and ``duration`` as in `definitions.TEXTS`."""

NODE_SERVICES: dict[str, tuple[str, str]] = {
    "rcl_interfaces/ListParameters": (
        "string[] prefixes\nuint64 depth\n",
        "rcl_interfaces/ListParametersResult result\n",
    ),
    "rcl_interfaces/GetParameters": ("string[] names\n", "rcl_interfaces/ParameterValue[] values\n"),
    "rcl_interfaces/GetParameterTypes": ("string[] names\n", "uint8[] types\n"),
    "rcl_interfaces/SetParameters": (
        "rcl_interfaces/Parameter[] parameters\n",
        "rcl_interfaces/SetParametersResult[] results\n",
    ),
    "rcl_interfaces/SetParametersAtomically": (
        "rcl_interfaces/Parameter[] parameters\n",
        "rcl_interfaces/SetParametersResult result\n",
    ),
    "rcl_interfaces/DescribeParameters": ("string[] names\n", "rcl_interfaces/ParameterDescriptor[] descriptors\n"),
    "type_description_interfaces/GetTypeDescription": (
        "string type_name\nstring type_hash\nbool include_type_sources\n",
        "bool successful\nstring failure_reason\ntype_description_interfaces/TypeDescription type_description\n"
        "type_description_interfaces/TypeSource[] type_sources\n"
        "type_description_interfaces/KeyValue[] extra_information\n",
    ),
    "controller_manager_msgs/ListControllers": ("", "controller_manager_msgs/ControllerState[] controller\n"),
    "controller_manager_msgs/ListControllerTypes": ("", "string[] types\nstring[] base_classes\n"),
    "controller_manager_msgs/ListHardwareComponents": (
        "",
        "controller_manager_msgs/HardwareComponentState[] component\n",
    ),
    "controller_manager_msgs/ListHardwareInterfaces": (
        "",
        "controller_manager_msgs/HardwareInterface[] command_interfaces\n"
        "controller_manager_msgs/HardwareInterface[] state_interfaces\n",
    ),
    "controller_manager_msgs/SwitchController": (
        "string[] activate_controllers\nstring[] deactivate_controllers\nint32 strictness\nbool activate_asap\n"
        "duration timeout\n",
        "bool ok\nstring message\n",
    ),
    "action_msgs/CancelGoal": (
        "action_msgs/GoalInfo goal_info\n",
        "int8 return_code\naction_msgs/GoalInfo[] goals_canceling\n",
    ),
}
"""Service type of ROS 2 -> (request, response)."""

ACTIONS: dict[str, tuple[str, str, str]] = {
    "control_msgs/FollowJointTrajectory": (
        "trajectory_msgs/JointTrajectory trajectory\n"
        "trajectory_msgs/MultiDOFJointTrajectory multi_dof_trajectory\n"
        "control_msgs/JointTolerance[] path_tolerance\n"
        "control_msgs/JointComponentTolerance[] component_path_tolerance\n"
        "control_msgs/JointTolerance[] goal_tolerance\n"
        "control_msgs/JointComponentTolerance[] component_goal_tolerance\n"
        "duration goal_time_tolerance\n",
        "int32 error_code\nstring error_string\n",
        "std_msgs/Header header\nstring[] joint_names\n"
        "trajectory_msgs/JointTrajectoryPoint desired\n"
        "trajectory_msgs/JointTrajectoryPoint actual\n"
        "trajectory_msgs/JointTrajectoryPoint error\n"
        "string[] multi_dof_joint_names\n"
        "trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_desired\n"
        "trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_actual\n"
        "trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_error\n",
    ),
}
"""Action type of ROS 2 -> (goal, result, feedback)."""


def action_parts(name: str, goal: str, result: str, feedback: str) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """Return the messages and services that ROS 2 derives from an action.

    Args:
        name: ``package/Type``.
        goal: definition of the goal.
        result: definition of the result.
        feedback: definition of the feedback.
    """
    package, _, kind = name.partition("/")
    base = f"{package}/action/{kind}"
    messages = {
        f"{base}_Goal": goal,
        f"{base}_Result": result,
        f"{base}_Feedback": feedback,
        f"{base}_FeedbackMessage": f"unique_identifier_msgs/UUID goal_id\n{base}_Feedback feedback\n",
    }
    services = {
        f"{base}_SendGoal": (
            f"unique_identifier_msgs/UUID goal_id\n{base}_Goal goal\n",
            "bool accepted\ntime stamp\n",
        ),
        f"{base}_GetResult": ("unique_identifier_msgs/UUID goal_id\n", f"int8 status\n{base}_Result result\n"),
    }
    return messages, services
