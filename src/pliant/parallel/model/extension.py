"""Rods that change their rest length while they run, as elements of MuJoCo alone.

The rest length L = r L0 is the position of a spool, a slide joint beside the rod. With it grow the links, and the
springs E I / (r h) and weights r m g of the rod follow. All of it is linear in what MuJoCo has, or cubic:

* Each node of the rod slides along the link before it. A fixed tendon from this slide to the spool is the link's axial
  stiffness E A / h: its spring is at rest where the link has its share of L.
* A slide joint P = 1 / r follows the spool by two polynomial equalities (`WARP`, `INVERSE`). The elastic energy
  K P (theta - s)^2 / 2 of a hinge is that of two fixed tendons x = P + (theta - s) and x = P - (theta - s) with the
  energy K x^3 / 12 each, less K P^3 / 6, which is a spring of P. So the pull of the rod on its spool is that of its
  energy.
* Weight: a spatial tendon T with a branch to each mass, weighted by mass, hangs from a point of the spool far below;
  its spring k T^2 / 2, less that of the same tendon from a fixed point and less k x^2 / 2, is k x times the height of
  the centre of mass.

Masses are those of the length at the start, so the inertia of a rod does not grow with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant.base.numerics import Array
from pliant.model.inertia import set_inertia
from pliant.parallel.model.assembly import Assembly
from pliant.parallel.model.rod_weight import Extension
from pliant.rods.model.chain import REACH
from pliant.rods.model.shapes import STIFF_SOLIMP, add_inertia

if TYPE_CHECKING:
    from mujoco import MjsBody, MjsJoint

WARP = (1.0, -0.6410911932793011, 0.3818120620785187, -0.11679459724060452)
"""Coefficients of u = sum c_k (r - 1)^k, k = 1..4."""
INVERSE = (-1.0001269924931064, 0.3585571418686714, -0.15311396982812323, 0.16563364916140096)
"""Coefficients of P - 1 = sum c_k u^k, k = 1..4. Both were fitted together to r P = 1, by least squares over `REACH`:
the largest error is 1.6e-5."""
BIAS = 1e-5
"""Stiffness of the spring that is a constant moment, as a part of the hinge's."""
ARMATURE = 1e-3
"""Inertia of the slides of nodes, P and u beside that of the rod [kg]; next to nothing beside a servo.  # assumed"""


