"""What can be chosen of a humanoid that is read from a file."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.options import option

__all__ = ["HumanoidOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanoidOptions:
    """Options of a humanoid on the ground with position servos."""

    stiffness: float | None = option(None, unit="N m/rad", low=0.0, above=True, high=1e6, source="assumed")
    """Stiffness of the position servo of every joint; none: 4000 for Talos, 500 for G1."""
    damping: float | None = option(None, unit="N m s/rad", low=0.0, high=1e4, source="assumed")
    """Damping of every servo; none: 98 for Talos, 20 for G1."""
    armature: float | None = option(None, unit="kg m^2", low=0.0, high=10.0, source="assumed")
    """Inertia of the rotor, seen at every joint; none: 0.1 for Talos, 0.03 for G1."""
    friction: float = option(0.9, low=0.0, high=10.0, source="assumed")
    """Sliding friction of the ground."""
    timestep: float = option(0.001, unit="s", low=1e-6, high=0.01, source="assumed")
    """Length of a simulation step."""
