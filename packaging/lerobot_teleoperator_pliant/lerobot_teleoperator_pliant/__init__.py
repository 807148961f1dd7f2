"""Plugin of LeRobot, found by its name: ``--teleop.type=pliant``. The working part is `pliant.lerobot`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lerobot.teleoperators import Teleoperator, TeleoperatorConfig

from pliant.lerobot import NeedsNoCalibration, PushScript, connected_session

__all__ = ["PliantTeleoperator", "PliantTeleoperatorConfig"]


@TeleoperatorConfig.register_subclass("pliant")
@dataclass(kw_only=True)
class PliantTeleoperatorConfig(TeleoperatorConfig):
    """Options of ``--teleop``: none; the task is that of the robot."""


class PliantTeleoperator(NeedsNoCalibration, Teleoperator):
    """Pushes the box of the connected pliant arm to its goal, anew in each episode."""

    config_class = PliantTeleoperatorConfig
    name = "pliant"

    def __init__(self, config: PliantTeleoperatorConfig) -> None:
        super().__init__(config)
        self._connected = False
        self._script: PushScript | None = None

    @property
    def action_features(self) -> dict[str, Any]:
        return dict.fromkeys(connected_session().action_names, float)

    @property
    def feedback_features(self) -> dict[str, Any]:
        return {}

    @property
    def is_connected(self) -> bool:
        return self._connected

    def connect(self, calibrate: bool = True) -> None:
        self._connected = True  # LeRobot may connect the robot later

    def get_action(self) -> dict[str, Any]:
        if self._script is None:
            self._script = PushScript(connected_session())
        return self._script.action()

    def send_feedback(self, feedback: dict[str, Any]) -> None:
        """Do nothing: a script feels nothing."""

    def disconnect(self) -> None:
        self._connected, self._script = False, None
