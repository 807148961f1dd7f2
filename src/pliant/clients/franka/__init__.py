"""The Franka arm as a visual-servoing program drives it, simulated or real."""

from pliant.clients.franka.robot import FrankaRobot

__all__ = ["FrankaRobot"]
