"""Springs that were measured, as the law of a joint."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {"TableSEA": "pliant.spring_tables.law"}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
