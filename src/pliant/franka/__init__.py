"""Franka arms: the control interface, the cabinet, arms and grippers, client and models."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "FrankaRobot": "pliant.franka.client.robot",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
