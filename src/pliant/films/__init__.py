"""Films: a run, a recording, or poses over time as MP4 or GIF, rendered in a process of its own."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "FilmBridge": "pliant.films.bridge",
    "FilmOptions": "pliant.films.film",
    "FilmReport": "pliant.films.film",
    "FilmWriter": "pliant.films.film",
    "Panel": "pliant.films.film",
    "film_motions": "pliant.films.motions",
    "film_recording": "pliant.films.motions",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
