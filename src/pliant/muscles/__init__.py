"""Pneumatic muscles: an antagonistic pair as the law of a joint, their valves and the air in them."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "McKibben": "pliant.muscles.law",
    "PneumaticDrive": "pliant.muscles.drive",
    "PressureLaw": "pliant.muscles.law",
    "closed_stiffness": "pliant.muscles.law",
    "muscle_friction": "pliant.muscles.law",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
