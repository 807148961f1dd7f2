"""SoftFeet on any robot, as options of a command line or a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pliant.base.errors import ModelError
from pliant.base.options import option, parse
from pliant.feet.model.foot_fit import FootFit
from pliant.feet.model.replace import replace_foot
from pliant.feet.softfoot.foot import SoftFoot
from pliant.feet.softfoot.options import SoftFootOptions
from pliant.formats.source import Block
from pliant.model.wanted import check_robot

if TYPE_CHECKING:
    from pliant.feet.model import ReplacedFoot
    from pliant.model import Robot


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftFeetOptions(SoftFootOptions):
    """Options of SoftFeet on a robot: ``--set soft_feet.KEY=VALUE``, ``soft_feet:`` in a YAML file."""

    auto_side: bool = option(True)
    """Whether each foot is of the side on which its ankle is from the centre of mass; otherwise all are of ``side``. A
    file or a command line that gives ``side`` need not say false."""
    bodies: tuple[str, ...] = option(())
    """Last links of the legs, whose feet are replaced."""
    sole_height: float | None = option(None, unit="m", low=0.0, above=True, high=2.0)
    """Height of the robot's ankle above the new sole; none: that of the old sole."""
    forward_offset: float = option(0.0, unit="m", low=-1.0, high=1.0)
    """How far the foot is moved towards its toes."""
    pitch: float | None = option(None, unit="rad", low=-0.5, high=0.5)
    """Pitch of the foot on the ankle, positive with the toes down; none: that with which the robot stands level on two
    feet."""
    forward_axis: Literal["x", "-x", "y", "-y"] | None = option(None)
    """Direction in which the robot looks in its initial pose; none: x, refused where the old foot points elsewhere."""
    key: str | None = option(None)
    """Key frame in which the old feet are flat; none: the initial pose."""
    old_mass: float | None = option(None, unit="kg", low=0.0, high=100.0)
    """Remaining mass of each old foot; none: its full mass."""
    visuals: bool = option(False)
    """Whether to keep the shapes of the old feet that have no contacts."""


def put_on_softfeet(robot: Robot, options: SoftFeetOptions) -> list[ReplacedFoot]:
    """Replace the feet of a robot by SoftFeet; see `pliant.feet.replace_foot`.

    Raises:
        ModelError: no body is named, or a foot cannot be replaced.
    """
    check_robot(robot, "put_on_softfeet", compiled=False)
    if not options.bodies:
        raise ModelError(
            "soft_feet: bodies is empty; name the last links of the legs, such as "
            "soft_feet.bodies=left_ankle_roll_link,right_ankle_roll_link",
            field="soft_feet.bodies",
        )
    if options.auto_side and options.side != "left":
        raise ModelError(
            f"soft_feet: side is {options.side}, and auto_side finds that of each foot; set auto_side=false to give "
            "all feet this side",
            field="soft_feet.side",
        )
    names = [field.name for field in dataclasses.fields(SoftFoot) if field.name != "side"]
    foot = SoftFoot(**{name: getattr(options, name) for name in names})
    fit = FootFit(
        sole_height="keep" if options.sole_height is None else options.sole_height,
        forward_offset=options.forward_offset,
        pitch="level" if options.pitch is None else options.pitch,
        forward_axis=options.forward_axis,
        side="auto" if options.auto_side else options.side,
        key=options.key,
        old_mass="keep" if options.old_mass is None else options.old_mass,
        visuals=options.visuals,
    )
    return [replace_foot(robot, body, foot, fit) for body in options.bodies]


def _apply(robot: Robot, settings: Mapping[str, object]) -> None:
    settings = {"auto_side": "side" not in settings, **settings}
    put_on_softfeet(robot, parse(SoftFeetOptions, settings, where="soft_feet: ", error=ModelError))


SOFT_FEET = Block(apply=_apply, type=dict[str, Any], settable=True)
"""The block ``soft_feet`` of a robot file, of `pliant.load` and of ``--set``."""
