"""Links and joints of an exported robot.

A body with several joints becomes a chain: light links stand between the joints, for tools that want every link to
weigh something, and ``<mujoco><compose>`` names them, so that pliant makes one body of them again, without that weight.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.spatial import exp_so3, rotation_from_quaternion
from pliant.formats.tags import numbers
from pliant.ros2_control.geometry import MESH_FOLDER, Materials, MeshFiles, write_shape
from pliant.ros2_control.source import BALL, FREE, SLIDE, Source, rpy_text
from pliant.ros2_control.written import write_control

if TYPE_CHECKING:
    from pliant.model.robot import Robot

SMALL = 1e-6
"""Mass [kg] of a link that only joins two joints of one body; assumed, small enough to be felt nowhere."""
FAR = 1e3
"""Limit of a slide that has none, which URDF wants [m]; the extension says that it has none."""


def write_origin(parent: ET.Element, position: np.ndarray, rotation: np.ndarray) -> None:
    """Write an ``<origin>``."""
    ET.SubElement(parent, "origin", xyz=numbers(position), rpy=rpy_text(rotation))


def write_tree(root: ET.Element, source: Source, meshes: MeshFiles, materials: Materials) -> None:
    """Write all links and joints, bodies in the model's order."""
    model = source.model
    for body in range(model.nbody):
        link = ET.SubElement(root, "link", name=source.bodies[body])
        if body and model.body_mass[body] > 0.0:
            inertial = ET.SubElement(link, "inertial")
            write_origin(
                inertial, model.body_ipos[body] - source.offsets[body], rotation_from_quaternion(model.body_iquat[body])
            )
            ET.SubElement(inertial, "mass", value=numbers(model.body_mass[body]))
            xx, yy, zz = (numbers(v) for v in model.body_inertia[body])
            ET.SubElement(inertial, "inertia", ixx=xx, iyy=yy, izz=zz, ixy="0", ixz="0", iyz="0")
        first = int(model.body_geomadr[body])
        for geom in range(first, first + int(model.body_geomnum[body])):
            write_shape(link, source, geom, meshes, materials)
        if body:
            _write_joints(root, source, body)


def _ends(joint: ET.Element, parent: str, child: str) -> None:
    ET.SubElement(joint, "parent", link=parent)
    ET.SubElement(joint, "child", link=child)


def _write_joints(root: ET.Element, source: Source, body: int) -> None:
    model = source.model
    name = source.bodies[body]
    parent = int(model.body_parentid[body])
    above = source.bodies[parent]
    position = model.body_pos[body] - source.offsets[parent]
    rotation = rotation_from_quaternion(model.body_quat[body])
    joints = source.joints_of(body)
    if not joints:
        joint = ET.SubElement(root, "joint", name=_fixed_name(source, name), type="fixed")
        write_origin(joint, position, rotation)
        _ends(joint, above, name)
        return
    if int(model.jnt_type[joints[0]]) == FREE:
        joint = ET.SubElement(root, "joint", name=source.joints[joints[0]], type="floating")
        address = int(model.jnt_qposadr[joints[0]])
        # A spring pulls a free joint to the pose of the file; without one it starts where the key frame has it.
        place = (model.qpos0 if model.jnt_stiffness[joints[0]] else source.rest)[address : address + 7]
        write_origin(joint, place[:3], rotation_from_quaternion(place[3:] / np.linalg.norm(place[3:])))
        _ends(joint, above, name)
        return
    if any(int(model.jnt_type[j]) == BALL for j in joints):  # only in a partial description
        joint = ET.SubElement(root, "joint", name=source.joints[joints[-1]], type="floating")
        write_origin(joint, position + rotation @ source.offsets[body], rotation)
        _ends(joint, above, name)
        return
    between = source.between(body)
    before = np.zeros(3)
    for k, j in enumerate(joints):
        axis, anchor = model.jnt_axis[j], model.jnt_pos[j]
        back = -float(model.qpos0[model.jnt_qposadr[j]])  # URDF's zero is where the position is 0
        slides = int(model.jnt_type[j]) == SLIDE
        turn = np.eye(3) if slides or not back else exp_so3(axis * back)
        shift = axis * back if slides else np.zeros(3)
        if k == 0:
            position, rotation = position + rotation @ (anchor + shift), rotation @ turn
        else:
            position, rotation = anchor - before + shift, turn
        before = anchor
        limited = bool(model.jnt_limited[j])
        kind = "prismatic" if slides else "revolute" if limited else "continuous"
        joint = ET.SubElement(root, "joint", name=source.joints[j], type=kind)
        write_origin(joint, position, rotation)
        child = name if k == len(joints) - 1 else between[k]
        _ends(joint, above, child)
        ET.SubElement(joint, "axis", xyz=numbers(axis))
        limits = {"effort": numbers(source.effort(j)), "velocity": numbers(source.velocity(j))}
        if limited or slides:
            low, high = model.jnt_range[j] if limited else (-FAR, FAR)
            limits |= {"lower": numbers(low), "upper": numbers(high)}
        ET.SubElement(joint, "limit", limits)
        dof = int(model.jnt_dofadr[j])
        ET.SubElement(
            joint,
            "dynamics",
            damping=numbers(model.dof_damping[dof]),
            friction=numbers(model.dof_frictionloss[dof]),
        )
        mimic = source.mimics.get(j)
        if mimic is not None:
            ET.SubElement(
                joint,
                "mimic",
                joint=mimic.other,
                multiplier=numbers(mimic.multiplier),
                offset=numbers(mimic.offset),
            )
        if child != name:
            inertial = ET.SubElement(ET.SubElement(root, "link", name=child), "inertial")
            ET.SubElement(inertial, "mass", value=repr(SMALL))
            tiny = repr(SMALL * 1e-4)
            ET.SubElement(inertial, "inertia", ixx=tiny, iyy=tiny, izz=tiny, ixy="0", ixz="0", iyz="0")
        above = child


def urdf_of_tree(robot: Robot) -> tuple[ET.Element, Mapping[str, bytes], Source]:
    """Return the tree of a robot for viewers and planners: links, joints, shapes, and ros2_control's tags.

    What URDF cannot carry (loops, tendons, flexible bodies) is left out; a ball joint is a floating one. The elements
    that only pliant reads are left out too.

    Returns:
        The element ``<robot>``, mesh files by their path relative to the URDF, and the source, which has the notes.
    """
    source = Source(robot, partial=True)
    root = ET.Element("robot", name=robot.name or "robot")
    meshes, materials = MeshFiles(source, MESH_FOLDER), Materials()
    write_tree(root, source, meshes, materials)
    materials.write(root, 0)
    write_control(root, source)
    ET.indent(root, "  ")
    return root, meshes.files, source


def _fixed_name(source: Source, link: str) -> str:
    name = f"{link}_fixed"
    while name in source.joints or (name != f"{link}_fixed" and name in source.bodies):
        name += "_"
    return name
