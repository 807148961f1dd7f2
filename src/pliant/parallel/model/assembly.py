"""A dynamic model of a parallel robot while it is put together, and what its parts share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant.base.numerics import Array
from pliant.parallel.model.options import ParallelOptions
from pliant.rods.model.shapes import OBJECT_CONTACT, ROD_CONTACT, RodShape

if TYPE_CHECKING:
    from mujoco import MjsBody

    from pliant.parallel.model.rod_weight import Extension
    from pliant.rods.description import RobotDescription
    from pliant.rods.solution import Solution

PLATE = "plate"
"""Name of the plate's body."""


@dataclass(slots=True, kw_only=True)
class Assembly:
    """A dynamic model while it is put together."""

    spec: mujoco.MjSpec
    """The bodies so far."""
    solution: Solution
    """The equilibrium that the model starts from."""
    options: ParallelOptions
    """How the rods become a model."""
    notes: list[str] = field(default_factory=list)
    """Omissions and assumptions, one sentence each."""
    actuators: list[str] = field(default_factory=list)
    """Names of the servos, in the order of q."""
    constraints: list[str] = field(default_factory=list)
    """Names of the equality constraints that hold the robot together, whose stiffness follows the time step."""
    elastic: dict[str, float] = field(default_factory=dict)
    """Stiffness of the joints of chains [N m/rad or N/m], 1 of flexes, that are the elasticity of the rods, by name."""
    extensions: list[Extension] = field(default_factory=list)
    """The limbs whose rods change their length."""
    rods: list[RodShape] = field(default_factory=list)
    """The collision shapes of the rods, one per limb."""
    bent: dict[str, Array] = field(default_factory=dict)
    """Where the equilibrium has the points of a flex and the twists of its edges, by name."""
    edges: dict[str, Array] = field(default_factory=dict)
    """Rest lengths of the edges of each flex [m], by name."""

    @property
    def description(self) -> RobotDescription:
        """Description of the robot's parts."""
        return self.solution.robot.description

    @property
    def contact_bits(self) -> dict[str, int]:
        """Contact type and affinity of rods and plate."""
        if self.options.contact:
            return {"contype": ROD_CONTACT, "conaffinity": OBJECT_CONTACT}
        return {"contype": 0, "conaffinity": 0}

    def limb_name(self, i: int) -> str:
        """Return the name of a limb in the model: that of the description without spaces, unique."""
        names = [self.description.limb_name(k).replace(" ", "").replace("/", "_") for k in range(i + 1)]
        return f"{names[i]}_{i + 1}" if names[i] in names[:i] else names[i]


def add_offset(body: MjsBody, begin: Array, end: Array, radius: float) -> None:
    """Add a bar to a body, without mass and contact, where a rod is held at a distance from it.

    Args:
        body: the body.
        begin: one end of the bar in the body's frame [m].
        end: the other end [m]; a bar shorter than four radii is left out, as nobody would see it.
        radius: of the bar [m].
    """
    if np.linalg.norm(end - begin) >= 4.0 * radius:
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[*begin, *end], size=[radius, 0, 0], mass=0.0,
            rgba=[0.35, 0.38, 0.42, 1], contype=0, conaffinity=0, group=1,
        )  # fmt: skip
