"""Every format of file that pliant reads from its user, with a valid file of it and the function that reads it."""

from __future__ import annotations

import functools
import io
import json
import random
import struct
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bag_files
import numpy as np
import yaml
from file_mutations import (
    mutate_bag,
    mutate_bytes,
    mutate_database,
    mutate_json,
    mutate_json_lines,
    mutate_lines,
    mutate_mcap,
    mutate_npz,
    mutate_png,
    mutate_skin,
    mutate_xml,
    mutate_yaml,
    png_bytes,
)

import pliant
from pliant.bags import open_bag, read_bag, read_traces
from pliant.base.documents.yaml_tree import read_yaml
from pliant.command_tables import read_commands
from pliant.events import read_scenario
from pliant.experiments.curves import read_curve
from pliant.experiments.report import write_index
from pliant.feet.measured import read_trials, write_trials
from pliant.feet.trials import Trial, Trials
from pliant.formats.manager import read_manager
from pliant.franka.client.position_file import read_positions
from pliant.franka.log import read_arm_log
from pliant.gazebo_yarp.control_board import read_control_board
from pliant.gazebo_yarp.ini import read_ini
from pliant.gazebo_yarp.robot_interface import read_robot_interface
from pliant.identification.measurements import read_measurement
from pliant.identification.randomized import _read as read_identified
from pliant.learn.policy import Policy
from pliant.parallel.page.pose_path import PosePath
from pliant.parallel.page.robot_files import read_robot
from pliant.parallel.page.saved_poses import SavedPoses
from pliant.recording.foreign import traces_of_recording
from pliant.replay.commands import _show_dump
from pliant.replay.player import open_replay
from pliant.rods import load_robot
from pliant.rods.gazebo import read_gazebo_folder
from pliant.rods.loaders import load_description
from pliant.rods.tables import read_table
from pliant.spring_tables import TableSEA
from pliant.sweep.plan import SweepPlan, parse_variation
from pliant.sweep.table import ResultFolder
from pliant.tasks.journal import read_journal
from pliant.vision.client import SharedPictures
from pliant.vision.wire.pictures import PictureHeader, encode_header
from pliant.yarp.bridge.configuration import read_configuration

DATA = Path(__file__).parent.parent / "data"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A format: a valid file of it, how it is mutated, and who reads it."""

    name: str
    """Name, that of the file unless ``file`` gives another."""
    seed: bytes
    """Content of the valid file."""
    mutate: Callable[[random.Random, bytes], bytes]
    """Returns a mutated file."""
    read: Callable[[Path], Any]
    """Reads ``opened``."""
    file: str = ""
    """Path of the file that is mutated."""
    opened: str = ""
    """Path that is read, where it is another than that of the mutated file."""
    beside: dict[str, bytes] = field(default_factory=dict)
    """Further files by path."""

    def write(self, folder: Path, data: bytes) -> Path:
        """Write the file and those beside it; return the path that is read."""
        files = {**self.beside, (self.file or self.name): data}
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return folder / (self.opened or self.file or self.name)


def _arm_log() -> bytes:
    """Return a log as libfranka writes it, of three cycles."""
    columns = [f"{name}[{i}]" for name in ("state.q", "state.dq", "state.tau_J", "cmd.tau_J_d") for i in range(7)]
    rows = [",".join(map(str, [k, 1, *[0.1 * k] * len(columns)])) for k in range(3)]
    return "\n".join([",".join(["time", "success_rate", *columns]), *rows, ""]).encode()


def compiled(path: Path) -> None:
    """Load a robot and compile it."""
    pliant.load(path).compile()


MJCF = b"""<mujoco><compiler angle="radian"/><option timestep="0.001"/><size nuserdata="3"/>
<default><default class="c"><geom size="0.1"/></default></default>
<asset><texture name="t" type="2d" builtin="flat" width="4" height="4"/><material name="m" texture="t"/>
<hfield name="h" nrow="3" ncol="3" size="1 1 1 1"/></asset>
<worldbody><replicate count="3" offset="0.1 0 0"><geom size="0.01"/></replicate><body name="b" pos="0 0 1">
<joint name="j" type="hinge" range="-1 1" limited="true"/><geom name="g" class="c" material="m" mass="1"/>
<site name="s"/></body><body name="c"><flexcomp name="f" type="grid"
count="2 2 1" spacing=".1 .1 .1" dim="2"/></body></worldbody>
<actuator><motor name="a" joint="j" ctrlrange="-1 1"/></actuator><sensor><jointpos joint="j"/><user dim="3"/></sensor>
<keyframe><key qpos="0.1"/></keyframe></mujoco>"""
SDF = b"""<sdf version="1.7"><model name="m"><link name="a"><inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy>
<izz>1</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial><collision name="c"><pose>0 0 0 0 0 0</pose>
<geometry><box><size>1 1 1</size></box></geometry></collision></link><link name="b"><pose>0 0 1 0 0 0</pose><inertial>
<mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial>
</link><joint name="w" type="fixed"><parent>world</parent><child>a</child></joint>
<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz><limit>
<lower>-1</lower><upper>1</upper><effort>3</effort></limit></axis></joint></model></sdf>"""
MESHED = """<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
iyz="0"/></inertial><collision><geometry><mesh filename="m{}"/></geometry></collision></link></robot>"""
CSV = b"time,motor_1_position,motor_2_position,torque,position\n" + b"".join(
    b"%.3f,%.4f,0.1,%.4f,%.4f\n" % (i * 0.01, i * 0.02, i * 0.1, i * 0.03) for i in range(8)
)
SCENARIO = b"""events:
  - {event: set, at: 0.0, device: joint, values: {equilibrium_position: 0.5, stiffness_preset: 0.5}}
  - {event: external_torque, at: 1.0, device: joint, torque: -0.2, duration: 0.5}
  - {event: gains, at: 2.0, device: joint, gains: {motor: 1, kp: 60.0, kd: 4.5}}
  - {event: mode, at: 3.0, device: joint, mode: motor_torques}
  - {event: payload, at: 3.2, body: link_5, mass: 0.3, offset: [0.05, 0.0, 0.0], duration: 2.0}
  - {event: stop, at: 3.5}
