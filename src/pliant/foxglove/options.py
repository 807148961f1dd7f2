"""The options of ``--bridge foxglove``."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.base.errors import BridgeError
from pliant.base.options import check_values, option
from pliant.base.origin import valid_origin


@dataclass(frozen=True, slots=True, kw_only=True)
class FoxgloveOptions:
    """Where it listens, and how often it sends.

    Raises:
        BridgeError: a value is not valid.
    """

    host: str = "127.0.0.1"
    """Address of this machine to listen on. Any client that can reach it can command the robot."""
    port: int = option(8765, low=0, high=65535)
    """TCP port; 0 for a free one."""
    origins: str = ""
    """Web sites that may connect, separated by spaces, such as https://app.foxglove.dev for Foxglove in the browser.
    Programs, pages of this machine and Foxglove's desktop app may always."""
    rate: float = option(100.0, unit="Hz", low=0.0)
    """Largest sample rate of each device, in simulation time; 0 sends all samples."""
    tf_rate: float = option(50.0, unit="Hz", low=0.0, above=True)
    """Rate of ``/tf``, the pose of each body, and of the clock."""
    layout: str = ""
    """File (.json) for a layout of this robot's panels, which Foxglove imports; a file that exists is replaced.
    "" writes one into a folder of its own, which is removed at the end."""

    def __post_init__(self) -> None:
        check_values(self, BridgeError, names=str)
        for origin in self.origins.split():
            if not valid_origin(origin):
                raise BridgeError(
                    f"origins has {origin!r}; must be sites such as https://app.foxglove.dev, without a path",
                    field="origins",
                )
        if self.layout and not self.layout.endswith(".json"):
            raise BridgeError(f"layout is {self.layout!r}; must be the name of a .json file", field="layout")
