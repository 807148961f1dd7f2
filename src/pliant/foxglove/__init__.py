"""Foxglove: devices, scene, cameras, parameters and commands for programs of its WebSocket protocol."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "Foxglove": "pliant.foxglove.bridge",
    "FoxgloveOptions": "pliant.foxglove.options",
    "make": "pliant.foxglove.bridge",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