"""
IDENTIFIED = (
    b'{"estimates": [{"name": "k", "value": 1.5}, {"name": "c", "value": 0.1}], "covariance": [[1, 0], [0, null]]}'
)
OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
STL = b"\0" * 80 + struct.pack("<I", 4) + b"".join(
    struct.pack("<12fH", 0, 0, 1, *map(float, a + b + c), 0)
    for a, b, c in (
        ((0, 0, 0), (0, 1, 0), (1, 0, 0)),
        ((0, 0, 0), (1, 0, 0), (0, 0, 1)),
        ((0, 0, 0), (0, 0, 1), (0, 1, 0)),
        ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    )
)  # fmt: skip


def _npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


@functools.cache
def _recorded() -> bytes:
    """Return what a recorder writes of a run."""
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.simulation import Simulation

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.mcap"
        robot = pliant.load(DATA / "sea_joint.urdf")
        with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free", recorder=path) as simulation:
            simulation.step(30)
        return path.read_bytes()


def _commanded() -> bytes:
    """Return a bag of ROS 2 with commands."""
    from pliant.recording.mcap import MESSAGE_HEADER, McapWriter
    from pliant.recording.record_file import MESSAGE

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.mcap"
        writer = McapWriter(path)
        schema = writer.add_schema("std_msgs/msg/Float64", "ros2msg", "float64 data\n")
        channel = writer.add_channel(schema, "/arm/elbow/equilibrium_position", "cdr", {})
        for i in range(20):
            body = b"\0\1\0\0" + struct.pack("<d", 0.1 * i)
            head = MESSAGE_HEADER.pack(MESSAGE, MESSAGE_HEADER.size - 9 + len(body), channel, i, i, i)
            writer.append(channel, i, head + body)
        writer.close()
        return path.read_bytes()


def _policy() -> bytes:
    policy = Policy(
        robot="sea-1dof",
        observations=("joint/position", "input/goal"), commands=("joint/equilibrium_position",), period=0.01,
        low=np.array([-1.0]), high=np.array([1.0]), mean=np.zeros(2), scale=np.ones(2), joints=("joint",),
        layers=((np.ones((3, 2)), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))),
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        return policy.save(Path(folder) / "p.npz").read_bytes()


def _trials() -> bytes:
    trials = Trials(trials=(Trial(20.0, 0.005, 1), Trial(20.0, 0.01, 1)), force=np.full((2, 3), 7.0),
                    pitch=np.full((2, 6), 0.01))  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        write_trials(path, trials)
        return path.read_bytes()


LINKS = "".join(
    f"<link name='{n}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
    "</inertial></link>"
    for n in "abc"
)
TAGGED = f"""<robot name="r">{LINKS}
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="3" velocity="2"/></joint>
<joint name="k" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="3" velocity="2"/><mimic joint="j" multiplier="-1" offset="0.1"/></joint>
<ros2_control name="s" type="system"><hardware><plugin>x/Y</plugin></hardware><joint name="j">
<command_interface name="position"><param name="min">-2</param><param name="max">2</param></command_interface>
<state_interface name="position"><param name="initial_value">0.2</param></state_interface></joint></ros2_control>
<gazebo reference="b"><mu1>0.5</mu1><sensor name="i" type="imu"><update_rate>200</update_rate><pose>0 0 1 0 0 0</pose>
<imu><angular_velocity><x><noise type="gaussian"><mean>0.01</mean><stddev>0.1</stddev></noise></x></angular_velocity>
</imu></sensor><sensor name="e" type="camera"><update_rate>20</update_rate><camera><horizontal_fov>1</horizontal_fov>
<image><width>32</width><height>24</height></image><clip><near>0.1</near><far>9</far></clip></camera></sensor>
<sensor name="l" type="ray"><update_rate>5</update_rate><ray><scan><horizontal><samples>9</samples>
<min_angle>-1</min_angle><max_angle>1</max_angle></horizontal></scan><range><min>0.1</min><max>5</max></range></ray>
</sensor></gazebo><gazebo reference="j"><sensor name="f" type="force_torque"><update_rate>9</update_rate></sensor>
</gazebo></robot>""".encode()
ROBOT = """model: {}
name: my-arm
option: {{timestep: 0.0005, gravity: [0, 0, -9.81]}}
actuators:
  joint: {{motor_1: {{damping: 0.3}}, pid_1: {{kp: 100, ki: 1}}, command_delay: 0.002}}
