"""The seven operation modes of the toolbox."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Mode"]


class Mode(IntEnum):
    """Where commands enter an actuator, and what lies between them and the link."""

    LINK_TORQUE = 0
    """Reference 1 is the torque on the link [N m]; no spring, no motor."""
    LINK_PID = 1
    """A PID on the link angle; reference 1 is that angle [rad]."""
    SPRING_REFS = 2
    """The references are the motor positions; ideal motors."""
    SPRING_EQ_PRESET = 3
    """The references are equilibrium and stiffness preset; ideal motors."""
    MOTOR_TORQUES = 4
    """The references are the motor torques [N m]."""
    PID_REFS = 5
    """The references are motor positions, followed by a PID on each motor."""
    PID_EQ_PRESET = 6
    """The references are equilibrium and stiffness preset, followed by a PID on each motor."""

    @property
    def has_spring(self) -> bool:
        """Whether the spring acts in this mode."""
        return self >= Mode.SPRING_REFS

    @property
    def has_motors(self) -> bool:
        """Whether motors move in this mode."""
        return self >= Mode.MOTOR_TORQUES
