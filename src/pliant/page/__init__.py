"""The simulation in a browser."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "PageServer": "pliant.page.server",
    "PageView": "pliant.page.page",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
