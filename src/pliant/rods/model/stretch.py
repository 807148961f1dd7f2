"""Rods that change their rest length while they run, which no MuJoCo element offers.

The joint of an extensible limb is a spool with the length as its position. `Stretching.apply` writes lengths, masses
and springs of the links into the model. The pull of the rod on its spool is not felt: the servo is taken as not
backdrivable.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from pliant.base.numerics import Array

__all__ = ["Stretch", "Stretching", "stretchings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Elements that change when the length of one limb changes."""

    joint: str
    """Joint of the spool."""
    length: float
    """Rest length that the model was built with [m]."""
    bodies: list[str]
    """Links from the base outward, the tip last."""
    geoms: list[str]
    """Capsules of the links, the half element at the base first."""
    root: Array
    """Where the rod begins, in the frame of the body that carries it [m]."""
    end: Array
    """From the last hinge to the rod's tip, in the frame of the last link [m]."""
    turns: list[float]
    """By how much each hinge is turned at the start against a straight chain [rad]."""


class Stretching:
    """The chain of one limb in a compiled model: its values as compiled, and how they change with the length.

    Args:
        stretch: the limb.
        model: the model, as `Robot.compile` returned it.
    """

    def __init__(self, stretch: Stretch, model: mujoco.MjModel) -> None:
        self.length, self.ratio = stretch.length, 1.0
        self.spool = int(model.jnt_qposadr[model.joint(stretch.joint).id])
        """Address of the rest length in ``qpos``."""
        self._bodies = np.array([model.body(name).id for name in stretch.bodies])
        self._root = np.zeros((len(self._bodies), 3))
        self._root[0] = stretch.root
        self._pos = model.body_pos[self._bodies] - self._root
        self._ipos = model.body_ipos[self._bodies]
        self._mass = model.body_mass[self._bodies]
        self._inertia = model.body_inertia[self._bodies]
        self._joints = np.flatnonzero(np.isin(model.jnt_bodyid, self._bodies))
        self._dofs, self._springs = model.jnt_dofadr[self._joints], model.jnt_qposadr[self._joints]
        self._stiffness = np.array(model.jnt_stiffness[self._joints]).reshape(len(self._joints), -1)[:, 0]
        self._damping = np.array(model.dof_damping[self._dofs]).reshape(len(self._dofs), -1)[:, 0]
        self._straight = -np.array(stretch.turns)
        self._rest = model.qpos_spring[self._springs] - self._straight
        self._geoms = np.array([model.geom(name).id for name in stretch.geoms])
        self._geom_root = np.zeros((len(self._geoms), 3))
        self._geom_root[0] = stretch.root
        self._geom_pos = model.geom_pos[self._geoms] - self._geom_root
        self._geom_half = model.geom_size[self._geoms, 1]
        self._geom_radius = model.geom_size[self._geoms, 0]
        # What sits at the tip moves with the end of the last link: anchors on it, or a body that it carries.
        tip, self._end = int(self._bodies[-1]), stretch.end
        connects = model.eq_type == mujoco.mjtEq.mjEQ_CONNECT
        self._anchors = np.flatnonzero(connects & (model.eq_obj1id == tip))
        self._anchor = model.eq_data[self._anchors, :3]
        self._carried = np.flatnonzero(model.body_parentid == tip)
        self._carried_pos = model.body_pos[self._carried]
        self._tail = float(model.body_subtreemass[tip] - model.body_mass[tip])
        self._ancestors, above = [], int(model.body_parentid[self._bodies[0]])
        while above:
            self._ancestors.append(above)
            above = int(model.body_parentid[above])
        self._ancestors.append(0)

    def apply(self, model: mujoco.MjModel, length: float) -> None:
        """Give the chain another rest length [m]: links, masses, springs."""
        r = length / self.length
        if r == self.ratio:
            return
        self.ratio = r
        model.body_pos[self._bodies] = self._root + r * self._pos
        model.body_ipos[self._bodies] = r * self._ipos
        mass = r * self._mass
        model.body_subtreemass[self._ancestors] += mass.sum() - model.body_mass[self._bodies].sum()
        model.body_mass[self._bodies] = mass
        model.body_subtreemass[self._bodies] = np.cumsum(mass[::-1])[::-1] + self._tail
        model.body_inertia[self._bodies] = self._inertia * np.array([r**3, r**3, r])
        model.jnt_stiffness[self._joints] = self._stiffness / r
        model.dof_damping[self._dofs] = self._damping / r
        # Precurvature, and what the start corrects, grow with the element; where it is straight does not change.
        model.qpos_spring[self._springs] = self._straight + r * self._rest
        model.eq_data[self._anchors, :3] = self._anchor + (r - 1.0) * self._end
        model.body_pos[self._carried] = self._carried_pos + (r - 1.0) * self._end
        model.geom_pos[self._geoms] = self._geom_root + r * self._geom_pos
        model.geom_size[self._geoms, 1] = r * self._geom_half
        # MuJoCo looks for contacts within these bounds only.
        reach = r * self._geom_half + self._geom_radius
        model.geom_rbound[self._geoms] = reach
        model.geom_aabb[self._geoms, 5] = reach


_STRETCHINGS: weakref.WeakKeyDictionary[mujoco.MjModel, list[Stretching]] = weakref.WeakKeyDictionary()


def stretchings(model: mujoco.MjModel, stretches: Sequence[Stretch]) -> list[Stretching]:
    """Return the extensible limbs of a model. The values as compiled are read once a model, for they change."""
    if model not in _STRETCHINGS:
        _STRETCHINGS[model] = [Stretching(stretch, model) for stretch in stretches]
    return _STRETCHINGS[model]
