"""Tendon-driven continuum robots: statics with routed tendons, friction that remembers, identification."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "NoTendonEquilibrium": "pliant.tendons.robot",
    "Resolution": "pliant.tendons.build",
    "Segment": "pliant.tendons.description",
    "Tendon": "pliant.tendons.description",
    "TendonRobot": "pliant.tendons.robot",
    "TendonRobotDescription": "pliant.tendons.description",
    "TendonSolution": "pliant.tendons.robot",
    "load_tendons": "pliant.tendons.files",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
