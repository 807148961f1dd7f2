"""Joints as Dynamixel servos on a serial line, for programs that use ROBOTIS' SDK."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "MODELS": "pliant.dynamixel.models",
    "Dynamixel": "pliant.dynamixel.bridge",
    "DynamixelOptions": "pliant.dynamixel.options",
    "Line": "pliant.dynamixel.line",
    "Servo": "pliant.dynamixel.servo",
    "ServoModel": "pliant.dynamixel.models",
    "ServoSetup": "pliant.dynamixel.servo",
    "make": "pliant.dynamixel.bridge",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
