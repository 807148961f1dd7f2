"""A Franka arm as a robot of LeRobot: the working part of the plugin packages, which needs no LeRobot."""

from pliant.lerobot.clock import RobotClock
from pliant.lerobot.device import NeedsNoCalibration
from pliant.lerobot.options import ArmOptions
from pliant.lerobot.script import PushScript
from pliant.lerobot.session import ArmSession, connected_session

__all__ = ["ArmOptions", "ArmSession", "NeedsNoCalibration", "PushScript", "RobotClock", "connected_session"]
