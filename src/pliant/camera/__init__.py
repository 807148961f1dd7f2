"""Cameras: the model of a camera, its device with lens and exposure, and pictures without a window."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "CameraDevice": "pliant.camera.device",
    "CameraModel": "pliant.camera.model",
    "Condition": "pliant.camera.conditions",
    "Renderer": "pliant.camera.renderer",
    "VisionError": "pliant.camera.conditions",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
