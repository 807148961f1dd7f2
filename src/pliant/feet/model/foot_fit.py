"""How a new foot fits a leg: height, pitch, direction, side, and what is kept of the old foot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pliant.base.errors import ModelError
from pliant.base.numerics import is_finite_number
from pliant.feet.model.description import Side


@dataclass(frozen=True, slots=True, kw_only=True)
class FootFit:
    """Placement of a new foot on a leg.

    Example:
        >>> replace_foot(robot, "left_ankle_roll_link", SoftFoot(n_chains=1, lump=True), FootFit(pitch="level"))
    """

    sole_height: float | Literal["keep"] = "keep"
    """Height of the robot's ankle above the new sole [m]; "keep" for the height above the old sole, computed from its
    collision geoms, including meshes."""
    forward_offset: float = 0.0
    """Displacement of the foot towards its toes [m]; at 0 the two ankles are in line vertically."""
    pitch: float | Literal["level"] = 0.0
    """Pitch of the foot on the robot's ankle, positive with the toes down [rad]. A SoftFoot with a level ankle stands
    on its heel. "level" uses the pitch at which half the robot's weight acts directly below its centre of mass, so
    that the robot stands level on two feet."""
    forward_axis: Sequence[float] | str | None = None
    """Forward direction of the robot in this pose, in world axes: "x", "-x", "y", "-y" or a vector of three numbers.
    None uses x, and raises an error if the old foot points in another direction."""
    side: Side | Literal["auto"] = "auto"
    """Side of the robot; "auto" for the side of the centre of mass on which the ankle is."""
    prefix: str | None = None
    """Prefix of every name of the foot; None for the name of the body and a slash."""
    key: str | None = None
    """Name of the key frame in which the old foot is flat; None for the initial pose."""
    old_mass: float | Literal["keep"] = "keep"
    """Remaining mass of the old foot [kg]; "keep" for its whole mass, because the last link usually includes parts of
    the ankle. The inertia tensor is scaled with the mass."""
    visuals: bool = False
    """Whether to keep the geoms of the old foot that do not collide."""

    def __post_init__(self) -> None:
        for name, word, unit in (
            ("sole_height", "keep", "m"),
            ("forward_offset", "", "m"),
            ("pitch", "level", "rad"),
            ("old_mass", "keep", "kg"),
        ):
            value = getattr(self, name)
            if not is_finite_number(value) and not (word and value == word):
                known = f'"{word}" or ' if word else ""
                raise ModelError(f"replace_foot: {name} is {value!r}; must be {known}a number [{unit}]", field=name)
        if self.side not in ("auto", "left", "right"):
            raise ModelError(f"replace_foot: side is {self.side!r}; must be auto, left or right", field="side")
