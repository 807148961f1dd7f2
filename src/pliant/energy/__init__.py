"""Energy balance of a run."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "EnergyAudit": "pliant.energy.audit",
    "EnergyBalance": "pliant.energy.balance",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
