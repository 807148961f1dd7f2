"""`pliant export ros-package`: a robot as packages of ROS, for colcon and catkin.

The packages of its message types, so that ``ros2 topic echo`` and ``rostopic echo`` read all topics, and one package
with the URDF, its meshes, a launch file, the settings of controllers and a configuration of RViz.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import mujoco

from pliant.base.documents.files import write_files
from pliant.base.errors import ModelError, PliantError
from pliant.cli.output import emit, make_console
from pliant.export.urdf import describe_urdf
from pliant.model.robot import Robot
from pliant.ros.bridge import RosBridge, RosOptions
from pliant.ros.bridge.node import SilentNode, TopicHandle
from pliant.ros.package_types import package_xml, type_packages
from pliant.ros.wire import Codec
from pliant.ros.wire.message import MessageCallback, ServiceCallback
from pliant.ros2_control.tree import urdf_of_tree
from pliant.simulation.bridge import bound

PLUGIN = "joint_state_topic_hardware_interface/JointStateTopicSystem"
"""Hardware plugin of the exported ``<ros2_control>`` tags: the one that talks to pliant over topics."""


class _Noted(TopicHandle):
    """A topic to which nobody listens."""

    active = False

    def send(self, data: bytes) -> None:
        """Do nothing."""


class Census(SilentNode):
    """A node that notes which types a robot uses, and connects nothing.

    Args:
        version: generation of ROS.
    """

    wire = "census"

    def __init__(self, version: int) -> None:
        super().__init__(Codec(version))
        self.types: set[str] = set()

    def advertise(self, topic: str, type_name: str, *, latch: bool = False, reliable: bool = True) -> TopicHandle:
        """Note a type; return a topic to which nobody listens."""
        self.types.add(type_name)
        return _Noted(topic, type_name, latch)

    def subscribe(self, topic: str, type_name: str, callback: MessageCallback) -> None:
        """Note a type."""
        self.types.add(type_name)

    def serve(self, name: str, type_name: str, callback: ServiceCallback) -> None:
        """Note a type."""
        self.types.add(type_name)

    # Actions are not noted: all of them are of packages that distributions have.


@dataclass(frozen=True, slots=True, kw_only=True)
class RosPackages:
    """The files of a robot's packages."""

    files: Mapping[str, bytes]
    """Path below the folder -> content."""
    packages: tuple[str, ...]
    """Names of the packages."""
    notes: tuple[str, ...] = ()
    """What the URDF does not have."""

    def write(self, folder: Path, *, overwrite: bool = False) -> None:
        """Write the files.

        Raises:
            PliantError: a file exists and holds something else, or the folder cannot be written.
        """
        write_files(folder, self.files, "the package", PliantError, overwrite=overwrite, make_folder=True)


def describe_packages(robot: Robot, source: str, *, namespace: str = "") -> RosPackages:
    """Return the packages of a robot.

    Args:
        robot: the robot.
        source: what `pliant run` in the launch files loads; "" for the exported URDF.
        namespace: prefix of the topics; "" takes the robot's.
    """
    found = {version: _surveyed(robot, version, namespace) for version in (1, 2)}
    packages = type_packages({version: node.types for version, (node, _) in found.items()})
    files = {f"{p.name}/{name}": text.encode() for p in packages for name, text in p.files().items()}
    bridge = found[2][1]
    name = f"{_plain(robot.name or bridge.namespace)}_description"
    urdf, meshes, notes = _urdf(robot, name, bridge.namespace)
    needs = {version: sorted({t.partition("/")[0] for t in node.types}) for version, (node, _) in found.items()}
    needs[2] = sorted({*needs[2], "launch", "launch_ros", "rviz2"} - {"rcl_interfaces"})
    needs[1] = sorted({*needs[1], "rviz"})
    seen = robot.compile().stat
    runs = source or "$PACKAGE/robot.urdf"
    own = {
        "package.xml": package_xml(name, f"The simulated robot {robot.name or bridge.namespace}.", needs),
        "CMakeLists.txt": _CMAKE.replace("{name}", name),
        "robot.urdf": urdf,
        "launch/run.launch.py": _LAUNCH_2.replace("{name}", name).replace("{source}", runs),
        "launch/run.launch": _LAUNCH_1.replace("{name}", name).replace("{source}", runs.replace(
            "$PACKAGE", f"$(find {name})")),
        "config/controllers.yaml": _controllers(bridge),
        "rviz/robot.rviz": _rviz(2, _description(bridge), seen),
        "rviz/robot_ros1.rviz": _rviz(1, _description(bridge), seen),
    }  # fmt: skip
    files |= {f"{name}/{path}": text.encode() for path, text in own.items()}
    files |= {f"{name}/{path}": data for path, data in meshes.items()}
    return RosPackages(files=files, packages=(*(p.name for p in packages), name), notes=tuple(notes))


