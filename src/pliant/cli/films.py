"""Options of films, and how films are reported."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import Parameter

from pliant.base.options import check_values, option
from pliant.cli.checks import refuse_unused
from pliant.cli.options import option_name

if TYPE_CHECKING:
    from rich.console import Console

    from pliant.recording.film import FilmOptions, FilmReport


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class FilmLook:
    """Options of any film; the docstrings are the help texts of the command line.

    Raises:
        PliantError: wrong values.
    """

    video_size: str | None = None
    """Width and height of the film, such as 1280x720 [pixels]; default 640x480; of two scenes side by side those of
    each, default 480x480."""
    video_fps: float | None = option(None, low=1.0, high=120.0, unit="Hz")
    """Frames per second of the film; default 25."""
    video_speed: float | None = option(None, low=1e-4, high=1e4)
    """Simulated or recorded seconds per second of the film; default 1, 0.25 is slow motion; an experiment has its own
    default."""
    video_camera: str | None = None
    """Camera of the film: a camera of the robot, or AZIMUTH,ELEVATION[,DISTANCE] [degrees, m]; default: the whole
    robot."""

    def __post_init__(self) -> None:
        check_values(self, names=option_name)

    def of(self, video: object, size: str | None = None, *, contacts: bool = False) -> FilmOptions | None:
        """Return how a film looks; None without a film.

        Args:
            video: whether there is a film.
            size: width and height without --video-size.
            contacts: draw contact forces.

        Raises:
            PliantError: an option without --video, or a wrong value.
        """
        values = {name: getattr(self, f"video_{name}") for name in _LOOKS}
        given: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
        for name in given:
            refuse_unused(not video, f"--video-{name}", "--video")
        if not video:
            return None
        from pliant.recording.film import FilmOptions

        if size is not None:
            given.setdefault("size", size)
        return FilmOptions(contacts=contacts, **given)


_LOOKS = ("size", "fps", "speed", "camera")
DEFAULT_LOOK = FilmLook()
"""A film that looks as films do by default."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """A film in one file, and how it looks.

    Raises:
        PliantError: wrong values, an option without --video, or a file that cannot be written.
    """

    video: Path | None = None
    """Film the robot (.mp4, .gif), without a window."""
    look: FilmLook = DEFAULT_LOOK

    def __post_init__(self) -> None:
        looks = self.looks()
        if self.video is not None and looks is not None:
            from pliant.recording.film import check_film

            check_film(self.video, looks, "--video")

    def looks(self, size: str | None = None, *, contacts: bool = False) -> FilmOptions | None:
        """Return how the film looks; None without one. ``size`` holds without --video-size."""
        return self.look.of(self.video, size, contacts=contacts)


NO_FILM = Film()
"""No film."""


def say_film(console: Console, film: FilmReport) -> None:
    """Print the file of a film and its length."""
    late = f", {film.late} frames left out to keep the pace" if film.late else ""
    console.print(f"film: {film.path} ({film.duration:g} s{late})", soft_wrap=True)


def film_as_dict(film: FilmReport) -> dict[str, object]:
    """Return a film for JSON."""
    return {"path": str(film.path), "duration": film.duration, "frames": film.frames, "late": film.late}
