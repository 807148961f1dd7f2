"""A compliant pad under a flat foot: slices across the foot, each on a vertical spring of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.model.inertia import set_inertia

if TYPE_CHECKING:
    import mujoco

SLICE_MASS = 0.002
"""Mass of a slice [kg]; assumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pad:
    """A pad; all its numbers are assumed."""

    stiffness: float = 1e5
    """Stiffness of the whole pad against compression [N/m]: 3 mm under 300 N."""
    damping: float = 200.0
    """Damping of the whole pad [N s/m]."""
    thickness: float = 0.02
    """Thickness of the pad [m]; it is compressed by at most 0.9 of it."""
    slices: int = 32
    """Number of slices along the foot."""
    armature: float = 0.01
    """Inertia that each slice has beside its mass [kg], because contacts are as stiff as what touches is heavy."""


def add_pad(
    foot: mujoco.MjsBody, pad: Pad, *, x: tuple[float, float], half_width: float, bottom: float, prefix: str = ""
) -> None:
    """Add the slices ``<prefix>pad_0``, ... to a foot.

    Args:
        foot: the body.
        pad: the pad.
        x: rear and front end, from the body's origin [m].
        half_width: half of its width [m].
        bottom: height of its unloaded underside, from the body's origin [m].
        prefix: of the names of bodies, joints and shapes.
    """
    import mujoco

    length = (x[1] - x[0]) / pad.slices
    for i in range(pad.slices):
        name = f"{prefix}pad_{i}"
        piece = foot.add_body(name=name, pos=[x[0] + (i + 0.5) * length, 0.0, bottom])
        set_inertia(piece, SLICE_MASS, 1e-6)
        piece.add_joint(
            name=name,
            type=mujoco.mjtJoint.mjJNT_SLIDE,
            axis=[0.0, 0.0, 1.0],
            stiffness=[pad.stiffness / pad.slices, 0.0, 0.0],
            damping=[pad.damping / pad.slices, 0.0, 0.0],
            armature=pad.armature,
            limited=mujoco.mjtLimited.mjLIMITED_TRUE,
            range=[-1e-4, 0.9 * pad.thickness],
        )
        piece.add_geom(
            name=name, type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.48 * length, half_width, 0.25 * pad.thickness],
            pos=[0.0, 0.0, 0.25 * pad.thickness], material="housing", mass=0.0, contype=1, conaffinity=2,
            solref=[0.002, 1.0], solimp=[0.99, 0.99, 0.001, 0.5, 2.0],
        )  # fmt: skip
