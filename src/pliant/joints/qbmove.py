"""The qbMove: identified springs, its size and mass, and how it looks."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.base.options import option
from pliant.joints.options import JointOptions
from pliant.robots.parts import box, cylinder

if TYPE_CHECKING:
    import mujoco

    from pliant.laws import QbMove

CUBE = 0.066
"""Edge of the qbMove Advanced's cube [m]. qbMove Advanced Kit manual."""

SPRINGS: Mapping[str, Mapping[str, float]] = {
    # k [N m], a [1/rad]
    "toolbox": {"k1": 0.0019, "a1": 8.9992, "k2": 0.0019, "a2": 8.9992},
    "kit": {"k1": 0.0026, "a1": 8.9995, "k2": 0.0011, "a2": 8.9989},
    "maker-pro": {"k1": 0.022, "a1": 6.85, "k2": 0.022, "a2": 6.85},
    "identified-1": {"k1": 0.01038, "a1": 6.257, "k2": 0.08918, "a2": 3.9},
    "identified-2": {"k1": 0.1015, "a1": 3.383, "k2": 0.05944, "a2": 7.011},
}
"""Sets of spring parameters (k1, a1, k2, a2).

"toolbox": defaults of the original toolbox. "kit": qbMove Advanced Kit manual (2021-04-28), p. 15. "maker-pro": qbMove
Maker Pro, draft of the plugin's first paper (nickparnenzini/qbmove_plugin). "identified-1", "identified-2": the two
joints of the arm of Mengacci et al. 2021, section 4.3, where the names and units of k and a are printed exchanged: as
printed the stiffness would hardly depend on the preset."""


_PAPER = "Mengacci et al. 2021, section 4.2"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmOptions(JointOptions):
    """Common options of both arms of qbMoves."""

    preset: float = option(0.2, unit="rad", low=-3.0, high=3.0, source=_PAPER)
    """Stiffness preset before the first command; the paper's soft case, its stiff one has 0.6."""
    damping: float = option(0.065, unit="N m s/rad", low=0.0, high=1000.0, source=_PAPER)
    friction: float = option(0.025, unit="N m", low=0.0, high=1000.0, source=_PAPER)
    friction_stiffness: float = option(
        1000.0, unit="N m/rad", low=1e-3, high=1e6, source="assumed: that of the toolbox's motors"
    )
    mode: int = option(6, low=0, high=6, source="Mengacci et al. 2021, sections 4.2.2 and 4.2.3")
    timestep: float = option(0.001, unit="s", low=1e-7, high=0.1, source="assumed: the paper prints none")


def spring_law(name: str) -> QbMove:
    """Return the law with one of the sets of `SPRINGS`."""
    from pliant.laws import QbMove

    return dataclasses.replace(QbMove(), **SPRINGS[name])


def add_cube(
    body: mujoco.MjsBody, axis: str, *, pos: tuple[float, float, float] = (0.0, 0.0, 0.0), accent: str = "orange"
) -> None:
    """Draw a qbMove on a body: the cube, the rim of its output on both ends of the axis, a strip of colour.

    Args:
        body: the body that carries the motors.
        axis: "x", "y" or "z", the direction of the output axis.
        pos: centre of the cube in the body [m].
        accent: colour of the strip.
    """
    import numpy as np

    index = "xyz".index(axis)
    direction = np.eye(3)[index]
    center = np.asarray(pos, dtype=float)
    half = 0.5 * CUBE
    box(body, (CUBE - 0.004,) * 3, pos, "housing")
    size = np.full(3, CUBE)
    size[index] = 0.010
    box(body, tuple(size), pos, accent)
    for sign in (-1.0, 1.0):
        start, end = center + sign * (half - 0.004) * direction, center + sign * (half + 0.0015) * direction
        cylinder(body, tuple(start), tuple(end), 0.024, "trim")
        cylinder(body, tuple(start), tuple(end + sign * 0.003 * direction), 0.015, "metal")
