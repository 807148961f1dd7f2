"""Options of films."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cyclopts import Parameter

from pliant.base.options import check_values, option
from pliant.cli.checks import refuse_unused
from pliant.cli.options import option_name

if TYPE_CHECKING:
    from collections.abc import Callable

    import mujoco

    from pliant.engine import Engine
    from pliant.films.bridge import FilmBridge
    from pliant.films.film import FilmOptions, FilmReport
    from pliant.recording import Recording
    from pliant.simulation.outputs import Progress


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
        from pliant.films.film import FilmOptions

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

    label: ClassVar[str] = "film"
    parts: ClassVar[str] = "pictures"
    recorded: ClassVar[bool] = False

    video: Path | None = None
    """Film the robot (.mp4, .gif), without a window."""
    look: FilmLook = DEFAULT_LOOK

    def __post_init__(self) -> None:
        looks = self.looks()
        if self.video is not None and looks is not None:
            from pliant.films.film import check_film

            check_film(self.video, looks, "--video")

    @property
    def file(self) -> Path | None:
        """The file; None without a film."""
        return self.video

    def looks(self, size: str | None = None, *, contacts: bool = False) -> FilmOptions | None:
        """Return how the film looks; None without one. ``size`` holds without --video-size."""
        return self.look.of(self.video, size, contacts=contacts)

    def follow(self, engine: Engine, *, contacts: bool, wait: bool) -> FilmBridge:
        """Return what films a run."""
        from pliant.films.bridge import FilmBridge

        assert self.video is not None
        return FilmBridge(engine, self.video, self.looks(contacts=contacts), wait=wait)

    def replay(
        self, found: Recording, model: Callable[[], mujoco.MjModel], progress: Progress
    ) -> tuple[FilmReport, tuple[str, ...]]:
        """Film a recording; return also the joints that were not recorded."""
        from pliant.films.motions import film_recording

        assert self.video is not None
        return film_recording(found, model(), self.video, self.looks(), progress)


NO_FILM = Film()
"""No film."""
