"""Energy balance of a run."""

from pliant.energy.audit import EnergyAudit
from pliant.energy.balance import EnergyBalance

__all__ = ["EnergyAudit", "EnergyBalance"]