def _plain(name: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "robot"
    return plain if plain[0].isalpha() else f"robot_{plain}"


def _surveyed(robot: Robot, version: int, namespace: str) -> tuple[Census, RosBridge]:
    """Return a node that has noted all types of a robot, and the bridge that served it."""
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.simulation import Simulation

    node = Census(version)
    bridge = RosBridge(robot, node, RosOptions(namespace=namespace))
    simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer="free")
    try:
        simulation.start()
    finally:
        simulation.close()
    return node, bridge


def _urdf(robot: Robot, package: str, namespace: str) -> tuple[str, Mapping[str, bytes], list[str]]:
    """Return the URDF, its meshes and notes; of a robot that URDF cannot carry, what viewers show of it."""
    try:
        described = describe_urdf(robot, package=package)
        root, meshes, notes = ET.fromstring(described.text), described.meshes, list(described.notes)
    except ModelError as error:
        root, meshes, source = urdf_of_tree(robot)
        for mesh in root.iter("mesh"):
            mesh.set("filename", f"package://{package}/{mesh.get('filename', '')}")
        notes = [*source.notes, f"the URDF is for viewers, and cannot be run: {error}"]
    for hardware in root.iter("hardware"):
        plugin = hardware.find("plugin")
        if plugin is not None:
            plugin.text = PLUGIN
        for key in ("joint_commands", "joint_states"):
            ET.SubElement(hardware, "param", name=f"{key}_topic").text = f"/{namespace}/hardware/{key}"
    ET.indent(root, "  ")
    return f'<?xml version="1.0"?>\n{ET.tostring(root, encoding="unicode")}\n', meshes, notes


def _description(bridge: RosBridge) -> str:
    return bridge.topics.name("robot_description") if bridge.options.namespace else "/robot_description"


def _controllers(bridge: RosBridge) -> str:
    """Return the settings of a controller manager with the controllers that pliant itself has."""
    rows, settings = [], []
    for controller in bridge.topics.controllers:
        name = controller.topic.split("/")[-2]
        if "control/" in controller.topic:
            continue  # those of single qbmoves are no controllers of ros2_control
        rows.append(f"    {name}:\n      type: joint_trajectory_controller/JointTrajectoryController\n")
        joints = "".join(f"      - {joint}\n" for joint in controller.joints)
        settings.append(
            f"{name}:\n  ros__parameters:\n    joints:\n{joints}    command_interfaces: [position]\n"
            "    state_interfaces: [position, velocity]\n"
        )
    rate = round(1.0 / bound(bridge.topics.simulation).engine.dt)
    head = (
        "# For a controller manager of ROS 2 beside robot.urdf, whose hardware plugin talks to pliant over topics.\n"
        f"controller_manager:\n  ros__parameters:\n    update_rate: {rate}\n    joint_state_broadcaster:\n"
        "      type: joint_state_broadcaster/JointStateBroadcaster\n"
    )
    return head + "".join(rows) + "".join(settings)


def write_package(
    robot: Robot, source: str, output: Path | None, *, namespace: str, overwrite: bool, json: bool
) -> int:
    """Write the packages of a robot and print their names.

    Args:
        robot: the robot, with its settings.
        source: what was loaded; a name of the catalogue stands in the launch files.
        output: the folder, such as the ``src`` of a workspace.
        namespace: prefix of the topics; "" takes the robot's.
        overwrite: replace files that hold something else.
        json: print one JSON object.

    Raises:
        PliantError: the output is missing or cannot be written.
    """
    if output is None:
        raise PliantError(
            f"the output is missing: pliant export ros-package {source} FOLDER, such as the src of a workspace",
            field="output",
        )
    packages = describe_packages(robot, "" if Path(source).exists() else source, namespace=namespace)
    packages.write(output, overwrite=overwrite)
    if json:
        emit({"output": str(output), "packages": packages.packages, "files": sorted(packages.files)})
        return 0
    console = make_console()
    console.print(f"written: {', '.join(packages.packages)} in {output}", soft_wrap=True, markup=False)
    for note in packages.notes:
        console.print(f"note: {note}", soft_wrap=True, markup=False)
    return 0


