"""Cameras: the device of a camera, its lens and exposure, and pictures of a model without a window."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "CameraDevice": "pliant.camera.device",
    "Renderer": "pliant.camera.renderer",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
