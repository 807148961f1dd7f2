"""Motions: poses of models over time, as films show them side by side and pages play them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import PliantError
from pliant.base.numerics import Array
from pliant.recording.film import INK, FilmOptions, FilmReport, FilmWriter, Panel

if TYPE_CHECKING:
    import mujoco


Acting: TypeAlias = "tuple[Mapping[str, tuple[float, Array]], Array, Array]"
"""Payloads, body -> mass [kg] and place in its frame, shape (3,) [m]; the force and torque from outside on each body,
shape (nbody, 6) [N, N m, world]; and point and force of each contact, shape (n, 6) [m, N, world]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """The poses of one model over time."""

    model: mujoco.MjModel
    """The compiled model."""
    time: Array
    """Increasing times of the poses, shape (t,) [s]."""
    poses: Array
    """qpos at these times, shape (t, nq)."""
    title: str = ""
    """Text above it in a film; empty for none."""
    color: str = INK
    """Colour of the title."""
    acting: Callable[[float], Acting] | None = None
    """Returns what acts on the model at a time on the axis of ``time`` [s]; None where nothing is known to act."""

    def __post_init__(self) -> None:
        """Refuse what cannot be shown.

        Raises:
            PliantError: times or poses that do not fit each other or the model, or that are not valid.
        """
        time, poses = np.asarray(self.time), np.asarray(self.poses)
        if time.ndim != 1 or not len(time) or not np.isfinite(time).all() or (np.diff(time) < 0.0).any():
            raise PliantError("the times of a motion must be at least one, finite, and not decrease", field="time")
        if poses.shape != (len(time), self.model.nq) or not np.isfinite(poses).all():
            raise PliantError(
                f"the poses of a motion have shape {poses.shape}; must be finite, of shape (times, qpos) = "
                f"{(len(time), self.model.nq)}",
                field="poses",
            )

    @property
    def duration(self) -> float:
        """Length [s]."""
        return float(self.time[-1] - self.time[0])


def rows_at(time: Array, period: float, duration: float) -> NDArray[np.intp]:
    """Return the rows of poses that equal frames show: the last one at or before each frame's time.

    Args:
        time: increasing times of the poses, shape (t,) [s].
        period: time between two frames [s].
        duration: length of the frames [s]; beyond the last pose it stays.
    """
    frames = float(time[0]) + period * np.arange(int(duration / period + 1e-9) + 1)
    return np.clip(np.searchsorted(time, frames + 1e-9, side="right") - 1, 0, len(time) - 1)


def film_motions(
    path: str | Path,
    motions: Sequence[Motion],
    options: FilmOptions | None = None,
    *,
    clock: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> FilmReport:
    """Film motions side by side, from their first poses on; the film ends with the longest one.

    Args:
        path: file, .mp4 or .gif.
        motions: from left to right.
        options: size of each, frame rate, speed, camera.
        clock: write the time above the pictures.
        progress: called with the numbers of pictures that are done, and of all.

    Raises:
        PliantError: wrong options, no such camera.
        MissingDependency: no encoder, or no graphics library that works.
    """
    options = options or FilmOptions()
    period, longest = options.speed / options.fps, max(motion.duration for motion in motions)
    rows = [rows_at(motion.time, period, longest) for motion in motions]
    # Payloads change the models.
    models = [motion.model if motion.acting is None else copy.copy(motion.model) for motion in motions]
    panels = [Panel(model=model, title=motion.title, color=motion.color) for model, motion in zip(models, motions)]
    film = FilmWriter(path, panels, options, clock=clock)
    for k in range(len(rows[0])):
        if progress is not None:
            progress(k, len(rows[0]))
        states = []
        for i, motion in enumerate(motions):
            row, wrenches, contacts = rows[i][k], None, None
            if motion.acting is not None:
                loads, wrenches, contacts = motion.acting(float(motion.time[row]))
                _load(models[i], motion.model, loads)
            states.append(film.pose(i, motion.poses[row], wrenches, contacts))
        if not film.add(states):
            break
    return film.close(progress)


def _load(model: mujoco.MjModel, bare: mujoco.MjModel, loads: Mapping[str, tuple[float, Array]]) -> None:
    """Put payloads on the bodies of a model: masses and centres of mass, which are what a film shows of them."""
    import mujoco

    model.body_mass[:], model.body_ipos[:] = bare.body_mass, bare.body_ipos
    for name, (mass, place) in loads.items():
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
        if body > 0:
            whole = float(bare.body_mass[body]) + mass
            model.body_ipos[body] = (bare.body_mass[body] * bare.body_ipos[body] + mass * place) / whole
            model.body_mass[body] = whole