_CMAKE = """cmake_minimum_required(VERSION 3.8)
project({name})

if(NOT "$ENV{ROS_VERSION}" STREQUAL "2")
  find_package(catkin REQUIRED)
  catkin_package()
  set(SHARE ${CATKIN_PACKAGE_SHARE_DESTINATION})
else()
  find_package(ament_cmake REQUIRED)
  set(SHARE share/${PROJECT_NAME})
endif()
foreach(FOLDER launch config rviz meshes)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${FOLDER})
    install(DIRECTORY ${FOLDER} DESTINATION ${SHARE})
  endif()
endforeach()
install(FILES robot.urdf DESTINATION ${SHARE})
if("$ENV{ROS_VERSION}" STREQUAL "2")
  ament_package()
endif()
"""

_LAUNCH_2 = '''"""Run the simulated robot and RViz: ros2 launch {name} run.launch.py"""

import os

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def generate_launch_description():
    share = get_package_share_directory("{name}")
    source = "{source}".replace("$PACKAGE", share)
    return LaunchDescription(
        [
            DeclareLaunchArgument("rviz", default_value="true"),
            ExecuteProcess(cmd=["pliant", "run", source, "--bridge", "ros2"], output="screen"),
            Node(
                package="rviz2",
                executable="rviz2",
                arguments=["-d", os.path.join(share, "rviz", "robot.rviz")],
                parameters=[{"use_sim_time": True}],
                condition=IfCondition(LaunchConfiguration("rviz")),
            ),
        ]
    )
'''

_LAUNCH_1 = """<launch>
  <!-- In another terminal: pliant run {source}, with the option bridge ros1 -->
  <arg name="rviz" default="true"/>
  <param name="use_sim_time" value="true"/>
  <node if="$(arg rviz)" pkg="rviz" type="rviz" name="rviz" args="-d $(find {name})/rviz/robot_ros1.rviz"/>
</launch>
"""

_RVIZ = """Panels:
  - Class: {panels}/Displays
    Name: Displays
Visualization Manager:
  Class: ""
  Displays:
    - Class: {displays}/Grid
      Enabled: true
      Name: Grid
    - Class: {displays}/RobotModel
{description}
      Enabled: true
      Name: Robot
    - Class: {displays}/TF
      Enabled: true
      Marker Scale: {scale:.3g}
      Name: TF
  Enabled: true
  Global Options:
    Fixed Frame: world
  Tools:
    - Class: {displays}/MoveCamera
  Value: true
  Views:
    Current:
      Class: {displays}/Orbit
      Distance: {distance:.3g}
      Focal Point: {{X: {x:.3g}, Y: {y:.3g}, Z: {z:.3g}}}
      Name: Current View
      Pitch: 0.4
      Yaw: 0.8
Window Geometry:
  Height: 800
  Width: 1200
"""

_DESCRIPTION = {
    1: "      Robot Description: {topic}",
    2: """      Description Source: Topic
      Description Topic:
        Durability Policy: Transient Local
        History Policy: Keep Last
        Depth: 1
        Reliability Policy: Reliable
        Value: {topic}""",
}
"""How the model of the robot is named to RViz: a parameter of ROS 1, a topic of ROS 2."""


def _rviz(version: int, topic: str, seen: mujoco.MjStatistic) -> str:
    """Return a configuration of RViz, whose displays are in another package in each generation of ROS."""
    x, y, z = seen.center
    return _RVIZ.format(
        displays={1: "rviz", 2: "rviz_default_plugins"}[version],
        panels={1: "rviz", 2: "rviz_common"}[version],
        description=_DESCRIPTION[version].format(topic=topic.lstrip("/") if version == 1 else topic),
        distance=2.0 * seen.extent,
        scale=0.5 * seen.extent,
        x=x,
        y=y,
        z=z,
    )
