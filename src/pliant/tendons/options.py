"""Options of the tendon-driven robots: ``--set robot.<name>=<value>`` on the command line."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.base.errors import ModelError
from pliant.base.options import check_values, option


@dataclass(frozen=True, slots=True, kw_only=True)
class TendonOptions:
    """How a tendon-driven robot becomes a MuJoCo model, and how it is driven.

    Raises:
        ModelError: a value is out of its range.
    """

    control: str = option("length", choices=("length", "tension"))
    """What a command is: the angle of a servo, which draws its tendon in by the spool's radius times it (length), or
    the torque of the spool, which is the tension times the radius (tension)."""
    spool_radius: float = option(0.01, unit="m", low=1e-3, high=0.1, source="assumed")
    """Radius of the spools."""
    speed: float = option(
        4.8,
        unit="rad/s",
        low=0.0,
        above=True,
        high=1e3,
        source="e-Manual of the XM430-W350: 46 rev/min at 12 V, no load",
    )
    """Largest speed of the servos."""
    pairs: int = option(1, low=1, high=10)
    """Pairs of hinges of the backbone between two disks."""
    damping: float = option(2e-3, unit="s", low=0.0, high=1.0, source="assumed")
    """Damping of the backbone: moment = E I (curvature + damping x its rate)."""
    tendon_damping: float = option(2e-3, unit="s", low=0.0, high=1.0, source="assumed")
    """Damping of each tendon and its spool: the stiffness times this, times the rate at which it is given off."""
    contact: bool = True
    """Whether backbone and disks meet objects of contact type 1 (MuJoCo's default for a geom)."""
    timestep: float = option(0.001, unit="s", low=1e-6, high=0.01, source="assumed")
    """Length of a simulation step."""

    def __post_init__(self) -> None:
        check_values(self, ModelError)
