"""Results of the joints of many worlds over a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Measures:
    """Results of every compliant joint; arrays of shape (worlds, joints) unless stated otherwise."""

    final: Array
    """Final position [rad]."""
    low: Array
    """Smallest position [rad]."""
    high: Array
    """Largest position [rad]."""
    square: Array
    """Sum over the steps of (reference 1 - position)^2 [rad^2]."""
    torque: Array
    """Largest magnitude of the torque on the link [N m]."""
    speed: Array
    """Largest magnitude of the velocity [rad/s]."""
    reference: Array
    """Final value of reference 1, in the unit of the mode."""
    trace: Array
    """Position after every step [rad], shape (steps, worlds, joints), single precision."""
