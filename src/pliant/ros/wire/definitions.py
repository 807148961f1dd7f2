"""The message and service types that the bridges speak, as the texts that ROS defines them by.

ROS 1 and ROS 2 share these texts but for a few: the header lost its running number, the camera's matrices got small
letters. `TEXTS` has the ROS 1 form, `TEXTS_2` what differs in ROS 2. ``time`` and ``duration`` stand for the primitive
of ROS 1 and for ``builtin_interfaces/Time`` and ``Duration`` of ROS 2: eight bytes in both.
"""

from __future__ import annotations

_IMU = """\
std_msgs/Header header
geometry_msgs/Quaternion orientation
float64[9] orientation_covariance
geometry_msgs/Vector3 angular_velocity
float64[9] angular_velocity_covariance
geometry_msgs/Vector3 linear_acceleration
float64[9] linear_acceleration_covariance
"""

TEXTS: dict[str, str] = {
    "std_msgs/Header": "uint32 seq\ntime stamp\nstring frame_id\n",
    "std_msgs/Empty": "",
    "std_msgs/Bool": "bool data\n",
    "std_msgs/Int32": "int32 data\n",
    "std_msgs/UInt64": "uint64 data\n",
    "std_msgs/Float32": "float32 data\n",
    "std_msgs/Float64": "float64 data\n",
    "std_msgs/String": "string data\n",
    "std_msgs/MultiArrayDimension": "string label\nuint32 size\nuint32 stride\n",
    "std_msgs/MultiArrayLayout": "std_msgs/MultiArrayDimension[] dim\nuint32 data_offset\n",
    "std_msgs/Float32MultiArray": "std_msgs/MultiArrayLayout layout\nfloat32[] data\n",
    "std_msgs/Float64MultiArray": "std_msgs/MultiArrayLayout layout\nfloat64[] data\n",
    "rosgraph_msgs/Clock": "time clock\n",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z\n",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z\n",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w\n",
    "geometry_msgs/Pose": "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation\n",
    "geometry_msgs/PoseStamped": "std_msgs/Header header\ngeometry_msgs/Pose pose\n",
    "geometry_msgs/PoseWithCovariance": "geometry_msgs/Pose pose\nfloat64[36] covariance\n",
    "geometry_msgs/Twist": "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular\n",
    "geometry_msgs/TwistWithCovariance": "geometry_msgs/Twist twist\nfloat64[36] covariance\n",
    "nav_msgs/Odometry": (
        "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\n"
        "geometry_msgs/TwistWithCovariance twist\n"
    ),
    "geometry_msgs/Pose2D": "float64 x\nfloat64 y\nfloat64 theta\n",
    "geometry_msgs/Transform": "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation\n",
    "geometry_msgs/TransformStamped": (
        "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform\n"
    ),
    "geometry_msgs/Wrench": "geometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque\n",
    "geometry_msgs/WrenchStamped": "std_msgs/Header header\ngeometry_msgs/Wrench wrench\n",
    "tf2_msgs/TFMessage": "geometry_msgs/TransformStamped[] transforms\n",
    "sensor_msgs/JointState": (
        "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n"
    ),
    "sensor_msgs/Imu": _IMU,
    "sensor_msgs/Image": (
        "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\n"
        "uint8[] data\n"
    ),
    "sensor_msgs/RegionOfInterest": (
        "uint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify\n"
    ),
    "sensor_msgs/CameraInfo": (
        "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\nfloat64[] D\nfloat64[9] K\n"
        "float64[9] R\nfloat64[12] P\nuint32 binning_x\nuint32 binning_y\nsensor_msgs/RegionOfInterest roi\n"
    ),
    "sensor_msgs/LaserScan": (
        "std_msgs/Header header\nfloat32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\n"
        "float32 time_increment\nfloat32 scan_time\nfloat32 range_min\nfloat32 range_max\nfloat32[] ranges\n"
        "float32[] intensities\n"
    ),
    "trajectory_msgs/JointTrajectoryPoint": (
        "float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\nfloat64[] effort\n"
        "duration time_from_start\n"
    ),
    "trajectory_msgs/JointTrajectory": (
        "std_msgs/Header header\nstring[] joint_names\ntrajectory_msgs/JointTrajectoryPoint[] points\n"
    ),
    "dynamic_reconfigure/BoolParameter": "string name\nbool value\n",
    "dynamic_reconfigure/IntParameter": "string name\nint32 value\n",
    "dynamic_reconfigure/StrParameter": "string name\nstring value\n",
    "dynamic_reconfigure/DoubleParameter": "string name\nfloat64 value\n",
    "dynamic_reconfigure/GroupState": "string name\nbool state\nint32 id\nint32 parent\n",
    "dynamic_reconfigure/Config": (
        "dynamic_reconfigure/BoolParameter[] bools\ndynamic_reconfigure/IntParameter[] ints\n"
        "dynamic_reconfigure/StrParameter[] strs\ndynamic_reconfigure/DoubleParameter[] doubles\n"
        "dynamic_reconfigure/GroupState[] groups\n"
    ),
    "dynamic_reconfigure/ParamDescription": (
        "string name\nstring type\nuint32 level\nstring description\nstring edit_method\n"
    ),
    "dynamic_reconfigure/Group": (
        "string name\nstring type\ndynamic_reconfigure/ParamDescription[] parameters\nint32 parent\nint32 id\n"
    ),
    "dynamic_reconfigure/ConfigDescription": (
        "dynamic_reconfigure/Group[] groups\ndynamic_reconfigure/Config max\n"
        "dynamic_reconfigure/Config min\ndynamic_reconfigure/Config dflt\n"
    ),
    # The compliant-actuator toolbox (NMMI/ROS-Gazebo-compliant-actuators-plugin).
    "viactors_plugins/state_info": (
        "float32 q\nfloat32 dq\nfloat32 ref_1\nfloat32 ref_2\nfloat32 tau\nfloat32 stiff\n"
    ),
    "plugin_manager/QbAdvanceRefEq": "float64[] EqDes\nfloat64[] Preset\n",
    "diagnostic_msgs/KeyValue": "string key\nstring value\n",
    "diagnostic_msgs/DiagnosticStatus": (
        "byte OK=0\nbyte WARN=1\nbyte ERROR=2\nbyte STALE=3\nbyte level\nstring name\nstring message\n"
        "string hardware_id\ndiagnostic_msgs/KeyValue[] values\n"
    ),
    "diagnostic_msgs/DiagnosticArray": "std_msgs/Header header\ndiagnostic_msgs/DiagnosticStatus[] status\n",
    # DDS participants tell their nodes and endpoints by these (ROS 2, ros_discovery_info).
    "rmw_dds_common/Gid": "uint8[24] data\n",
    "rmw_dds_common/NodeEntitiesInfo": (
        "string<=256 node_namespace\nstring<=256 node_name\n"
        "rmw_dds_common/Gid[] reader_gid_seq\nrmw_dds_common/Gid[] writer_gid_seq\n"
    ),
    "rmw_dds_common/ParticipantEntitiesInfo": (
        "rmw_dds_common/Gid gid\nrmw_dds_common/NodeEntitiesInfo[] node_entities_info_seq\n"
    ),
}
"""Type -> its definition, ROS 1."""

TEXTS_2: dict[str, str] = {
    "std_msgs/Header": "time stamp\nstring frame_id\n",
    "sensor_msgs/CameraInfo": (
        "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\nfloat64[] d\nfloat64[9] k\n"
        "float64[9] r\nfloat64[12] p\nuint32 binning_x\nuint32 binning_y\nsensor_msgs/RegionOfInterest roi\n"
    ),
    # ROS 2 asks type names to begin with a capital letter.
    "viactors_plugins/StateInfo": TEXTS["viactors_plugins/state_info"],
}
"""Type -> its definition where ROS 2 differs."""

SERVICES: dict[str, tuple[str, str]] = {
    "std_srvs/Empty": ("", ""),
    "std_srvs/Trigger": ("", "bool success\nstring message\n"),
    "std_srvs/SetBool": ("bool data\n", "bool success\nstring message\n"),
    "dynamic_reconfigure/Reconfigure": (
        "dynamic_reconfigure/Config config\n",
        "dynamic_reconfigure/Config config\n",
    ),
    "pliant_msgs/Step": ("uint32 count\n", "bool success\nstring message\ntime time\n"),
}
"""Service type -> (request, response)."""
