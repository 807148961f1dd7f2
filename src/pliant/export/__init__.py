"""Robots for other programs: URDF, which pliant reads again, MJCF, and MJCF that moves without pliant."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "UrdfExport": "pliant.export.urdf",
    "describe_mjcf": "pliant.export.mjcf",
    "describe_urdf": "pliant.export.urdf",
    "export_urdf": "pliant.export.urdf",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
