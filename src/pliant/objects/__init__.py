"""Objects that are made, moved, attached and deleted while a simulation runs."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "World": "pliant.objects.description",
    "WorldDevice": "pliant.objects.device",
    "add_world": "pliant.objects.description",
    "find_world": "pliant.objects.device",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
