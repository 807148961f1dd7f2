"""Shape, contact and inertia of rods and of the bodies that carry them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.numerics import Array
from pliant.model.inertia import set_inertia
from pliant.rods.description import Round

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mujoco import MjsBody, MjsFlex, MjsGeom

    from pliant.rods.description import Rod

ROD_CONTACT, OBJECT_CONTACT = 2, 1  # contype bits
CONTACT_SOLREF = (0.002, 1.0)  # thin rods tunnel through objects with MuJoCo's default of 0.02
CONTACT_SOLIMP = (0.99, 0.9999, 0.0005, 0.5, 2.0)
STIFF_SOLIMP = (0.9999, 0.9999, 0.001, 0.5, 2.0)


@dataclass(slots=True, kw_only=True)
class RodShape:
    """The collision shape of one rod at the start: a polyline with a radius."""

    points: Array
    """Ends of the segments in the world, shape (segments + 1, 3) [m]."""
    radius: float
    """Radius [m]."""
    shapes: Sequence[MjsGeom | MjsFlex]
    """The geoms, one for each segment, or the one flex."""
    bodies: list[tuple[str, ...]] = field(default_factory=list)
    """Names of the bodies that carry each segment; none for a flex."""


def section_radius(rod: Rod, s: float = 0.5) -> float:
    """Return the radius of a rod's section, or of a round one that bends as easily [m]."""
    section = rod.section
    if isinstance(section, Round):
        tip = section.radius if section.tip_radius is None else section.tip_radius
        return float(section.radius + s * (tip - section.radius))
    v = rod.values(s)
    return float(2.0 * np.sqrt(min(v.bending) / v.axial))


def polar_inertia(rod: Rod, s: float) -> float:
    """Return the polar moment of inertia per length [kg m]."""
    v = rod.values(s)
    return v.mass * (v.bending[0] + v.bending[1]) / v.axial


def add_inertia(body: MjsBody, mass: float, size: float, *, gravcomp: float = 0.0) -> None:
    """Give a body the mass and the inertia of a ball about its origin."""
    set_inertia(body, mass, 0.4 * mass * size**2)
    body.gravcomp = gravcomp
