"""Sensors of motion, force and distance: inertial units, force/torque sensors, laser scanners."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "ForceTorqueDevice": "pliant.sensors.force_torque",
    "ImuDevice": "pliant.sensors.imu",
    "LaserDevice": "pliant.sensors.laser",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
