"""``robot_description``: the URDF of the robot, latched, with the addresses of its meshes on this machine."""

from __future__ import annotations

import hashlib
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

from pliant.base.codecache import cache_folder
from pliant.base.replacing import replacing
from pliant.base.spatial import rotation_from_quaternion, rpy_from_rotation
from pliant.model.robot import Robot
from pliant.ros.bridge.graph_names import GraphNames
from pliant.ros.bridge.kinematics import KinematicTree
from pliant.ros.bridge.topics import RosTopics
from pliant.ros2_control.tree import urdf_of_tree

MARK = "<!-- by pliant -->"
"""Comment by which a parameter of an earlier run is told from one that a launch file has set."""


class Description:
    """The description of a robot."""

    def __init__(self, robot: Robot) -> None:
        self.root, self._meshes, source = urdf_of_tree(robot)
        self.tree = KinematicTree(self.root, source)
        """The tree, with the model's names."""
        self.offsets = {name: source.offsets[b] for b, name in enumerate(source.bodies)}
        """Place of each link's frame in its body [m]."""
        self.joints = [source.joints[edge.joint] for edge in self.tree.single]
        """Hinges and slides, by the names of the model."""

    def text(self, names: GraphNames) -> str:
        """Return the URDF with the names of the graph; write the meshes that are not written yet."""
        root = ET.fromstring(ET.tostring(self.root))
        for element in root.iter():
            if element.tag == "link":
                element.set("name", names.link(element.get("name", "")))
            elif element.tag in ("parent", "child"):
                element.set("link", names.link(element.get("link", "")))
            elif element.tag == "joint":
                element.set("name", names.joint(element.get("name", "")))
            elif element.tag == "mimic":
                element.set("joint", names.joint(element.get("joint", "")))
        if self._meshes:
            folder = mesh_folder(self._meshes)
            for mesh in root.iter("mesh"):
                mesh.set("filename", (folder / mesh.get("filename", "")).as_uri())
        _add_frames(root, names)
        return f'<?xml version="1.0"?>\n{MARK}\n{ET.tostring(root, encoding="unicode")}\n'


def _add_frames(root: ET.Element, names: GraphNames) -> None:
    """Add the fixed frames of wings as links without shapes."""
    for parent, child, position, orientation in names.frames:
        ET.SubElement(root, "link", name=names.link(child))
        joint = ET.SubElement(root, "joint", name=f"{names.link(child)}_fixed", type="fixed")
        xyz = " ".join(map(repr, position))
        ET.SubElement(joint, "origin", xyz=xyz, rpy=" ".join(map(repr, _rpy(orientation))))
        ET.SubElement(joint, "parent", link=names.link(parent))
        ET.SubElement(joint, "child", link=names.link(child))


def _rpy(orientation: tuple[float, ...]) -> list[float]:
    return [float(v) for v in rpy_from_rotation(rotation_from_quaternion(orientation))]


def mesh_folder(meshes: Mapping[str, bytes]) -> Path:
    """Return the folder that holds these meshes; equal meshes of all robots and runs are written once."""
    digest = hashlib.sha256()
    for name, data in meshes.items():
        digest.update(f"{name}:{len(data)}:".encode() + data)
    folder = cache_folder() / "meshes" / digest.hexdigest()[:20]
    for name, data in meshes.items():
        file = folder / name
        if not file.exists() or file.stat().st_size != len(data):
            file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(file) as beside:  # another robot may read the file now
                beside.write_bytes(data)
    return folder


def described(topics: RosTopics) -> Description | None:
    """Return the description of the robot; None where no engine is bound, as in a replay and in a bag."""
    if topics.simulation is None or not isinstance(topics.robot, Robot):
        return None
    if "state/qpos" not in topics.simulation.engine.ports():
        return None
    return Description(topics.robot)


def serve_description(topics: RosTopics, description: Description) -> None:
    """Send the URDF, and set it as parameter where there is a server and nobody else has set it.

    The topic is ``/robot_description``; of a robot with a name space of its own, below that.
    """
    text = description.text(topics.names)
    name = topics.name("robot_description") if topics.options.namespace else "/robot_description"
    handle = topics.advertise(name, "std_msgs/String", latch=True)
    handle.send(topics.node.codec.encode("std_msgs/String", {"data": text}))
    place = topics.names.topic(name)
    before = topics.node.get_param(place)
    if not isinstance(before, str) or not before.strip() or MARK in before:
        topics.node.set_param(place, text)
