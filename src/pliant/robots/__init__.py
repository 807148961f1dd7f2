"""The catalogue: robots with parameters and their sources, one folder a robot."""

from pliant.robots.catalogue import CatalogueRobot
from pliant.robots.lookup import build_robot, find_robot, list_robots

__all__ = ["CatalogueRobot", "build_robot", "find_robot", "list_robots"]
