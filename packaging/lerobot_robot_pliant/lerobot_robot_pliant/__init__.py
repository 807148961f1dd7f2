"""Plugin of LeRobot, found by its name: ``--robot.type=pliant``. The working part is `pliant.lerobot`."""

from __future__ import annotations

import logging
import re
import sys
from dataclasses import dataclass, field
from typing import Any

from lerobot.cameras import CameraConfig
from lerobot.cameras.utils import make_cameras_from_configs
from lerobot.robots import Robot, RobotConfig

from lerobot_robot_pliant.processor import StateAsEnvironmentState
from pliant.lerobot import ArmOptions, ArmSession, NeedsNoCalibration, RobotClock

__all__ = ["PliantRobot", "PliantRobotConfig", "StateAsEnvironmentState"]

EPISODE = re.compile(r"Recording episode (\d{1,9})$")
"""The line that `lerobot-record` logs when an episode begins, the only sign of it that a robot gets."""

LOOPS = ("lerobot_record", "lerobot_replay")
"""Modules of `lerobot.scripts` with a loop that waits for the wall clock."""


@RobotConfig.register_subclass("pliant")
@dataclass(kw_only=True)
class PliantRobotConfig(RobotConfig, ArmOptions):
    """Options of ``--robot``: those of `ArmOptions`, and other makes' cameras."""

    cameras: dict[str, CameraConfig] = field(default_factory=dict)
    """Cameras of LeRobot beside those of the simulation, for an arm behind its interface."""


class _Episodes(logging.Handler):
    """Prepares the scene when an episode begins."""

    def __init__(self, session: ArmSession) -> None:
        super().__init__(logging.INFO)
        self._session = session

    def emit(self, record: logging.LogRecord) -> None:
        found = EPISODE.fullmatch(record.getMessage())
        if found is not None:
            self._session.reset(self._session.options.episode + int(found[1]))


class PliantRobot(NeedsNoCalibration, Robot):
    """A Franka arm of pliant."""

    config_class = PliantRobotConfig
    name = "pliant"

    def __init__(self, config: PliantRobotConfig) -> None:
        super().__init__(config)
        self.config = config
        self.session = ArmSession(ArmOptions.of(config))
        """The arm."""
        self._others = make_cameras_from_configs(config.cameras)
        self.cameras = {**dict.fromkeys(self.session.pictures), **self._others}
        """Every camera by name; LeRobot counts them."""
        self._episodes = _Episodes(self.session)

    @property
    def observation_features(self) -> dict[str, Any]:
        others = {name: (c.height, c.width, 3) for name, c in self.config.cameras.items()}
        return {**dict.fromkeys(self.session.observation_names, float), **self.session.pictures, **others}

    @property
    def action_features(self) -> dict[str, Any]:
        return dict.fromkeys(self.session.action_names, float)

    @property
    def is_connected(self) -> bool:
        return self.session.connected

    def connect(self, calibrate: bool = True) -> None:
        self.session.connect()
        for camera in self._others.values():
            camera.connect()
        logging.getLogger().addHandler(self._episodes)
        loops = [module for name in LOOPS if (module := sys.modules.get(f"lerobot.scripts.{name}"))]
        for loop in loops if self.config.clock == "robot" else ():
            RobotClock(self.session).install(loop)

    def get_observation(self) -> dict[str, Any]:
        found = self.session.observe()
        for name, camera in self._others.items():
            found[name] = camera.async_read()
        return found

    def send_action(self, action: dict[str, Any]) -> dict[str, Any]:
        return self.session.act(action)

    def disconnect(self) -> None:
        logging.getLogger().removeHandler(self._episodes)
        for camera in self._others.values():
            camera.disconnect()
        self.session.disconnect()
