"""Requests of LeRobot to every device that an arm of pliant has no need of."""

from __future__ import annotations


class NeedsNoCalibration:
    """First base of a robot or teleoperator of LeRobot that knows its zero, and that `connect` configures."""

    @property
    def is_calibrated(self) -> bool:
        """Return True."""
        return True

    def calibrate(self) -> None:
        """Do nothing."""

    def configure(self) -> None:
        """Do nothing."""
