"""An engine that adds up its energy balance."""

from pliant.energy import EnergyAudit
from pliant.engine import MujocoEngine


class AuditedEngine(MujocoEngine):
    """An engine with the monitor `audit`."""

    def __init__(self, robot, **options):
        super().__init__(robot, **options)
        self.audit = self.add_monitor(EnergyAudit(self))
