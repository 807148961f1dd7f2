"""Names of an arm in the graph of ROS."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ArmNames"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmNames:
    """Names of one arm in the graph."""

    space: str
    """Put before each of the vendor's names: "" or ``/left``."""
    arm_id: str
    """Put before each joint and link: ``panda``, ``fr3``, or the device's name where there are several arms."""
    tool: str
    """Frame of the end effector."""

    @property
    def joints(self) -> list[str]:
        """Names of the seven joints."""
        return [f"{self.arm_id}_joint{i}" for i in range(1, 8)]

    @property
    def fingers(self) -> list[str]:
        """Names of the joints of the fingers."""
        return [f"{self.arm_id}_finger_joint{i}" for i in (1, 2)]

    def link(self, number: int) -> str:
        """Return the name of a link; 0 is the base and 8 the flange."""
        return f"{self.arm_id}_link{number}"
