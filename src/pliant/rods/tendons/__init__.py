"""Tendon-driven continuum robots: statics with routed tendons, friction that remembers, identification."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "NoTendonEquilibrium": "pliant.rods.tendons.robot",
    "Resolution": "pliant.rods.tendons.build",
    "Segment": "pliant.rods.tendons.description",
    "Tendon": "pliant.rods.tendons.description",
    "TendonRobot": "pliant.rods.tendons.robot",
    "TendonRobotDescription": "pliant.rods.tendons.description",
    "TendonSolution": "pliant.rods.tendons.robot",
    "load_tendons": "pliant.rods.tendons.files",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
