"""The seven operation modes of the compliant-actuator toolbox."""

from __future__ import annotations

from enum import IntEnum


class Mode(IntEnum):
    """Operation mode: meaning of the references, and the elements between them and the link."""

    LINK_TORQUE = 0
    """Reference 1 is the torque on the link [N m]; no spring and no motor."""
    LINK_PID = 1
    """Reference 1 is the link angle [rad], controlled by a PID that acts directly on the link."""
    SPRING_REFS = 2
    """The references are the motor positions [rad], or [m] on a lever; ideal motors."""
    SPRING_EQ_PRESET = 3
    """The references are equilibrium [rad] and stiffness preset [rad], or [m] on a lever; ideal motors."""
    MOTOR_TORQUES = 4
    """The references are the motor torques [N m], or [N] on a lever."""
    PID_REFS = 5
    """The references are the motor positions [rad], or [m] on a lever; a PID controls each motor."""
    PID_EQ_PRESET = 6
    """The references are equilibrium [rad] and stiffness preset [rad], or [m] on a lever; a PID controls each motor."""

    @property
    def switchable(self) -> tuple[Mode, ...]:
        """Modes that a running simulation can have after this one: those with the same states and controls."""
        if not self.has_spring:
            return (self,)
        return tuple(mode for mode in Mode if mode.has_spring and mode.has_motors == self.has_motors)

    @property
    def has_spring(self) -> bool:
        """Whether the spring acts in this mode."""
        return self >= Mode.SPRING_REFS

    @property
    def has_motors(self) -> bool:
        """Whether the mode simulates motor dynamics."""
        return self >= Mode.MOTOR_TORQUES
