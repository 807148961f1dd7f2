"""Soft feet: the SoftFoot, feet in place of a robot's own, the sensing sole, the bench."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "FootFit": "pliant.feet.model.foot_fit",
    "Press": "pliant.feet.model.press",
    "ReplacedFoot": "pliant.feet.model.part",
    "SoftFoot": "pliant.feet.softfoot.foot",
    "SoftFootOptions": "pliant.feet.softfoot.options",
    "Sole": "pliant.feet.model.sole",
    "replace_foot": "pliant.feet.model.replace",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
