"""The Franka arm as a visual-servoing program drives it, simulated or real; several arms in one program."""

from pliant.clients.franka.group import FrankaGroup
from pliant.clients.franka.robot import FrankaRobot

__all__ = ["FrankaGroup", "FrankaRobot"]
