"""A Franka arm as a robot of LeRobot: the working part of the plugin packages, which needs no LeRobot."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "ArmOptions": "pliant.lerobot.options",
    "ArmSession": "pliant.lerobot.session",
    "NeedsNoCalibration": "pliant.lerobot.device",
    "PushScript": "pliant.lerobot.script",
    "RobotClock": "pliant.lerobot.clock",
    "connected_session": "pliant.lerobot.session",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
