"""Read tendon-driven robots: pliant's YAML or JSON."""

from __future__ import annotations

from pliant.formats.source import Format, Source
from pliant.model.robot import Robot


def read_tendons(source: Source) -> Robot:
    """Return the dynamic model of a tendon-driven robot, straight.

    Raises:
        ModelError: the description or an option is not valid, or gravity is not along z.
    """
    from pliant.base.errors import ModelError
    from pliant.base.numerics import GRAVITY
    from pliant.base.options import parse
    from pliant.tendons.files import describe
    from pliant.tendons.model import build_tendon_robot
    from pliant.tendons.options import TendonOptions

    description = describe(source.document)
    x, y, z = description.gravity
    if x or y or abs(z) != GRAVITY:
        raise ModelError(
            f"gravity: in the simulation it must be [0, 0, {-GRAVITY}], or [0, 0, {GRAVITY}] of a robot that hangs; "
            f"found {list(description.gravity)}. `base` turns the robot, and --set option.gravity changes gravity",
            file=source.path, line=source.document.line("gravity"), field="gravity",
        )  # fmt: skip
    options = parse(TendonOptions, source.options, where="tendon-driven robot: ", error=ModelError)
    robot = build_tendon_robot(description, options, hanging=z > 0.0)
    robot.file = str(source.path)
    return robot


TENDONS = Format(
    name="tendon-driven robot",
    read=read_tendons,
    suffixes=(".yaml", ".yml", ".json"),
    key="tendons",
    has_options=True,
)
"""Descriptions of tendon-driven robots: pliant's YAML."""
