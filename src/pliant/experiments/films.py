"""Films of experiments: what they show is computed after the run, so that no verdict depends on a film.

An experiment declares its films with its name:

    def _films(context: Context, options: BoxOptions) -> list[Film]:
        return [Film(name="push", caption="...", time=time, panels=[soft, stiff], camera="side")]

    @experiment("box", ..., films=_films)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import PliantError
from pliant.figures import COLORS, INK

if TYPE_CHECKING:
    import mujoco

    from pliant.recording.film import FilmOptions

__all__ = ["NO_SCENE", "Film", "Shot", "Video", "WrittenFilm", "write_film"]

NO_SCENE = "it compares numbers and has no moving scene"
"""Why most experiments have no film."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One of the scenes that a film shows side by side."""

    title: str
    """Text above it: "soft", "stiff", or anything else."""
    model: mujoco.MjModel
    """The compiled model."""
    poses: NDArray[np.float64]
    """qpos at the film's times, shape (t, nq)."""

    @property
    def color(self) -> str:
        """Colour of the title: that of soft or stiff, or of text."""
        return next((COLORS[word] for word in self.title.lower().split() if word in ("soft", "stiff")), INK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """A film of an experiment."""

    name: str
    """Name of its file, without suffix."""
    caption: str
    """What it shows and what to see in it."""
    time: NDArray[np.float64]
    """Increasing times of the poses, shape (t,) [s]."""
    shots: Sequence[Shot]
    """The scenes, from left to right."""
    camera: str = ""
    """Camera of the models, or AZIMUTH,ELEVATION[,DISTANCE]; empty for one that sees everything."""
    size: str = "480x480"
    """Width and height of a scene [pixels]."""
    speed: float = 1.0
    """Simulated seconds per second of the film."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Video:
    """How the films of experiments are written."""

    suffix: str = ".mp4"
    """.mp4 or .gif."""
    size: str | None = None
    """Width and height of a scene [pixels]; None takes that of the film."""
    fps: float = 25.0
    """Frames per second."""
    speed: float | None = None
    """Simulated seconds per second of the film; None takes that of the film."""
    camera: str | None = None
    """Camera; None takes that of the film."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFilm:
    """What became of a film."""

    name: str
    """Name of the film."""
    caption: str
    """What it shows."""
    file: str
    """The file, relative to the folder of the reports; empty if there is none."""
    duration: float
    """Length [s]."""
    fault: str
    """Why the film is shorter, or missing; empty if it is whole."""


def write_film(
    film: Film, folder: Path, video: Video, progress: Callable[[float, str], None] | None = None
) -> WrittenFilm:
    """Render a film to ``<folder>/<name><suffix>``.

    What goes wrong is in the result; nothing is raised, because the experiment has its verdicts.

    Args:
        film: what is shown.
        folder: the experiment's own folder.
        video: kind and looks of the file.
        progress: called with the fraction that is done and a text.
    """
    from pliant.recording.film import FilmOptions, FilmWriter, Panel

    try:
        looks = FilmOptions(
            size=video.size or film.size,
            fps=video.fps,
            speed=video.speed or film.speed,
            camera=film.camera if video.camera is None else video.camera,
        )
        panels = [Panel(model=shot.model, title=shot.title, color=shot.color) for shot in film.shots]
        writer = FilmWriter(folder / f"{film.name}{video.suffix}", panels, looks, clock=True)
    except PliantError as error:
        return WrittenFilm(name=film.name, caption=film.caption, file="", duration=0.0, fault=str(error))
    rows = _rows(film, looks)
    for k, row in enumerate(rows):
        if progress is not None:
            progress(k / len(rows), f"film {film.name}")
        if not writer.add([writer.pose(i, shot.poses[row]) for i, shot in enumerate(film.shots)]):
            break
    report = writer.close()
    file = f"{folder.name}/{report.path.name}" if report.frames else ""
    return WrittenFilm(
        name=film.name, caption=film.caption, file=file, duration=report.duration, fault=report.fault
    )  # fmt: skip


def _rows(film: Film, looks: FilmOptions) -> list[int]:
    """Return the row of the poses of each frame: the last one at or before its time."""
    start, end = float(film.time[0]), float(film.time[-1])
    times = start + np.arange(int((end - start) / looks.speed * looks.fps + 1e-9) + 1) * looks.speed / looks.fps
    return np.clip(np.searchsorted(film.time, times + 1e-9, side="right") - 1, 0, len(film.time) - 1).tolist()


Films = Callable[[Any, Any], Sequence[Film]]
"""Computes the films of an experiment from its context and its options."""