sensors:
  wrist: {{kind: imu, body: link, rate: 100}}
set: {{link.mass: 0.25}}
"""
LIMB = b"""<robot name="l" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="w" value="0.1"/>
<xacro:arg name="x" default="0.0"/><joint name="base_joint" type="prismatic"><limit lower="-10" upper="10"/>
<axis xyz="1 0 0"/><origin xyz="$(arg x) 0 0" rpy="0 0 1.57"/></joint>
<joint name="fix_rod_to_joint" type="fixed"><origin xyz="${w/2} 0 0" rpy="0 0 ${-pi/2}"/></joint></robot>"""
PLATE = (
    b"""<sdf version="1.5" xmlns:xacro="http://www.ros.org/wiki/xacro"><model name="p">
<xacro:property name="mass" value="0.1"/><xacro:property name="h" value="0.1"/>
<link name="distal_plate"><pose>0 0 ${h/2} 0 0 0</pose><inertial><mass>${mass}</mass></inertial></link>"""
    + b"".join(
        b"""<link name="limb%d_joint_body"><pose>0 0 ${h/2} 0 0 0</pose>
<inertial><mass>${mass/100}</mass></inertial></link>
<joint name="limb%d_joint" type="revolute"><pose>0 0 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis></joint>
<link name="limb%d_attach_point"><pose>0 ${0 - h**2} ${h/2} 0 0 0</pose><inertial><mass>${mass/100}</mass></inertial>
</link>"""
        % (i, i, i)
        for i in (1, 2)
    )
    + b"</model></sdf>"
)
LAUNCH = b"""<launch><arg name="y" value="0.8"/><arg name="u" default="true"/>
<group ns="limb1"><param name="robot_description" command="$(find xacro)/xacro '$(find planar)/limb.xacro' x:=-0.2"/>
<param name="is_extendible" value="true" unless="$(eval arg('u'))"/></group>
<include file="$(find planar)/more.launch"><arg name="n" value="2"/></include>
<rosparam>underactuation_vector: [1, 1, 0, 0, 0, 0]</rosparam><param name="robot_name" value="2RR"/>
<param name="robot_description" command="$(find xacro)/xacro '$(find planar)/plate.xacro' a:=$(arg y)"/>
<node name="s" type="spawn_model" args="-sdf -x 0.0 -y $(arg y) -z 0.0 -R 0 -P 0 -Y 0"/></launch>"""
GAZEBO = {
    "planar/robot_config.yaml": b"""launching: {package_name: planar, launch_files: [robot.launch]}
number_of_limbs: 2
rod: {L: 1.0, radius: 0.001, E: 2.0e+11}
initial_guess: [0, 0, 0, 0.1, 0, 0, 0, 0.1]
user_parameters_vectors: {home: {parameters: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0.8, 0]}}
""",
    "planar/robot.launch": LAUNCH,
    "planar/more.launch": b"""<launch><group ns="limb$(arg n)"><param name="robot_description"
