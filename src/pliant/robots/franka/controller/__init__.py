"""The control cabinet of a Franka arm: a deterministic 1 kHz state machine without sockets and without physics."""

from pliant.robots.franka.controller.cabinet import Answer, Cabinet
from pliant.robots.franka.controller.gripper import Gripper
from pliant.robots.franka.controller.settings import CHECKS, Collision, Settings

__all__ = ["CHECKS", "Answer", "Cabinet", "Collision", "Gripper", "Settings"]
