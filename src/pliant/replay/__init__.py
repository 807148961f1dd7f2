"""Recordings, bags and dumps: shown in tables, figures, films and pages, compared, and published again."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "Replay": "pliant.replay.player",
    "open_replay": "pliant.replay.player",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
