"""Films of experiments: what they show is computed after the run, so that no verdict depends on a film.

An experiment declares its films with its name:

    def _films(context: Context, options: BoxOptions) -> list[Film]:
        return [Film(name="push", caption="...", time=time, shots=[soft, stiff], camera="side")]

    @experiment("box", ..., films=_films)

Runs that keep no poses are followed by a `pliant.simulation.pose_track.PoseTrack`, from which `film_of_tracks` makes a
film. An experiment in which nothing moves gives a sentence in place of the function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.errors import PliantError
from pliant.base.figures import COLORS, INK
from pliant.base.numerics import Array

if TYPE_CHECKING:
    import mujoco

    from pliant.simulation.pose_track import PoseTrack

NO_SCENE = "it compares numbers and has no moving scene"
"""Why an experiment that declares no films has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One of the scenes that a film shows side by side."""

    title: str
    """Text above it: "soft", "stiff", or anything else."""
    model: mujoco.MjModel
    """The compiled model."""
    poses: Array
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
    """Subject of the film and the details to look for."""
    time: Array
    """Increasing times of the poses, shape (t,) [s]."""
    shots: Sequence[Shot]
    """The scenes, from left to right."""
    camera: str = ""
    """Camera of the models, or AZIMUTH,ELEVATION[,DISTANCE]; empty for one that sees everything."""
    size: str = "480x480"
    """Width and height of a scene [pixels]."""
    speed: float = 1.0
    """Simulated seconds per second of the film."""
    clock: bool = True
    """Whether the time is written above the scenes; not where they show equilibria along a path."""


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
    """Outcome of a film."""

    name: str
    """Name of the film."""
    caption: str
    """Subject of the film."""
    file: str
    """The file, relative to the folder of the reports; empty if there is none."""
    duration: float
    """Length [s]."""
    fault: str
    """Why the film is shorter, or missing; empty if it is whole."""


def film_of_tracks(tracks: Mapping[str, PoseTrack], **about: object) -> Film:
    """Return a film of runs that `PoseTrack` followed, side by side; a run that ends early keeps its last pose.

    Args:
        tracks: title -> the run.
        about: fields of `Film` beside time and shots.
    """
    longest = max(tracks.values(), key=lambda track: track.times[-1] - track.times[0])
    time = np.array(longest.times) - longest.times[0]
    shots = []
    for title, track in tracks.items():
        own = np.array(track.times) - track.times[0]
        rows = np.clip(np.searchsorted(own, time + 1e-9, side="right") - 1, 0, len(own) - 1)
        shots.append(Shot(title=title, model=track.model, poses=np.array(track.poses)[rows]))
    return Film(time=time, shots=shots, **about)


def joint_poses(model: mujoco.MjModel, joints: Sequence[str], q: Array) -> Array:
    """Return qpos of a model whose joints have given positions and whose others are at rest, shape (t, nq).

    Args:
        model: the compiled model.
        joints: names of hinges and slides.
        q: their positions, shape (t, joints) [rad or m].
    """
    poses = np.tile(model.key_qpos[0] if model.nkey else model.qpos0, (len(q), 1))
    poses[:, [int(model.joint(name).qposadr[0]) for name in joints]] = q
    return poses


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
    from pliant.films.film import FilmOptions
    from pliant.films.motions import film_motions
    from pliant.recording.motion import Motion

    try:
        looks = FilmOptions(
            size=video.size or film.size,
            fps=video.fps,
            speed=video.speed or film.speed,
            camera=film.camera if video.camera is None else video.camera,
        )
        motions = [
            Motion(model=shot.model, time=film.time, poses=shot.poses, title=shot.title, color=shot.color)
            for shot in film.shots
        ]
        report = film_motions(
            folder / f"{film.name}{video.suffix}",
            motions,
            looks,
            clock=film.clock,
            progress=None if progress is None else lambda k, n: progress(k / n, f"film {film.name}"),
        )
    except PliantError as error:
        return WrittenFilm(name=film.name, caption=film.caption, file="", duration=0.0, fault=str(error))
    file = f"{folder.name}/{report.path.name}" if report.frames else ""
    return WrittenFilm(
        name=film.name, caption=film.caption, file=file, duration=report.duration, fault=report.fault
    )  # fmt: skip


Films = Callable[[Any, Any], Sequence[Film]]
"""Computes the films of an experiment from its context and its options."""
