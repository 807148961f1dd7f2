"""What the joints of many worlds did in a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

__all__ = ["Measures"]

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Measures:
    """Of every compliant joint, shape (worlds, joints)."""

    final: Array
    """Position at the end [rad]."""
    low: Array
    """Smallest position [rad]."""
    high: Array
    """Largest position [rad]."""
    square: Array
    """Sum of the squares of reference 1 minus position [rad^2]."""
    torque: Array
    """Largest magnitude of the torque on the link [N m]."""
    speed: Array
    """Largest magnitude of the velocity [rad/s]."""
    reference: Array
    """Reference 1 at the end."""
    trace: Array
    """Position after every step [rad], shape (steps, worlds, joints), single precision."""
