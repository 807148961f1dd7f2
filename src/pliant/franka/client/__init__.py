"""The Franka arm as a visual-servoing program drives it, simulated or real; several arms in one program."""

from pliant.franka.client.group import FrankaGroup
from pliant.franka.client.robot import FrankaRobot

__all__ = ["FrankaGroup", "FrankaRobot"]
