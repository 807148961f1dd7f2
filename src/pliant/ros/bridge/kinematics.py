"""Where the links of a robot are: its tree as the description has it, filled with the positions of the joints."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.base.spatial import quaternion_from_rpy, quaternion_product, rotate
from pliant.ros2_control.source import BALL, FREE, SLIDE, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One joint of the description: how a link stands on the one before it."""

    parent: str
    """Link of the model's names."""
    child: str
    """Link of the model's names."""
    position: np.ndarray
    """Origin where the joint's position is 0, in the parent [m], shape (3,)."""
    orientation: np.ndarray
    """The same as a quaternion (w, x, y, z), shape (4,)."""
    axis: np.ndarray
    """Axis of the joint in the child, shape (3,)."""
    joint: int
    """Joint of the model; -1 for a fixed one."""


class KinematicTree:
    """The edges of a robot's description.

    Args:
        root: the element ``<robot>``.
        source: its source.
    """

    def __init__(self, root: ET.Element, source: Source) -> None:
        self.model = source.model
        numbers = {name: j for j, name in enumerate(source.joints)}
        edges = [_edge(element, numbers) for element in root.findall("joint")]
        self.fixed = [edge for edge in edges if edge.joint < 0]
        """The edges that do not move."""
        moving = [edge for edge in edges if edge.joint >= 0]
        kind = self.model.jnt_type
        self.single = [e for e in moving if int(kind[e.joint]) not in (FREE, BALL)]
        """The edges of hinges and slides."""
        self.floating = [e for e in moving if int(kind[e.joint]) == FREE]
        """The edges of free bodies."""
        self.balls = [e for e in moving if int(kind[e.joint]) == BALL]
        self.moving = [*self.single, *self.floating, *self.balls]
        """The edges that move, in the order of `places`."""
        self.addresses = self.model.jnt_qposadr[[e.joint for e in self.single]].astype(int)
        """Places of the positions of `single` in qpos."""
        self.velocities = self.model.jnt_dofadr[[e.joint for e in self.single]].astype(int)
        """Places of their velocities in qvel."""
        slides = np.array([int(kind[e.joint]) == SLIDE for e in self.single], dtype=bool)
        self._slides = np.where(slides, 1.0, 0.0)
        self._positions = _stack([e.position for e in self.single], 3)
        self._orientations = _stack([e.orientation for e in self.single], 4)
        self._axes = _stack([e.axis for e in self.single], 3)
        self._slide_axes = np.array([rotate(e.orientation, e.axis) for e in self.single]).reshape(-1, 3)

    def bases(self) -> list[Edge]:
        """Return the free bodies that carry joints: what odometry is of."""
        parents = {int(self.model.jnt_bodyid[e.joint]) for e in self.floating}
        carried = {int(self.model.body_rootid[self.model.jnt_bodyid[e.joint]]) for e in self.single}
        return [e for e in self.floating if int(self.model.jnt_bodyid[e.joint]) in parents & carried]

    def places(self, qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return position and quaternion of each moving edge's child in its parent.

        Args:
            qpos: positions of the model.

        Returns:
            Shapes (n, 3) [m] and (n, 4) (w, x, y, z).
        """
        q = qpos[self.addresses]
        half = 0.5 * q * (1.0 - self._slides)
        turn = np.vstack([np.cos(half), np.sin(half) * self._axes.T])
        positions = [self._positions + (q * self._slides)[:, None] * self._slide_axes]
        orientations = [quaternion_product(self._orientations.T, turn).T]
        for edge in self.floating:
            at = int(self.model.jnt_qposadr[edge.joint])
            positions.append(qpos[None, at : at + 3])
            orientations.append(qpos[None, at + 3 : at + 7])
        for edge in self.balls:
            at = int(self.model.jnt_qposadr[edge.joint])
            positions.append(edge.position[None])
            orientations.append(quaternion_product(edge.orientation, qpos[at : at + 4])[None])
        return np.concatenate(positions), np.concatenate(orientations)


def _stack(rows: Sequence[np.ndarray], width: int) -> np.ndarray:
    return np.array(rows, dtype=float).reshape(-1, width)


def _edge(element: ET.Element, numbers: dict[str, int]) -> Edge:
    origin, axis = element.find("origin"), element.find("axis")
    parent, child = element.find("parent"), element.find("child")
    assert parent is not None  # the export writes both
    assert child is not None
    xyz, rpy = ((origin.get(key, "0 0 0") if origin is not None else "0 0 0") for key in ("xyz", "rpy"))
    return Edge(
        parent=parent.get("link", ""),
        child=child.get("link", ""),
        position=np.array([float(x) for x in xyz.split()]),
        orientation=np.asarray(quaternion_from_rpy([float(x) for x in rpy.split()])),
        axis=np.array([float(x) for x in (axis.get("xyz", "") if axis is not None else "1 0 0").split()]),
        joint=-1 if element.get("type") == "fixed" else numbers[element.get("name", "")],
    )
