"""Messages and services of the Gazebo simulator for continuum parallel robots, and messages that draw such a robot.

Names, fields and their order are those of the packages cpr_messages and cpr_planar_messages (Gotelli et al. 2022),
gazebo_msgs, visualization_msgs and geometry_msgs. ROS 1 counts constants in its sums, ROS 2 does not.
"""

from __future__ import annotations

MARKER_CONSTANTS = """\
uint8 ARROW=0
uint8 CUBE=1
uint8 SPHERE=2
uint8 CYLINDER=3
uint8 LINE_STRIP=4
uint8 LINE_LIST=5
uint8 CUBE_LIST=6
uint8 SPHERE_LIST=7
uint8 POINTS=8
uint8 TEXT_VIEW_FACING=9
uint8 MESH_RESOURCE=10
uint8 TRIANGLE_LIST=11
uint8 ADD=0
uint8 MODIFY=0
uint8 DELETE=2
uint8 DELETEALL=3
"""
_MARKER = """\
std_msgs/Header header
string ns
int32 id
int32 type
int32 action
geometry_msgs/Pose pose
geometry_msgs/Vector3 scale
std_msgs/ColorRGBA color
duration lifetime
bool frame_locked
geometry_msgs/Point[] points
std_msgs/ColorRGBA[] colors
"""
_SE3 = "".join(f"float32 {name}\n" for name in ("x", "y", "z", "roll", "pitch", "yaw"))

TEXTS: dict[str, str] = {
    "gazebo_msgs/LinkState": (
        "string link_name\ngeometry_msgs/Pose pose\ngeometry_msgs/Twist twist\nstring reference_frame\n"
    ),
    "std_msgs/ColorRGBA": "float32 r\nfloat32 g\nfloat32 b\nfloat32 a\n",
    "visualization_msgs/Marker": (
        MARKER_CONSTANTS + _MARKER + "string text\nstring mesh_resource\nbool mesh_use_embedded_materials\n"
    ),
    "visualization_msgs/MarkerArray": "visualization_msgs/Marker[] markers\n",
    # The spatial simulator.
    "cpr_messages/DGMParams": "float32[] joints_values\ngeometry_msgs/Wrench distal_plate_wrench\n",
    "cpr_messages/IGMParams": "geometry_msgs/Pose distal_plate_pose\ngeometry_msgs/Wrench distal_plate_wrench\n",
    "cpr_messages/SE3Pose": _SE3,
    # The planar one.
    "cpr_planar_messages/Wrench2D": "float32 fx\nfloat32 fy\nfloat32 mz\n",
    "cpr_planar_messages/DGMParameters": "float32[] joints_values\ncpr_planar_messages/Wrench2D wrench\n",
    "cpr_planar_messages/IGMParameters": "geometry_msgs/Pose2D pose\ncpr_planar_messages/Wrench2D wrench\n",
}
"""Type -> its definition, ROS 1."""

TEXTS_2: dict[str, str] = {
    "sensor_msgs/CompressedImage": "std_msgs/Header header\nstring format\nuint8[] data\n",
    "visualization_msgs/UVCoordinate": "float32 u\nfloat32 v\n",
    "visualization_msgs/MeshFile": "string filename\nuint8[] data\n",
    "visualization_msgs/Marker": (
        MARKER_CONSTANTS.replace("uint8", "int32")
        + _MARKER
        + "string texture_resource\nsensor_msgs/CompressedImage texture\n"
        "visualization_msgs/UVCoordinate[] uv_coordinates\n"
        "string text\nstring mesh_resource\nvisualization_msgs/MeshFile mesh_file\nbool mesh_use_embedded_materials\n"
    ),
}
"""Type -> its definition where ROS 2 (Humble and later) differs."""

_GUESS = ("float32[] given_guess\n", "float32[] actual_guess\n")
SERVICES: dict[str, tuple[str, str]] = {
    "cpr_messages/GuessVectorHandling": _GUESS,
    "cpr_planar_messages/GuessVectorHandling": _GUESS,
    "gazebo_msgs/GetLinkState": (
        "string link_name\nstring reference_frame\n",
        "gazebo_msgs/LinkState link_state\nbool success\nstring status_message\n",
    ),
}
"""Service type -> (request, response)."""