command="$(find xacro)/xacro '$(find planar)/limb.xacro' x:=0.2"/></group></launch>""",
    "planar/limb.xacro": LIMB,
    "planar/plate.xacro": PLATE,
}
INTERFACE = b"""<?xml version="1.0"?><!DOCTYPE robot PUBLIC "-//YARP//DTD yarprobotinterface 3.0//EN" "x.dtd">
<robot name="h" build="1" portprefix="/h" xmlns:xi="http://www.w3.org/2001/XInclude"><params><param name="v">1.5</param>
</params><devices><xi:include href="leg.xml"/><device name="r" type="multipleanalogsensorsremapper">
<param name="names"> (foot_ft) </param><group name="G"><param name="x">1 2</param></group>
<action phase="startup" level="5" type="attach"><paramlist name="networks"><elem name="foot"> d </elem></paramlist>
</action><action phase="shutdown" level="15" type="detach"/></device></devices></robot>"""
BOARD = b"""yarpDeviceName leg_device
jointNames hip slide
max_torques   80.0 150.0
[TRAJECTORY_GENERATION]
trajectory_type trapezoidal_speed
refSpeed 20.0 0.02
[IMPEDANCE_CONTROL]
controlUnits metric_units
controlLaw   joint_pid_gazebo_v1
stiffness    1.0 100.0
damping      0.1 10.0
[LIMITS]
jntPosMax 90.0 0.08
jntPosMin -90.0 0.0
[COUPLING]
"""
TETRAHEDRON = (((0, 0, 0), (0, 1, 0), (1, 0, 0)), ((0, 0, 0), (1, 0, 0), (0, 0, 1)),
               ((0, 0, 0), (0, 0, 1), (0, 1, 0)), ((1, 0, 0), (0, 1, 0), (0, 0, 1)))  # fmt: skip
STL_TEXT = ("solid s\n" + "".join(
    "facet normal 0 0 1\nouter loop\n" + "".join(f"vertex {x} {y} {z}\n" for x, y, z in face)
    + "endloop\nendfacet\n" for face in TETRAHEDRON) + "endsolid s\n").encode()  # fmt: skip
PLY = b"""ply
format ascii 1.0
element vertex 4
property float x
property float y
property float z
element face 4
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
0 0 1
3 0 2 1
3 0 1 3
3 0 3 2
3 1 2 3
"""
OFF = b"OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n"
DAE = b"""<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>
<created>2020-01-01T00:00:00</created><modified>2020-01-01T00:00:00</modified><unit name="meter" meter="1"/>
<up_axis>Z_UP</up_axis></asset><library_geometries><geometry id="g" name="g"><mesh><source id="p">
<float_array id="pa" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>
<accessor source="#pa" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source><vertices id="v"><input semantic="POSITION"
source="#p"/></vertices><triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry></library_geometries><library_visual_scenes>
<visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes><scene>
<instance_visual_scene url="#s"/></scene></COLLADA>"""
MSH = struct.pack("<4i", 4, 0, 0, 4) + struct.pack("<12f", 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1) + struct.pack(
    "<12i", 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3)  # fmt: skip
GMSH = b"""$MeshFormat
4.1 0 8
$EndMeshFormat
$Nodes
1 4 1 4
3 1 0 4
1
2
3
4
0 0 0
1 0 0
0 1 0
0 0 1
$EndNodes
$Elements
1 1 1 1
3 1 4 1
1 1 2 3 4
$EndElements
"""
GEOM = b"""<mujoco><asset><mesh name="m" file="m%s"/></asset><worldbody><body><freejoint/><geom type="mesh" mesh="m"/>
</body></worldbody></mujoco>"""
TEXTURED = b"""<mujoco><asset><texture name="t" type="2d" file="m.png"/><material name="m" texture="t"/>
<hfield name="h" file="m.png" size="1 1 1 1"/></asset><worldbody><geom size="1" material="m"/>
<geom type="hfield" hfield="h"/></worldbody></mujoco>"""
TERRAIN = b"""<mujoco><asset><hfield name="h" file="m.bin" size="1 1 1 1"/></asset><worldbody>
<geom type="hfield" hfield="h"/></worldbody></mujoco>"""
COVERED = b"""<mujoco><asset><skin name="s" file="m.skn" inflate="0.01" group="2"/></asset><worldbody><body name="b">
<freejoint/><geom size="0.1"/><body name="c" pos="1 0 0"><joint/><geom size="0.1"/></body></body></worldbody>
</mujoco>"""
SKIN = (struct.pack("<4i", 4, 4, 4, 2) + struct.pack("<12f", 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1)
        + struct.pack("<8f", 0, 0, 1, 0, 0, 1, 1, 1) + struct.pack("<12i", 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3)
        + b"".join(name.ljust(40, b"\0") + struct.pack("<7fi2i2f", place, 0, 0, 1, 0, 0, 0, 2, *over, 1, 0.5)
                   for name, place, over in ((b"b", 0, (0, 2)), (b"c", 1, (1, 3)))))  # fmt: skip
"""Counts, vertices, texture coordinates and faces; for each bone its body, pose, vertices and weights."""
INLINE = b"""<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" texcoord="0 0 1 0 0 1 1 1"
face="0 2 1 0 1 3 0 3 2 1 2 3" normal="1 0 0 0 1 0 0 0 1 1 0 0" refpos="0 0 1" scale="1 1 2" inertia="convex"
maxhullvert="8"/>
<mesh name="n" builtin="supersphere" params="6 0.5 0.5"/><skin name="s" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2"
texcoord="0 0 1 0 0 1"><bone body="b" bindpos="0 0 0" bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 0.5"/></skin>
<texture name="t" type="cube" builtin="gradient" rgb1="1 0 0" rgb2="0 0 1" width="8" height="8" random="0.1"/>
<texture name="u" type="2d" builtin="checker" mark="edge" width="4" height="4" nchannel="3"/><material name="a"><layer
texture="u" role="rgb"/></material><hfield name="h" nrow="2" ncol="3" size="1 1 1 1" elevation="0 1 2 3 4 5"/>
</asset><worldbody><geom type="hfield" hfield="h"/><body name="b"><freejoint/><geom type="mesh" mesh="m" material="a"/>
<geom type="mesh" mesh="n" material="a"/></body></worldbody><deformable><flex name="f" dim="2" body="b"
vertex="0 0 0 1 0 0 0 1 0" element="0 1 2" texcoord="0 0 1 0 0 1"/></deformable></mujoco>"""
PART = b"""<mujoco><compiler angle="radian" meshdir="x"/><default><geom size="0.1"/></default><worldbody><body name="b">
<joint name="j" range="-1 1"/><geom/></body></worldbody><actuator><motor name="m" joint="j"/></actuator></mujoco>"""
ATTACHED = b"""<mujoco><asset><model name="p" file="m.xml"/></asset><worldbody><attach model="p" body="b" prefix="l_"/>
<frame pos="0 1 0"><attach model="p" prefix="r_"/></frame></worldbody></mujoco>"""
INCLUDED = b"""<mujoco><include file="m.xml"/><worldbody><geom type="plane" size="1 1 1"/></worldbody></mujoco>"""
CUBE = b"""<mujoco><asset><texture name="t" type="cube" file="m.png" gridsize="1 1" gridlayout="U"/><texture name="s"
type="skybox" fileright="m.png" fileleft="m.png" fileup="m.png"/><texture name="r" type="2d" nchannel="4" file="m.png"/>
<material name="m" texture="t"/></asset><worldbody><geom size="1" material="m"/></worldbody></mujoco>"""
PICTURE = b"""<mujoco><asset><texture name="t" type="2d" file="m.ktx" content_type="image/ktx"/><material name="m"
texture="t"/></asset><worldbody><geom size="1" material="m"/></worldbody></mujoco>"""
CLOTH = b"""<mujoco><worldbody><flexcomp name="f" type="mesh" file="m.%s" dim="2" mass="1" radius="0.01"><edge
equality="true"/><pin id="0"/></flexcomp></worldbody></mujoco>"""
SOFT = b"""<mujoco><worldbody><body name="b"><flexcomp name="f" type="gmsh" file="m.msh" dim="3" mass="1"/></body>
</worldbody></mujoco>"""


@functools.cache
def _rods() -> Any:
    return load_robot("3RR")


@functools.cache
def _plan() -> tuple[SweepPlan, str]:
    plan = SweepPlan(source="sea-1dof", variations=(parse_variation("joint.k1=1,2"),), duration=0.1)
    return plan, plan.digest()


def _swept(path: Path) -> None:
    """Open the folder of a sweep as the same sweep does that continues."""
    plan, digest = _plan()
    held = type("Plan", (), {"digest": lambda _, robot: digest, "as_dict": lambda _: plan.as_dict()})()
    with ResultFolder(path.parent, held, ("index", "joint.k1", "result")):
        pass


def _everything(path: Path) -> None:
    """Read a bag as commands, as traces, for a replay, and message by message."""
    with open_bag(path) as bag:
        for message in bag.messages():
            if message.topic.known_type():
                message.decode()
    open_replay(path).close()
    read_traces(path)
    read_bag(path)


def _rows(store: Any) -> Any:
    for k in range(6):
        yield "/arm/elbow/reference_1", "std_msgs/msg/Float64", k * 10_000_000, bag_files.number(store, k)
        yield (
            "/joint_states",
            "sensor_msgs/msg/JointState",
            k * 10_000_000,
            bag_files.joint_state(store, k * 10_000_000, ["elbow"], [0.1 * k], [0.0], [0.2]),
        )


@functools.cache
def _bag(kind: str) -> tuple[bytes, bytes]:
    """Return a bag, and the metadata of its folder."""
    with tempfile.TemporaryDirectory() as folder:
        path = bag_files.write_any(Path(folder), _rows, kind)
        metadata = path.parent / "metadata.yaml"
        return path.read_bytes(), metadata.read_bytes() if metadata.exists() else b""


def _poses(path: Path) -> None:
    PosePath(_rods()).load(path.read_bytes(), path.name, direct=True)


def _poses_of(path: Path) -> None:
    SavedPoses(_rods(), path).all()


def _meshes() -> list[Kind]:
    """Return the meshes of a URDF and of an MJCF."""
    read, urdf = compiled, "arm.urdf"
    formats: list[tuple[str, bytes, Any]] = [
        (".obj", OBJ, mutate_lines), (".stl", STL, mutate_bytes), (".msh", MSH, mutate_bytes),
        (".ply", PLY, mutate_lines), (".off", OFF, mutate_lines), (".dae", DAE, mutate_xml),
    ]  # fmt: skip
    out = [
        Kind(name=f"mesh{end}", file=f"m{end}", seed=seed, mutate=mutate, read=read, opened=urdf,
             beside={urdf: MESHED.format(end).encode()})
        for end, seed, mutate in formats
    ]  # fmt: skip
    out.append(Kind(name="text.stl", file="m.stl", seed=STL_TEXT, mutate=mutate_lines, read=read, opened=urdf,
                    beside={urdf: MESHED.format(".stl").encode()}))  # fmt: skip
    natives: list[tuple[str, str, bytes, Any, bytes]] = [
        ("own.obj", ".obj", OBJ, mutate_lines, GEOM % b".obj"), ("own.stl", ".stl", STL, mutate_bytes, GEOM % b".stl"),
        ("own.msh", ".msh", MSH, mutate_bytes, GEOM % b".msh"), ("flex.msh", ".msh", GMSH, mutate_lines, SOFT),
        ("texture.png", ".png", png_bytes(4, 4, bytes(52)), mutate_png, TEXTURED),
        ("terrain.bin", ".bin", struct.pack("<ii9f", 3, 3, *range(9)), mutate_bytes, TERRAIN),
        ("skin.skn", ".skn", SKIN, mutate_skin, COVERED),
        ("cube.png", ".png", png_bytes(4, 4, bytes(52)), mutate_png, CUBE),
        ("texture.ktx", ".ktx", b"\xabKTX 11\xbb\r\n\x1a\n" + bytes(64), mutate_bytes, PICTURE),
        ("cloth.obj", ".obj", OBJ, mutate_lines, CLOTH % b"obj"),
("cloth.stl", ".stl", STL, mutate_bytes, CLOTH % b"stl"), ("attached.xml", ".xml", PART, mutate_xml, ATTACHED),
        ("included.xml", ".xml", PART, mutate_xml, INCLUDED),
    ]  # fmt: skip
    out += [
        Kind(name=name, file=f"m{end}", seed=seed, mutate=mutate, read=read, opened="arm.xml", beside={"arm.xml": text})
        for name, end, seed, mutate, text in natives
    ]
    return out


def _bags() -> list[Kind]:
    """Return the bags of ROS."""
    out = []
    for name, mutate in (("bag", mutate_bag), ("lz4", mutate_bag), ("mcap", mutate_mcap), ("db3", mutate_database)):
        file = f"run.{'bag' if name == 'lz4' else name}"
        out.append(Kind(name=f"ros.{name}", file=file, seed=_bag(name)[0], mutate=mutate, read=_everything))
    data, metadata = _bag("mcap")
    out.append(Kind(name="metadata.yaml", file="run/metadata.yaml", seed=metadata, mutate=mutate_yaml, read=_everything,
                    opened="run", beside={"run/run.mcap": data}))  # fmt: skip
    return out


def _rod_files(rods: bytes) -> list[Kind]:
    """Return files of parallel robots."""
    saved = {"3RR": {"mine": {"mode": "dgm", "q": [0.1, 0.2, 0.3], "wrench": [0.0, 0.0, 0.0]}}}
    out = [
        Kind(name="rods.yaml", seed=rods, mutate=mutate_yaml, read=load_description),
        Kind(name="rods.json", seed=json.dumps(yaml.safe_load(rods)).encode(),
             mutate=mutate_json, read=load_description),
        Kind(name="poses.csv", seed=b"q1,q2\n1,2\n3,4\n", mutate=mutate_lines, read=lambda p: read_table(p, [2])),
        Kind(name="path.csv", seed=b"q1,q2,q3\n0,0,0\n0.1,0.1,0.1\n", mutate=mutate_lines, read=_poses),
        Kind(name="saved.json", seed=json.dumps(saved).encode(), mutate=mutate_json, read=_poses_of),
        Kind(name="upload.yaml", seed=rods.replace(b'"3RR"', b'"other"', 1), mutate=mutate_yaml,
             read=lambda p: read_robot(p.read_bytes(), p.name)),
    ]  # fmt: skip
    mutators = {"yaml": mutate_yaml, "launch": mutate_xml, "xacro": mutate_xml}
    for file, seed in GAZEBO.items():
        mutate = mutators[file.partition(".")[2]]
        name = f"gazebo-{file.partition('/')[2]}"
        out.append(Kind(name=name, file=file, seed=seed, mutate=mutate, read=read_gazebo_folder,
                        opened="planar", beside=GAZEBO))  # fmt: skip
    return out


def _yarp_files() -> list[Kind]:
    """Return files of YARP."""
    types = {"hip": "revolute", "slide": "prismatic"}
    folder = DATA / "yarp"
    conf = {f"yarp/{p.relative_to(folder)}": p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    hopper = "yarp/robots/hopper.urdf"
    interface = "yarp/conf/hopper.xml"
    return [
        Kind(name="hopper.urdf", file=hopper, seed=conf[hopper], mutate=mutate_xml, read=compiled, beside=conf),
        Kind(name="hopper.xml", file=interface, seed=conf[interface], mutate=mutate_xml, read=compiled, opened=hopper,
             beside=conf),
        Kind(name="interface.xml", seed=INTERFACE, mutate=mutate_xml, read=read_robot_interface,
             beside={"leg.xml": b"<devices><device name='d' type='t'/></devices>"}),
        Kind(name="board.ini", seed=BOARD, mutate=mutate_lines,
             read=lambda p: read_control_board(read_ini(p), types, name="leg")),
        Kind(name="values.ini", seed=b"[a]\nx 1 2\ny (1 2 3)\n[b]\nz 1\n", mutate=mutate_lines, read=read_ini),
        Kind(name="yarp.conf", seed=b"127.0.0.1 10000 yarp\n", mutate=mutate_lines,
             read=lambda p: read_configuration({"YARP_CONFIG_HOME": str(p.parent)})),
        Kind(name="group.conf", file="yarp.conf", seed=b"[name]\nhost = 127.0.0.1\nport = 10000\n", mutate=mutate_lines,
             read=lambda p: read_configuration({"YARP_CONFIG_HOME": str(p.parent)})),
    ]  # fmt: skip


def _robots() -> list[Kind]:
    """Return descriptions of robots."""
    urdf = [(DATA / f"{name}_joint.urdf").read_bytes() for name in ("qbmove", "sea", "awas_ii")]
    robot = ROBOT.format("arm.urdf").encode()
    beside = {"arm.urdf": urdf[1]}
    return [
        *[Kind(name=f"arm{i}.urdf", seed=seed, mutate=mutate_xml, read=compiled) for i, seed in enumerate(urdf)],
        Kind(name="tagged.urdf", seed=TAGGED, mutate=mutate_xml, read=compiled),
        Kind(name="arm.xml", seed=MJCF, mutate=mutate_xml, read=compiled),
        Kind(name="assets.xml", seed=INLINE, mutate=mutate_xml, read=compiled),
        Kind(name="biped.xml", seed=(DATA / "biped.xml").read_bytes(), mutate=mutate_xml, read=compiled),
        Kind(name="arm.sdf", seed=SDF, mutate=mutate_xml, read=compiled),
        Kind(name="bytes.urdf", seed=urdf[0], mutate=mutate_bytes, read=compiled),
        Kind(name="robot.yaml", seed=robot, mutate=mutate_yaml, read=compiled, beside=beside),
        Kind(name="robot.json", seed=json.dumps(yaml.safe_load(robot)).encode(), mutate=mutate_json, read=compiled,
             beside=beside),
        Kind(name="manager.yaml", seed=(DATA / "manager.yaml").read_bytes(), mutate=mutate_yaml,
             read=lambda p: read_manager(read_yaml(p), ["joint"], {})),
    ]  # fmt: skip


def _tables() -> list[Kind]:
    """Return tables, archives and results."""
    times = np.arange(8) * 0.01
    columns = {"time": times, "motor_1_position": times, "motor_2_position": times, "torque": times, "position": times}
    dump = {"time": times, "qpos": np.zeros((8, 2)), "qvel": np.zeros((8, 2)), "joints": np.array(["a", "b"])}
    events = json.dumps(yaml.safe_load(SCENARIO)).encode()
    report = {"name": "a", "title": "A", "targets": [{"name": "t", "passed": True}],
              "passed": True, "verdicts": {"reproduced": 1},
              "files": {"report": "a.html"}}  # fmt: skip
    journal = b'{"key": "a", "result": {"x": 1.5}}\n{"key": "b", "result": {"x": 2}}\n'
    plan = json.dumps({"digest": _plan()[1], "plan": {}}).encode()
    swept = b"index,joint.k1,result\r\n0,1.0,2.5\r\n1,2.0,True\r\n"
    pictures = encode_header(PictureHeader(height=2, width=2)) + bytes(12)
    return [
        Kind(name="events.yaml", seed=SCENARIO, mutate=mutate_yaml, read=read_scenario),
        Kind(name="events.json", seed=events, mutate=mutate_json, read=read_scenario),
        Kind(name="steps.csv", seed=b"time,motors/position\n0,1\n0.1,2\n0.2,3\n",
             mutate=mutate_lines, read=read_commands),
        Kind(name="steps.yaml", seed=b"time: [0, 0.1]\nmotors/position: [1, 2]\n",
             mutate=mutate_yaml, read=read_commands),
        Kind(name="steps.json", seed=b'{"time": [0, 0.1], "motors/position": [1, 2]}', mutate=mutate_json,
             read=read_commands),
        Kind(name="steps.npz", seed=_npz(time=times, **{"motors/position": times}),
             mutate=mutate_npz, read=read_commands),
        Kind(name="data.csv", seed=CSV, mutate=mutate_lines, read=read_measurement),
        Kind(name="arm.csv", seed=_arm_log(), mutate=mutate_lines, read=lambda p: read_arm_log(p, "franka")),
        Kind(name="data.npz", seed=_npz(**columns), mutate=mutate_npz, read=read_measurement),
        Kind(name="dump.npz", seed=_npz(**dump), mutate=mutate_npz,
             read=lambda p: _show_dump(p, True, None)),  # type: ignore[arg-type]
        Kind(name="policy.npz", seed=_policy(), mutate=mutate_npz, read=Policy.load),
        Kind(name="fit.json", seed=IDENTIFIED, mutate=mutate_json, read=read_identified),
        Kind(name="spring.csv", seed=b"deflection [rad],torque [N m]\n-0.2,-9\n-0.1,-4\n0,0\n0.1,4\n0.2,9\n",
             mutate=mutate_lines, read=lambda p: TableSEA(table=p, odd=False)),
        Kind(name="curve.csv", seed=b"time,torque\n0,1\n1,2\n", mutate=mutate_lines, read=read_curve),
        Kind(name="home.pos", seed=b"#PANDA\nR: 1 2 3 4 5 6 7\n", mutate=mutate_lines, read=read_positions),
        Kind(name="trials.csv", seed=_trials(), mutate=mutate_lines, read=lambda p: read_trials(p, count=2)),
        Kind(name="report.json", seed=json.dumps(report).encode(),
             mutate=mutate_json, read=lambda p: write_index(p.parent)),
        Kind(name="walks.jsonl", seed=journal,
             mutate=mutate_json_lines, read=lambda p: read_journal(p, dict[str, float])),
        Kind(name="results.csv", file="swept/results.csv", seed=swept, mutate=mutate_lines, read=_swept,
             beside={"swept/plan.json": plan}),
        Kind(name="plan.json", file="swept/plan.json", seed=plan, mutate=mutate_json, read=_swept,
             beside={"swept/results.csv": swept}),
        Kind(name="pictures", seed=pictures, mutate=mutate_bytes, read=lambda p: SharedPictures(p).close()),
        Kind(name="run.mcap", seed=_recorded(), mutate=mutate_mcap, read=lambda p: open_replay(p).close()),
        Kind(name="measured.mcap", seed=_recorded(), mutate=mutate_mcap, read=traces_of_recording),
        Kind(name="bag.mcap", seed=_commanded(), mutate=mutate_mcap, read=read_commands),
    ]  # fmt: skip


@functools.cache
def kinds() -> tuple[Kind, ...]:
    """Return every format with a valid file."""
    rods = (Path(pliant.__file__).parent / "rods" / "catalogue" / "3RR.yaml").read_bytes()
    return (*_robots(), *_meshes(), *_tables(), *_bags(), *_rod_files(rods), *_yarp_files())