@dataclass(slots=True, kw_only=True)
class SlidingNodes:
    """Elements that make the chain of one limb follow its spool, while the chain is put together."""

    out: Assembly
    """The model."""
    joint: str
    """Joint of the spool."""
    base: Array
    """Where the rod begins [m]."""
    length: float
    """Rest length of the rod [m]."""
    limits: tuple[float, float] | None
    """Shortest and longest rest length [m]."""
    _masses: list[tuple[str, float, Array]] = field(default_factory=list)
    _stiffness: float = 0.0

    def add_node(self, link: MjsBody, name: str, origin: Array, chord: Array, *, pull: Array, axial: float) -> MjsBody:
        """Add the body that slides along a link with the length, to the link.

        Args:
            link: the link.
            name: name of the body.
            origin: begin of the link, in its frame [m].
            chord: vector from there to the node, in the frame of the link [m].
            pull: force of the rod at the start, on the part before from the part beyond, in the frame of the link [N].
            axial: E A of the section [N].
        """
        node = link.add_body(name=name, pos=origin + chord)
        size = float(np.linalg.norm(chord))
        label = f"{name}/stretch"
        node.add_joint(name=label, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=chord / size, armature=ARMATURE)
        share, stiffness = size / self.length, axial / size
        rest = -size - float(pull @ chord) / size / stiffness
        tendon = self._tendon(label, [stiffness, 0.0, 0.0], rest)
        tendon.wrap_joint(label, 1.0)
        tendon.wrap_joint(self.joint, -share)
        return node

    def add_mass(self, body: MjsBody, mass: float, inertia: float, about: float, at: Array, world: Array) -> None:
        """Give a body its part of the rod's mass.

        Args:
            body: the body.
            mass: its mass [kg].
            inertia: about x and y [kg m^2].
            about: about z [kg m^2].
            at: centre of mass in the frame of the body [m].
            world: the same in the world at the start.
        """
        set_inertia(body, mass, [inertia, inertia, about], at)
        site = body.add_site(name=f"{body.name}/mass", pos=at, group=5, size=[1e-4] * 3)
        self._masses.append((site.name, mass, world))

    def add_spring(self, hinge: MjsJoint, stiffness: float, straight: float, rest: float) -> None:
        """Give a hinge the elasticity stiffness / r about where the rod is straight, and its constant moment.

        Args:
            hinge: the hinge, at 0 at the start.
            stiffness: E I / h or G J / h at the start [N m/rad].
            straight: position where the links before and after it are in line [rad].
            rest: position where its spring is at rest at the start [rad].
        """
        hinge.stiffness = [BIAS * stiffness, 0.0, 0.0]
        reference = (rest - straight) / BIAS
        hinge.springref = float(np.degrees(reference)) if self.out.spec.compiler.degree else reference
        for sign, mark in ((1.0, "+"), (-1.0, "-")):
            tendon = self._tendon(f"{hinge.name}/{mark}", [0.0, 0.25 * stiffness, 0.0], sign * straight)
            tendon.wrap_joint(hinge.name, sign)
            tendon.wrap_joint(f"{self.joint}/inverse", 1.0)
        self._stiffness += stiffness

    def finish(self) -> Extension:
        """Add what the whole rod has once: the spool, P, the weight; after the links, where they fill no factor."""
        spec, label = self.out.spec, self.joint
        spool = spec.worldbody.add_body(name=f"{label}/spool", pos=self.base)
        add_inertia(spool, self.out.options.servo_mass, 0.02 * self.length, gravcomp=1.0)
        low, high = (part * self.length for part in REACH)
        if self.limits is not None:
            low, high = max(low, self.limits[0]), min(high, self.limits[1])
        spool.add_joint(name=label, type=mujoco.mjtJoint.mjJNT_SLIDE, ref=self.length, range=(low, high), limited=1)
        before = label
        for name, coefficients, scale, start in (
            ("warp", WARP, self.length, 0.0),
            ("inverse", INVERSE, 1.0, 1.0),
        ):
            own = f"{label}/{name}"
            body = spec.worldbody.add_body(name=own, pos=spool.pos)
            set_inertia(body, ARMATURE, ARMATURE * 1e-4)
            body.gravcomp = 1.0
            body.add_joint(name=own, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[1, 0, 0], ref=start)
            e = spec.add_equality(
                name=own, type=mujoco.mjtEq.mjEQ_JOINT, name1=own, name2=before, objtype=mujoco.mjtObj.mjOBJ_JOINT
            )
            data = np.zeros(len(e.data))
            data[1:5] = [c / scale ** (k + 1) for k, c in enumerate(coefficients)]
            e.data, e.solimp = data, STIFF_SOLIMP
            self.out.constraints.append(own)
            before = own
        spec.joint(f"{label}/inverse").stiffness = [0.0, -0.5 * self._stiffness, 0.0]
        names, mass, position = (list(one) for one in zip(*self._masses))
        spool.add_site(name=f"{label}/weight", group=5)
        spec.worldbody.add_site(name=f"{label}/ground", group=5)
        self._tendon(f"{label}/store", [0.0, 0.0, 0.0], self.length).wrap_joint(label, 1.0)
        for name in ("weight", "ground"):
            tendon = self._tendon(f"{label}/{name}", [0.0, 0.0, 0.0], 0.0)
            for k, site in enumerate(names):
                if k:
                    tendon.wrap_pulley(mass[0] / mass[k])
                tendon.wrap_site(f"{label}/{name}")
                tendon.wrap_site(site)
        return Extension(joint=label, length=self.length, mass=np.array(mass), position=np.array(position))

    def _tendon(self, name: str, stiffness: list[float], rest: float) -> mujoco.MjsTendon:
        return self.out.spec.add_tendon(
            name=name, stiffness=stiffness, springlength=[rest, rest], group=5, rgba=[0, 0, 0, 0], width=1e-6
        )
