"""A robot as URDF: links, joints, meshes, transmissions, ros2_control's tags, the toolbox's plugins, extensions.

The tags give the simulated robot the names that the real one's controllers use. Beside them stand the toolbox's
``<gazebo><plugin>`` tags, by which pliant (and Gazebo with the toolbox) builds the same actuators again; what those
cannot say stands in ``<param>`` tags of the joint, and what URDF cannot say of the bodies in ``<mujoco>``.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import ModelError
from pliant.export.extension import write_extension, write_gazebo_tags
from pliant.export.written import RobotExport
from pliant.formats.source import write_plugin
from pliant.model.interface import JointInterface
from pliant.model.wanted import check_robot
from pliant.ros2_control.geometry import MESH_FOLDER, URDF_SHAPES, Materials, MeshFiles
from pliant.ros2_control.source import Source
from pliant.ros2_control.tree import write_tree
from pliant.ros2_control.written import write_control

if TYPE_CHECKING:
    from pliant.model.robot import Robot


@dataclass(frozen=True, slots=True, kw_only=True)
class UrdfExport(RobotExport):
    """A robot as URDF, in memory."""


def describe_urdf(robot: Robot, *, package: str | None = None) -> UrdfExport:
    """Return a robot as URDF with its mesh files, and notes.

    What URDF cannot carry is refused: ball joints, tendons, loops and other equality constraints than a joint that
    follows another linearly, flexible bodies, height fields, MuJoCo's plugins.

    Args:
        robot: the robot.
        package: ROS package that the URDF will lie at the root of; meshes are then named ``package://`` by it.

    Raises:
        ModelError: the robot has an element that URDF cannot carry, which the message names; a package without a name.
    """
    check_robot(robot, "describe_urdf", compiled=False)
    if package is not None and not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", package):
        raise ModelError(
            f"package is {package!r}; must be the name of a ROS package, letters, digits, '_' and '-'", field="package"
        )
    source = Source(robot)
    root = ET.Element("robot", name=robot.name or "robot")
    meshes, materials = MeshFiles(source, MESH_FOLDER, package), Materials()
    write_tree(root, source, meshes, materials)
    materials.write(root, 0)
    write_control(root, source)
    _write_plugins(root, source)
    write_gazebo_tags(root, source)
    write_extension(root, source)
    notes = [*source.notes, *_only_for_pliant(source)]
    ET.indent(root, "  ")
    text = '<?xml version="1.0"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
    return UrdfExport(text=text, meshes=meshes.files, notes=tuple(notes))


def export_urdf(
    robot: Robot, path: str | Path | None = None, *, package: str | None = None, overwrite: bool = False
) -> str:
    """Return a robot as URDF; write it, with its meshes in the folder ``meshes`` beside it, where a path is given.

    Args:
        robot: the robot.
        path: the file to write; None only returns the text.
        package: as of `describe_urdf`.
        overwrite: as of `UrdfExport.write`.

    Raises:
        ModelError: as of `describe_urdf` and `UrdfExport.write`.

    Example:
        >>> export_urdf(pliant.load("qbmove-2dof"), "arm.urdf")
    """
    export = describe_urdf(robot, package=package)
    if path is not None:
        export.write(path, overwrite=overwrite)
    return export.text


def _write_plugins(root: ET.Element, source: Source) -> None:
    """Write one plugin for each compliant joint whose law has one."""
    for joint, actuator in source.robot.actuators.items():
        described = source.robot.interface.joints.get(joint) or JointInterface(joint=joint)
        written = write_plugin(actuator, described)
        if written is not None:  # the ros2_control tags name a law without one, such as a user's own
            ET.SubElement(root, "gazebo").append(written[0])


def _only_for_pliant(source: Source) -> list[str]:
    """Say what other programs do not read, by what there is of it."""
    model = source.model
    notes = []
    shapes = [source.geoms[g] for g in range(model.ngeom) if int(model.geom_type[g]) not in URDF_SHAPES]
    composed = [source.bodies[b] for b in range(1, model.nbody) if len(source.joints_of(b)) > 1]
    moved = [source.bodies[b] for b in range(1, model.nbody) if np.any(source.offsets[b])]
    for names, text in (
        (moved, "the frames of links lie at their joints, as a URDF has them, and no longer where the bodies had them"),
        (shapes, "shapes that URDF lacks (planes, ellipsoids) are read by pliant only"),
        (composed, "bodies with several joints are a chain of links of 1e-6 kg for other programs than pliant"),
    ):
        if names:
            shown = ", ".join(map(repr, names[:6])) + (", ..." if len(names) > 6 else "")
            notes.append(f"{text}: {shown}")
    if (model.dof_armature != 0.0).any():
        notes.append("the armature of the joints is read by pliant only")
    return notes
