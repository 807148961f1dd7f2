"""A Franka arm as a robot of LeRobot: the working part of the plugin packages, which needs no LeRobot."""

from pliant.franka.lerobot.clock import RobotClock
from pliant.franka.lerobot.device import NeedsNoCalibration
from pliant.franka.lerobot.options import ArmOptions
from pliant.franka.lerobot.script import PushScript
from pliant.franka.lerobot.session import ArmSession, connected_session

__all__ = ["ArmOptions", "ArmSession", "NeedsNoCalibration", "PushScript", "RobotClock", "connected_session"]
