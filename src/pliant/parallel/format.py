"""Read continuum robots: pliant's YAML or JSON of limbs, or a folder of the Gazebo simulator."""

from __future__ import annotations

from pliant.formats.source import Format, Source
from pliant.model.robot import Robot


def read_parallel(source: Source) -> Robot:
    """Return the dynamic model of a continuum parallel robot, at rest in its home equilibrium.

    Raises:
        ModelError: the description or an option is not valid; the message names file, line and field.
        NoEquilibrium: the home pose has none.
    """
    from pliant.parallel.model import build_parallel
    from pliant.rods.loaders import load_robot

    return build_parallel(load_robot(source.path), **source.options)


PARALLEL = Format(
    name="continuum parallel robot",
    read=read_parallel,
    suffixes=(".yaml", ".yml", ".json"),
    key="limbs",
    folder="robot_config.yaml",
    has_options=True,
)
"""Descriptions of parallel robots: pliant's YAML, and folders of the Gazebo simulator."""
